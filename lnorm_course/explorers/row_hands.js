// The hands of a row: what a pointer or a key takes, and what it makes of the numbers.
import { GRAIN, PULLS, average, clamp, short, stations } from "./row_numbers.js";

const CELL = GRAIN / 8; // a quarter for 8 pixels
const REACH = 26; // pixels: how far a hand is from what it takes
const FINE = ["result", "guess"]; // what is on the line drawn large
const KEYS = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 };

/** Let the cells of a row be dragged sideways (up and down scrolls the page), or moved by keys. */
export function takeCells(row) {
  const { stage } = row;
  const partAt = ({ target }) => target.closest(".cell, .below")?.box;
  const change = ({ row: at, d }, value) => {
    const next = clamp(Math.round(value / GRAIN) * GRAIN, -row.edge, row.edge);
    const x = row.state.x.with(at, row.state.x[at].with(d, next));
    if (next !== row.state.x[at][d]) row.go({ x }, { at: { row: at, d }, milliseconds: 0 });
  };
  const look = (hot) => {
    row.hot = hot;
    if (hot && !row.state.results) row.tell();
    row.draw();
  };
  const hands = {
    mousedown: (event) => { if (partAt(event)) event.preventDefault(); }, // it keeps the focus
    click: ({ target }) => {
      const at = target.closest(".word")?.box.row;
      if (at !== undefined && "row" in row.depths) row.go({ depth: "row", at });
    },
    input: (event) => { if (partAt(event)) change(partAt(event), Number(event.target.value)); },
    focusin: (event) => { if (row.isCells) look(partAt(event)); },
    focusout: () => { if (row.isCells) look(null); },
    pointerdown: (event) => {
      row.pinned = "";
      row.drag = partAt(event) && { ...partAt(event), from: event.clientX, x: row.state.x };
      if (row.drag) stage.setPointerCapture(event.pointerId);
      row.light();
    },
    pointermove: ({ clientX }) => {
      const { drag } = row;
      if (drag && (drag.isPulled ||= Math.abs(clientX - drag.from) > 3))
        change(drag, drag.x[drag.row][drag.d] + (clientX - drag.from) * CELL);
    },
    pointerup: () => {
      const { drag } = row;
      if (!drag) return;
      row.nodes.get(`cell${drag.row},${drag.d}`).firstChild.focus({ preventScroll: true });
      row.drag = null;
      row.draw();
    },
    pointercancel: () => { // a finger that scrolls the page
      const { drag } = row;
      row.drag = null;
      if (drag) row.go({ x: drag.x });
    },
    pointerover: (event) => {
      if (event.pointerType === "mouse" && row.isCells && !row.drag) {
        row.hot = partAt(event);
        row.draw();
      }
    },
  };
  hands.pointerleave = hands.pointerover;
  for (const [type, act] of Object.entries(hands)) stage.addEventListener(type, act);
}

// What is said of what a hand has done.
const WORDS = {
  dot: ({ name, d }, x) => `Only ${name} moved, to ${short(x[d])}`,
  guess: () => "",
  result: ({ name, d }, x) => `For that result, ${name} has to be ${short(x[d])}`,
  mean: (grip, x) => `All moved by ${short(Math.abs(average(x) - average(grip.x)))}`,
  spread: (grip, x) => {
    const far = stations(x).spread / stations(grip.x).spread;
    return far < 0.05 ? "All at one place"
      : far < 1e3 ? `${short(Math.round(10 * far) / 10)} times as wide` : "Apart again";
  },
};

function take(row, hand, view) {
  const { state, goal, now } = row;
  const x = state.x[state.at];
  const from = stations(x, { ...goal, keep: view.keep ?? now.keep });
  // Numbers at one place have no shape, so the last one is kept.
  if (from.spread > 0.02 || !row.shape) row.shape = from.centered.map((value) => value / (from.spread || 1));
  row.grip = { ...hand, x, from, shape: row.shape, keep: view.keep ?? 1, all: state.x, by: 0 };
  Object.assign(row, { hot: hand.d ?? null, base: state.x, cause: "", t: 0, running: 0 });
}

function pull(row, by) {
  const { grip, state, edge } = row;
  if (grip.act === "guess") {
    row.go({ guess: state.guess.with(grip.d, clamp(grip.value + by, -2, 2)) }, { at: grip.d, milliseconds: 0 });
    return;
  }
  const next = PULLS[grip.act](grip, by, { edge, eps: state.eps, keep: grip.keep });
  if (`${next}` === `${state.x[state.at]}`) return; // at a stop
  const x = state.x.with(state.at, next);
  row.grip.by = by;
  row.go({ x }, { cause: WORDS[grip.act](grip, next), base: grip.all, at: grip.d, milliseconds: 0 });
}

/** Let the dots, the mean, the edges, and the results of a machine be pulled, or moved by keys. */
export function takeMachine(row, view) {
  const { svg } = view;
  const hands = {
    pointerdown: (event) => { // the nearest wins
      if (!view.place || row.isCells) return;
      const { left, top, width } = svg.getBoundingClientRect();
      const scale = svg.clientWidth / width; // 1, but in full screen
      const [x, y] = [(event.clientX - left) * scale, (event.clientY - top) * scale];
      const far = (hand) => Math.hypot(Math.max(0, Math.abs(x - hand.x) - hand.w / 2), y - hand.y);
      const hand = view.place.hands.filter(({ isFixed }) => !isFixed).toSorted((one, other) => far(one) - far(other))[0];
      if (far(hand) > REACH) return;
      event.preventDefault();
      svg.setPointerCapture(event.pointerId);
      svg.querySelector(`[data-hand="${hand.id}"]`).focus({ preventScroll: true });
      take(row, hand, view);
      Object.assign(row.grip, { from0: event.clientX, scale });
      row.draw();
    },
    pointermove: ({ clientX }) => {
      const { grip } = row;
      if (grip?.from0 === undefined) return;
      const by = (clientX - grip.from0) * grip.scale / view.place.unit;
      pull(row, FINE.includes(grip.act) ? by / view.place.zoom : Math.round(by / GRAIN) * GRAIN);
    },
    pointerup: () => { delete row.grip?.from0; },
    pointercancel: () => { // a finger that scrolls the page
      const { grip } = row;
      row.grip = null;
      if (grip) row.go({ x: grip.all }, { milliseconds: 0 });
    },
    focusin: ({ target }) => {
      const hand = view.place?.hands.find(({ id }) => id === target.dataset.hand);
      if (hand && hand.id !== row.grip?.id) take(row, hand, view);
      row.draw();
    },
    focusout: () => { row.grip = null; row.draw(); },
    keydown: (event) => {
      const way = KEYS[event.key];
      if (!way || !row.grip) return;
      event.preventDefault();
      const step = FINE.includes(row.grip.act) ? 0.1 : event.shiftKey ? GRAIN : 1;
      pull(row, row.grip.by + way * step);
    },
  };
  for (const [type, act] of Object.entries(hands)) svg.addEventListener(type, act);
}
