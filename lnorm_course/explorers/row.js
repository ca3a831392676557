// What a reader sees of a row, and touches: `mount` puts it into any page. It stands behind
// controls.js and row_core.js.

const DEPTHS = { words: "words", numbers: "numbers", row: "one word", steps: "its steps" };
const [MOST, GRAIN, PULL] = [10, 0.25, 8]; // dragged from −10 to 10, in quarters, one for 8 pixels
const [GLIDE, BEAT, QUIET, SCENE] = [500, 420, 1200, 1100]; // milliseconds
const TERMS = ["mean", "centered", "var", "spread", "y"]; // of the formula, in turn
const HANDLE = 'a[href*="#row="]';

/** What an address calls a preset or a term, such as "#row=one-per-word". */
const addressed = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-");

/** Whose picture a link in the text means: the nearest one. */
function ownerOf(link) {
  const top = (one) => Math.abs(one.getBoundingClientRect().top - link.getBoundingClientRect().top);
  return [...document.querySelectorAll(".lnorm-row")].sort((a, b) => top(a) - top(b))[0];
}

/**
 * Draw a row into an element, in the state of a preset.
 *
 * changed(preset, x): the reader has come to another preset, or, where it's "", to other numbers.
 * Return {show, glide, close}: go to a preset; go to numbers; let go of everything.
 */
export function mount(parent, page, preset, changed = () => {}) {
  const words = page.sentences.flat();
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const root = element("div", parent, { class: "lnorm-row", role: "group", "aria-label": page.alt });
  const group = (name) => element("div", root, { class: name, role: "group", "aria-label": name });
  const [chips, stage] = [group("chips"), element("div", root, { class: "stage" })];
  stage.innerHTML = '<svg aria-hidden="true" font-size="13" text-anchor="middle"></svg>';
  const says = element("p", root, { role: "status" });
  const tools = group("tools");
  const nodes = new Map(); // id → what is drawn of a box
  const zoomOf = (depth) => Number(depth === "steps"); // one scale first: there it's seen who shrinks
  let state = { ...page.start, zoom: zoomOf(page.start.depth) };
  let [pinned, peeked, beat, width] = ["", "", "", 0]; // the first three are terms that are lit
  let [hot, drag, moved] = [null, null, []]; // what is pointed at, dragged; results that changed
  const timers = {};
  const later = (name, wait, act) => {
    clearTimeout(timers[name]);
    timers[name] = setTimeout(act, wait);
  };
  let opening = isCalm ? [] : page.opens ?? [];

  const buttons = (into, names, act) => new Map(names.map((name) => {
    const made = element("button", into, { type: "button" }, DEPTHS[name] ?? name);
    made.addEventListener("click", () => act(name));
    return [name, made];
  }));
  const presets = buttons(chips, Object.keys(page.presets), show);
  const depths = buttons(tools, page.depths ?? Object.keys(DEPTHS), (depth) => dive(depth));

  /** Change parts of the state, whose numbers glide to their new places. */
  function go(changes, said) {
    const before = { ...state };
    Object.assign(state, changes);
    [hot, pinned, moved] = [null, "", []];
    if (changes.x && before.over === state.over) notice(before);
    tell(said);
    glide(before.x, state.x);
  }
  function dive(depth, at = state.at) {
    go({ depth, at }, isOpen({ depth }) ? undefined : "Each word stands for its numbers. Touch one.");
  }
  function show(name) {
    const found = page.presets[name];
    if (found) go(found.state, found.says);
    if (found) later("saving", GLIDE, () => changed(name, state.x));
  }

  /** Compute what is shown; a word that is open is a row, whatever shares a mean among all. */
  const solve = (some = state) => derive(some.x, {
    ...some, over: isOpen(some) || !some.over ? "D" : some.over, length: page.sentences[0].length });

  /** Light for a while the results that aren't what they were. */
  function notice(before) {
    const [old, of] = [solve(before).steps.flat(), state.results || "y"];
    moved = solve().steps.flat().filter((step, i) => Math.abs(step[of] - old[i][of]) > 1e-9)
      .map(({ id }) => id);
    later("resting", QUIET, () => { moved = []; draw(); });
  }

  /** Let the numbers become others, and the lower line take the scale of its depth. */
  function glide(from, x) {
    const [begin, before, zoom] = [performance.now(), state.zoom, zoomOf(state.depth)];
    const mix = (a, b, part) => (part === 1 ? b : a + part * (b - a));
    cancelAnimationFrame(timers.gliding);
    const step = (now) => {
      const part = isCalm ? 1 : Math.max(0, Math.min(1, (now - begin) / GLIDE));
      const eased = part * part * (3 - 2 * part);
      state.x = x.map((values, row) => values.map((value, d) => mix(from[row][d], value, eased)));
      state.zoom = mix(before, zoom, eased);
      draw();
      if (part < 1) timers.gliding = requestAnimationFrame(step);
      else sweep();
    };
    step(begin);
  }

  /** Change one number, and light what depends on it. */
  function change(row, d, value) {
    const before = { ...state };
    const next = Math.max(-MOST, Math.min(MOST, Math.round(value / GRAIN) * GRAIN));
    cancelAnimationFrame(timers.gliding);
    hot = { row, d };
    state.x = state.x.map((values, r) => (r === row ? values.with(d, next) : values));
    if (next !== before.x[row][d]) {
      notice(before);
      tell(undefined, hot);
      later("saving", QUIET, () => changed("", state.x));
      sweep();
    }
    draw();
  }

  /** Light one term of the formula after the other. */
  function sweep(at = 0) {
    if (isCalm || state.depth !== "steps" || (at === 0 && beat)) return;
    beat = TERMS[at] ?? "";
    if (beat) later("beating", BEAT, () => sweep(at + 1));
    light();
  }

  function light() {
    const lit = peeked || pinned || beat;
    for (const part of root.querySelectorAll("[data-of]"))
      part.classList.toggle("lit", part.dataset.of.split(" ").includes(lit));
    for (const link of document.querySelectorAll(HANDLE))
      if (ownerOf(link) === root) link.classList.toggle("lnorm-lit", link.hash === `#row=${lit}`);
  }

  /** Say what is seen: the words of a preset, or what has become of a number. */
  function tell(said, { row, d } = { row: state.at, d: 0 }) {
    const { steps, groups } = solve();
    const { mean, root: spread, cells } = groups[steps[row][d].group];
    const parts = [`“${words[row]}”, ${LETTERS[d]}: ${short(state.x[row][d])}.`];
    if (isOpen(state) || state.over)
      parts.push(`${cells.length} numbers have mean ${fitted(mean)}, spread ${fitted(spread)}.`);
    if (isOpen(state)) parts.push(`Results: ${steps[row].map(({ y }) => fixed(y)).join(", ")}.`);
    else if (state.results) parts.push(`${moved.length} results have changed.`);
    later("talking", 150, () => { says.textContent = said ?? parts.join(" "); });
  }

  function draw() {
    if (!width) return;
    const [solved, open] = [solve(), isOpen(state)];
    const { boxes, height } = layout(state, page, width, solved);
    const svg = stage.firstChild;
    svg.classList.toggle("away", !open);
    svg.innerHTML = plot(state, width, solved.steps[state.at], hot?.d);
    const ids = new Set(boxes.map(({ id }) => id));
    const center = hot && state.over && state.depth === "numbers" && solved.steps[hot.row][hot.d].group;
    const isDim = ({ group }) => typeof center === "number" && group !== undefined && group !== center;
    for (const box of boxes) paint(nodes.get(box.id) ?? born(box), box, {
      away: box.isShown === false, on: box.isOn, last: box.isLast, negative: box.tone < 0,
      dim: isDim(box), moved: moved.includes(box.id), tiny: state.depth === "words" });
    for (const [id, node] of nodes) if (!ids.has(id)) node.classList.add("away");
    stage.style.height = `${height}px`;
    presets.forEach((button, name) => button.setAttribute("aria-pressed", Object.entries(
      page.presets[name].state).every(([key, value]) => `${state[key]}` === `${value}`)));
    depths.forEach((button, depth) => button.setAttribute("aria-pressed", depth === state.depth));
    light();
  }

  /** Make what draws a box; it comes out of another one, or where it stands. */
  function born({ id, kind, row, d, from, html = "" }) {
    const node = element(kind === "word" ? "button" : "div", stage, { class: `box ${kind}` });
    nodes.set(id, node);
    node.innerHTML = kind !== "cell" ? html : `<input type="range" min="${-MOST}" max="${MOST}"
      step="any" aria-label="number ${LETTERS[d]} of ${words[row]}"><span></span><span></span>`;
    if (nodes.has(from)) {
      node.style.cssText = nodes.get(from).style.cssText;
      node.getBoundingClientRect(); // from there it moves
    }
    return node;
  }

  function paint(node, { place: [x, y, w, h], ...box }, marks) {
    const hue = (of, tone) => of.style.setProperty("--tone", `${Math.min(1, Math.abs(tone)) * 46}%`);
    Object.assign(node.style, { translate: `${x}px ${y}px`, width: `${w}px`, height: `${h}px` });
    for (const name of ["of", "row", "d"]) if (name in box) node.dataset[name] = box[name];
    for (const [name, is] of Object.entries(marks)) node.classList.toggle(name, Boolean(is));
    hue(node, box.tone);
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
  const touched = ({ target }) => {
    const part = target.closest(".cell:not(.tiny), .dot");
    return part && { row: Number(part.dataset.row ?? state.at), d: Number(part.dataset.d),
      pull: { x: (2 * UPPER) / (width - 24), y: 0 }[part.dataset.name] ?? GRAIN / PULL };
  };
  const hands = {
    click: ({ target }) => {
      const word = target.closest(".word");
      const isAgain = isOpen(state) && state.at === Number(word?.dataset.row);
      const depth = isAgain ? "numbers" : isOpen(state) ? state.depth : "row";
      if (word) dive(depths.has(depth) ? depth : "numbers", Number(word.dataset.row));
    },
    input: (event) => { const { row, d } = touched(event); change(row, d, Number(event.target.value)); },
    focusin: (event) => { hot = touched(event); draw(); },
    focusout: () => { hot = null; draw(); },
    pointerdown: (event) => {
      pinned = "";
      const part = touched(event);
      if (part?.pull) drag = { ...part, from: event.clientX, x: state.x };
      if (drag) stage.setPointerCapture(event.pointerId);
      light();
    },
    pointermove: ({ clientX }) => {
      if (drag && (drag.isPulled ||= Math.abs(clientX - drag.from) > 3))
        change(drag.row, drag.d, drag.x[drag.row][drag.d] + (clientX - drag.from) * drag.pull);
    },
    pointerup: () => {
      if (drag) nodes.get(`c${drag.row}-${drag.d}`).firstChild.focus({ preventScroll: true });
      drag = null;
    },
    pointercancel: () => { // a finger that scrolls the page
      if (drag) { state.x = drag.x; drag = null; draw(); }
    },
    pointerover: (event) => {
      if (event.pointerType !== "mouse" || drag) return;
      const next = touched(event);
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

  /** Follow a word of the text: pointed at, it lights a term; pressed, it pins it, or shows a state. */
  function follow(event) {
    const link = event.target.closest?.(HANDLE);
    if (!link || ownerOf(link) !== root) return;
    const name = decodeURIComponent(link.hash.slice(5));
    const found = Object.keys(page.presets).find((one) => addressed(one) === name);
    if (event.type === "click") {
      event.preventDefault();
      settle();
      if (found) show(found);
      else pinned = pinned === name ? "" : name;
      root.scrollIntoView({ block: "nearest", behavior: isCalm ? "instant" : "smooth" });
    } else peeked = !found && /over|in$/.test(event.type) ? name : "";
    light();
  }
  const followed = ["click", "pointerover", "pointerout", "focusin", "focusout"];
  for (const type of followed) document.addEventListener(type, follow, true);

  /** Let the depths open out of each other, once, until the reader does something. */
  function open(at) {
    if (at < opening.length) later("opening", SCENE, () => open(at + 1));
    if (at < opening.length) dive(opening[at]);
    else settle();
  }
  function settle() {
    if (opening.length) go({ depth: page.start.depth }, page.presets[preset].says);
    opening = [];
    stage.style.minHeight = "";
  }

  const fit = () => { width = Math.min(stage.clientWidth, 760); draw(); };
  const sizes = new ResizeObserver(fit);
  sizes.observe(stage);
  fit();
  show(preset);
  stage.style.minHeight = opening.length ? stage.style.height : "";
  if (opening.length) open(0);
  const close = () => {
    sizes.disconnect();
    Object.values(timers).forEach(clearTimeout);
    cancelAnimationFrame(timers.gliding);
    for (const type of followed) document.removeEventListener(type, follow, true);
    root.remove();
  };
  return { show, glide: (x) => go({ x }), close };
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
  model.on("change:x", () => isOurs || row.glide(model.get("x")));
  return row.close;
}

for (const place of globalThis.document?.querySelectorAll(".lnorm-row-place") ?? []) {
  const page = JSON.parse(place.querySelector("script").textContent);
  const asked = decodeURIComponent(location.hash);
  const named = Object.keys(page.presets).find((name) => asked === `#row=${addressed(name)}`);
  place.textContent = "";
  mount(place, { ...page, opens: named ? [] : page.opens }, named ?? place.dataset.preset);
  if (named) place.scrollIntoView();
}
export default { render };
