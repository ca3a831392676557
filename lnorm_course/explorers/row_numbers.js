// What a norm makes of numbers, what a hand makes of them, and how they are written.

const GRAIN = 0.25; // numbers are dragged in quarters
const grained = (value) => Math.round(value / GRAIN) * GRAIN;
const clamp = (value, low, high) => Math.max(low, Math.min(high, value));
const average = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const plain = (value) => (Math.abs(value) < 0.005 ? 0 : value).toFixed(2).replace("-", "−");
const fitted = (value) => {
  const size = Math.abs(value);
  if (size > 1e-12 && size < 0.01)
    return (size < 0.001 ? value.toExponential(0) : value.toFixed(3)).replaceAll("-", "−");
  return size < 100 ? plain(value) : value.toFixed(0).replace("-", "−");
};
const short = (value) => fitted(value).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");

/**
 * Return what becomes of numbers at each station, where each has a γ and a β.
 *
 * keep: how much of the mean is subtracted, from 1, layer norm, to 0, RMSNorm.
 */
export function stations(x, { keep = 1, eps = 1e-5, gamma, beta } = {}) {
  const mean = average(x);
  const center = keep * mean;
  const centered = x.map((value) => value - center);
  const variance = average(centered.map((value) => value ** 2));
  const [spread, root] = [Math.sqrt(variance), Math.sqrt(variance + eps)];
  const y = centered.map((value) => value / root);
  const out = y.map((value, d) => value * (gamma?.[d] ?? 1) + (beta?.[d] ?? 0));
  return { x, mean, center, centered, variance, spread, root, y, out };
}

/**
 * Return each step of a norm over rows of numbers, and the groups of cells that share a mean.
 *
 * over: the axes of a mean: N, the sentences; L, the words of one, which has `length`; D, features.
 */
export function derive(x, { over = "D", length = 1, eps, gamma, beta } = {}) {
  const groups = {};
  const steps = x.map((values, row) => values.map((value, d) => {
    const place = [Math.floor(row / length), row % length, d];
    const key = place.filter((_, axis) => !over.includes("NLD"[axis]));
    const step = { x: value, row, d, group: groups[key] ??= { steps: [] } };
    step.group.steps.push(step);
    return step;
  }));
  for (const group of Object.values(groups)) {
    const { centered, y, ...one } = stations(group.steps.map((step) => step.x), { eps });
    Object.assign(group, one);
    group.steps.forEach((step, i) => Object.assign(step,
      { centered: centered[i], y: y[i] * (gamma?.[step.d] ?? 1) + (beta?.[step.d] ?? 0) }));
  }
  return { steps, groups: Object.values(groups) };
}

/** Whether numbers are on their way between stations; affine: 1 if γ and β have one, else 0. */
export const isOnWay = (t, affine) => t > 0.02 && t < 2.98 + affine;

/** What each kind of hand makes of a row; at an edge all numbers stop, so the shape is kept. */
export const PULLS = {
  dot: ({ x, d }, by, { edge }) => x.with(d, clamp(grained(x[d] + by), -edge, edge)),
  mean: ({ x }, by, { edge }) => {
    const moved = clamp(by, -edge - Math.min(...x), edge - Math.max(...x));
    return x.map((value) => value + moved);
  },
  spread: ({ from: { root, center }, shape, side }, by, { edge, eps }) => {
    const most = shape.map((one) => (edge - Math.sign(one) * center) / Math.abs(one || 1e-5));
    const wide = Math.max(root + side * by, Math.sqrt(eps)); // ε is a stop: the root is √ε then
    const spread = Math.min(Math.sqrt(wide ** 2 - eps), ...most);
    return shape.map((one) => center + spread * one);
  },
  guess: ({ guess, d }, by) => guess.with(d, clamp(guess[d] + by, -2, 2)),
  // The number follows its result; that has a limit, which only a number far away comes near.
  result: ({ x, d, from }, by, { edge, eps, keep }) => {
    const others = x.toSpliced(d, 1);
    const [n, middle] = [x.length, keep * average(others)];
    const [limit, ratio] = keep ? [n - 1, n * n / (n - 1)] : [n, n];
    const rest = average(others.map((value) => (value - middle) ** 2)) * (n - 1) / n + eps;
    // Where the others are equal, it is at its limit wherever the number is: there's no way back.
    if (rest < 1e-3 && from.y[d] ** 2 > 0.99 * limit) return x;
    const y = clamp(from.y[d] + by, -Math.sqrt(limit), Math.sqrt(limit));
    const away = Math.sqrt(rest * ratio / Math.max(0, limit - y * y));
    return x.with(d, clamp(middle + (y ? y * away : 0), -edge, edge));
  },
};
