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
  const [words, names] = [page.sentences.flat(), Object.keys(page.presets)];
  const most = Math.max(10, ...page.start.x.flat().map(Math.abs)); // how far a number is dragged
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const root = drawGroup(parent, "lnorm-row", page.alt);
  const [chips, tools] = [drawGroup(root, "chips", "states"), drawGroup(root, "tools", "views")];
  const stage = Object.assign(element("div", root, { class: "stage" }),
    { states: names.map(addressed), point, close });
  const table = element("table", stage); // what is drawn, for whoever hears it
  const says = element("p", root, { role: "status" });
  const nodes = new Map(); // id → what is drawn of a box
  let [state, touched, room] = [page.start, -AWAY, 0];
  let [pinned, peeked, pressed] = ["", "", []]; // terms that are lit; presets that hold
  let [hot, drag, moved] = [null, null, []]; // what is pointed at, dragged; steps that changed

  const toggles = []; // what shows which buttons are on
  const buttons = (into, entries, act, isOn) => {
    const made = drawButtons(entries.map(([, label]) => label), into, (at) => act(entries[at][0]));
    toggles.push(() => made.forEach((one, at) => { one.ariaPressed = isOn(entries[at][0]); }));
  };
  const depths = page.depths ?? DEPTHS;
  buttons(chips, names.map((name) => [name, name]), (name) => show(name),
    (name) => pressed.includes(name));
  buttons(tools, Object.entries(depths), (depth) => go({ depth }), (one) => one === state.depth);
  buttons(tools, Object.entries(page.axes ?? {}), (axis) => go({ over: [..."NLD"].filter((one) =>
    (one === axis) !== state.over.includes(one)).join("") }), (axis) => state.over.includes(axis));

  /** Change parts of the state, and say what is seen now. */
  function go(changes, said, at = null) {
    // A preset is seen as a change of the first numbers, whatever a hand has made of them.
    const before = said ? { ...state, ...changes, x: page.start.x } : state;
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
  const show = (name) => go(page.presets[name].state, page.presets[name].says);
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
    const names = [lit, ...pressed.map(addressed)];
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
    const { boxes } = layout(state, page, width, solved);
    if (!drag?.isPulled) {
      // As high as the highest preset, so that what's below stays where it is.
      room = Math.max(...names
        .map((name) => ({ ...state, ...page.presets[name].state, depth: state.depth }))
        .map((one) => layout(one, page, width, solve(one)).height));
      table.textContent = "";
      heard(boxes).forEach((line, i) => {
        const row = element("tr", table);
        if (i === 0) element("td", row); // the corner
        line.forEach(({ text }, at) => element(i && at ? "td" : "th", row, {}, text));
      });
    }
    const changed = moved.flatMap(({ id }) => [`${id}-below`, `g${id}`]);
    const ids = new Set(boxes.map(({ id }) => id));
    const center = hot && state.over !== undefined && state.depth === "numbers"
      && solved.steps[hot.row][hot.d].group;
    for (const box of boxes) paint(nodes.get(box.id) ?? born(box), box, {
      away: box.isShown === false, last: box.isLast,
      moved: changed.includes(box.id), hot: box.kind === "dot" && box.d === hot?.d,
    }, center && box.group && box.group !== center ? 0.5 : "");
    for (const [id, node] of nodes) if (!ids.has(id)) node.classList.add("away");
    const header = document.querySelector(".mobile-header")?.offsetHeight ?? 0;
    stage.style.cssText = `--height: ${room}px; --header: ${header}px;
      --glide: ${isCalm || drag?.isPulled ? 0 : 0.4}s`;
    pressed = names.filter((name) => Object.entries(page.presets[name].state)
      .every(([key, value]) => `${state[key]}` === `${value}`));
    for (const show of toggles) show();
    light();
  }

  /** Make what draws a box; it comes out of another one, or where it stands. */
  function born({ id, kind, row, d, from, said, html = "" }) {
    const node = element(kind === "word" ? "button" : "div", stage, { class: `box ${kind}` });
    nodes.set(id, node);
    if (said) Object.assign(node, { role: "img", ariaLabel: said });
    else if (kind !== "word") node.ariaHidden = kind !== "cell"; // the table has it
    node.innerHTML = kind !== "cell" ? html : `<input type="range" min="${-most}" max="${most}"
      step="any" aria-label="number ${page.letters[d]} of ${words[row]}">
      <span aria-hidden="true"></span>`;
    if (nodes.has(from)) {
      node.style.cssText = nodes.get(from).style.cssText;
      node.getBoundingClientRect(); // from there it moves
    }
    return node;
  }

  function paint(node, { place: [x, y, w, h], ...box }, marks, opacity) {
    const [translate, transform] = [`${x}px ${y}px`, `skewX(${box.lean ?? 0}rad)`];
    Object.assign(node.style, { translate, transform, width: `${w}px`, height: `${h}px`, opacity });
    for (const name of ["of", "row", "d", "pull"]) if (name in box) node.dataset[name] = box[name];
    for (const [name, is] of Object.entries(marks)) node.classList.toggle(name, Boolean(is));
    if ("tone" in box) node.style.setProperty("--fill",
      `${box.tone < 0 ? "#e69f00" : "#0072b2"} ${Math.min(1, Math.abs(box.tone)) * 46}%`);
    if ("text" in box) (node.lastElementChild ?? node).textContent = box.text;
    if (box.kind === "word") node.ariaPressed = box.isOn;
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
      const word = target.closest(".word");
      const isAgain = isOpen(state) && state.at === Number(word?.dataset.row);
      const depth = isAgain ? "numbers" : isOpen(state) ? state.depth : "row";
      if (word) go({ depth: depth in depths ? depth : "numbers", at: Number(word.dataset.row) });
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
      if (drag) nodes.get(`c${drag.row}-${drag.d}`).firstChild.focus({ preventScroll: true });
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
    const found = names.find((one) => addressed(one) === name);
    const x = page.presets[found]?.state.x ?? state.x;
    // Where a hand is asked for, reading on changes no number.
    if (!isPressed && state.results && `${x}` !== `${state.x}`) return;
    if (found) show(found);
    else {
      const parts = [...root.querySelectorAll(`[data-of~="${name}"]`)];
      if (parts.every((part) => part.closest(".away"))) go({ depth: "steps" }); // which has it
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
  show(page.preset);
  function close() {
    sizes.disconnect();
    gone.abort();
    root.remove();
  }
  return stage;
}

/** A Jupyter widget made of `mount`. */
const render = ({ model, el }) => mount(el, model.get("page")).close;

/** On a page, keep a picture in view while paragraphs right below it speak of it. */
function reach(place) {
  const around = element("div", null, { class: "lnorm-row-reach" });
  const speaks = () => around.nextElementSibling?.matches(`p:has(${HANDLE})`);
  place.after(around);
  while (speaks()) around.append(around.nextElementSibling);
  if (around.hasChildNodes()) around.prepend(place);
}
for (const place of document.querySelectorAll(".lnorm-row-place")) {
  const page = JSON.parse(place.querySelector("script").textContent);
  const asked = Object.keys(page.presets).find((name) => addressed(name) === nameIn(location));
  place.textContent = "";
  reach(place);
  const stage = mount(place, asked ? { ...page, preset: asked } : page);
  if (asked) stage.scrollIntoView();
}
// What a paragraph's first handle says is shown once the paragraph stands where one reads: where
// the picture that stays in view ends, at the latest.
const reading = new IntersectionObserver((seen) => {
  for (const { isIntersecting, target } of seen) if (isIntersecting && scrollY > 0) {
    const link = target.querySelector(HANDLE);
    ownerOf(link).point(link);
  }
}, { rootMargin: "-53% 0px -43% 0px" });
for (const one of document.querySelectorAll(".lnorm-row-reach > p"))
  reading.observe(one);
export default { render };
