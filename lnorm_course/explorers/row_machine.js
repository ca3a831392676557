// One row on its way through the stations of a norm, on one scale: where all is, and its drawing.
import { average, clamp, fitted, isOnWay, short } from "./row_numbers.js";

const NEAR = 15; // pixels: dots that are nearer than that stand side by side
const lerp = (from, to, part) => from + (to - from) * part;
const along = (all, t) => lerp(all[Math.floor(t)], all[Math.ceil(t)], t % 1);

/** Where all is in a width, for what `stations` returns. */
export function layoutMachine(width, one, { keep, affine, reach }) {
  const ys = width > 560 ? [48, 124, 194, 256, 312] : [46, 106, 158, 202, 254];
  const [mid, unit, zoom] = [width / 2, (width / 2 - 12) / reach, reach / 2];
  const at = (value) => mid + clamp(value * unit, 8 - mid, mid - 8);
  // Where a number is at each station. Without the second one, its way leads straight past it.
  const way = (value) => {
    const y = (value - one.center) / one.root;
    const past = lerp(at(value), at(y), (ys[1] - ys[0]) / (ys[2] - ys[0]));
    return [at(value), lerp(past, at(value - one.center), keep), at(y), at(zoom * y)];
  };
  const [low, mean, high] = [one.center - one.root, one.mean, one.center + one.root].map(way);
  const ways = one.x.map((value, d) => [...way(value), at(zoom * one.out[d])]);
  return { width, ys, unit, zoom, at, low, mean, high, ways, height: ys[affine ? 4 : 3] + 32,
    last: lerp(ys[3], ys[4], affine) };
}

/** The boxes of a machine: a dot for each number at each station, and what can be pulled. */
export function boxesOf({ one, place, keep }, { at: row, word, letters, affine, guess, t, hot,
  grip, touched }) {
  const { ys, unit, zoom, ways, width } = place;
  const dots = (id, s, values, { act, opacity = 1, ...more }) => {
    const xs = ways.map((way, d) => (guess && act === "guess" ? place.at(zoom * values[d]) : way[s]));
    const scale = s > 2 ? unit * zoom : unit;
    const alone = act && grip?.act === act ? grip.d : -1; // what is held
    const groups = [];
    for (const d of [...xs.keys()].sort((i, j) => xs[i] - xs[j])) {
      const before = groups.at(-1)?.at(-1);
      if (xs[d] - xs[before] < NEAR && d !== alone && before !== alone) groups.at(-1).push(d);
      else groups.push([d]);
    }
    return groups.flatMap((group) => group.map((d, i) => { // side by side, so each can be taken
      const [n, isOut] = [group.length, Math.abs(values[d] * scale) > width / 2 - 7];
      const wide = n > 1 ? NEAR : isOut ? 33 : 23;
      const x = average(group.map((each) => xs[each])) + NEAR * (i - (n - 1) / 2) - wide / 2;
      const kind = d === hot?.d ? "hot" : isOnWay(t, affine) ? "dim" : "";
      const text = !isOut ? letters[d] : values[d] > 0 ? `${letters[d]}›` : `‹${letters[d]}`;
      return { id: `${id}${d}`, kind: `bead ${kind}`, place: [x, ys[s] - 11.5, wide, 23], text, act, row, d,
        opacity, value: values[d], unit: scale, ...more };
    })).sort((a, b) => a.d - b.d);
  };
  const isOpen = guess ? 0 : 1;
  const last = guess ? { act: "guess", label: (name) => `your guess of result ${name}` }
    : { act: "result", label: (name) => `result ${name}` };
  const numbers = dots(`x${row},`, 0, one.x, { act: "dot", of: "x", isFixed: guess,
    label: (name) => `number ${name} of ${word}` });
  const results = dots(`y${row},`, 3, guess ?? one.y, { ...last, of: "y" });
  const { place: [left, top, wide] } = (guess ? results : numbers).at(-1);
  return [
    ...numbers,
    ...handles(one, place, keep, row).map((handle) => ({ ...handle, isFixed: guess })),
    ...dots("centered", 1, one.centered, { of: "centered", opacity: isOpen * keep }),
    ...results,
    ...dots("out", 4, one.out, { of: "gamma beta", opacity: affine }),
    ...journey(one, place, { letters, affine, t, hot }),
    { id: "cover", kind: "cover", place: [0, ys[0] + 15, width, ys[3] - ys[0] - 28],
      text: keep > 0.5 ? "layer norm?" : "RMSNorm?", opacity: 1 - isOpen },
    { id: "hint", kind: "hint", place: [left + wide > width - 58 ? left - 58 : left + wide, top, 58, 23],
      text: "drag me", opacity: touched || isOnWay(t, affine) ? 0 : 1 },
  ];
}

/** The hands of the whole row: pills with its numbers, pushed aside where they'd meet. */
function handles(one, { width, unit, low, mean, high }, keep, row) {
  const spread = `${keep > 0.5 ? "spread" : "RMS"} ${short(one.spread)}`;
  const pill = (act, hand, text, value, side, more) => {
    const w = 18 + 7.8 * text.length;
    const x = clamp(side(w), w / 2, width - w / 2);
    return { id: hand, hand, act, text, value, x, w, row, unit, place: [x - w / 2, 1.5, w, 23], ...more };
  };
  const about = pill("mean", "mean", `mean ${short(one.mean)}`, one.mean, () => mean[0],
    { kind: "bead mean", id: `mean${row},0`, of: "mean", label: () => "mean, moves all" });
  const told = about.x + about.w / 2 + 96 > width ? -1 : 1; // which edge has the words
  const edge = (hand, name, [x], out) => pill("spread", hand, out === told ? spread : "↔", one.spread,
    (w) => about.x + out * (Math.max(out * (x - about.x) - 14, about.w / 2 + 2) + w / 2),
    { kind: "bead spread", side: out, of: "spread var", label: () => `${name} edge, spreads all` });
  return [about, edge("low", "left", low, -1), edge("high", "right", high, 1)];
}

/** All numbers on a rod, which keeps its length and then shrinks. */
function journey(one, { ys, ways }, { letters, affine, t, hot }) {
  const me = hot?.d ?? one.x.length - 1;
  return ways.map((xs, d) => ({ id: `run${d}`, kind: `bead ${d === me ? "hot" : "ghost"}`, text: letters[d],
    place: [along(xs, t) - 11.5, along(ys, t) - 11.5, 23, 23], opacity: isOnWay(t, affine) ? 1 : 0 }));
}

/** Return what sets parts of a drawing by their names; they keep the order in which they came. */
export function pen(svg) {
  const nodes = new Map();
  const put = (id, tag, attributes, text = "") => {
    const node = nodes.get(id) ?? svg.appendChild(document.createElementNS(svg.namespaceURI, tag));
    nodes.set(id, node);
    for (const [name, value] of Object.entries(attributes))
      if (node.getAttribute(name) !== `${value}`) node.setAttribute(name, value);
    if (node.textContent !== text) node.textContent = text;
  };
  const of = (part) => (part ? { "data-of": part } : {});
  return {
    line: (id, kind, x1, y1, x2, y2, opacity = 1, part) =>
      put(id, "line", { class: kind, x1, y1, x2, y2, opacity, ...of(part) }),
    shape: (id, tag, kind, list, opacity = 1, part) => put(id, tag, { class: kind, opacity,
      points: list.map((xy) => xy.map((v) => v.toFixed(1)).join()).join(" "), ...of(part) }),
    ring: (id, kind, cx, cy, r, opacity) => put(id, "circle", { class: kind, cx, cy, r, opacity }),
    label: (id, kind, x, y, text, opacity = 1, part) =>
      put(id, "text", { class: kind, x, y, opacity, ...of(part) }, text),
  };
}

const down = (xs, ys, from, to) => xs.slice(from, to + 1).map((x, i) => [x, ys[from + i]]);

/**
 * Draw what lies under the boxes of a row. view: what `stations` and `layoutMachine` return, as `one`
 * and `place`, with `rings`, where results were, `isKept`, if these are shown, and `isSame`, if
 * results are there again. state: what's shown, `t`, how far a journey is, and `hot`, its number.
 */
export function drawMachine(svg, view, state) {
  drawGround(svg, view, state);
  drawWays(svg, view, state);
  drawWords(svg, view, state);
}

/** One ribbon, as wide as the spread: it slides by the mean, then the clamp squeezes it. */
function drawGround({ line, shape, label }, { place, keep, isSame }, { affine, eps }) {
  const { ys, at, unit, width, low, mean, high, last, zoom } = place;
  const [zero, right, mark] = [at(0), width - 8, zoom > 5 ? 10 : 5];
  // Under the last station is a lens, drawn as one, so that it isn't taken for a step.
  shape("lens", "polygon", "lens", [[at(-2), ys[2]], [at(2), ys[2]], [right + 6, ys[3] - 16],
    [right + 6, last + 32], [2, last + 32], [2, ys[3] - 16]]);
  shape("band", "polygon", "band", [[low[0], 24], ...down(low, ys, 0, 2),
    ...down(high, ys, 0, 2).reverse(), [high[0], 24]], 1, "spread");
  line("zero", "zero", zero, 26, zero, ys[3]);
  shape("wedge", "polygon", "wedge", [[zero, ys[0]], [mean[0], ys[0]], [mean[1], ys[1]]], keep, "mean");
  ys.forEach((y, s) => {
    const opacity = [1, keep, 1, 1, affine][s];
    line(`axis${s}`, `axis ${s === 3 && isSame ? "same" : ""}`, 8, y, right, y, opacity);
    for (const value of [-1, 1].map((tick) => tick * (s < 3 ? mark : zoom)))
      line(`tick${s},${value > 0}`, "axis", at(value), y - 4, at(value), y + 4, opacity);
  });
  for (const tick of [-mark, mark]) label(`mark${tick < 0}`, "flat middle", at(tick), ys[0] - 8, short(tick));
  const top = keep > 0.5 ? 1 : 0; // where the clamp begins
  for (const [id, edge, out] of [["low", low, -8], ["high", high, 8]]) {
    shape(`edge${id}`, "polyline", "way spread", [[edge[0], 24], ...down(edge, ys, 0, 2)], 1, "spread");
    shape(`jaw${id}`, "polygon", "jaw", [[edge[top], ys[top]], [edge[top] + out, ys[top]],
      [edge[2] + out, ys[2]], [edge[2], ys[2]]], 1, "spread var");
  }
  const [thin, wide] = [Math.sqrt(eps), lerp(Math.sqrt(eps), 1, 0.55)].map((value) => value * unit);
  const stop = eps > 0.01 ? 1 : 0; // ε holds the clamp open: else it's too thin to be seen
  const under = lerp(ys[top], ys[2], 0.55);
  shape("stop", "polygon", "stop", [[zero - thin, ys[top]], [zero + thin, ys[top]],
    [zero + wide, under], [zero - wide, under]], stop, "eps");
  label("eps", "tag", zero + wide + 6, under, "√ε", stop, "eps");
}

function drawWays({ line, shape, ring }, { place, keep, rings, isSame, isKept }, { affine, guess, t, hot }) {
  const { ys, at, mean, zoom, ways } = place;
  ways.forEach((xs, d) => {
    const look = d === hot?.d ? "hot" : isOnWay(t, affine) ? "dim" : "";
    shape(`way${d}`, "polyline", `way ${look}`, down(xs, ys, 0, 2), 1, "centered");
    shape(`zoomed${d}`, "polyline", `way zoomed ${look}`, down(xs, ys, 2, 3), guess ? 0 : 1, "y");
    line(`learned${d}`, "way affine", xs[3], ys[3], xs[4], ys[4], affine, "gamma beta");
    ring(`small${d}`, "small", xs[2], ys[2], 4.5, guess ? 0 : 1);
    ring(`ring${d}`, `ring ${isSame ? "same" : ""}`, at(zoom * rings[d]), ys[3], 15, isKept ? 1 : 0);
  });
  shape("mean way", "polyline", "way mean", [[mean[0], 24], ...down(mean, ys, 0, guess ? 2 : 3)], 1, "mean");
  // The arrow is as long as the mean, and points where everything goes.
  const [zero, y] = [at(0), ys[0] + 19];
  const tip = zero + clamp(mean[0] - zero, -9, 9);
  const opacity = keep * (Math.abs(mean[0] - zero) > 5);
  line("arrow", "way mean", tip, y, mean[0], y, opacity, "mean");
  line("from", "way mean", mean[0], y - 6, mean[0], y + 6, opacity, "mean");
  shape("push", "polygon", "push", [[zero, y], [tip, y - 6], [tip, y + 6]], opacity, "mean");
  const run = ways.map((xs) => along(xs, t));
  line("rod", "way hot", Math.min(...run), along(ys, t), Math.max(...run), along(ys, t),
    isOnWay(t, affine) ? 1 : 0);
}

/** What is done stands between the stations, in the color of what does it. */
function drawWords({ label }, { one, place, keep, isSame }, { affine, guess, t, hot }) {
  const { ys, at, width, last, zoom, ways } = place;
  const between = (s) => (ys[s] + ys[s + 1]) / 2 + 5;
  label("x", "tag", 0, ys[0] - 8, "x", 1, "x");
  const open = guess ? 0 : 1;
  label("minus", "tag mean", 0, between(0), "− mean", open * keep, "mean centered");
  label("over", "tag spread", 0, lerp((ys[0] + ys[2]) / 2 + 5, between(1), keep),
    keep > 0.5 ? "÷ spread" : "÷ RMS", open, "spread var");
  label("zoom", "flat", 0, between(2), `× ${zoom}`, open);
  label("affine", "tag flat affine", 0, between(3), "· γ + β", affine, "gamma beta");
  label("norm", "tag flat", 0, last + 27, keep > 0.5 ? "layer norm" : "RMSNorm", 1, "y");
  for (const tick of [-1, 0, 1])
    label(`at${tick}`, "flat middle", at(zoom * tick), last + 27, width < 340 && tick < 0 ? "" : short(tick));
  label("same", "tag end right", width, ys[3] - 22, "✓ unchanged", isSame ? 1 : 0);
  const me = hot?.d ?? one.x.length - 1; // who tells its value on the way
  const values = [one.x, one.centered, one.y, one.y, one.out].map((each) => each[me]);
  const isRight = along(ways[me], t) > width - 66;
  label("value", `tag ${isRight ? "end" : ""}`, along(ways[me], t) + (isRight ? -15 : 15),
    along(ys, t) - 9, short(along(values, t)), isOnWay(t, affine) ? 1 : 0);
}

/** The lines of a table that tells of a row, and what stands beside each; the first names features. */
export function tellMachine({ x, mean, centered, variance, root, y, out }, letters, { rms, gamma, guess }) {
  const line = (label, values, part, beside = "", besideOf = "") =>
    ({ label, values: values.map(fitted), part, beside, besideOf });
  const given = [{ label: "", values: [...letters].slice(0, x.length), beside: "" },
    line("x", x, "x", `mean ${fitted(mean)}`, "mean")];
  return guess ? given : [...given,
    ...(rms ? [] : [line("x − mean", centered, "centered")]),
    line("squared", centered.map((value) => value ** 2), "var",
      `${rms ? "mean" : "var"} ${fitted(variance)}`, "var"),
    line("÷ root", y, "y", `root ${fitted(root)}`, "spread"),
    ...(gamma ? [line("· γ + β", out, "gamma beta")] : [])];
}
