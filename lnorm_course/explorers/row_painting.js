// How what a row shows gets onto a page: its parts, and of these what has changed.
import { drawGroup, element } from "./engine/controls.js";
import { layoutCells } from "./row_cells.js";
import { marksOf } from "./row_drawing.js";
import { addressed, markLinks } from "./row_links.js";
import { boxesOf, place } from "./row_machine.js";
import { short, stations } from "./row_numbers.js";
import { differ, readFormula, tellMachine, writeFormula, writeTable } from "./row_words.js";

const PARTS = `<div class="chips" role="group" aria-label="states"></div>
<div class="stage">${'<svg aria-hidden="true"></svg>'.repeat(2)}</div><div class="bar">
<math displaystyle="true" role="img"></math>
<button type="button" aria-label="play the way of the numbers through the stations">▶</button>
<input type="range" step="0.01" aria-label="the way of the numbers through the stations"></div>
<p role="status"></p><div class="told"><table></table></div>
<div class="tools" role="group" aria-label="views"></div>`;
const BETWEEN = 24; // pixels between two machines

/** Draw the parts of a row that are always there, and return them. */
export function build(parent, alt) {
  const root = drawGroup(parent, "lnorm-row", alt);
  root.innerHTML = PARTS;
  const [chips, stage, bar, says, told, tools] = root.children;
  const [formula, play, scrubber] = bar.children;
  return { root, chips, stage, svgs: [...stage.children], bar, formula, play, scrubber, says,
    table: told.firstChild, tools };
}

/** Set what has changed of an element: its attributes, also as what is lit, and its text. */
function patch(node, { kind, of, text, ...attributes }, lit) {
  const look = of?.split(" ").includes(lit) ? `${kind} lit` : kind;
  for (const [name, value = null] of Object.entries({ class: look, "data-of": of, ...attributes }))
    if (value !== null && node.getAttribute(name) !== `${value}`) node.setAttribute(name, value);
  if (text !== undefined && node.textContent !== text) node.textContent = text;
}

/** Write HTML into an element, unless it's there already; what has the lit term is marked. */
function fill(node, plain, lit) {
  const html = plain.replace(/data-of="([^"]*)"/g, (all, of) =>
    (of.split(" ").includes(lit) ? `${all} class="lit"` : all));
  if (node.html !== html) Object.assign(node, { html, innerHTML: html });
}

/** Draw what has changed since a row was drawn last. */
export function draw(row) {
  const { root, stage, header, nodes, page, state, isCells, isHeld, grip, asked, lit } = row;
  if (!nodes.size && page.x.length > 1) // in the order in which keys go through them
    for (const box of layoutCells(row).boxes) paint(row, box);
  const { boxes, told, height } = isCells ? layoutCells(row) : layoutMachines(row);
  Object.assign(row, { boxes, height });
  root.style.zoom = document.fullscreenElement === root
    ? Math.min((innerWidth - 40) / 800, (innerHeight - 20) / (height + 230)) : "";
  root.classList.toggle("steps", state.depth === "steps");
  root.classList.toggle("some", Boolean(asked));
  row.formula.classList.toggle("some", Boolean(lit));
  row.bar.hidden = isCells || Boolean(state.guess);
  const moves = grip || !(isCells || row.turning) ? "still" : row.turning ? "turn" : "";
  patch(stage, { kind: `stage ${moves}`, style: `--height: ${height}px; --header: ${header}px` });
  for (const svg of row.svgs) svg.classList.toggle("away", isCells);
  const ids = new Set(boxes.map(({ id }) => id));
  for (const [id, node] of nodes) if (!ids.has(id)) node.classList.add("away");
  for (const box of boxes) paint(row, box);
  if (!isHeld || state.depth === "steps") fill(row.table, writeTable(told), lit);
  for (const { button, isOn, when } of row.buttons) {
    button.hidden = !when();
    if (isOn) patch(button, { "aria-pressed": isOn() });
  }
  markLinks(row, [asked, ...row.shown.map(({ name }) => addressed(name))]);
}

/** Draw a box, which is made when it's first needed; of most the table tells. */
function paint({ nodes, stage, edge, page, lit, isHeld }, box) {
  const { id, kind, of, text = "", place: [x, y, w, h], opacity = "", tone = 0, act, value } = box;
  const node = nodes.get(id) ?? element(kind === "word" ? "button" : "div", stage);
  if (!nodes.has(id)) element("span", node, kind === "word" ? {} : { "aria-hidden": true });
  nodes.set(id, node);
  if (act && !node.input) {
    node.input = element("input", null, { type: "range", step: "any", min: -edge, max: edge });
    node.prepend(node.input);
  }
  node.box = box;
  const unseen = opacity === 0 ? " away" : ""; // or it would cover what can be held
  patch(node, { kind: `box ${kind}${unseen}`, of, style: `translate: ${x}px ${y}px; width: ${
    w}px; height: ${h}px; opacity: ${opacity}; --fill: ${28 * tone}%` }, lit);
  patch(node.lastChild, { text });
  if (!node.input || isHeld) return; // nobody hears of each place that a pointer passes
  Object.assign(node.input, { hidden: !act, disabled: Boolean(box.isFixed) });
  if (!act) return;
  node.input.value = value;
  patch(node.input, { "aria-valuetext": short(value), "aria-label": box.label(page.letters[box.d]),
    "data-hand": box.hand ?? act + box.d });
}

/** Return the machines to be seen: one, or on a wide page layer norm's beside RMSNorm's. */
function machinesOf(row) {
  const { now, state, page, words, base, guessed, t, hot, touched, width } = row;
  const keeps = width >= 640 && state.rms && !state.guess ? [1, 0] : [now.keep];
  return keeps.map((keep) => {
    const one = stations(now.x, { ...now, keep });
    const given = base?.[state.at];
    const before = given && stations(given, { ...now, keep }).y;
    const isSame = keep > 0.5 && given && `${given}` !== `${now.x}` && !differ(before, one.y);
    // Rings are where results were; in RMSNorm, where those of layer norm are.
    const mine = keep === keeps.at(-1) ? guessed : null; // a guess is one of RMSNorm
    const rings = mine ?? (keep < 0.5 ? stations(now.x, { eps: now.eps }).y : before ?? one.y);
    return place({ ...page, ...now, ...one, keep, rings, isSame, t, hot, guess: state.guess,
      held: row.isHeld ? row.grip : null,
      isKept: !state.guess && (keep < 0.5 || before || mine), row: state.at, word: words[state.at],
      isTouched: touched > 0, width: (width - BETWEEN * (keeps.length - 1)) / keeps.length });
  });
}

/** Draw the machines, and return the boxes over them, a table's lines, and how high all is. */
function layoutMachines(row) {
  const { svgs, lit, state, formula, scrubber, t } = row;
  const machines = machinesOf(row);
  svgs.forEach((svg, i) => {
    svg.toggleAttribute("hidden", !machines[i]);
    if (!machines[i]) return;
    svg.style.height = `${machines[i].height}px`;
    marksOf(machines[i]).forEach(({ tag, ...mark }, n) => patch(svg.children[n]
      ?? svg.appendChild(document.createElementNS(svg.namespaceURI, tag)), mark, lit));
  });
  const read = { ...state, rms: state.rms && !machines[1] };
  fill(formula, writeFormula(read), lit);
  formula.ariaLabel = readFormula(read);
  Object.assign(scrubber, { max: state.gamma ? 4 : 3, value: t });
  const boxes = machines.flatMap((machine, i) => boxesOf(machine).map((box) => ({ ...box,
    id: i ? `beside ${box.id}` : box.id, keep: machine.keep,
    place: box.place.with(0, box.place[0] + i * (machine.width + BETWEEN)) })));
  return { boxes, height: machines[0].height, told: tellMachine(machines.at(-1), state) };
}
