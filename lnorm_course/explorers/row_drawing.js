// What is drawn under the boxes of a machine, as marks: always as many, in the same order.
import { mix } from "./engine/controls.js";
import { along } from "./row_machine.js";
import { clamp, short } from "./row_numbers.js";

const path = (kind, d, of, opacity = 1) => ({ tag: "path", kind, d, of, opacity });
const label = (kind, x, y, text, of, opacity = 1) =>
  ({ tag: "text", kind, x, y, text, of, opacity });

export const marksOf = (machine) =>
  [...drawGround(machine), ...drawWays(machine), ...drawWords(machine)];

/** One ribbon, as wide as the spread: it slides by the mean, then the clamp squeezes it. */
function drawGround({ ys, at, unit, zoom, width, edges, mid, last, keep, affine, eps, isSame }) {
  const [zero, mark, right] = [at(0), zoom > 5 ? 10 : 5, width - 8];
  const [low, high] = edges.map((xs) => [[xs[0], 24], ...ys.slice(0, 3).map((y, s) => [xs[s], y])]);
  const axis = (y, s) => {
    const [start, end] = [-1, 1].map((tick) => `M${at(tick * (s < 3 ? mark : zoom))} ${y - 4}v8`);
    return path(s === 3 && isSame ? "axis same" : "axis", `M8 ${y}H${right}${start}${end}`, null,
      [1, keep, 1, 1, affine][s]);
  };
  const top = keep > 0.5 ? 1 : 0; // where the clamp begins
  const jaw = (xs, out) => `M${xs[top]} ${ys[top]}h${out}L${xs[2] + out} ${ys[2]}h${-out}Z`;
  const [thin, wide] = [0, 0.55].map((part) => unit * mix(Math.sqrt(eps), 1, part));
  const [under, stop] = [mix(ys[top], ys[2], 0.55), eps > 0.01 ? 1 : 0]; // else it's too thin
  return [
    // Under the last station is a lens, drawn as one, so that it isn't taken for a step.
    path("lens",
      `M${at(-2)} ${ys[2]}H${at(2)}L${width - 2} ${ys[3] - 16}V${last + 32}H2V${ys[3] - 16}`),
    path("band", `M${low},${high.toReversed()}`, "spread"),
    path("zero", `M${zero} 26V${ys[3]}`),
    path("area wedge", `M${zero} ${ys[0]}H${mid[0]}L${mid[1]} ${ys[1]}`, "mean", keep),
    ...ys.map(axis),
    ...[-mark, mark].map((tick) => label("flat middle", at(tick), ys[0] - 8, short(tick))),
    path("way", `M${low}M${high}`, "spread"),
    path("area", jaw(edges[0], -8) + jaw(edges[1], 8), "spread var"),
    path("stop", `M${zero - thin} ${ys[top]}h${2 * thin}L${zero + wide} ${under}h${-2 * wide}Z`,
      "eps", stop), // ε holds the clamp open
    label("tag", zero + wide + 6, under, "√ε", "eps", stop),
  ];
}

/** The way of each number, and of the mean. */
function drawWays(machine) {
  const { ys, at, zoom, ways, mid, rings, keep, affine, t, hot, open, onWay } = machine;
  const all = (draw, some = ways) => some.map(draw).join("");
  const down = (xs) => `${xs[0]} ${ys[0]}L${xs[1]} ${ys[1]}L${xs[2]} ${ys[2]}`;
  const between = (s) => (xs) => `M${xs[s]} ${ys[s]}L${xs[s + 1]} ${ys[s + 1]}`;
  const looking = (look, some) => [
    path(`way ${look}`, all((xs) => `M${down(xs)}`, some), "centered"),
    path(`way zoomed ${look}`, all(between(2), some), "y", open)];
  const [zero, y] = [at(0), ys[0] + 19];
  const tip = zero + clamp(mid[0] - zero, -9, 9);
  const moves = keep * (Math.abs(mid[0] - zero) > 5);
  const run = ways.map((xs) => along(xs, t));
  return [
    ...looking(onWay ? "dim" : "", ways.filter((_, d) => d !== hot?.d)),
    ...looking("hot", ways.filter((_, d) => d === hot?.d)),
    path("way affine", all(between(3)), "gamma beta", affine),
    path("small", all((xs) => `M${xs[2] - 4.5} ${ys[2]}a4.5 4.5 0 1 1 0 .01Z`), null, open),
    ...rings.map((value) => ({ tag: "circle", r: 15,
      kind: machine.isSame ? "ring same" : "ring",
      cx: at(zoom * value), cy: ys[3], opacity: machine.isKept ? 1 : 0 })),
    path("way mean", `M${mid[0]} 24L${down(mid)}${open ? `L${mid[3]} ${ys[3]}` : ""}`, "mean"),
    // The arrow is as long as the mean, and points where everything goes.
    path("way mean", `M${tip} ${y}H${mid[0]}m0 -6v12`, "mean", moves),
    path("area", `M${zero} ${y}L${tip} ${y - 6}v12`, "mean", moves),
    path("way hot", `M${Math.min(...run)} ${along(ys, t)}H${Math.max(...run)}`, null, onWay),
  ];
}

/** What is done stands between the stations, in the color of what does it. */
function drawWords(machine) {
  const { ys, at, zoom, width, last, ways, keep, affine, t, me, open, onWay, isSame } = machine;
  const { x, centered, y, out } = machine;
  const between = ys.slice(1).map((low, s) => (ys[s] + low) / 2 + 5);
  const here = along(ways[me], t);
  const isRight = here > width - 66;
  return [
    label("tag", 0, ys[0] - 8, "x", "x"),
    label("tag", 0, between[0], "− mean", "mean centered", open * keep),
    label("tag", 0, mix((ys[0] + ys[2]) / 2 + 5, between[1], keep),
      keep > 0.5 ? "÷ spread" : "÷ RMS", "spread var", open),
    label("flat", 0, between[2], `× ${zoom}`, null, open),
    label("tag flat affine", 0, between[3], "· γ + β", "gamma beta", affine),
    label("tag flat", 0, last + 27, keep > 0.5 ? "layer norm" : "RMSNorm", "y"),
    ...[-1, 0, 1].map((tick) => label("flat middle", at(zoom * tick), last + 27,
      width < 340 && tick < 0 ? "" : short(tick))),
    label("tag end same", width, ys[3] - 22, "✓ unchanged", null, isSame ? 1 : 0),
    label(isRight ? "tag end" : "tag", here + (isRight ? -15 : 15), along(ys, t) - 9,
      short(along([x, centered, y, y, out].map((values) => values[me]), t)), null, onWay),
  ];
}
