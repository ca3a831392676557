// What is drawn under the boxes of a machine, as marks. There are always as many, in the same order.
import { clamp, isOnWay, lerp, short } from "./row_numbers.js";
import { along } from "./row_machine.js";

const path = (kind, d, of, opacity = 1) => ({ tag: "path", kind, of, attributes: { d, opacity } });
const label = (kind, x, y, text, of, opacity = 1) =>
  ({ tag: "text", kind, of, attributes: { x, y, opacity }, text });
/** A way down from the first station. */
const down = (xs, ys, to) => xs.slice(0, to + 1).map((x, s) => [x, ys[s]]);

export const marksOf = (machine) =>
  [...drawGround(machine), ...drawWays(machine), ...drawWords(machine)];

/** One ribbon, as wide as the spread: it slides by the mean, then the clamp squeezes it. */
function drawGround({ ys, at, unit, zoom, width, edges, mid, last, keep, affine, eps, isSame }) {
  const [zero, mark, right] = [at(0), zoom > 5 ? 10 : 5, width - 8];
  const [low, high] = edges.map((xs) => [[xs[0], 24], ...down(xs, ys, 2)]);
  const axis = (y, s) => path(`axis ${s === 3 && isSame ? "same" : ""}`, `M8 ${y}H${right}${
    [-1, 1].map((tick) => `M${at(tick * (s < 3 ? mark : zoom))} ${y - 4}v8`).join("")}`, null,
  [1, keep, 1, 1, affine][s]);
  const top = keep > 0.5 ? 1 : 0; // where the clamp begins
  const jaw = (xs, out) => `M${xs[top]} ${ys[top]}h${out}L${xs[2] + out} ${ys[2]}h${-out}Z`;
  const [thin, wide] = [0, 0.55].map((part) => unit * lerp(Math.sqrt(eps), 1, part));
  const [under, stop] = [lerp(ys[top], ys[2], 0.55), eps > 0.01 ? 1 : 0]; // else it's too thin
  return [
    // Under the last station is a lens, drawn as one, so that it isn't taken for a step.
    path("lens", `M${at(-2)} ${ys[2]}H${at(2)}L${right + 6} ${ys[3] - 16}V${last + 32}H2V${ys[3] - 16}`),
    path("band", `M${low},${high.toReversed()}`, "spread"),
    path("zero", `M${zero} 26V${ys[3]}`),
    path("wedge", `M${zero} ${ys[0]}H${mid[0]}L${mid[1]} ${ys[1]}`, "mean", keep),
    ...ys.map(axis),
    ...[-mark, mark].map((tick) => label("flat middle", at(tick), ys[0] - 8, short(tick))),
    path("way spread", `M${low}M${high}`, "spread"),
    path("jaw", jaw(edges[0], -8) + jaw(edges[1], 8), "spread var"),
    path("stop", `M${zero - thin} ${ys[top]}h${2 * thin}L${zero + wide} ${under}h${-2 * wide}Z`,
      "eps", stop), // ε holds the clamp open
    label("tag", zero + wide + 6, under, "√ε", "eps", stop),
  ];
}

/** The way of each number, and of the mean. */
function drawWays({ ys, at, zoom, ways, mid, rings, keep, affine, guess, t, hot, isSame, isKept }) {
  const open = guess ? 0 : 1;
  const traveling = isOnWay(t, affine) ? 1 : 0;
  const one = (look, ds) => {
    const all = (drawn) => ds.map((d) => drawn(ways[d])).join("");
    return [path(`way ${look}`, all((xs) => `M${down(xs, ys, 2)}`), "centered"),
      path(`way zoomed ${look}`, all((xs) => `M${xs[2]} ${ys[2]}L${xs[3]} ${ys[3]}`), "y", open)];
  };
  const ds = [...ways.keys()];
  const [zero, y] = [at(0), ys[0] + 19];
  const tip = zero + clamp(mid[0] - zero, -9, 9);
  const moves = keep * (Math.abs(mid[0] - zero) > 5);
  const run = ways.map((xs) => along(xs, t));
  return [
    ...one(traveling ? "dim" : "", ds.filter((d) => d !== hot?.d)),
    ...one("hot", ds.filter((d) => d === hot?.d)),
    path("way affine", ways.map((xs) => `M${xs[3]} ${ys[3]}L${xs[4]} ${ys[4]}`).join(""),
      "gamma beta", affine),
    path("small", ways.map((xs) => `M${xs[2] - 4.5} ${ys[2]}a4.5 4.5 0 1 1 0 .01Z`).join(""), null, open),
    ...rings.map((value) => ({ tag: "circle", kind: `ring ${isSame ? "same" : ""}`,
      attributes: { cx: at(zoom * value), cy: ys[3], r: 15, opacity: isKept ? 1 : 0 } })),
    path("way mean", `M${mid[0]} 24L${down(mid, ys, guess ? 2 : 3)}`, "mean"),
    // The arrow is as long as the mean, and points where everything goes.
    path("way mean", `M${tip} ${y}H${mid[0]}m0 -6v12`, "mean", moves),
    path("push", `M${zero} ${y}L${tip} ${y - 6}v12`, "mean", moves),
    path("way hot", `M${Math.min(...run)} ${along(ys, t)}H${Math.max(...run)}`, null, traveling),
  ];
}

/** What is done stands between the stations, in the color of what does it. */
function drawWords({ x, centered, y, out, ys, at, zoom, width, last, ways, keep, affine, guess, t, hot,
  isSame }) {
  const open = guess ? 0 : 1;
  const [zeroth, first, second, third] = ys.slice(1).map((low, s) => (ys[s] + low) / 2 + 5);
  const me = hot?.d ?? x.length - 1; // who tells its value on the way
  const here = along(ways[me], t);
  const isRight = here > width - 66;
  return [
    label("tag", 0, ys[0] - 8, "x", "x"),
    label("tag mean", 0, zeroth, "− mean", "mean centered", open * keep),
    label("tag spread", 0, lerp((ys[0] + ys[2]) / 2 + 5, first, keep),
      keep > 0.5 ? "÷ spread" : "÷ RMS", "spread var", open),
    label("flat", 0, second, `× ${zoom}`, null, open),
    label("tag flat affine", 0, third, "· γ + β", "gamma beta", affine),
    label("tag flat", 0, last + 27, keep > 0.5 ? "layer norm" : "RMSNorm", "y"),
    ...[-1, 0, 1].map((tick) => label("flat middle", at(zoom * tick), last + 27,
      width < 340 && tick < 0 ? "" : short(tick))),
    label("tag end right", width, ys[3] - 22, "✓ unchanged", null, isSame ? 1 : 0),
    label(`tag ${isRight ? "end" : ""}`, here + (isRight ? -15 : 15), along(ys, t) - 9,
      short(along([x, centered, y, y, out].map((values) => values[me]), t)), null,
      isOnWay(t, affine) ? 1 : 0),
  ];
}
