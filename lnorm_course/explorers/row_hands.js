// The hands of a row: what a pointer or a key takes, and what it makes of the numbers.
import { GRAIN, PULLS, average, grained, short, stations } from "./row_numbers.js";

const REACH = 26; // pixels: how far a finger is from what it takes
const FINE = ["result", "guess"]; // what is on the line drawn large
const KEYS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };
// What is said of what a hand has done.
const WORDS = {
  dot: ({ name, d }, x) => `Only ${name} moved, to ${short(x[d])}`,
  result: ({ name, d }, x, edge) => Math.abs(x[d]) < edge
    ? `For that result, ${name} has to be ${short(x[d])}` : `Beyond ${short(x[d])}, the line ends`,
  mean: (grip, x) => `All moved by ${short(Math.abs(average(x) - average(grip.x)))}`,
  spread: (grip, x) => {
    const [now, before] = [x, grip.x].map((each) => stations(each).spread);
    const far = now / before;
    const fine = far < 0.1 ? 100 : 10;
    return now < 1e-6 ? "All at one place"
      : far < 1e3 ? `${short(Math.round(fine * far) / fine)} times as wide` : "Apart again";
  },
};

function take(row, box) {
  const { goal, state: { x: all, guess, results }, isCells } = row;
  const [x, keep] = [all[box.row], box.keep ?? 1];
  const from = stations(x, { ...goal, keep });
  // Numbers at one place have no shape, so the last one is kept.
  if (from.spread > 0.02 || !row.shape)
    row.shape = from.centered.map((value) => value / (from.spread || 1));
  const name = row.page.letters[box.d];
  row.grip = { ...box, name, x, from, shape: row.shape, keep, all, by: 0, guess };
  row.hot = "d" in box ? box : null;
  row.stopAt(0);
  if (!isCells) Object.assign(row, { base: all, cause: "" });
  else if (!results) row.tell();
  row.draw();
}

function pull(row, by) {
  const { grip, state, edge } = row;
  if (by === grip.by) return;
  grip.by = by;
  const next = PULLS[grip.act](grip, by, { edge, eps: state.eps, keep: grip.keep });
  const how = { hot: row.hot, milliseconds: 0 };
  if (grip.act === "guess") row.go({ guess: next }, how);
  else if (`${next}` !== `${state.x[grip.row]}`) // or it's at a stop
    row.go({ x: state.x.with(grip.row, next) },
      { cause: WORDS[grip.act](grip, next, edge), base: grip.all, ...how });
}

/** How far a place is from a box that can be taken. */
function far({ place: [left, top, wide, high], hit = high }, x, y) {
  const out = (at, from, size) => Math.max(from - at, at - from - size, 0);
  return Math.hypot(out(x, left, wide), out(y, top, hit));
}

/** Let numbers be dragged sideways (up and down scrolls the page), or moved by keys. */
export function takeHands(row) {
  const { stage } = row;
  const boxAt = ({ target }) => target.closest(".box")?.box;
  const hands = {
    pointerdown: (event) => { // the nearest wins
      row.pinned = "";
      row.draw();
      const { left, top, width } = stage.getBoundingClientRect();
      const scale = stage.clientWidth / width; // 1, but in full screen
      const place = [(event.clientX - left) * scale, (event.clientY - top) * scale];
      const [box] = row.boxes.filter(({ act, isFixed }) => act && !isFixed)
        .sort((one, other) => far(one, ...place) - far(other, ...place));
      if (!box || far(box, ...place) > (row.isCells ? 3 : REACH)) return;
      event.preventDefault();
      stage.setPointerCapture(event.pointerId);
      row.nodes.get(box.id).firstChild.focus({ preventScroll: true });
      take(row, box);
      Object.assign(row.grip, { start: event.clientX, scale });
    },
    pointermove: ({ clientX }) => {
      const { grip, isHeld } = row;
      const by = isHeld && (clientX - grip.start) * grip.scale / grip.unit;
      if (isHeld) pull(row, FINE.includes(grip.act) ? by : grained(by));
    },
    pointerup: () => {
      if (row.isHeld) delete row.grip.start;
      row.draw();
    },
    pointercancel: () => { // a finger that scrolls the page
      if (!row.isHeld) return; // what was moved before stays
      const { all: x, guess } = row.grip;
      row.grip = null;
      row.go({ x, guess }, { milliseconds: 0 });
    },
    pointerover: (event) => {
      if (event.pointerType !== "mouse" || !row.isCells || row.isHeld) return;
      row.hot = boxAt(event)?.kind.match("cell|below") ? boxAt(event) : null;
      row.draw();
    },
    click: (event) => {
      const { kind, row: at } = boxAt(event) ?? {};
      if (kind === "word" && "row" in row.depths) row.go({ depth: "row", at });
    },
    input: (event) => // not by an arrow key
      pull(row, (row.grip.side ?? 1) * (event.target.valueAsNumber - row.grip.value)),
    focusin: (event) => {
      const box = boxAt(event);
      if (box?.act && box.id !== row.grip?.id) take(row, box);
    },
    focusout: () => {
      row.grip = null;
      if (row.isCells) row.hot = null;
      row.draw();
    },
    keydown: (event) => {
      const way = KEYS[event.key];
      if (!way || !row.grip) return;
      event.preventDefault();
      const step = FINE.includes(row.grip.act) ? 0.1 : row.isCells || event.shiftKey ? GRAIN : 1;
      pull(row, row.grip.by + way * step);
    },
  };
  hands.pointerleave = hands.pointerover;
  for (const [type, act] of Object.entries(hands)) stage.addEventListener(type, act);
}
