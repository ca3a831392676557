// What a reader sees of a row, and touches: `mount` puts it into any page. It stands behind
// controls.js and row_core.js.

const [GRAIN, PULL] = [0.25, 0.25 / 8]; // dragged in quarters, one for 8 pixels
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
  const stage = element("div", root, { class: "stage" });
  const table = element("table", stage); // what is drawn, for whoever hears it
  const says = element("p", root, { role: "status" });
  const nodes = new Map(); // id → what is drawn of a box
  let [state, touched, room] = [{ at: 0, ...page.start, x: page.x }, -AWAY, 0];
  let [pinned, peeked] = ["", ""]; // terms that are lit
  let [hot, drag] = [null, null]; // what is pointed at, and dragged
  let [seen, moved] = [null, []]; // all steps, and those that changed

  const depths = page.depths ?? { numbers: "numbers", row: "one word", steps: "its steps" };
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
    const before = solve(said ? { ...state, ...changes, x: page.x } : state).steps;
    state = { ...state, ...changes };
    if (isOpen(state) && state.over) state.over = "D"; // a word alone has its own mean
    seen = solve(state);
    const result = (step) => step[state.results] ?? step.group.mean;
    [hot, pinned, moved] = [at, "", !changes.x ? [] : seen.steps.flat()
      .filter((step) => Math.abs(result(step) - result(before[step.row][step.d])) > 1e-9)];
    tell(said);
    draw();
  }
  const show = (preset) => go(preset.state, preset.says);
  const isShown = (preset) => Object.entries(preset.state)
    .every(([key, value]) => `${state[key]}` === `${value}`);
  function change({ row, d }, value) {
    const next = Math.max(-most, Math.min(most, Math.round(value / GRAIN) * GRAIN));
    const x = state.x.with(row, state.x[row].with(d, next));
    if (next !== state.x[row][d]) go({ x }, undefined, { row, d });
  }

  const solve = (some) => derive(some.x, { length: page.sentences[0].length, ...some });

  function light() {
    const lit = peeked || pinned;
    for (const part of root.querySelectorAll("[data-of]"))
      part.classList.toggle("lit", part.dataset.of.split(" ").includes(lit));
    const names = [lit, ...presets.filter(isShown).map(({ address }) => address)];
    for (const link of document.querySelectorAll(HANDLE)) if (ownerOf(link) === stage)
      link.classList.toggle("lnorm-lit", names.includes(nameIn(link)));
  }

  /** Say what is seen: the words of a preset, or what has become of a number. */
  function tell(said) {
    const { row, d } = hot ?? { row: state.at, d: 0 };
    const { mean, variance, steps } = seen.steps[row][d].group;
    const parts = [`“${words[row]}”, ${page.letters[d]}: ${short(state.x[row][d])}.`];
    const count = (number, one) => `${number} ${one}${number > 1 ? "s" : ""}`;
    const [means, who] = isOpen(state) ? [1, "Layer norm takes "] : [seen.groups.length, ""];
    if (isOpen(state) || state.over !== undefined) parts.push(
      `${who}${count(means, "mean")} of ${count(steps.length, "number")}${means > 1 ? " each, here"
        : ":"} ${fitted(mean)}, with spread ${fitted(Math.sqrt(variance))}.`);
    // A change is in one word, in one feature of all words, or everywhere.
    const isOne = (axis) => new Set(moved.map((step) => step[axis])).size === 1;
    const whose = isOne("row") ? `, those of “${words[row]}”`
      : isOne("d") ? `, those of ${page.letters[d]} in all words` : "";
    if (isOpen(state)) parts.push(
      `Results: ${tableOf(state, seen.steps[row]).at(-1).values.map(plain).join(", ")}.`);
    else if (state.results && moved[0]) parts.push(`${moved.length} results have changed${whose}.`);
    says.textContent = said ?? parts.join(" ");
  }

  function draw() {
    const width = Math.min(stage.clientWidth, 760);
    if (!width) return;
    const { boxes, told } = layout(state, page, width, seen);
    if (!drag?.isPulled) {
      // As high as the highest preset, so that what's below stays where it is.
      room = Math.max(...presets
        .map((preset) => ({ ...state, ...preset.state, depth: state.depth }))
        .map((one) => layout(one, page, width, solve(one)).height));
      const written = (text, isHead) => (isHead ? `<th>${text}</th>` : `<td>${text}</td>`);
      table.innerHTML = told.map((line, i) => `<tr>${line.map((text, at) =>
        written(text, (i === 0) !== (at === 0))).join("")}</tr>`).join("");
    }
    // Keys go through words and numbers in their order, so all of them are made at first.
    if (!nodes.size) layout({ ...state, depth: "numbers" }, page, width, seen).boxes.forEach(paint);
    for (const node of nodes.values()) node.classList.add("away");
    boxes.forEach(paint);
    const header = document.querySelector(".mobile-header")?.offsetHeight ?? 0;
    stage.style.cssText = `--height: ${room}px; --header: ${header}px;
      transition: ${isCalm || drag?.isPulled ? 0 : 0.4}s`;
    for (const { button, isOn } of buttons) button.ariaPressed = isOn();
    light();
  }

  /** Draw a box, which is made when it's first needed; of most the table tells. */
  function paint(box) {
    const { id, kind, row, d, place: [x, y, w, h], lean, tone, value, text, html = "" } = box;
    const node = nodes.get(id) ?? element(kind === "word" ? "button" : "div", stage,
      { "aria-hidden": !["word", "cell", "formula"].includes(kind) });
    if (!nodes.has(id)) node.innerHTML = kind !== "cell" ? html : `<input type="range" step="any"
      min="${-most}" max="${most}" aria-label="number ${page.letters[d]} of ${words[row]}">
      <span aria-hidden="true"></span>`;
    nodes.set(id, node);
    const step = seen.steps[row]?.[d]; // whose number, or mean, it shows
    const center = hot && state.over !== undefined && seen.steps[hot.row][hot.d].group;
    const opacity = center && step && step.group !== center ? 0.5 : "";
    const [translate, transform] = [`${x}px ${y}px`, lean ? `skewX(${lean}rad)` : ""];
    Object.assign(node.style, { translate, transform, width: `${w}px`, height: `${h}px`, opacity });
    const marks = `${hot && d === hot.d ? "hot" : ""} ${moved.includes(step) ? "moved" : ""}`;
    Object.assign(node, { box, className: `box ${kind} ${marks}` });
    for (const name of ["of", "pull"]) if (name in box) node.dataset[name] = box[name];
    if (tone !== undefined) node.style.setProperty("--fill",
      `${tone < 0 ? "#e69f00" : "#0072b2"} ${Math.min(1, Math.abs(tone)) * 46}%`);
    if (text !== undefined) (node.lastElementChild ?? node).textContent = text;
    if (kind === "word") node.ariaPressed = box.leads === "numbers";
    if (kind === "cell") Object.assign(node.firstChild, { value, ariaValueText: short(value) });
  }

  // A number is pulled sideways: up and down scrolls the page. A dot has the number of its cell.
  const partAt = ({ target }) => target.closest(".cell, .below, .dot")?.box;
  const hands = {
    mousedown: (event) => { if (partAt(event)) event.preventDefault(); }, // it keeps the focus
    click: ({ target }) => {
      const { row, leads } = target.closest(".word")?.box ?? {};
      if (leads in depths) go({ depth: leads, at: row });
    },
    input: (event) => change(partAt(event), Number(event.target.value)),
    focusin: (event) => {
      hot = partAt(event);
      if (hot && !state.results) tell();
      draw();
    },
    focusout: () => { hot = null; draw(); },
    pointerdown: (event) => {
      pinned = "";
      drag = partAt(event) && { ...partAt(event), from: event.clientX, x: state.x };
      if (drag) stage.setPointerCapture(event.pointerId);
      light();
    },
    pointermove: ({ clientX }) => {
      if (drag && (drag.isPulled ||= Math.abs(clientX - drag.from) > 3))
        change(drag, drag.x[drag.row][drag.d] + (clientX - drag.from) * (drag.pull ?? PULL));
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
      hot = partAt(event);
      peeked = hot ? "" : event.target.closest("[data-of]")?.dataset.of.split(" ")[0] ?? "";
      draw();
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
    if (event.type !== "click") peeked = /over|in$/.test(event.type) ? nameIn(link) : "";
    else {
      event.preventDefault();
      settle();
      stage.closest("details")?.setAttribute("open", "");
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
  new ResizeObserver(draw).observe(stage);
  Object.assign(stage, { states: presets.map(({ address }) => address), point,
    close: () => { gone.abort(); root.remove(); } });
  show(presets.find(({ name }) => name === page.preset));
  return stage;
}

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
for (const one of document.querySelectorAll(".lnorm-row-place > p")) reading.observe(one);

/** A Jupyter widget made of `mount`. */
export default { render: ({ model, el }) => mount(el, model.get("page")).close };
