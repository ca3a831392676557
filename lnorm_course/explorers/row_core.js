// The row: the numbers of one word on their way through a norm, at three depths that open out of
// each other: the numbers of all words, one word on lines, and its steps. What becomes of them is
// computed here, and a test holds that to `lnorm_utils`. row.json has the states.

const GAP = 7; // pixels between cells
const TOLD = ["letter", "word", "label", "cell", "below", "step", "value", "pill"];
const FORMULA = `<math display="block" style="font-size: 1.45em"><mi data-of="y">y</mi><mo>=</mo>
<mfrac><mrow data-of="centered"><mi data-of="x">x</mi><mo>−</mo><mi data-of="mean">mean</mi></mrow>
<msqrt data-of="spread"><mi data-of="var">var</mi><mo>+</mo><mi data-of="eps">ε</mi></msqrt>
</mfrac>`;
const FORMULA_SAID = "y is x minus the mean, divided by the root of the variance plus ε";
const AFFINE = '<mo>·</mo><mi data-of="gamma">γ</mi><mo>+</mo><mi data-of="beta">β</mi>';
// What a lane makes of the numbers that reach a place in it, and of those that have entered it.
const ACTS = {
  LN: (values) => ownSteps(values).map(({ y }) => y),
  "f doubles": (values) => values.map((value) => 2 * value),
  "+ x": (values, x) => values.map((value, d) => value + x[d]),
  "layer norm": (_, x) => ACTS.LN(x),
  RMSNorm: (_, x) => ownSteps(x).map(({ rms }) => rms),
};

const ownSteps = (values) => derive([values]).steps[0];
const average = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const plain = (value) => (Math.abs(value) < 0.005 ? 0 : value).toFixed(2).replace("-", "−");
const fitted = (value) => {
  const size = Math.abs(value);
  const small = size < 0.001 ? value.toExponential(0) : value.toFixed(3);
  if (size > 1e-12 && size < 0.01) return small.replaceAll("-", "−");
  return plain(value).replace(/\.\d*/, size >= 100 ? "" : "$&");
};
const trimmed = (text) => text.replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
const short = (value) => trimmed(fitted(value));
const isOpen = ({ depth }) => depth !== "numbers";

/**
 * Return each step of a norm over rows of numbers, and the groups of cells that share a mean.
 *
 * over: the axes of a mean: N, the sentences; L, the words of one, which has `length`; D, features.
 */
export function derive(x, { over = "D", length = 1, eps = 1e-5, gamma, beta } = {}) {
  const groups = new Map();
  const steps = x.map((values, row) => values.map((value, d) => {
    const place = [Math.floor(row / length), row % length, d];
    const key = place.map((at, axis) => (over.includes("NLD"[axis]) ? "" : at)).join();
    if (!groups.has(key)) groups.set(key, { steps: [] });
    const step = { x: value, row, d, id: `c${row}-${d}`, group: groups.get(key) };
    step.group.steps.push(step);
    return step;
  }));
  for (const group of groups.values()) {
    const mean = (of) => average(group.steps.map(of));
    group.mean = mean((step) => step.x);
    group.variance = mean((step) => (step.x - group.mean) ** 2);
    group.root = Math.sqrt(group.variance + eps);
    const length = Math.sqrt(mean((step) => step.x ** 2) + eps); // RMSNorm has no mean
    for (const step of group.steps) {
      step.centered = step.x - group.mean;
      step.square = step.centered ** 2;
      step.normed = step.centered / group.root;
      step.y = step.normed * (gamma?.[step.d] ?? 1) + (beta?.[step.d] ?? 0);
      step.rms = step.x / length;
    }
  }
  return { steps, groups: [...groups.values()] };
}

/** Return the lines of the table about a word: the numbers of each, and what stands beside them. */
function tableOf({ depth, gamma, lane }, own) {
  const { mean, variance, root } = own[0].group;
  const line = (label, name, full, of = name, term, beside) =>
    ({ label, of, full, term, beside, values: own.map((step) => step[name]) });
  const x = line("x", "x", 8, "x", "mean", `mean ${fitted(mean)}`);
  let { values } = x;
  if (lane) return ["x", ...lane].map((label) => {
    values = ACTS[label]?.(values, x.values) ?? values;
    const beside = `spread ${fitted(Math.sqrt(ownSteps(values)[0].group.variance))}`;
    return { label, of: label === "x" ? "x" : "y", full: 8, term: "spread", beside, values };
  });
  const y = gamma ? line("· γ + β", "y", 2, "gamma beta y") : line("y", "y", 2);
  if (depth === "row") return [x, y];
  return [x, line("x − mean", "centered", 8),
    line("squared", "square", 64, "var", "var", `var ${fitted(variance)}`),
    line("÷ root", "normed", 2, "y", "spread", `root ${fitted(root)}`), ...(gamma ? [y] : [])];
}

/** Return the boxes that are words or numbers as the lines of a table, for whoever hears it. */
function heard(boxes) {
  const told = boxes.filter(({ kind, isShown = true, isAside }) =>
    isShown && !isAside && TOLD.includes(kind));
  const lines = Object.values(Object.groupBy(told, ({ place: [, y] }) => y)); // from the top down
  return lines.map((line) => line.sort((a, b) => a.place[0] - b.place[0]));
}

/** Place what a state shows: boxes, those of words and numbers first, and how high all of it is. */
function layout(state, page, width, { steps, groups }) {
  const { depth, at, results, over, gamma, lane } = state;
  const { sentences: [{ length }], letters } = page;
  const [open, slim, features] = [isOpen(state), width < 520, state.x[0].length];
  const [hasFormula, braced] = [depth === "steps" && !lane, page.braces && !open ? over : ""];
  const table = open ? tableOf(state, steps[at]) : [];
  const lines = (state.lines ?? [0, table.length - 1]).map((i) => table[i]);
  const aside = hasFormula && !slim ? (gamma ? 198 : 168) : 0; // there the formula stands
  const edge = 22 * [..."NL"].filter((axis) => braced.includes(axis)).length;
  const left = aside + edge + (slim ? 72 : 96);
  const right = slim ? 78 : 112;
  const cell = Math.min(112, (width - left - right) / features);
  const end = left + cell * features;
  const tall = !open && results ? 48 : 40;
  const roof = steps.length > 1 ? 102 : 66; // one word alone needs no name
  const plotted = roof - 48 + 120 * lines.length;
  const under = open ? plotted + (hasFormula && slim ? 88 : 0) : 0; // the letters
  const head = page.braces && !open ? 46 : 24;
  const top = (row) => head + row * (tall + GAP) + Math.floor(row / length) * 6;
  const bottom = top(steps.length - 1) + tall;
  const boxes = [];
  const put = (id, kind, place, more) => boxes.push({ id, kind, place, ...more });
  const across = (name, y, kind, more) => steps[0].forEach((_, d) => put(`${name}${d}`, kind,
    [left + cell * d, y, cell - GAP, kind === "letter" ? 20 : 40], { d, ...more(d) }));

  let along = 0;
  page.sentences.flat().forEach((word, row) => {
    const isOf = Math.floor(row / length) === Math.floor(at / length) && steps.length > 1;
    const wide = 11 * word.length + 26;
    const half = !open && results ? 24 : 40;
    const place = open ? [along, 0, wide, 36] : [edge, top(row), left - edge - 12, half];
    if (isOf) along += wide + 10;
    if (half < 40) put(`r${row}`, "label", [edge, top(row) + 24, left - edge - 12, 24],
      { text: results === "y" ? "its norm" : "x − mean" });
    put(`w${row}`, "word", place,
      { text: word, row, isShown: !open || isOf, isOn: open && row === at, isAside: open });
    steps[row].forEach(({ id, group, x, ...step }, d) => {
      put(id, "cell", [left + cell * d, open ? under + 24 : top(row), cell - GAP, half],
        { row, d, group, value: x, of: "x", tone: x / 8, isShown: !open || row === at,
          text: (page.decimals ? fitted : short)(x) });
      if (half < 40) put(`${id}-below`, "below", [left + cell * d, top(row) + 24, cell - GAP, 24],
        { group, row, d, tone: step[results] / 2, text: plain(step[results]) });
    });
  });
  across("letter", open ? under : head - 24, "letter", (d) => ({ text: letters[d] }));

  if (!open) {
    const braces = { N: [0, top(0), 14, bottom - top(0)],
      L: [edge - 22, top(0), 14, top(length - 1) + tall - top(0)],
      D: [left, 0, cell * features - GAP, 16] };
    for (const axis of braced)
      put(`brace${axis}`, `brace ${axis}`, braces[axis], { text: page.braces[axis] });
    const [isBeside, isDown] = [over?.includes("D"), over === "NL"]; // where there's room for means
    if (isBeside || isDown) put(`mean${isDown}`, isDown ? "label" : "letter", isDown
      ? [edge, bottom + 8, left - edge - 12, 32] : [end, head - 24, right - 4, 20],
    { text: "mean", of: "mean" });
    // Cells that share a mean have a frame, in each row if other rows stand between them.
    if (over !== undefined) for (const group of groups) {
      const blocks = Object.groupBy(group.steps, ({ row }) => (over.includes("L") ? "all" : row));
      for (const [first, last] of Object.values(blocks).map((block) => [block[0], block.at(-1)])) {
        const [x, y] = [left + cell * first.d - 3, top(first.row) - 3];
        const [w, h] = [cell * (last.d - first.d + 1) - GAP + 6, top(last.row) + tall + 3 - y];
        put(`f${first.id}`, "frame", [x, y, w, h], { group });
        if (isBeside || isDown) put(`g${first.id}`, "pill", isDown ? [x + 3, bottom + 8, w - 6, 32]
          : [end, y + 3, right - 4, h - 6], { group, of: "mean", text: fitted(group.mean) });
      }
    }
    if (gamma) for (const [i, name] of ["gamma", "beta"].entries()) { // they belong to features
      const y = bottom + 10 + 40 * i;
      put(name, "label", [0, y, left - 12, 34], { text: "γβ"[i], of: name });
      across(name, y, "step", (d) => ({ text: short(state[name][d]), of: name, tone: 0 }));
    }
    return { boxes, height: bottom + (gamma ? 88 : isDown ? 44 : 6) };
  }
  // The word's numbers, and what becomes of them, as dots on lines: of one scale, until all steps
  // are seen; then a norm's results have their own.
  const ends = lines.map(({ values }) => 1.1 * Math.max(...values.map(Math.abs)));
  const start = lines.findIndex(({ label }) => label === "x");
  lines.forEach(({ label, values }, i) => {
    const plot = (id, ...box) => put(`${i}${id}`, ...box);
    const [y, widest] = [roof + 120 * i, Math.max(state.lines ? 7 : 11, ...ends)];
    const most = hasFormula && i !== start ? Math.max(2.2, ends[i]) : widest;
    const x = (value, scale = most) => 12 + (width - 24) * (value / scale + 1) / 2;
    const { mean, variance } = ownSteps(values)[0].group;
    const [spread, about] = [Math.sqrt(variance), Math.min(Math.max(x(mean), 108), width - 108)];
    const note = y + (i + 1 < lines.length ? -62 : 46);
    plot("axis", "axis", [12, y - 1, width - 24, 2]);
    plot("band", "band", [x(mean - spread), y - 22, x(mean + spread) - x(mean - spread), 44],
      { of: "spread" });
    plot("bar", "bar", [x(mean) - 2, y - 27, 4, 54], { of: "mean" });
    for (const tick of [-10, -5, -2, -1, 0, 1, 2, 5, 10])
      if (Math.abs(tick) < most && (most < 5 || tick % 5 === 0))
        plot(`at${tick}`, "tick", [x(tick) - 20, y + 27, 40, 18], { text: short(tick) });
    plot("name", "note", [width - 92, y - 38, 80, 24], { text: state.lines ? label : "xy"[i] });
    plot("mean", "note", [about - 108, note, 106, 18],
      { text: `mean ${fitted(mean)}`, of: "mean" });
    plot("spread", "note", [about + 2, note, 106, 18],
      { text: `spread ${fitted(spread)}`, of: "spread" });
    if (i !== start) values.forEach((value, d) => { // a thread leads to where a number comes from
      const [here, there, way] = [x(value), x(lines[start].values[d], widest), start - i];
      const [lean, above] = [Math.atan2(way * (there - here), 92), y + (way < 0 ? -107 : 15)];
      const wide = 2 / Math.cos(lean);
      plot(`thread${d}`, "thread", [(here + there - wide) / 2, above, wide, 92], { of: "y", lean });
    });
    values.forEach((value, d) => { // dots at one place stand above each other, the axis amid them
      const near = values.map((other, at) => Math.abs(x(other) - x(value)) < 18 ? [at] : []).flat();
      const [high, tall] = [20 * (near.indexOf(d) - (near.length - 1) / 2), near[1] ? 20 : 26];
      plot(`dot${d}`, "dot", [x(value) - 13, y + high - tall / 2, 26, tall],
        { d, text: letters[d], ...(i === start && { pull: 2 * most / (width - 24) }) });
    });
  });
  // What ε leaves of a difference in a lane, such as 4e−7, is 0.
  const own = lane ? (value) => trimmed(plain(value)) : page.decimals ? fitted : short;
  table.forEach(({ label, of, full, term, beside, values }, i) => {
    const y = under + 24 + 44 * i;
    const more = { of, from: `c${at}-0`, isLast: i === table.length - 1 };
    put(`r-${label}`, "label", [aside, y, left - aside - 8, 40], { ...more, text: label });
    if (term) put(`v-${label}`, "value", [end, y, right, 40], { ...more, of: term, text: beside });
    const written = full === 2 ? plain : own;
    if (i) across(label, y, "step", (d) => ({ ...more, from: `c${at}-${d}`, tone: values[d] / full,
      text: written(values[d]) }));
  });
  if (hasFormula) put(`formula${Boolean(gamma)}`, "formula", aside
    ? [0, under + 56, aside - 20, 80] : [0, under - 84, width, 76],
  { html: `${FORMULA}${gamma ? AFFINE : ""}</math>`,
    said: `${FORMULA_SAID}${gamma ? ", times γ, plus β" : ""}` });
  return { boxes, height: under + 24 + 44 * table.length };
}
