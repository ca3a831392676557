// What a reader sees of a row, and touches: `mount` puts it into any page. It stands behind
// controls.js and row_core.js.

const DEPTHS = { numbers: "numbers", row: "one word", steps: "its steps" };
const [GRAIN, PULL] = [0.25, 8]; // dragged in quarters, one for 8 pixels
const AWAY = 8000; // milliseconds until a reader who has touched the picture reads on
const HANDLE = 'a[href*="#row="]';

/** What an address calls a preset or a term, such as "#row=one-per-word". */
const addressed = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-");

const nameIn = (link) => decodeURIComponent(link.hash.slice(5));

/** Whose picture a link means: one of its section that has this state, is seen, and is near. */
function ownerOf(link) {
  const far = (one) => Math.abs(one.getBoundingClientRect().top - link.getBoundingClientRect().top)
    + 1e6 * !one.checkVisibility() + 2e6 * !one.states.includes(nameIn(link));
  const around = link.closest("section:has(.lnorm-row .stage)") ?? document;
  return [...around.querySelectorAll(".lnorm-row .stage")].sort((a, b) => far(a) - far(b))[0];
}

/**
 * Draw a row into an element, in the state of a preset.
 *
 * Return its picture, which can `point`: do what a link in the text asks for, unless the reader is
 * at the picture; and `close`: let go of everything.
 */
export function mount(parent, page) {
  const words = page.sentences.flat();
  const presets = Object.entries(page.states).map(([name, { says, rows, ...state }]) => {
    if (rows) state.x = page.x.map((values, row) => rows[row] ?? values);
    return { name, address: addressed(name), says, state };
  });
  const most = Math.max(10, ...page.x.flat().map(Math.abs)); // how far a number is dragged
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const root = drawGroup(parent, "lnorm-row", page.alt);
  const [chips, tools] = [drawGroup(root, "chips", "states"), drawGroup(root, "tools", "views")];
  const stage = Object.assign(element("div", root, { class: "stage" }),
    { states: presets.map(({ address }) => address), point, close });
  const table = element("table", stage); // what is drawn, for whoever hears it
  const says = element("p", root, { role: "status" });
  const nodes = new Map(); // id → what is drawn of a box
  let [state, touched, room] = [{ at: 0, ...page.start, x: page.x }, -AWAY, 0];
  let [pinned, peeked] = ["", ""]; // terms that are lit
  let [hot, drag, moved] = [null, null, []]; // what is pointed at, dragged; steps that changed

  const depths = page.depths ?? DEPTHS;
  const buttons = [
    ...presets.map((preset) => [chips, preset.name, () => show(preset), () => isShown(preset)]),
    ...Object.entries(depths).map(([depth, label]) =>
      [tools, label, () => go({ depth }), () => depth === state.depth]),
    ...Object.entries(page.axes ?? {}).map(([axis, label]) => [tools, label, () => go({
      over: [..."NLD"].filter((one) => (one === axis) !== state.over.includes(one)).join("") }),
    () => state.over.includes(axis)]),
  ].map(([into, label, press, isOn]) => ({ isOn, button: drawButtons([label], into, press)[0] }));

  /** Change parts of the state, and say what is seen now. */
  function go(changes, said, at = null) {
    // A preset is seen as a change of the first numbers, whatever a hand has made of them.
    const before = said ? { ...state, ...changes, x: page.x } : state;
    state = { ...state, ...changes };
    if (isOpen(state) && state.over) state.over = "D"; // a word alone has its own mean
    [hot, pinned, moved] = [at, "", []];
    if (changes.x) {
      const [old, result] = [solve(before), (step) => step[state.results] ?? step.group.mean];
      moved = solve().steps.flat()
        .filter((step) => Math.abs(result(step) - result(old.steps[step.row][step.d])) > 1e-9);
    }
    tell(said, at ?? undefined);
    draw();
  }
  const show = (preset) => go(preset.state, preset.says);
  const isShown = (preset) => Object.entries(preset.state)
    .every(([key, value]) => `${state[key]}` === `${value}`);
  function change(row, d, value) {
    const next = Math.max(-most, Math.min(most, Math.round(value / GRAIN) * GRAIN));
    const x = state.x.map((values, r) => (r === row ? values.with(d, next) : values));
    if (next !== state.x[row][d]) go({ x }, undefined, { row, d });
  }

  /** Compute what is shown. */
  const solve = (some = state) => derive(some.x, { length: page.sentences[0].length, ...some });

  function light() {
    const lit = peeked || pinned;
    for (const part of root.querySelectorAll("[data-of]"))
      part.classList.toggle("lit", part.dataset.of.split(" ").includes(lit));
    const names = [lit, ...presets.filter(isShown).map(({ address }) => address)];
    for (const link of document.querySelectorAll(HANDLE)) {
      const is = names.includes(nameIn(link));
      if (is !== link.classList.contains("lnorm-lit") && ownerOf(link) === stage)
        link.classList.toggle("lnorm-lit", is);
    }
  }

  /** Say what is seen: the words of a preset, or what has become of a number. */
  function tell(said, { row, d } = { row: state.at, d: 0 }) {
    const { groups, steps: all } = solve();
    const { mean, variance, steps } = all[row][d].group;
    const parts = [`“${words[row]}”, ${page.letters[d]}: ${short(state.x[row][d])}.`];
    const count = (number, one) => `${number} ${one}${number > 1 ? "s" : ""}`;
    const means = isOpen(state) ? 1 : groups.length; // that are seen
    if (isOpen(state) || state.over !== undefined) parts.push(
      `${count(means, "mean")} of ${count(steps.length, "number")}${means > 1 ? " each. This one is"
        : ":"} ${fitted(mean)}, with spread ${fitted(Math.sqrt(variance))}.`);
    // A change is in one word, in one feature of all words, or everywhere.
    const isOne = (axis) => new Set(moved.map((step) => step[axis])).size === 1;
    const whose = isOne("row") ? `, those of “${words[row]}”`
      : isOne("d") ? `, those of ${page.letters[d]} in all words` : "";
    if (isOpen(state)) parts.push(
      `Results: ${tableOf(state, all[row]).at(-1).values.map(plain).join(", ")}.`);
    else if (state.results) parts.push(`${moved.length} results have changed${whose}.`);
    says.textContent = said ?? parts.join(" ");
  }

  function draw() {
    const width = Math.min(stage.clientWidth, 760);
    if (!width) return;
    const solved = solve();
    const { boxes, told } = layout(state, page, width, solved);
    if (!drag?.isPulled) {
      // As high as the highest preset, so that what's below stays where it is.
      room = Math.max(...presets
        .map((preset) => ({ ...state, ...preset.state, depth: state.depth }))
        .map((one) => layout(one, page, width, solve(one)).height));
      table.textContent = "";
      told.forEach((line, i) => {
        const row = element("tr", table);
        const isHead = (at) => (i === 0) !== (at === 0);
        line.forEach((text, at) => element(isHead(at) ? "th" : "td", row, {}, text));
      });
    }
    const ids = new Set(boxes.map(({ id }) => id));
    const groupOf = ({ row, d }) => solved.steps[row]?.[d]?.group;
    const center = hot && state.over !== undefined && state.depth === "numbers" && groupOf(hot);
    // Keys go through words and numbers in their order, so all of them are there from the first.
    const all = nodes.size ? [] : layout({ ...state, depth: "numbers" }, page, width, solved).boxes;
    for (const box of [...all, ...boxes]) paint(nodes.get(box.id) ?? born(box), box, {
      last: box.isLast, hot: box.kind === "dot" && box.d === hot?.d,
      moved: ["below", "pill"].includes(box.kind)
        && moved.some(({ row, d }) => row === box.row && d === box.d),
    }, center && (groupOf(box) ?? center) !== center ? 0.5 : "");
    for (const [id, node] of nodes) node.classList.toggle("away", !ids.has(id));
    const header = document.querySelector(".mobile-header")?.offsetHeight ?? 0;
    stage.style.cssText = `--height: ${room}px; --header: ${header}px;
      --glide: ${isCalm || drag?.isPulled ? 0 : 0.4}s`;
    for (const { button, isOn } of buttons) button.ariaPressed = isOn();
    light();
  }

  /** Make what draws a box. */
  function born({ id, kind, row, d, html = "" }) {
    const isHeard = ["word", "cell", "formula"].includes(kind); // the table has the others
    const node = element(kind === "word" ? "button" : "div", stage,
      { class: `box ${kind}`, "aria-hidden": !isHeard });
    nodes.set(id, node);
    node.innerHTML = kind !== "cell" ? html : `<input type="range" min="${-most}" max="${most}"
      step="any" aria-label="number ${page.letters[d]} of ${words[row]}">
      <span aria-hidden="true"></span>`;
    return node;
  }

  function paint(node, { place: [x, y, w, h], ...box }, marks, opacity) {
    const [translate, transform] = [`${x}px ${y}px`, box.lean ? `skewX(${box.lean}rad)` : ""];
    Object.assign(node.style, { translate, transform, width: `${w}px`, height: `${h}px`, opacity });
    for (const name of ["of", "row", "d", "pull", "leads"])
      if (box[name] !== undefined) node.dataset[name] = box[name];
    for (const [name, is] of Object.entries(marks)) node.classList.toggle(name, Boolean(is));
    if ("tone" in box) node.style.setProperty("--fill",
      `${box.tone < 0 ? "#e69f00" : "#0072b2"} ${Math.min(1, Math.abs(box.tone)) * 46}%`);
    if ("text" in box) (node.lastElementChild ?? node).textContent = box.text;
    if (box.kind === "word") node.ariaPressed = box.leads === "numbers";
    if (box.kind === "cell") Object.assign(node.firstChild,
      { value: box.value, ariaValueText: short(box.value) });
  }

  // A number is pulled sideways: up and down scrolls the page. A dot has the number of its cell.
  const partAt = ({ target }) => {
    const part = target.closest(".cell, .below, .dot");
    return part && { row: Number(part.dataset.row ?? state.at), d: Number(part.dataset.d),
      pull: Number(part.dataset.pull ?? GRAIN / PULL) };
  };
  const hands = {
    mousedown: (event) => { if (partAt(event)) event.preventDefault(); }, // it keeps the focus
    click: ({ target }) => {
      const { row, leads } = target.closest(".word")?.dataset ?? {};
      if (row) go({ depth: leads in depths ? leads : "numbers", at: Number(row) });
    },
    input: (event) => change(partAt(event).row, partAt(event).d, Number(event.target.value)),
    focusin: (event) => {
      hot = partAt(event);
      if (hot && !state.results) tell(undefined, hot);
      draw();
    },
    focusout: () => { hot = null; draw(); },
    pointerdown: (event) => {
      pinned = "";
      const part = partAt(event);
      if (part?.pull) drag = { ...part, from: event.clientX, x: state.x };
      if (drag) stage.setPointerCapture(event.pointerId);
      light();
    },
    pointermove: ({ clientX }) => {
      if (drag && (drag.isPulled ||= Math.abs(clientX - drag.from) > 3))
        change(drag.row, drag.d, drag.x[drag.row][drag.d] + (clientX - drag.from) * drag.pull);
    },
    pointerup: () => {
      if (drag) nodes.get(`cell${drag.row},${drag.d}`).firstChild.focus({ preventScroll: true });
      drag = null;
      draw();
    },
    pointercancel: () => { // a finger that scrolls the page
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
  };
  hands.pointerleave = hands.pointerover;
  for (const [type, act] of Object.entries(hands)) stage.addEventListener(type, act);
  const settle = () => { touched = performance.now(); };
  for (const type of ["pointerdown", "keydown"]) root.addEventListener(type, settle, true);

  /** Pin the term that a link in the text names, or show its state. */
  function point(link, isPressed = false) {
    if (!isPressed && (drag || performance.now() - touched < AWAY)) return;
    const name = nameIn(link);
    const found = presets.find(({ address }) => address === name);
    // Where a hand is asked for, reading on changes no number.
    if (!isPressed && state.results && `${found?.state.x ?? state.x}` !== `${state.x}`) return;
    if (found) show(found);
    else {
      const part = root.querySelector(`[data-of~="${name}"]:not(.away, .away *)`);
      if (!part) go({ depth: "steps" }); // which has it
      pinned = isPressed && pinned === name ? "" : name;
    }
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
      const fold = stage.closest("details");
      if (fold) fold.open = true;
      point(link, true);
      const { top, bottom } = stage.getBoundingClientRect();
      if (bottom < 150 || top > innerHeight - 150)
        stage.scrollIntoView({ block: "nearest", behavior: isCalm ? "instant" : "smooth" });
    }
    light();
  }
  const gone = new AbortController();
  for (const type of ["click", "pointerover", "pointerout", "focusin", "focusout"])
    document.addEventListener(type, follow, { capture: true, signal: gone.signal });
  const sizes = new ResizeObserver(draw);
  sizes.observe(stage);
  show(presets.find(({ name }) => name === page.preset));
  function close() {
    sizes.disconnect();
    gone.abort();
    root.remove();
  }
  return stage;
}

/** A Jupyter widget made of `mount`. */
const render = ({ model, el }) => mount(el, model.get("page")).close;

for (const place of document.querySelectorAll(".lnorm-row-place")) {
  const page = JSON.parse(place.querySelector("script").textContent);
  place.textContent = "";
  const stage = mount(place, page);
  if (stage.states.includes(nameIn(location))) {
    stage.point(location, true);
    stage.scrollIntoView();
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
for (const one of document.querySelectorAll(".lnorm-row-place > p"))
  reading.observe(one);
export default { render };
