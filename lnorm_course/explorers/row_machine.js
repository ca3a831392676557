// One row on its way through the stations of a norm, on one scale: where all is that is seen.
import { mix } from "./engine/controls.js";
import { average, clamp, isOnWay, short } from "./row_numbers.js";

const [NEAR, HIGH] = [15, 23]; // pixels: dots nearer than that stand side by side; a dot's height
const along = (all, t) => mix(all[Math.floor(t)], all[Math.ceil(t)], t % 1);

/** Add to a machine, whose numbers are those of `stations`, where they are in its width. */
export function place(machine) {
  const { x, center, root, mean, out, keep, affine, guess, reach, width, t, hot } = machine;
  const ys = width > 560 ? [48, 124, 194, 256, 312] : [46, 106, 158, 202, 254];
  const [unit, zoom] = [(width / 2 - 12) / reach, reach / 2];
  const at = (value) => clamp(width / 2 + value * unit, 8, width - 8);
  // Where a number is at each station. Without the second one, its way leads straight past it.
  const way = (value, d) => {
    const y = (value - center) / root;
    const past = mix(at(value), at(y), (ys[1] - ys[0]) / (ys[2] - ys[0]));
    return [at(value), mix(past, at(value - center), keep), at(y),
      ...[guess?.[d] ?? y, out[d]].map((result) => at(zoom * result))];
  };
  const [low, mid, high] = [center - root, mean, center + root].map((value) => way(value));
  return { ...machine, ys, unit, zoom, at, edges: [low, high], mid, ways: x.map(way),
    last: mix(ys[3], ys[4], affine), height: ys[affine ? 4 : 3] + 32, open: guess ? 0 : 1,
    onWay: isOnWay(t, affine) ? 1 : 0, me: hot?.d ?? x.length - 1 }; // who tells its value
}

/** The boxes of a machine: a dot for each number at each station, and what can be pulled. */
export function boxesOf(machine) {
  const { x, centered, y, out, ys, ways, width, row, word, letters, keep, affine, guess } = machine;
  const { t, me, onWay, open, isTouched } = machine;
  const numbers = drawDots(machine, `x${row},`, 0, x, { act: "dot", of: "x", isFixed: guess,
    label: (name) => `number ${name} of ${word}` });
  const results = drawDots(machine, `y${row},`, 3, guess ?? y, { act: guess ? "guess" : "result",
    of: "y", label: (name) => `${guess ? "your guess of " : ""}result ${name}` });
  const [left, top, wide] = (guess ? results : numbers).at(-1).place;
  return [
    ...numbers,
    ...drawHandles(machine),
    ...drawDots(machine, "centered", 1, centered, { of: "centered", opacity: open * keep }),
    ...results,
    ...drawDots(machine, "out", 4, out, { of: "gamma beta", opacity: affine }),
    // All numbers on a rod, which keeps its length and then shrinks.
    ...ways.map((xs, d) => ({ id: `run${d}`, kind: `bead ${d === me ? "hot" : "ghost"}`,
      text: letters[d], opacity: onWay,
      place: [along(xs, t) - HIGH / 2, along(ys, t) - HIGH / 2, HIGH, HIGH] })),
    { id: "cover", kind: "cover", place: [0, ys[0] + 15, width, ys[3] - ys[0] - 28],
      text: keep > 0.5 ? "layer norm?" : "RMSNorm?", opacity: 1 - open },
    { id: "hint", kind: "hint", text: "drag me", opacity: isTouched || onWay ? 0 : 1,
      place: [left + (left + wide > width - 58 ? -58 : wide), top, 58, HIGH] },
  ];
}

/** Dots at a station, beside each other where they'd overlap, so that each can be taken. */
function drawDots(machine, id, s, values, more) {
  const { ways, ys, unit, zoom, width, row, letters, hot, onWay } = machine;
  const scale = s > 2 ? unit * zoom : unit;
  const held = more.act && machine.held?.act === more.act ? machine.held.d : -1;
  const groups = [];
  for (const d of [...ways.keys()].sort((i, j) => ways[i][s] - ways[j][s])) {
    const before = groups.at(-1)?.at(-1);
    if (ways[d][s] - ways[before]?.[s] < NEAR && ![d, before].includes(held)) groups.at(-1).push(d);
    else groups.push([d]);
  }
  return values.map((value, d) => {
    const group = groups.find((one) => one.includes(d));
    const isOut = Math.abs(value * scale) > width / 2 - 7; // beyond the edge, where an arrow points
    const wide = group.length > 1 ? NEAR : isOut ? 33 : HIGH;
    const left = average(group.map((each) => ways[each][s])) - wide / 2
      + NEAR * (group.indexOf(d) - (group.length - 1) / 2);
    return { id: id + d, row, d, value, unit: scale, place: [left, ys[s] - HIGH / 2, wide, HIGH],
      kind: `bead ${d === hot?.d ? "hot" : onWay ? "dim" : ""}`,
      text: !isOut ? letters[d] : value > 0 ? `${letters[d]}›` : `‹${letters[d]}`, ...more };
  });
}

/** The hands of the whole row: pills with its numbers, pushed aside where they'd meet. */
function drawHandles({ width, unit, mid, edges, mean, spread, keep, row, guess }) {
  const wide = (text) => 18 + 7.8 * text.length;
  const pill = (hand, text, left, more) => ({ id: hand, hand, kind: "bead", text, row, unit,
    isFixed: guess, place: [clamp(left, 0, width - wide(text)), 1.5, wide(text), HIGH], ...more });
  const all = `mean ${short(mean)}`;
  const about = pill("mean", all, mid[0] - wide(all) / 2, { id: `mean${row},0`, act: "mean",
    of: "mean", value: mean, label: () => "mean, moves all" });
  const [start, end] = [about.place[0], about.place[0] + wide(all)];
  const told = end + 96 > width ? "low" : "high"; // the edge that has the words
  const edge = (hand, name, side, [x]) => {
    const text = hand === told ? `${keep > 0.5 ? "spread" : "RMS"} ${short(spread)}` : "↔";
    const left = side > 0 ? Math.max(x - 14, end + 2) : Math.min(x + 14, start - 2) - wide(text);
    return pill(hand, text, left, { side, act: "spread", of: "spread var", value: spread,
      label: () => `${name} edge, spreads all` });
  };
  return [about, edge("low", "left", -1, edges[0]), edge("high", "right", 1, edges[1])];
}
