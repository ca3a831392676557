// What a reader sees of a row, and touches: `mount` puts it into any page. row.json has the states.
import { mix } from "./engine/controls.js";
import { drawTools } from "./row_buttons.js";
import { takeHands } from "./row_hands.js";
import { addressed, follow, isCalm, settle } from "./row_links.js";
import { clamp, derive, isOnWay, stations } from "./row_numbers.js";
import { build, draw } from "./row_painting.js";
import { tellCells, tellGuess, tellRow } from "./row_words.js";

// Milliseconds of a change, of a change of view, and from station to station.
const [BEAT, TURN, SEGMENT] = [600, 750, 1500];
const DEPTHS = { numbers: "numbers", row: "one word", steps: "its steps" };
const PLAIN = { at: 0, rms: false, eps: 1e-5, gamma: null, beta: null, guess: null };
const eased = (part) => part * part * (3 - 2 * part);

class Row {
  constructor(parent, page) {
    const { at, depth, ...start } = { ...PLAIN, ...page.start };
    this.presets = Object.entries(page.states).map(([name, { says, rows, ...changes }]) => {
      const x = rows && { x: page.x.map((values, row) => rows[row] ?? values) };
      return { name, says, state: { ...start, ...changes, ...x } };
    });
    Object.assign(this, build(parent, page.alt), { page, words: page.sentences.flat(),
      depths: page.depths ?? DEPTHS, state: { ...start, at, depth, x: page.x }, t: 0,
      touched: -Infinity, nodes: new Map(), pinned: "", peeked: "", hot: null, grip: null });
    page.isAcross = page.axes || this.presets.some(({ state }) => state.over === "NL");
    // How far a number is dragged.
    this.edge = this.isCells && !Object.keys(this.depths).length
      ? Math.max(10, ...page.x.flat().map(Math.abs)) : page.reach - 1;
    this.stage.row = this;
    this.buttons = drawTools(this);
    this.listen();
    this.measure();
    this.show(this.find(page.preset), 0);
  }

  get isCells() { return this.state.depth === "numbers"; }
  get isHeld() { return this.grip?.start !== undefined; } // by a pointer
  get asked() { return this.peeked || this.pinned; } // the term that is pointed at

  /** The term that is lit: what is pointed at, what numbers on their way pass, or what is held. */
  get lit() {
    const { t, now, grip, isCells, asked } = this;
    const passed = isOnWay(t, now.affine) && ["mean", "spread", "y", "gamma"][Math.floor(t)];
    return asked || passed || (!isCells && grip?.of.split(" ")[0]);
  }

  /** What the machine is to show. */
  get goal() {
    const { x, at, rms, eps, gamma, beta } = this.state;
    return { x: x[at], keep: rms ? 0 : 1, eps, affine: gamma ? 1 : 0,
      gamma: gamma ?? x[at].map(() => 1), beta: beta ?? x[at].map(() => 0) };
  }

  /** The presets that are seen. */
  get shown() {
    return this.presets.filter(({ state }) =>
      Object.entries(state).every(([key, value]) => `${this.state[key]}` === `${value}`));
  }

  /** The end of an address that leads to what is seen: a preset, or the first one with changes. */
  get link() {
    const shown = this.shown.at(-1);
    const round = (_, value) => (Number.isFinite(value) ? Number(value.toPrecision(7)) : value);
    const changes = shown ? "" : encodeURIComponent(JSON.stringify(this.state, round));
    return `#row=${addressed(shown?.name ?? this.page.preset)}${changes}`;
  }

  /** Find a preset by its name or an address, maybe with what a hand has changed. */
  find(name) {
    const [, start, changes] = name.match(/^([^{]*)(\{.*)?$/) ?? [];
    const found = this.presets.find((one) => [one.name, addressed(one.name)].includes(start));
    if (!found || !changes) return found;
    try {
      const state = { ...found.state, ...JSON.parse(changes) };
      const isRow = (values, row) => values.every((_, d) => Number.isFinite(state.x[row][d]));
      return this.page.x.every(isRow) && state.x[state.at] ? { state } : found;
    } catch { return found; }
  }

  listen() {
    const { root, stage, play, scrubber } = this;
    takeHands(this);
    play.onclick = () => this.run();
    scrubber.oninput = () => this.travel(Number(scrubber.value));
    for (const type of ["pointerdown", "keydown"])
      root.addEventListener(type, () => { this.touched = performance.now(); }, true);
    root.addEventListener("pointerover", ({ target, pointerType }) => {
      const part = target.closest(":is(math, td, th)[data-of], math [data-of]");
      if (pointerType === "mouse") this.peek(part?.dataset.of.split(" ")[0]);
    });
    root.addEventListener("pointerleave", () => this.peek());
    root.addEventListener("fullscreenchange", () => this.measure());
    new ResizeObserver(() => this.measure()).observe(stage);
    const { signal } = this.gone = new AbortController();
    for (const type of ["click", "pointerover", "pointerout", "focusin", "focusout"])
      document.addEventListener(type, (event) => follow(this, event), { capture: true, signal });
  }

  measure() {
    this.width = Math.min(this.stage.clientWidth, 760);
    this.header = document.querySelector(".mobile-header")?.offsetHeight ?? 0;
    this.marked = null; // what was folded may have links of its own now
    this.draw();
  }

  draw() { if (this.width && this.now) draw(this); }

  /** Light a term as long as it's pointed at. */
  peek(term = "") {
    if (term !== this.peeked) Object.assign(this, { peeked: term }).draw();
  }

  /** Show a preset: its numbers and its view. */
  show({ state, says }, milliseconds = BEAT) {
    const isMoved = state.x && `${state.x}` !== `${this.page.x}`;
    this.go(state, { said: says, base: isMoved ? this.page.x : null, milliseconds });
  }

  /** Change parts of the state, and say what is seen now. base: its results stay as rings. */
  go(changes, { said, cause = "", base, hot = null, milliseconds = BEAT, guessed = null } = {}) {
    const { seen, isCells, page: { x, sentences: [{ length }] } } = this;
    const solve = (state) => derive(state.x, { length, ...state });
    // A preset is seen as a change of the first numbers, whatever a hand has made of them.
    const before = said ? solve({ ...this.state, ...changes, x }) : seen;
    const state = this.state = { ...this.state, ...changes };
    if (!this.isCells && state.over) state.over = "D"; // a word alone has its own mean
    this.seen = solve(state);
    const results = ({ steps }) =>
      steps.flat().map((step) => step[state.results] ?? step.group.mean);
    const [now, then] = [this.seen, before].map(results);
    this.moved = this.seen.steps.flat()
      .filter((_, i) => changes.x && Math.abs(now[i] - then[i]) > 1e-9);
    Object.assign(this, { pinned: "", base, cause, guessed, hot, t: 0 });
    this.tell(said);
    const isTurn = seen && this.isCells !== isCells;
    if (isTurn) { // the style knows for how long
      clearTimeout(this.turning);
      this.turning = setTimeout(() => { this.turning = 0; this.draw(); }, TURN);
    }
    this.tween(isTurn ? 0 : milliseconds);
  }

  /** Show what becomes of the row, beside what was guessed. */
  uncover() {
    const guessed = this.shown.length ? null : this.state.guess;
    const { y } = stations(this.goal.x, this.goal);
    this.go({ guess: null }, { guessed, said: tellGuess(guessed, y) });
  }

  /** Call with the share of a time that has passed, up to 1, until something else moves. */
  animate(milliseconds, act) {
    cancelAnimationFrame(this.frame);
    const start = performance.now();
    const step = (time) => {
      const share = milliseconds ? clamp((time - start) / milliseconds, 0, 1) : 1;
      act(share);
      if (share < 1) this.frame = requestAnimationFrame(step);
    };
    step(start);
  }

  /** Go to the goal in a movement that can be followed. */
  tween(milliseconds) {
    const { goal, now = goal } = this;
    this.animate(isCalm ? 0 : milliseconds, (share) => {
      this.now = Object.fromEntries(Object.entries(goal)
        .map(([key, to]) => [key, mix(now[key], to, eased(share))]));
      this.draw();
    });
  }

  /** Put the numbers at a place from 0, where they are, to the last station; nothing else moves. */
  stopAt(t) {
    cancelAnimationFrame(this.frame);
    Object.assign(this, { t, now: this.goal });
  }

  travel(t) {
    this.stopAt(t);
    this.tell();
    this.draw();
  }

  run() {
    const end = Number(this.scrubber.max);
    this.animate(SEGMENT * end, (share) => {
      const at = share * end;
      const part = isCalm ? 0.5 : eased(Math.min(1, (at % 1) / 0.8)); // they rest at each station
      this.travel(share < 1 ? Math.floor(at) + part : end);
    });
  }

  /** Say what is seen: the words of a preset, or what has become of the numbers. */
  tell(said = this.isCells ? tellCells(this) : tellRow(this)) {
    const told = said.charAt(0).toUpperCase() + said.slice(1);
    if (this.says.textContent !== told) this.says.textContent = told; // or it'd be read out again
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
