// What a reader sees of a row, and touches: `mount` puts it into any page. row.json has the states.
import { drawGroup, element } from "./engine/controls.js";
import { drawTools } from "./row_buttons.js";
import { layoutCells } from "./row_cells.js";
import { takeHands } from "./row_hands.js";
import { addressed, follow, isCalm, markLinks, settle } from "./row_links.js";
import { boxesOf, drawMachine, layoutMachine, pen, tellMachine } from "./row_machine.js";
import { clamp, derive, isOnWay, short, stations } from "./row_numbers.js";
import { differ, tellCells, tellGuess, tellRow } from "./row_words.js";

// Milliseconds of a change, of a change of view, and from station to station.
const [BEAT, TURN, SEGMENT] = [600, 750, 1500];
const DEPTHS = { numbers: "numbers", row: "one word", steps: "its steps" };
const PLAIN = { at: 0, rms: false, eps: 1e-5, gamma: null, beta: null, guess: null };
const BAR = `<math displaystyle="true" role="img"><mi data-of="y">y</mi><mo>=</mo><mfrac><mrow
data-of="centered"><mi data-of="x">x</mi><mrow data-of="mean"><mo>−</mo><mi>mean</mi></mrow></mrow>
<msqrt data-of="spread"><mi data-of="var" class="under">var</mi><mo>+</mo><mi data-of="eps">ε</mi></msqrt>
</mfrac><mrow class="affine"><mo>·</mo><mi data-of="gamma">γ</mi><mo>+</mo><mi data-of="beta">β</mi></mrow>
</math><button type="button" aria-label="play the way of the numbers through the stations">▶</button>
<input type="range" step="0.01" aria-label="the way of the numbers through the stations">`;
const eased = (part) => part * part * (3 - 2 * part);

class Row {
  constructor(parent, page) {
    const { at, depth, ...start } = { ...PLAIN, ...page.start };
    this.presets = Object.entries(page.states).map(([name, { says, rows, ...changes }]) => {
      const x = rows && { x: page.x.map((values, row) => rows[row] ?? values) };
      return { name, says, state: { ...start, ...changes, ...x } };
    });
    Object.assign(this, { page, words: page.sentences.flat(), depths: page.depths ?? DEPTHS,
      state: { ...start, at, depth, x: page.x }, t: 0, touched: -Infinity, boxes: [],
      pinned: "", peeked: "", hot: null, grip: null, moved: [], nodes: new Map() });
    page.isAcross = page.axes || this.presets.some(({ state }) => state.over === "NL");
    // How far a number is dragged.
    this.edge = this.isCells && !Object.keys(this.depths).length
      ? Math.max(10, ...page.x.flat().map(Math.abs)) : page.reach - 1;
    this.build(parent);
    this.gone = new AbortController();
    for (const type of ["click", "pointerover", "pointerout", "focusin", "focusout"])
      document.addEventListener(type, (event) => follow(this, event),
        { capture: true, signal: this.gone.signal });
    new ResizeObserver(() => this.draw()).observe(this.stage);
    this.show(this.find(page.preset), 0);
  }

  get isCells() { return this.state.depth === "numbers"; }

  /** Find a preset by its name, or by what an address calls it, maybe with what a hand has changed. */
  find(name) {
    const [, start, changes] = name.match(/^([^{]*)(\{.*)?$/) ?? [];
    const found = this.presets.find((one) => [one.name, addressed(one.name)].includes(start));
    if (!found || !changes) return found;
    try {
      const state = { ...found.state, ...JSON.parse(changes) };
      const isRow = (values) => this.page.x[0].every((_, d) => Number.isFinite(values[d]));
      return this.words.every((_, row) => isRow(state.x[row])) && state.x[state.at] ? { state } : found;
    } catch { return found; }
  }

  /** The end of an address that leads to what is seen: a preset, or the first one with changes. */
  get link() {
    const shown = this.presets.findLast((one) => this.isShown(one));
    const round = (key, value) => (typeof value === "number" ? Number(value.toPrecision(7)) : value);
    const changes = shown ? "" : encodeURIComponent(JSON.stringify(this.state, round));
    return `#row=${addressed(shown?.name ?? this.page.preset)}${changes}`;
  }

  isShown({ state }) {
    return Object.entries(state).every(([key, value]) => `${this.state[key]}` === `${value}`);
  }

  build(parent) {
    this.root = drawGroup(parent, "lnorm-row", this.page.alt);
    const chips = drawGroup(this.root, "chips", "states");
    const [stage, bar] = ["stage", "bar"].map((kind) => element("div", this.root, { class: kind }));
    bar.innerHTML = BAR;
    const [formula, play, scrubber] = bar.children;
    play.onclick = () => this.run();
    scrubber.oninput = () => { this.running = 0; this.travel(Number(scrubber.value)); };
    const views = ["", ""].map(() => {
      const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      svg.ariaHidden = true; // its table tells of it
      stage.append(svg);
      return { svg, pen: pen(svg) };
    });
    Object.assign(this, { stage, bar, formula, scrubber, views,
      says: element("p", this.root, { role: "status" }),
      table: element("table", element("div", this.root, { class: "told" })) });
    stage.row = this;
    this.buttons = drawTools(this, chips, drawGroup(this.root, "tools", "views"));
    takeHands(this);
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
  go(changes, { said, cause = "", base = null, hot = null, milliseconds = BEAT, guessed = null } = {}) {
    // A preset is seen as a change of the first numbers, whatever a hand has made of them.
    const before = this.solve(said ? { ...this.state, ...changes, x: this.page.x } : this.state).steps;
    this.state = { ...this.state, ...changes };
    const { state, isCells, wasCells = isCells } = this;
    if (!isCells && state.over) state.over = "D"; // a word alone has its own mean
    this.seen = this.solve(state);
    const result = (step) => step[state.results] ?? step.group.mean;
    this.moved = !changes.x ? [] : this.seen.steps.flat()
      .filter((step) => Math.abs(result(step) - result(before[step.row][step.d])) > 1e-9);
    Object.assign(this, { pinned: "", base, cause, guessed, hot, t: this.grip ? this.t : 0, running: 0,
      wasCells: isCells });
    this.tell(said);
    if (isCells !== wasCells) this.turn();
    this.tween(isCells === wasCells ? milliseconds : 0);
  }

  /** Let the style know while cells become dots, or dots cells. */
  turn() {
    clearTimeout(this.turning);
    this.turning = setTimeout(() => { this.turning = 0; this.draw(); }, TURN);
  }

  /** Show what becomes of the row, beside what was guessed. */
  uncover() {
    const guess = this.presets.some((one) => this.isShown(one)) ? null : this.state.guess;
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
      this.now = Object.fromEntries(Object.entries(goal)
        .map(([key, to]) => [key, mix(from[key], to, eased(part))]));
      this.draw();
      if (part < 1) this.frame = requestAnimationFrame(step);
    };
    step(start);
  }

  /** Light the parts of a term: in formula and table, and in the picture by dimming the others. */
  light() {
    const s = Math.min(3, Math.floor(this.t));
    const travels = isOnWay(this.t, this.now.affine) && ["mean", "spread", "y", "gamma"][s];
    const held = { dot: "x", result: "y", mean: "mean", spread: "spread" }[!this.isCells && this.grip?.act];
    const asked = this.peeked || this.pinned;
    const lit = asked || travels || held;
    for (const part of this.root.querySelectorAll("[data-of]"))
      part.classList.toggle("lit", part.dataset.of.split(" ").includes(lit));
    this.root.classList.toggle("some", Boolean(asked));
    this.formula.classList.toggle("some", Boolean(lit));
    const shown = this.presets.filter((one) => this.isShown(one)).map(({ name }) => addressed(name));
    markLinks(this, [asked, ...shown]);
  }

  /** Say what is seen: the words of a preset, or what has become of the numbers. */
  tell(said) {
    const words = said ?? (this.isCells ? tellCells(this) : tellRow(this));
    const told = words.charAt(0).toUpperCase() + words.slice(1);
    if (this.says.textContent !== told) this.says.textContent = told; // or it'd be read out again
  }

  draw() {
    const { root, stage, page, state, isCells, nodes, grip } = this;
    root.style.zoom = document.fullscreenElement === root
      ? Math.min((innerWidth - 40) / 800, (innerHeight - 20) / (this.height + 230)) : "";
    const width = Math.min(stage.clientWidth, 760);
    if (!width || !this.now) return;
    const layCells = () => layoutCells({ ...state, seen: this.seen }, page, width);
    if (!nodes.size && page.x.length > 1) // in the order in which keys go through them
      for (const box of layCells().boxes) this.paint(box);
    const { boxes, told, height } = isCells ? layCells() : this.drawRow(width);
    Object.assign(this, { boxes, height });
    this.bar.hidden = isCells || Boolean(state.guess);
    root.classList.toggle("steps", state.depth === "steps");
    for (const { svg } of this.views) svg.classList.toggle("away", isCells);
    stage.className = `stage ${grip ? "still" : this.turning ? "turn" : isCells ? "" : "still"}`;
    const header = document.querySelector(".mobile-header")?.offsetHeight ?? 0;
    stage.style.cssText = `--height: ${height}px; --header: ${header}px`;
    const ids = new Set(boxes.map(({ id }) => id));
    for (const [id, node] of nodes) node.classList.toggle("away", !ids.has(id));
    for (const box of boxes) this.paint(box);
    this.drawTable(told);
    for (const { button, isOn, when } of this.buttons) {
      button.hidden = !when();
      if (isOn) button.ariaPressed = isOn();
    }
    this.light();
  }

  drawTable(lines) {
    const cell = (tag, text, part) => `<${tag}${part ? ` data-of="${part}"` : ""}>${text}</${tag}>`;
    const made = lines.map(({ label, values, part, beside = "", besideOf }, i) => {
      const middle = values.map((text) => cell(i ? "td" : "th", text, part)).join("");
      return `<tr>${cell(i ? "th" : "td", label, part)}${middle}${cell("td", beside, besideOf)}</tr>`;
    }).join("");
    if (this.table.made !== made) Object.assign(this.table, { made, innerHTML: made });
  }

  /** Draw a box, which is made when it's first needed; of most the table tells. */
  paint(box) {
    const { id, kind, row, d, place: [x, y, w, h], act, tone, value, text = "", label } = box;
    const { isCells, seen, hot, state, nodes, edge } = this;
    const node = nodes.get(id) ?? element(kind === "word" ? "button" : "div", this.stage);
    if (!nodes.has(id)) element("span", node, kind === "word" ? {} : { "aria-hidden": true });
    nodes.set(id, node);
    if (act && !node.input) {
      node.input = element("input", null, { type: "range", step: "any", min: -edge, max: edge });
      node.prepend(node.input);
    }
    const step = isCells && seen.steps[row]?.[d]; // whose number, or mean, it shows
    const center = hot && state.over !== undefined && seen.steps[hot.row][hot.d].group;
    const { opacity = step && center && step.group !== center ? 0.5 : "" } = box;
    Object.assign(node.style, { translate: `${x}px ${y}px`, width: `${w}px`, height: `${h}px`, opacity });
    const look = `box ${kind} ${this.moved.includes(step) ? "moved" : ""}`;
    if (node.look !== look) Object.assign(node, { look, className: look });
    Object.assign(node, { box });
    if (box.of) node.dataset.of = box.of;
    if (tone !== undefined) node.style.setProperty("--fill", `${tone * 28}%`);
    if (node.lastChild.textContent !== text) node.lastChild.textContent = text;
    if (!node.input) return;
    Object.assign(node.input, { hidden: !act, disabled: Boolean(box.isFixed) });
    if (act) Object.assign(node.input, { value, ariaValueText: short(value), ariaLabel: label(this.page.letters[d]) });
    node.input.dataset.hand = box.hand ?? `${act}${d}`;
  }

  /** Draw what lies under the boxes of a machine, and return these. */
  drawRow(width) {
    const { now, state, page, base, guessed } = this;
    const isBeside = width >= 640 && state.rms && !state.guess; // RMSNorm has a machine of its own
    const look = { ...now, guess: state.guess, at: state.at, word: this.words[state.at], letters: page.letters,
      t: this.t, hot: this.hot, grip: this.grip, touched: this.touched > 0 };
    const boxes = this.views.flatMap((view, i) => {
      view.svg.toggleAttribute("hidden", i && !isBeside);
      if (i && !isBeside) return [];
      const keep = isBeside ? 1 - i : now.keep;
      const one = stations(now.x, { ...now, keep });
      const before = base && stations(base[state.at], { ...now, keep }).y;
      const isSame = keep > 0.5 && before && `${base[state.at]}` !== `${now.x}` && !differ(before, one.y);
      // Rings are where results were; in RMSNorm, where those of layer norm are.
      const mine = !isBeside || i ? guessed : null; // a guess is one of RMSNorm
      const rings = mine ?? (keep < 0.5 ? stations(now.x, { eps: now.eps }).y : before ?? one.y);
      const place = layoutMachine(isBeside ? (width - 24) / 2 : width, one,
        { keep, affine: now.affine, reach: page.reach });
      Object.assign(view, { one, place });
      view.svg.style.height = `${place.height}px`;
      drawMachine(view.pen, { one, place, keep, rings, isSame, isKept: !state.guess && (keep < 0.5 || base || mine) }, look);
      return boxesOf({ one, place, keep }, look).map(({ id, place: [x, ...rest], ...box }) => ({ ...box, keep,
        id: i ? `beside ${id}` : id, place: [x + i * (width + 24) / 2, ...rest] }));
    });
    const isRms = state.rms && !isBeside;
    this.formula.classList.toggle("rms", isRms);
    this.formula.classList.toggle("learned", Boolean(state.gamma));
    this.formula.querySelector(".under").textContent = isRms ? "mean of x²" : "var";
    this.formula.ariaLabel = `y is x ${isRms ? "" : "minus the mean, "}divided by the root of ${
      isRms ? "the mean of its squares" : "the variance"} plus ε${state.gamma ? ", times γ, plus β" : ""}`;
    Object.assign(this.scrubber, { max: state.gamma ? 4 : 3, value: this.t });
    const { place: { height } } = this.views[0];
    return { boxes, height, told: tellMachine(this.views[isBeside ? 1 : 0].one, page.letters, state) };
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
      this.travel(at < this.scrubber.max ? Math.floor(at) + (isCalm ? 0.5 : eased(part)) : at);
      if (at < this.scrubber.max) requestAnimationFrame(step);
    };
    step(start);
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
  settle(place, mount(place, page));
}

/** A Jupyter widget made of `mount`, which shows the preset that Python names. */
export default { render({ model, el }) {
  const row = mount(el, model.get("page"));
  model.on("change:preset", () => row.show(row.find(model.get("preset"))));
  return () => row.close();
} };
