// What a reader sees of a row, and touches: `mount` puts it into any page. It stands behind
// controls.js and row_core.js.

const DEPTHS = { words: "words", numbers: "numbers", row: "one word", steps: "its steps" };
const [MOST, GRAIN, PULL] = [10, 0.25, 8]; // dragged from −10 to 10, in quarters, one for 8 pixels
const [BEAT, QUIET, SCENE, AWAY] = [420, 1200, 1100, 8000]; // milliseconds
const TERMS = ["mean", "centered", "var", "spread", "y"]; // of the formula, in turn
const HANDLE = 'a[href*="#row="]';
const CONTROL = "input, button, select, textarea, section";

/** What an address calls a preset or a term, such as "#row=one-per-word". */
const addressed = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-");

const nameIn = (link) => decodeURIComponent(link.hash.slice(5));

/** Whose picture a link in the text means: that of its section, or the nearest one. */
function ownerOf(link) {
  const top = (one) => Math.abs(one.getBoundingClientRect().top - link.getBoundingClientRect().top);
  const around = link.closest("section:has(.lnorm-row .stage)") ?? document;
  return [...around.querySelectorAll(".lnorm-row .stage")].sort((a, b) => top(a) - top(b))[0];
}

/**
 * Draw a row into an element, in the state of a preset.
 *
 * changed(preset, x): the reader has come to another preset, or, where it's "", to other numbers.
 * Return {stage, go, show, point, close}: its picture; change parts of the state; go to a preset;
 * do what a link in the text asks for, unless the reader is at it; let go of everything.
 */
export function mount(parent, page, preset, changed = () => {}) {
  const words = page.sentences.flat();
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const root = element("div", parent, { class: "lnorm-row", role: "group", "aria-label": page.alt });
  const group = (name) => element("div", root, { class: name, role: "group", "aria-label": name });
  const [chips, stage] = [group("chips"), element("div", root, { class: "stage" })];
  const says = element("p", root, { role: "status" });
  const tools = group("tools");
  const nodes = new Map(); // id → what is drawn of a box
  const timers = {};
  const later = (name, wait, act) => {
    clearTimeout(timers[name]);
    timers[name] = setTimeout(act, wait);
  };
  let state = page.start;
  let [pinned, peeked, beat, width] = ["", "", "", 0]; // the first three are terms that are lit
  let [hot, drag, moved] = [null, null, []]; // what is pointed at, dragged; results that changed
  let [opening, touched] = [isCalm ? [] : page.opens ?? [], -AWAY];

  const buttons = (into, labels, act) => new Map(Object.entries(labels).map(([name, label]) => {
    const made = element("button", into, { type: "button" }, label.says ? name : label);
    made.addEventListener("click", () => act(name));
    return [name, made];
  }));
  const presets = buttons(chips, page.presets, show);
  const depths = buttons(tools, page.depths ?? DEPTHS, (depth) => dive(depth));
  const axes = buttons(tools, page.axes ?? {}, (axis) => go({
    over: [..."NLD"].filter((one) => (one === axis) !== state.over.includes(one)).join("") }));

  /** Change parts of the state, and say what is seen now. */
  function go(changes, said, at = null) {
    const before = state;
    state = { ...state, ...changes };
    [hot, pinned, moved] = [at, "", []];
    const results = (some) => solve(some).steps.flat().map((step) => step[state.results || "y"]);
    if (state.x !== before.x && state.over === before.over) {
      const old = results(before);
      moved = results(state).flatMap((value, i) => (Math.abs(value - old[i]) > 1e-9 ? [i] : []));
      later("resting", QUIET, () => { moved = []; draw(); });
    }
    tell(said, at ?? undefined);
    draw();
    sweep();
  }
  function dive(depth, at = state.at) {
    go({ depth, at }, isOpen({ depth }) ? undefined : "Each word stands for its numbers. Touch one.");
  }
  function show(name) {
    const found = page.presets[name];
    if (found) go(found.state, found.says);
    if (found) later("saving", BEAT, () => changed(name, state.x));
  }
  function change(row, d, value) {
    const next = Math.max(-MOST, Math.min(MOST, Math.round(value / GRAIN) * GRAIN));
    if (next === state.x[row][d]) return;
    go({ x: state.x.map((values, r) => (r === row ? values.with(d, next) : values)) }, undefined, { row, d });
    later("saving", QUIET, () => changed("", state.x));
  }

  /** Compute what is shown; a word that is open is a row, whatever shares a mean among all. */
  function solve(some = state) {
    const over = isOpen(some) ? "D" : some.over ?? "D";
    return derive(some.x, { ...some, over, length: page.sentences[0].length });
  }

  /** Light one term of the formula after the other. */
  function sweep(at = 0) {
    if (isCalm || (at === 0 && beat)) return;
    beat = (state.depth === "steps" && TERMS[at]) || "";
    if (beat) later("beating", BEAT, () => sweep(at + 1));
    light();
  }
  function light() {
    const lit = peeked || pinned || beat;
    const shown = Object.keys(page.presets).filter((name) =>
      presets.get(name).getAttribute("aria-pressed") === "true").map(addressed);
    for (const part of root.querySelectorAll("[data-of]"))
      part.classList.toggle("lit", part.dataset.of.split(" ").includes(lit));
    for (const link of document.querySelectorAll(HANDLE))
      if (ownerOf(link) === stage) link.classList.toggle("lnorm-lit", [lit, ...shown].includes(nameIn(link)));
  }

  /** Say what is seen: the words of a preset, or what has become of a number. */
  function tell(said, { row, d } = { row: state.at, d: 0 }) {
    const own = solve().steps[row];
    const { mean, root: spread, steps } = own[d].group;
    const parts = [`“${words[row]}”, ${(page.letters ?? LETTERS)[d]}: ${short(state.x[row][d])}.`];
    if (isOpen(state) || state.over !== null)
      parts.push(`${steps.length} numbers have mean ${fitted(mean)}, spread ${fitted(spread)}.`);
    if (isOpen(state)) parts.push(
      `Results: ${tableOf(state, own).at(-1).values.map((value) => fixed(value)).join(", ")}.`);
    else if (state.results) parts.push(`${moved.length} results have changed.`);
    later("talking", 150, () => { says.textContent = said ?? parts.join(" "); });
  }

  function draw() {
    if (!width) return;
    const solved = solve();
    const { boxes, height } = layout(state, page, width, solved);
    const ids = new Set(boxes.map(({ id }) => id));
    const center = hot && state.over !== null && state.depth === "numbers"
      && solved.steps[hot.row][hot.d].group;
    for (const box of boxes) paint(nodes.get(box.id) ?? born(box), box, {
      away: box.isShown === false, on: box.isOn, last: box.isLast, negative: box.tone < 0,
      dim: center && box.group && box.group !== center, tiny: state.depth === "words",
      hot: box.kind === "dot" && box.d === hot?.d,
      moved: box.kind === "cell" && moved.includes(box.row * state.x[0].length + box.d) });
    for (const [id, node] of nodes) if (!ids.has(id)) node.classList.add("away");
    stage.style.height = `${height}px`;
    stage.style.setProperty("--over", `${Math.max(0, height - 0.4 * innerHeight)}px`);
    const press = (button, is) => button.setAttribute("aria-pressed", is);
    presets.forEach((button, name) => press(button, Object.entries(page.presets[name].state)
      .every(([key, value]) => `${state[key]}` === `${value}`)));
    depths.forEach((button, depth) => press(button, depth === state.depth));
    axes.forEach((button, axis) => press(button, state.over.includes(axis)));
    light();
  }

  /** Make what draws a box; it comes out of another one, or where it stands. */
  function born({ id, kind, row, d, from, hush, html = "" }) {
    const node = element(kind === "word" ? "button" : "div", stage, { class: `box ${kind}` });
    nodes.set(id, node);
    if (hush) node.ariaHidden = true;
    node.innerHTML = kind === "thread" ? "<svg><path/></svg>" : kind !== "cell" ? html
      : `<input type="range" min="${-MOST}" max="${MOST}" step="any"
      aria-label="number ${LETTERS[d]} of ${words[row]}"><span></span><span></span>`;
    if (nodes.has(from)) {
      node.style.cssText = nodes.get(from).style.cssText;
      node.getBoundingClientRect(); // from there it moves
    }
    return node;
  }

  function paint(node, { place: [x, y, w, h], ...box }, marks) {
    const hue = (of, tone) => of.style.setProperty("--tone", `${Math.min(1, Math.abs(tone)) * 46}%`);
    Object.assign(node.style, { translate: `${x}px ${y}px`, width: `${w}px`, height: `${h}px` });
    for (const name of ["of", "row", "d", "pull"]) if (name in box) node.dataset[name] = box[name];
    for (const [name, is] of Object.entries(marks)) node.classList.toggle(name, Boolean(is));
    if (box.path) node.querySelector("path").setAttribute("d", box.path);
    if ("tone" in box) hue(node, box.tone);
    const [input, number, below] = box.kind === "cell" ? node.children : [null, node];
    if ("text" in box) number.textContent = box.text;
    if (!input) return;
    input.value = box.value;
    input.ariaValueText = short(box.value);
    below.textContent = box.below === null ? "" : fitted(box.below);
    below.className = `below ${box.below < 0 ? "negative" : ""}`;
    hue(below, box.below / 2);
  }

  // A number is pulled sideways: up and down scrolls the page. A dot has the number of its cell.
  const partAt = ({ target }) => {
    const part = target.closest(".cell:not(.tiny), .dot");
    return part && { row: Number(part.dataset.row ?? state.at), d: Number(part.dataset.d),
      pull: Number(part.dataset.pull ?? GRAIN / PULL) };
  };
  const hands = {
    click: ({ target }) => {
      const word = target.closest(".word");
      const isAgain = isOpen(state) && state.at === Number(word?.dataset.row);
      const depth = isAgain ? "numbers" : isOpen(state) ? state.depth : "row";
      if (word) dive(depths.has(depth) ? depth : state.depth, Number(word.dataset.row));
    },
    input: (event) => { const { row, d } = partAt(event); change(row, d, Number(event.target.value)); },
    focusin: (event) => { hot = partAt(event); draw(); },
    focusout: () => { hot = null; draw(); },
    pointerdown: (event) => {
      pinned = "";
      const part = partAt(event);
      if (part?.pull) drag = { ...part, from: event.clientX, x: state.x };
      if (drag) stage.setPointerCapture(event.pointerId);
      light();
    },
    pointermove: ({ clientX }) => {
      if (!drag || !(drag.isPulled ||= Math.abs(clientX - drag.from) > 3)) return;
      stage.classList.add("held");
      change(drag.row, drag.d, drag.x[drag.row][drag.d] + (clientX - drag.from) * drag.pull);
    },
    pointerup: () => {
      stage.classList.remove("held");
      if (drag) nodes.get(`c${drag.row}-${drag.d}`).firstChild.focus({ preventScroll: true });
      drag = null;
    },
    pointercancel: () => { // a finger that scrolls the page
      stage.classList.remove("held");
      if (drag) go({ x: drag.x });
      drag = null;
    },
    pointerover: (event) => {
      if (event.pointerType !== "mouse" || drag) return;
      const next = partAt(event);
      peeked = next ? "" : event.target.closest("[data-of]")?.dataset.of.split(" ")[0] ?? "";
      const isOther = next?.row !== hot?.row || next?.d !== hot?.d;
      hot = next;
      (isOther ? draw : light)();
    },
    pointerleave: () => { if (!drag) { peeked = ""; hot = null; draw(); } },
  };
  for (const [type, act] of Object.entries(hands)) stage.addEventListener(type, act);
  root.addEventListener("keydown", (event) => { // or JupyterLab takes it for one of its own
    if (!/Tab|Escape/.test(event.key) && !event.ctrlKey && !event.metaKey) event.stopPropagation();
  });
  for (const type of ["pointerdown", "keydown"]) root.addEventListener(type, settle, true);

  /** Pin the term that a link in the text names, or show its state. */
  function point(link, isPressed = false) {
    if (!isPressed && (drag || performance.now() - touched < AWAY)) return;
    const name = nameIn(link);
    const found = Object.keys(page.presets).find((one) => addressed(one) === name);
    if (found) show(found);
    else pinned = isPressed && pinned === name ? "" : name;
    light();
  }
  /** Follow the hand in the text: what is pointed at is lit, what is pressed stays. */
  function follow(event) {
    const link = event.target.closest?.(HANDLE);
    if (!link || ownerOf(link) !== stage) return;
    const isOn = /over|in$/.test(event.type);
    if (event.type !== "click") peeked = isOn ? nameIn(link) : "";
    else {
      event.preventDefault();
      settle();
      point(link, true);
      stage.scrollIntoView({ block: "nearest", behavior: isCalm ? "instant" : "smooth" });
    }
    light();
  }
  const followed = ["click", "pointerover", "pointerout", "focusin", "focusout"];
  for (const type of followed) document.addEventListener(type, follow, true);

  /** Let the depths open out of each other, once, until the reader does something. */
  function open(at) {
    later("opening", SCENE, () => (at < opening.length ? open(at + 1) : settle(null)));
    if (at < opening.length) dive(opening[at]);
  }
  function settle(event) {
    if (event !== null) touched = performance.now();
    clearTimeout(timers.opening);
    if (opening.length) go({ depth: page.start.depth }, page.presets[preset].says);
    opening = [];
    stage.style.minHeight = "";
  }

  const sizes = new ResizeObserver(() => { width = Math.min(stage.clientWidth, 760); draw(); });
  sizes.observe(stage);
  width = Math.min(stage.clientWidth, 760);
  show(preset);
  stage.style.minHeight = opening.length ? stage.style.height : "";
  if (opening.length) open(0);
  const close = () => {
    sizes.disconnect();
    Object.values(timers).forEach(clearTimeout);
    for (const type of followed) document.removeEventListener(type, follow, true);
    root.remove();
  };
  return { stage, go, show, point, close };
}

/** A Jupyter widget made of `mount`. */
function render({ model, el }) {
  let isOurs = false;
  const row = mount(el, model.get("page"), model.get("preset"), (preset, x) => {
    isOurs = true;
    model.set({ preset, x });
    isOurs = false;
    try { model.save_changes(); } catch (error) { console.debug(error); } // its kernel is gone
  });
  model.on("change:preset", () => isOurs || row.show(model.get("preset")));
  model.on("change:x", () => isOurs || row.go({ x: model.get("x") }));
  return row.close;
}

/** On a page, keep a picture in view while text speaks of it, up to the next control. */
function reach(place) {
  const following = [];
  for (let next = place.nextElementSibling; next && !next.matches(CONTROL)
    && !next.querySelector(CONTROL); next = next.nextElementSibling) following.push(next);
  const last = following.findLastIndex((one) => one.querySelector(HANDLE));
  if (last < 0) return;
  const around = document.createElement("div");
  around.className = "lnorm-row-reach";
  place.before(around);
  around.append(place, ...following.slice(0, last + 1));
}
const rows = new Map();
for (const place of globalThis.document?.querySelectorAll(".lnorm-row-place") ?? []) {
  const page = JSON.parse(place.querySelector("script").textContent);
  const asked = decodeURIComponent(location.hash);
  const named = Object.keys(page.presets).find((name) => asked === `#row=${addressed(name)}`);
  place.textContent = "";
  reach(place);
  const row = mount(place, { ...page, opens: named ? [] : page.opens }, named ?? place.dataset.preset);
  rows.set(row.stage, row);
  if (named) row.stage.scrollIntoView();
}
// A paragraph that comes into view shows what its first handle says.
const reading = globalThis.document && new IntersectionObserver((seen) => {
  for (const { isIntersecting, target } of seen) if (isIntersecting && scrollY > 0) {
    const link = target.querySelector(HANDLE);
    rows.get(ownerOf(link))?.point(link);
  }
}, { rootMargin: "-40% 0px -45% 0px" });
if (rows.size) for (const link of document.querySelectorAll(HANDLE)) reading.observe(link.closest("p, li"));
export default { render };
