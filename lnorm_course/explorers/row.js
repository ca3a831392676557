// What a reader sees of a row, and touches: `mount` puts it into any page. row.json has the states.
import { drawGroup, element } from "./engine/controls.js";
import { drawTools } from "./row_buttons.js";
import { layoutCells } from "./row_cells.js";
import { takeCells, takeMachine } from "./row_hands.js";
import { HANDLE, addressed, nameIn, ownerOf } from "./row_links.js";
import { drawMachine, layoutMachine, pen, tellMachine } from "./row_machine.js";
import { clamp, derive, isOnWay, short, stations } from "./row_numbers.js";
import { differ, tellCells, tellGuess, tellRow } from "./row_words.js";

// Milliseconds until a hand is away, of a change, and from station to station.
const [AWAY, BEAT, SEGMENT] = [8000, 600, 1500];
const DEPTHS = { numbers: "numbers", row: "one word", steps: "its steps" };
const PLAIN = { rms: false, eps: 1e-5, gamma: null, beta: null, guess: null };
const FORMULA = `<math displaystyle="true" role="img"><mi data-of="y">y</mi><mo>=</mo><mfrac><mrow
data-of="centered"><mi data-of="x">x</mi><mrow data-of="mean"><mo>−</mo><mi>mean</mi></mrow></mrow>
<msqrt data-of="spread"><mi data-of="var" class="under">var</mi><mo>+</mo><mi data-of="eps">ε</mi></msqrt>
</mfrac><mrow class="affine"><mo>·</mo><mi data-of="gamma">γ</mi><mo>+</mo><mi data-of="beta">β</mi></mrow>
</math>`;
const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;

class Row {
  constructor(parent, page) {
    const { at, depth, ...start } = { at: 0, ...page.start };
    this.presets = Object.entries(page.states).map(([name, { says, rows, ...changes }]) => {
      const x = rows && { x: page.x.map((values, row) => rows[row] ?? values) };
      return { name, address: addressed(name), says, state: { ...PLAIN, ...start, ...changes, ...x } };
    });
    Object.assign(this, { page, words: page.sentences.flat(), depths: page.depths ?? DEPTHS,
      addresses: this.presets.map(({ address }) => address), reach: page.reach,
      state: { ...PLAIN, ...start, at, depth, x: page.x }, t: 0, touched: -AWAY,
      pinned: "", peeked: "", hot: null, grip: null, drag: null, moved: [], nodes: new Map() });
    // How far a number is dragged.
    this.edge = this.isCells && !Object.keys(this.depths).length
      ? Math.max(10, ...page.x.flat().map(Math.abs)) : this.reach - 1;
    this.build(parent);
    this.gone = new AbortController();
    for (const type of ["click", "pointerover", "pointerout", "focusin", "focusout"])
      document.addEventListener(type, (event) => this.follow(event),
        { capture: true, signal: this.gone.signal });
    new ResizeObserver(() => this.draw()).observe(this.stage);
    this.show(this.preset(page.preset), 0);
  }

  get isCells() { return this.state.depth === "numbers"; }

  preset(name) { return this.presets.find((one) => one.name === name); }

  isShown({ state }) {
    return Object.entries(state).every(([key, value]) => `${this.state[key]}` === `${value}`);
  }

  build(parent) {
    const { page } = this;
    this.root = drawGroup(parent, "lnorm-row", page.alt);
    const chips = drawGroup(this.root, "chips", "states");
    const stage = element("div", this.root, { class: "stage" });
    Object.assign(this, { stage, bar: element("div", this.root, { class: "bar" }),
      says: element("p", this.root, { role: "status" }),
      table: element("table", element("div", this.root, { class: "told" })) });
    stage.row = this;
    this.views = ["", ""].map(() => {
      const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      stage.append(svg);
      return { svg, pen: pen(svg) };
    });
    this.bar.innerHTML = `${FORMULA}<button type="button" class="play">▶</button>
      <input type="range" step="0.01" aria-label="the way of the numbers through the stations">`;
    [this.formula, this.play, this.scrubber] = this.bar.children;
    this.play.ariaLabel = "play the way of the numbers through the stations";
    this.play.onclick = () => this.run();
    this.scrubber.oninput = () => { this.running = 0; this.travel(Number(this.scrubber.value)); };
    this.buttons = drawTools(this, chips, drawGroup(this.root, "tools", "views"));
    takeCells(this);
    for (const view of this.views) takeMachine(this, view);
    for (const type of ["pointerdown", "keydown"])
      this.root.addEventListener(type, () => { this.touched = performance.now(); }, true);
    this.root.addEventListener("pointerover", ({ target, pointerType }) => {
      if (pointerType !== "mouse") return;
      const part = target.closest(":is(math, td, th)[data-of], math [data-of]");
      this.peeked = part?.dataset.of.split(" ")[0] ?? "";
      this.light();
    });
    this.root.addEventListener("fullscreenchange", () => this.draw());
  }

  /** Show a preset: its numbers and its view. */
  show({ state, says }, milliseconds = BEAT) {
    const isMoved = state.x && `${state.x}` !== `${this.page.x}`;
    this.go(state, { said: says, base: isMoved ? this.page.x : null, milliseconds });
  }

  /** Change parts of the state, and say what is seen now. base: numbers whose results stay as rings. */
  go(changes, { said, cause = "", base = null, at = null, milliseconds = BEAT, guessed = null } = {}) {
    // A preset is seen as a change of the first numbers, whatever a hand has made of them.
    const before = this.solve(said ? { ...this.state, ...changes, x: this.page.x } : this.state).steps;
    this.state = { ...this.state, ...changes };
    const { state } = this;
    if (!this.isCells && state.over) state.over = "D"; // a word alone has its own mean
    this.seen = this.solve(state);
    const result = (step) => step[state.results] ?? step.group.mean;
    this.moved = !changes.x ? [] : this.seen.steps.flat()
      .filter((step) => Math.abs(result(step) - result(before[step.row][step.d])) > 1e-9);
    Object.assign(this, { pinned: "", base, cause, guessed, hot: at, t: this.grip ? this.t : 0, running: 0 });
    this.tell(said);
    this.tween(milliseconds);
  }

  /** Show what becomes of the row, beside what was guessed. */
  uncover() {
    const { guess } = this.state;
    this.go({ guess: null }, { guessed: guess, said: tellGuess(guess, stations(this.goal.x, this.goal).y) });
  }

  solve(some) {
    return derive(some.x, { length: this.page.sentences[0].length, ...some });
  }

  /** What the machine is to show. */
  get goal() {
    const { x, at, rms, eps, gamma, beta } = this.state;
    return { x: x[at], keep: rms ? 0 : 1, eps, affine: gamma ? 1 : 0,
      gamma: gamma ?? x[at].map(() => 1), beta: beta ?? x[at].map(() => 0) };
  }

  /** Go there in a movement that can be followed. */
  tween(milliseconds) {
    const [goal, start] = [this.goal, performance.now()];
    const from = this.now ?? goal;
    const mix = (a, b, part) =>
      (Array.isArray(b) ? b.map((v, i) => mix(a[i], v, part)) : a + (b - a) * part);
    cancelAnimationFrame(this.frame);
    const step = (time) => {
      const part = isCalm || !milliseconds ? 1 : clamp((time - start) / milliseconds, 0, 1);
      const eased = part * part * (3 - 2 * part);
      this.now = Object.fromEntries(Object.entries(goal)
        .map(([key, to]) => [key, mix(from[key], to, eased)]));
      this.draw();
      if (part < 1) this.frame = requestAnimationFrame(step);
    };
    step(start);
  }

  /** Light the parts of a term: in formula and table, and in the picture by dimming the others. */
  light() {
    const s = Math.min(3, Math.floor(this.t));
    const travels = isOnWay(this.t, this.now.affine) && ["mean", "spread", "y", "gamma"][s];
    const held = this.grip && { dot: "x", result: "y", mean: "mean", spread: "spread" }[this.grip.act];
    const asked = this.peeked || this.pinned;
    const lit = asked || travels || held;
    for (const part of this.root.querySelectorAll("[data-of]"))
      part.classList.toggle("lit", part.dataset.of.split(" ").includes(lit));
    this.root.classList.toggle("some", Boolean(asked));
    this.formula.classList.toggle("some", Boolean(lit));
    const names = [asked, ...this.presets.filter((one) => this.isShown(one)).map(({ address }) => address)];
    for (const link of document.querySelectorAll(HANDLE)) if (ownerOf(link) === this)
      link.classList.toggle("lnorm-lit", names.includes(nameIn(link)));
  }

  /** Say what is seen: the words of a preset, or what has become of the numbers. */
  tell(said) {
    const words = said ?? (this.isCells ? tellCells(this) : tellRow(this));
    const told = words.charAt(0).toUpperCase() + words.slice(1);
    if (this.says.textContent !== told) this.says.textContent = told; // or it'd be read out again
  }

  draw() {
    const scale = document.fullscreenElement === this.root
      ? Math.min((innerWidth - 40) / 800, (innerHeight - 20) / (this.height + 230)) : 1;
    this.root.style.zoom = scale === 1 ? "" : scale;
    const width = Math.min(this.stage.clientWidth, 760);
    if (!width || !this.now) return;
    const { state, page, isCells } = this;
    this.bar.hidden = isCells || Boolean(state.guess);
    this.root.classList.toggle("steps", state.depth === "steps");
    for (const { svg } of this.views) svg.classList.toggle("away", isCells);
    if (isCells) this.drawCells(width);
    else {
      for (const node of this.nodes.values()) node.classList.add("away");
      this.drawRow(width);
    }
    if (!this.drag) this.height = this.heightIn(width);
    const header = document.querySelector(".mobile-header")?.offsetHeight ?? 0;
    this.stage.style.cssText = `--height: ${this.height}px; --header: ${header}px;
      transition: ${isCalm || this.drag?.isPulled ? 0 : 0.4}s`;
    for (const { button, isOn, when } of this.buttons) {
      button.hidden = !when();
      if (isOn) button.ariaPressed = isOn();
    }
    this.light();
  }

  /** Cells are as high as those of the highest preset, so that what's below stays where it is. */
  heightIn(width) {
    if (!this.isCells) return this.views[0].place?.height ?? 0;
    const all = [this, ...this.presets].map((one) => ({ ...this.state, ...one.state }));
    return Math.max(...all.map((one) => layoutCells(one, this.page, width, this.solve(one)).height));
  }

  get look() { return { letters: this.page.letters, reach: this.reach }; }

  drawTable(lines) {
    const cell = (tag, text, part) => `<${tag}${part ? ` data-of="${part}"` : ""}>${text}</${tag}>`;
    const made = lines.map(({ label, values, part, beside, besideOf }, i) => {
      const middle = values.map((text) => cell(i ? "td" : "th", text, part)).join("");
      return `<tr>${cell(i ? "th" : "td", label, part)}${middle}${cell("td", beside, besideOf)}</tr>`;
    }).join("");
    if (this.table.made !== made) Object.assign(this.table, { made, innerHTML: made });
  }

  drawCells(width) {
    const { boxes, told } = layoutCells(this.state, this.page, width, this.seen);
    this.drawTable(told.map(([label, ...values]) => ({ label, values, part: "", beside: "" })));
    for (const node of this.nodes.values()) node.classList.add("away");
    for (const box of boxes) this.paint(box);
  }

  /** Draw a box, which is made when it's first needed; of most the table tells. */
  paint(box) {
    const { id, kind, row, d, place: [x, y, w, h], tone, value, text } = box;
    const { state, seen, hot, page, edge } = this;
    const node = this.nodes.get(id) ?? element(kind === "word" ? "button" : "div", this.stage,
      { "aria-hidden": !["word", "cell"].includes(kind) });
    if (!this.nodes.has(id) && kind === "cell") node.innerHTML = `<input type="range" step="any"
      min="${-edge}" max="${edge}" aria-label="number ${page.letters[d]} of ${this.words[row]}">
      <span aria-hidden="true"></span>`;
    this.nodes.set(id, node);
    const step = seen.steps[row]?.[d]; // whose number, or mean, it shows
    const center = hot && state.over !== undefined && seen.steps[hot.row][hot.d].group;
    const opacity = center && step && step.group !== center ? 0.5 : "";
    Object.assign(node.style, { translate: `${x}px ${y}px`, width: `${w}px`, height: `${h}px`, opacity });
    const marks = `${hot && d === hot.d ? "hot" : ""} ${this.moved.includes(step) ? "moved" : ""}`;
    Object.assign(node, { box, className: `box ${kind} ${marks}` });
    if ("of" in box) node.dataset.of = box.of;
    if (tone !== undefined) node.style.setProperty("--fill", `${Math.min(1, tone) * 28}%`);
    if (text !== undefined) (node.lastElementChild ?? node).textContent = text;
    if (kind === "cell") Object.assign(node.firstChild, { value, ariaValueText: short(value) });
  }

  drawRow(width) {
    const { now, state, page, base, grip, guessed, hot, t, touched } = this;
    const { guess } = state;
    const isBeside = width >= 640 && state.rms; // RMSNorm has a machine of its own
    this.views.forEach((view, i) => {
      view.svg.toggleAttribute("hidden", Boolean(i) && !isBeside);
      if (i && !isBeside) return;
      const keep = isBeside ? 1 - i : now.keep;
      const one = stations(now.x, { ...now, keep });
      const before = base && stations(base[state.at], { ...now, keep }).y;
      const isSame = Boolean(before) && `${base[state.at]}` !== `${now.x}` && !differ(before, one.y);
      // Rings are where results were; in RMSNorm, where those of layer norm are.
      const rings = guessed ?? (keep < 0.5 ? stations(now.x, { ...now, keep: 1 }).y : before ?? one.y);
      const place = layoutMachine(isBeside ? (width - 24) / 2 : width, one,
        { keep, affine: now.affine, guess, ...this.look });
      Object.assign(view, { keep, one, place });
      view.svg.style.height = `${place.height}px`;
      drawMachine(view.pen, { one, place, keep, rings, isSame: isSame && keep > 0.5,
        isKept: keep < 0.5 || base || guessed }, { ...now, t, hot, guess,
        grip, word: this.words[state.at], edge: this.edge, touched: touched > 0 });
    });
    const [first] = this.views;
    const lines = tellMachine(isBeside ? this.views[1].one : first.one, page.letters, state);
    this.drawTable(guess ? lines.slice(0, 2) : lines);
    const isRms = state.rms && !isBeside;
    this.formula.classList.toggle("rms", isRms);
    this.formula.classList.toggle("learned", Boolean(state.gamma));
    this.formula.querySelector(".under").textContent = isRms ? "mean of x²" : "var";
    this.formula.ariaLabel = `y is x ${isRms ? "" : "minus the mean, "}divided by the root of ${
      isRms ? "the mean of its squares" : "the variance"} plus ε${state.gamma ? ", times γ, plus β" : ""}`;
    Object.assign(this.scrubber, { max: state.gamma ? 4 : 3, value: t });
  }

  /** Show the numbers on their way, at a place from 0, where they are, to the last station. */
  travel(t) {
    this.t = t;
    this.tell();
    this.draw();
  }

  run() {
    const [start, mine] = [performance.now(), this.running = Math.random()];
    const step = (time) => {
      if (this.running !== mine) return;
      const at = clamp((time - start) / SEGMENT, 0, Number(this.scrubber.max));
      const part = clamp((at % 1) / 0.8, 0, 1); // they rest at each station
      const eased = isCalm ? 0.5 : part * part * (3 - 2 * part);
      this.travel(at < this.scrubber.max ? Math.floor(at) + eased : at);
      if (at < this.scrubber.max) requestAnimationFrame(step);
    };
    step(start);
  }

  /** Pin the term that a link in the text names, or show its state. */
  point(link, isPressed = false) {
    if (!isPressed && (this.drag || this.grip || performance.now() - this.touched < AWAY)) return;
    const name = nameIn(link);
    const found = this.presets.find(({ address }) => address === name);
    // Where a hand is asked for, reading on changes no number.
    const { state } = this;
    if (!isPressed && state.results && `${found?.state.x ?? state.x}` !== `${state.x}`) return;
    if (found) this.show(found);
    else {
      const seen = [...this.root.querySelectorAll(`[data-of~="${name}"]`)]
        .some((part) => part.checkVisibility({ visibilityProperty: true }));
      if (!seen) this.go({ depth: "steps" }); // which has it
      this.pinned = isPressed && this.pinned === name ? "" : name;
    }
    this.light();
  }

  /** Follow the hand in the text: what is pointed at is lit, what is pressed stays. */
  follow(event) {
    const link = event.target.closest?.(HANDLE);
    if (!link || ownerOf(link) !== this) return;
    if (event.type !== "click") this.peeked = /over|in$/.test(event.type) ? nameIn(link) : "";
    else {
      event.preventDefault();
      this.touched = performance.now();
      this.stage.closest("details")?.setAttribute("open", "");
      this.point(link, true);
      const { top, bottom } = this.stage.getBoundingClientRect();
      if (bottom < 150 || top > innerHeight - 150)
        this.stage.scrollIntoView({ block: "nearest", behavior: isCalm ? "instant" : "smooth" });
    }
    this.light();
  }

  close() {
    this.gone.abort();
    this.root.remove();
  }
}

/** Draw a row into an element, in the state of a preset. */
export const mount = (parent, page) => new Row(parent, page);

for (const place of document.querySelectorAll(".lnorm-row-place")) {
  const page = JSON.parse(place.querySelector("script").textContent);
  place.textContent = "";
  const row = mount(place, page);
  if (row.addresses.includes(nameIn(location))) {
    row.point(location, true);
    row.stage.scrollIntoView();
  }
  // The picture stays in view while paragraphs right below it speak of it.
  const below = () => place.nextElementSibling;
  while (below()?.matches(`p:has(${HANDLE})`)) place.append(below());
}
// What a paragraph's first handle says is shown once the paragraph stands where one reads: where
// the picture that stays in view ends, at the latest.
const reading = new IntersectionObserver((seen) => {
  for (const { isIntersecting, target } of seen) if (isIntersecting && scrollY > 0) {
    const link = target.querySelector(HANDLE);
    ownerOf(link).point(link);
  }
}, { rootMargin: "-53% 0px -43% 0px" });
for (const one of document.querySelectorAll(".lnorm-row-place > p")) reading.observe(one);

/** A Jupyter widget made of `mount`, which shows the preset that Python names. */
export default { render({ model, el }) {
  const row = mount(el, model.get("page"));
  model.on("change:preset", () => row.show(row.preset(model.get("preset"))));
  return () => row.close();
} };
