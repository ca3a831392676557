// One row on its way through the stations of a norm, on one scale: where all is, and its drawing.
import { average, clamp, fitted, isOnWay, short } from "./row_numbers.js";

const NEAR = 7; // pixels: dots that are nearer than that are one, with all their letters
const lerp = (from, to, part) => from + (to - from) * part;

/** Where all is in a width, for what `stations` returns; hands are what can be pulled. */
export function layoutMachine(width, one, { keep, affine, guess, letters, reach }) {
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
  const dots = (id, values, y, scale) => values.map((value, d) =>
    ({ id: `${id}${d}`, act: id, d, x: at(scale * value), y, w: 0, value, name: letters[d] }));
  // The hands of the whole row are pills with its numbers, pushed aside where they'd meet.
  const pill = (id, act, name, value, side) =>
    ({ id, act, name, value, side, y: 13, w: 18 + 7.8 * name.length });
  const words = [`mean ${short(one.mean)}`, `${keep > 0.5 ? "spread" : "RMS"} ${short(one.spread)}`];
  const about = pill("mean", "mean", words[0], one.mean);
  about.x = clamp(mean[0], about.w / 2, width - about.w / 2);
  const side = about.x + about.w / 2 + 96 > width ? -1 : 1; // which edge has the words
  const edges = [["low", low, -1], ["high", high, 1]].map(([id, edge, out]) => {
    const hand = pill(id, "spread", out === side ? words[1] : "↔", one.spread, out);
    const inner = Math.max(out * (edge[0] - about.x) - 14, about.w / 2 + 2);
    hand.x = clamp(about.x + out * (inner + hand.w / 2), hand.w / 2, width - hand.w / 2);
    return hand;
  });
  return { width, ys, unit, zoom, at, low, mean, high, letters, ways: one.x.map(way),
    last: lerp(ys[3], ys[4], affine), height: ys[affine ? 4 : 3] + 32,
    hands: [...[...dots("dot", one.x, ys[0], 1), about, ...edges].map((hand) => ({ ...hand, isFixed: Boolean(guess) })),
      ...(guess ? dots("guess", guess, ys[3], zoom) : dots("result", one.y, ys[3], zoom))] };
}

/** Return what sets parts of a drawing by their names; they keep the order in which they came. */
export function pen(svg) {
  const nodes = new Map();
  const put = (id, tag, attributes, text) => {
    const [group] = id.split("/");
    const node = nodes.get(id) ?? document.createElementNS("http://www.w3.org/2000/svg", tag);
    if (!nodes.has(id)) (group === id ? svg : nodes.get(group)).append(node);
    nodes.set(id, node);
    for (const [name, value] of Object.entries({ "aria-hidden": !attributes.role, ...attributes }))
      if (node.getAttribute(name) !== `${value}`) node.setAttribute(name, value);
    if (text !== undefined && node.textContent !== text) node.textContent = text;
  };
  return {
    put,
    line: (id, kind, x1, y1, x2, y2, opacity = 1, more = {}) =>
      put(id, "line", { class: kind, x1, y1, x2, y2, opacity, ...more }),
    shape: (id, tag, kind, list, opacity = 1, more = {}) => put(id, tag, { class: kind, opacity,
      points: list.map((xy) => xy.map((v) => v.toFixed(1)).join()).join(" "), ...more }),
    label: (id, kind, x, y, text, opacity = 1, more = {}) =>
      put(id, "text", { class: kind, x, y, opacity, ...more }, text),
    bead: (id, kind, x, y, w, text, opacity = 1, more = {}) => {
      put(id, "g", { class: `bead ${kind}`, transform: `translate(${x} ${y})`, opacity, ...more });
      put(`${id}/box`, "rect", { x: -w / 2, y: -11.5, width: w, height: 23, rx: 11.5 });
      put(`${id}/name`, "text", { y: 5 }, text);
    },
  };
}

const of = (name) => ({ "data-of": name });
const down = (xs, ys, from, to) => xs.slice(from, to + 1).map((x, i) => [x, ys[from + i]]);

/**
 * Draw a row. view: what `stations` and `layoutMachine` return, as `one` and `place`, with `rings`,
 * where results were, `isKept`, if these are shown, and `isSame`, if results are there again.
 * state: what's shown, and `t`, how far a journey is, `hot`, its number, and `grip`, what is held.
 */
export function drawMachine(svg, view, state) {
  drawGround(svg, view, state);
  drawWays(svg, view, state);
  drawHands(svg, view, state);
  drawWords(svg, view, state);
  drawJourney(svg, view, state);
}

/** One ribbon, as wide as the spread: it slides by the mean, then the clamp squeezes it. */
function drawGround({ line, shape, label }, { place, keep, isSame }, { affine, eps }) {
  const { ys, at, unit, width, low, mean, high, last, zoom } = place;
  const [zero, right] = [at(0), width - 8];
  // Under the last station is a lens, drawn as one, so that it isn't taken for a step.
  shape("lens", "polygon", "lens", [[at(-2), ys[2]], [at(2), ys[2]], [right + 6, ys[3] - 16],
    [right + 6, last + 32], [2, last + 32], [2, ys[3] - 16]]);
  shape("band", "polygon", "band", [[low[0], 24], ...down(low, ys, 0, 2),
    ...down(high, ys, 0, 2).reverse(), [high[0], 24]], 1, of("spread"));
  line("zero", "zero", zero, 26, zero, ys[3]);
  shape("wedge", "polygon", "wedge", [[zero, ys[0]], [mean[0], ys[0]], [mean[1], ys[1]]], keep,
    of("mean"));
  ys.forEach((y, s) => {
    const opacity = [1, keep, 1, 1, affine][s];
    line(`axis${s}`, `axis ${s === 3 && isSame ? "same" : ""}`, 8, y, right, y, opacity);
    for (const value of [-1, 1].map((tick) => tick * (s < 3 ? 10 : zoom)))
      line(`tick${s},${value > 0}`, "axis", at(value), y - 4, at(value), y + 4, opacity);
  });
  for (const tick of [-10, 10]) label(`ten${tick}`, "flat middle", at(tick), ys[0] - 8, short(tick));
  const top = keep > 0.5 ? 1 : 0; // where the clamp begins
  for (const [id, edge, out] of [["low", low, -8], ["high", high, 8]]) {
    shape(`edge${id}`, "polyline", "way spread", [[edge[0], 24], ...down(edge, ys, 0, 2)], 1,
      of("spread"));
    shape(`jaw${id}`, "polygon", "jaw", [[edge[top], ys[top]], [edge[top] + out, ys[top]],
      [edge[2] + out, ys[2]], [edge[2], ys[2]]], 1, of("spread var"));
  }
  const [thin, wide] = [Math.sqrt(eps), lerp(Math.sqrt(eps), 1, 0.55)].map((value) => value * unit);
  const stop = eps > 0.01 ? 1 : 0; // ε holds the clamp open: else it's too thin to be seen
  const under = lerp(ys[top], ys[2], 0.55);
  shape("stop", "polygon", "stop", [[zero - thin, ys[top]], [zero + thin, ys[top]],
    [zero + wide, under], [zero - wide, under]], stop, of("eps"));
  label("eps", "tag", zero + wide + 6, under, "√ε", stop, of("eps"));
}

function drawWays({ line, shape, put }, { one, place, keep, rings, isSame, isKept }, { affine, guess, t, hot }) {
  const { width, ys, at, mean, zoom, ways } = place;
  const dim = (d) => (d === hot ? "hot" : isOnWay(t, affine) ? "dim" : "");
  ways.forEach((xs, d) => shape(`way${d}`, "polyline", `way ${dim(d)}`, down(xs, ys, 0, 2), 1,
    of("centered")));
  ways.forEach((xs, d) => shape(`zoomed${d}`, "polyline", `way zoomed ${dim(d)}`, down(xs, ys, 2, 3),
    guess ? 0 : 1, of("y")));
  ways.forEach((xs, d) => line(`learned${d}`, "way affine", xs[3], ys[3], at(zoom * one.out[d]), ys[4],
    affine, of("gamma beta")));
  shape("mean way", "polyline", "way mean", [[mean[0], 24], ...down(mean, ys, 0, 3)], 1, of("mean"));
  // The arrow is as long as the mean, and points where everything goes.
  const [zero, y] = [at(0), ys[0] + 19];
  const tip = zero + clamp(mean[0] - zero, -9, 9);
  const opacity = keep * (Math.abs(mean[0] - zero) > 5);
  line("arrow", "way mean", tip, y, mean[0], y, opacity, of("mean"));
  line("from", "way mean", mean[0], y - 6, mean[0], y + 6, opacity, of("mean"));
  shape("push", "polygon", "push", [[zero, y], [tip, y - 6], [tip, y + 6]], opacity, of("mean"));
  rings.forEach((value, d) => put(`ring${d}`, "circle", { class: `ring ${isSame ? "same" : ""}`,
    r: 15, cx: at(zoom * value), cy: ys[3], opacity: isKept ? 1 : 0 }));
  put("cover", "g", { class: "cover", opacity: guess ? 1 : 0 });
  put("cover/box", "rect", { x: 0, y: ys[0] + 15, width, height: ys[3] - ys[0] - 28, rx: 8 });
  put("cover/name", "text", { x: width / 2, y: (ys[0] + ys[3]) / 2 + 5 }, "layer norm?");
}

/** All numbers at each station; those of the first and of the fourth are hands. */
function drawHands(svg, { one, place }, { affine, guess, keep, t, hot, grip, word, edge }) {
  const { ys, at, unit, width, zoom, ways, hands, letters } = place;
  const called = { dot: (name) => `number ${name} of ${word}`, result: (name) => `result ${name}`,
    guess: (name) => `your guess of result ${name}`,
    mean: () => "mean, moves all", spread: (_, side) => `${side < 0 ? "left" : "right"} edge, spreads all` };
  const slider = ({ id, name, value, act, side, isFixed }) => ({ tabindex: isFixed ? -1 : 0, role: "slider", "data-hand": id,
    "aria-label": called[act](name, side), "aria-valuemin": -edge, "aria-valuemax": edge,
    "aria-valuenow": value, "aria-valuetext": short(value) });
  const held = (act) => (grip?.act === act ? grip.d : -1); // it stays alone
  const dots = (s, values, { act = "", opacity = 1, part, hand } = {}) => {
    const scale = s > 2 ? zoom : 1;
    const xs = values.map((value) => at(scale * value));
    xs.forEach((x, d) => {
      const near = [...xs.keys()].filter((j) => j === d
        || (Math.abs(xs[j] - x) < NEAR && d !== held(act) && j !== held(act)));
      const name = near.map((j) => letters[j]).join("");
      const isOut = Math.abs(values[d] * scale) * unit > width / 2 - 7;
      const kind = d === hot ? "hot" : isOnWay(t, affine) ? "dim" : "";
      svg.bead(`dot${s},${d}`, `${kind} ${act && "hand"}`, average(near.map((j) => xs[j])), ys[s],
        13 + 10 * near.length, !isOut ? name : values[d] > 0 ? `${name}›` : `‹${name}`,
        near[0] === d ? opacity : 0, { ...of(part), ...(hand && slider(hand(d))) });
    });
  };
  ways.forEach(([, , cx], d) =>
    svg.put(`small${d}`, "circle", { class: "small", cx, cy: ys[2], r: 4.5, opacity: guess ? 0 : 1 }));
  const find = (act) => (d) => hands.find((hand) => hand.act === act && hand.d === d);
  dots(0, one.x, { act: "dot", part: "x", hand: find("dot") });
  for (const hand of hands.filter(({ act }) => act === "mean" || act === "spread"))
    svg.bead(hand.id, `hand ${hand.act}`, hand.x, hand.y, hand.w, hand.name, 1,
      { ...slider(hand), ...of(hand.act === "mean" ? "mean" : "spread var") });
  dots(1, one.centered, { opacity: guess ? 0 : keep, part: "centered" });
  const last = guess ? "guess" : "result";
  dots(3, guess ?? one.y, { act: last, part: "y", hand: find(last) });
  dots(4, one.out, { opacity: affine, part: "gamma beta" });
}

/** What is done stands between the stations, in the color of what does it. */
function drawWords({ label }, { place, keep, isSame }, { affine, guess, touched, t, x: { length } }) {
  const { ys, at, width, last, zoom, hands } = place;
  const between = (s) => (ys[s] + ys[s + 1]) / 2 + 5;
  label("x", "tag", 0, ys[0] - 8, "x", 1, of("x"));
  const open = guess ? 0 : 1;
  label("minus", "tag mean", 0, between(0), "− mean", open * keep, of("mean centered"));
  label("over", "tag spread", 0, lerp((ys[0] + ys[2]) / 2 + 5, between(1), keep),
    keep > 0.5 ? "÷ spread" : "÷ RMS", open, of("spread var"));
  label("zoom", "flat", 0, between(2), `× ${zoom}`, open);
  label("affine", "tag flat affine", 0, between(3), "· γ + β", affine, of("gamma beta"));
  label("norm", "tag flat", 0, last + 27, keep > 0.5 ? "layer norm" : "RMSNorm", 1, of("y"));
  for (const tick of [-1, 0, 1])
    label(`at${tick}`, "flat middle", at(zoom * tick), last + 27, width < 340 && tick < 0 ? "" : short(tick));
  label("same", "tag end right", width, ys[3] - 22, "✓ unchanged", isSame ? 1 : 0);
  const { x, y } = hands.at(guess ? -1 : length - 1);
  const isRight = x > width - 66;
  label("hint", `tag ${isRight ? "end" : ""}`, x + (isRight ? -15 : 15), y + 5, "drag me",
    touched || isOnWay(t, affine) ? 0 : 1);
}

/** All numbers on a rod, which keeps its length and then shrinks; one of them tells its value. */
function drawJourney(svg, { one, place }, { affine, t, hot }) {
  const { ys, ways, letters, width, at, zoom } = place;
  const s = Math.min(2 + affine, Math.floor(t));
  const [part, me] = [t - s, hot ?? letters.length - 1];
  const opacity = isOnWay(t, affine) ? 1 : 0;
  const [y, all] = [lerp(ys[s], ys[s + 1], part), ways.map((xs, d) => [...xs, at(zoom * one.out[d])])];
  const run = all.map((xs) => lerp(xs[s], xs[s + 1], part));
  svg.line("rod", "way hot", Math.min(...run), y, Math.max(...run), y, opacity);
  [...run.keys()].sort((i, j) => (i === me) - (j === me)).forEach((d, n) => {
    svg.bead(`run${n}`, d === me ? "hot" : "ghost", run[d], y, 23, letters[d], opacity);
    const values = [one.x, one.centered, one.y, one.y, one.out].map((each) => each[d]);
    const isRight = run[d] > width - 60;
    if (d === me) svg.label("value", `tag ${isRight ? "end" : ""}`, run[d] + (isRight ? -15 : 15),
      y - 9, short(lerp(values[s], values[s + 1], part)), opacity);
  });
}

/** The lines of a table that tells of a row, and what stands beside each; the first names features. */
export function tellMachine({ x, mean, centered, variance, root, y, out }, letters,
  { rms, gamma }) {
  const line = (label, values, part = "", beside = "", besideOf = "") =>
    ({ label, values: values.map(fitted), part, beside, besideOf });
  return [{ label: "", values: [...letters].slice(0, x.length), part: "", beside: "" },
    line("x", x, "x", `mean ${fitted(mean)}`, "mean"),
    ...(rms ? [] : [line("x − mean", centered, "centered")]),
    line("squared", centered.map((value) => value ** 2), "var",
      `${rms ? "mean" : "var"} ${fitted(variance)}`, "var"),
    line("÷ root", y, "y", `root ${fitted(root)}`, "spread"),
    ...(gamma ? [line("· γ + β", out, "gamma beta")] : [])];
}
