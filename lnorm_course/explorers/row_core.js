// The row: the numbers of one word on their way through a norm, at three depths that open out of
// each other: the numbers of all words, one word on lines, and its steps. What becomes of them is
// computed here, and a test holds that to `lnorm_utils`. row.json has the states.

const GAP = 7; // pixels between cells
const formula = (isAffine) => `<math display="block" style="font-size: 1.45em" role="img"
aria-label="y is x minus the mean, divided by the root of the variance plus ε${
  isAffine ? ", times γ, plus β" : ""}">
<mi data-of="y">y</mi><mo>=</mo><mfrac>
<mrow data-of="centered"><mi data-of="x">x</mi><mo>−</mo><mi data-of="mean">mean</mi></mrow>
<msqrt data-of="spread"><mi data-of="var">var</mi><mo>+</mo><mi data-of="eps">ε</mi></msqrt>
</mfrac>${isAffine
  ? '<mo>·</mo><mi data-of="gamma">γ</mi><mo>+</mo><mi data-of="beta">β</mi>' : ""}</math>`;
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
  if (size > 1e-12 && size < 0.01)
    return (size < 0.001 ? value.toExponential(0) : value.toFixed(3)).replaceAll("-", "−");
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
  const groups = {};
  const steps = x.map((values, row) => values.map((value, d) => {
    const place = [Math.floor(row / length), row % length, d];
    const key = place.map((at, axis) => (over.includes("NLD"[axis]) ? "" : at)).join();
    const step = { x: value, row, d, group: groups[key] ??= { steps: [] } };
    step.group.steps.push(step);
    return step;
  }));
  for (const group of Object.values(groups)) {
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
  return { steps, groups: Object.values(groups) };
}

/** Return the lines of the table about a word: the numbers of each, and what stands beside them. */
function tableOf({ depth, gamma, lane }, own) {
  const { mean, variance, root } = own[0].group;
  const line = (label, name, full, of = name, ...beside) =>
    ({ label, of, full, beside, values: own.map((step) => step[name]) });
  const x = line("x", "x", 8, "x", { of: "mean", text: `mean ${fitted(mean)}` });
  let { values } = x;
  if (lane) return ["x", ...lane].map((label) => {
    values = ACTS[label]?.(values, x.values) ?? values;
    const text = `spread ${fitted(Math.sqrt(ownSteps(values)[0].group.variance))}`;
    const of = ACTS[label] ? "y" : "x";
    return { label, of, full: 8, values, beside: [{ of: "spread", text }] };
  });
  const y = line(depth === "row" ? "y" : "· γ + β", "y", 2, gamma ? "gamma beta y" : "y");
  if (depth === "row") return [x, y];
  return [x, line("x − mean", "centered", 8),
    line("squared", "square", 64, "var", { of: "var", text: `var ${fitted(variance)}` }),
    line("÷ root", "normed", 2, "y", { of: "spread", text: `root ${fitted(root)}` }),
    ...(gamma ? [y] : [])];
}

/** Place what a state shows: boxes, the lines of a table that tells of them, and how high it is. */
function layout(state, page, width, { steps }) {
  const { depth, at, results, over, gamma, lane } = state;
  const { sentences: [{ length }], letters } = page;
  const [open, slim, features] = [isOpen(state), width < 520, state.x[0].length];
  const [hasFormula, braced] = [depth === "steps" && !lane, page.braces && !open ? over : ""];
  const table = open ? tableOf(state, steps[at]) : [];
  const lines = (state.lines ?? [0, table.length - 1]).map((i) => table[i]);
  const margin = hasFormula && !slim ? (gamma ? 198 : 168) // there the formula stands, or braces
    : 22 * [..."NL"].filter((axis) => braced.includes(axis)).length;
  const [left, right] = [margin + (slim ? 72 : 96), slim ? 78 : 112];
  const cell = Math.min(112, (width - left - right) / features);
  const end = left + cell * features;
  const roof = steps.length > 1 ? 102 : 66; // one word alone needs no name
  const under = !open ? (page.braces ? 22 : 0) // the letters
    : roof - 48 + 120 * lines.length + (hasFormula && slim ? 88 : 0);
  const isBeside = !open && over?.includes("D"); // where there's room for means
  const [boxes, told] = [[], []];
  const put = (id, kind, place, more) => boxes.push({ id, kind, place, ...more });
  // A line of the table: its label, its numbers, and what stands beside them.
  const across = (name, kind, [y, high], ...line) => told.push(line.map((box, i) => {
    const [column, x, wide] = i === 0 ? ["label", margin, left - margin - 12]
      : i > features ? ["value", end, right - 4] : [kind, left + cell * (i - 1), cell - GAP];
    put(`${name},${i - 1}`, column, [x, y, wide, box.high ?? high], { d: i - 1, ...box });
    return box.text;
  }));
  const numbers = (values, full, written, more) => values.map((value) =>
    ({ value, tone: value / full, text: written(value), ...more }));
  // What ε leaves of a difference in a lane, such as 4e−7, is 0.
  const own = lane ? (value) => trimmed(plain(value)) : page.decimals ? fitted : short;
  across("letter", "letter", [under, 20], { text: "" },
    ...steps[0].map(({ d }) => ({ text: letters[d] })),
    ...(isBeside ? [{ kind: "letter", text: "mean", of: "mean" }] : []));

  if (!open) {
    const tall = results ? 48 : 40;
    const top = (row) => under + 24 + row * (tall + GAP) + Math.floor(row / length) * 6;
    const bottom = top(steps.length - 1) + tall;
    const pill = ({ row, d, group }, high) => ({ id: `mean${row},${d}`, kind: "pill", row, d,
      of: "mean", text: fitted(group.mean), high });
    page.sentences.flat().forEach((text, row) => {
      const [y, means] = [top(row), []];
      // Cells that share a mean have a frame, in each row if other rows stand between them.
      if (over !== undefined) for (const step of steps[row]) {
        const block = step.group.steps.filter((one) => over.includes("L") || one.row === row);
        const [{ d }, last] = [step, block.at(-1)];
        const [wide, high] = [cell * (last.d - d + 1) - GAP + 6, top(last.row) + tall - y];
        if (step !== block[0]) continue;
        put(`frame${row},${d}`, "frame", [left + cell * d - 3, y - 3, wide, high + 6], { row, d });
        if (isBeside) means.push(pill(step, high));
      }
      const word = { id: `word${row}`, kind: "word", text, row, leads: "row" };
      across(`cell${row}`, "cell", [y, results ? 24 : 40], word,
        ...numbers(state.x[row], 8, own, { row, of: "x" }), ...means);
      if (results) across(`below${row}`, "below", [y + 24, 24],
        { text: results === "y" ? "its norm" : "x − mean" },
        ...numbers(steps[row].map((step) => step[results]), 2, plain, { row }));
    });
    if (over === "NL") across("means", "pill", [bottom + 8, 32], { text: "mean", of: "mean" },
      ...steps[0].map((step) => pill(step)));
    if (gamma) for (const [i, of] of ["gamma", "beta"].entries()) // they belong to features
      across(of, "letter", [bottom + 10 + 40 * i, 34], { text: "γβ"[i], of },
        ...numbers(state[of], Infinity, short, { of }));
    const braces = { N: [0, top(0), 14, bottom - top(0)],
      L: [margin - 22, top(0), 14, top(length - 1) + tall - top(0)],
      D: [left, 0, cell * features - GAP, 16] };
    for (const axis of braced)
      put(`brace${axis}`, `brace ${axis}`, braces[axis], { text: page.braces[axis] });
    return { boxes, told, height: bottom + (gamma ? 88 : over === "NL" ? 44 : 6) };
  }
  const [first, wide] = [at - at % length, Math.min(96, width / length)];
  if (steps.length > 1) page.sentences[first / length].forEach((text, i) =>
    put(`word${first + i}`, "word", [wide * i, 0, wide - 10, 36],
      { text, row: first + i, leads: first + i === at ? "numbers" : depth }));
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
    plot("band", "band", [x(mean - spread), y - 22, x(spread) - x(-spread), 44], { of: "spread" });
    plot("bar", "bar", [x(mean) - 2, y - 27, 4, 54], { of: "mean" });
    for (const tick of [-10, -5, -2, -1, 0, 1, 2, 5, 10])
      if (Math.abs(tick) < most && (most < 5 || tick % 5 === 0))
        plot(`at${tick}`, "tick", [x(tick) - 20, y + 27, 40, 18], { text: short(tick) });
    plot("name", "note", [width - 92, y - 38, 80, 24], { text: state.lines ? label : "xy"[i] });
    for (const [of, value, aside] of [["mean", mean, -108], ["spread", spread, 2]])
      plot(of, "note", [about + aside, note, 106, 18], { text: `${of} ${fitted(value)}`, of });
    values.forEach((value, d) => { // dots at one place stand above each other, the axis amid them
      const near = values.map((other, at) => Math.abs(x(other) - x(value)) < 18 ? [at] : []).flat();
      const [high, tall] = [20 * (near.indexOf(d) - (near.length - 1) / 2), near[1] ? 20 : 26];
      plot(`dot${d}`, "dot", [x(value) - 13, y + high - tall / 2, 26, tall],
        { row: at, d, text: letters[d], ...(i === start && { pull: 2 * most / (width - 24) }) });
      if (i === start) return;
      // A thread leads to where a number comes from.
      const [here, there, way] = [x(value), x(lines[start].values[d], widest), start - i];
      const [lean, above] = [Math.atan2(way * (there - here), 92), y + (way < 0 ? -107 : 15)];
      const wide = 2 / Math.cos(lean);
      plot(`thread${d}`, "thread", [(here + there - wide) / 2, above, wide, 92], { of: "y", lean });
    });
  });
  table.forEach(({ label, of, full, beside, values }, i) => {
    const kind = i === 0 ? "cell" : i < table.length - 1 ? "step" : "step last";
    across(i ? label : `cell${at}`, kind, [under + 24 + 44 * i, 40], { text: label, of },
      ...numbers(values, full, full === 2 ? plain : own, { of, row: at }), ...beside);
  });
  const place = slim ? [0, under - 84, width, 76] : [0, under + 56, margin - 20, 80];
  if (hasFormula) put(`formula${Boolean(gamma)}`, "formula", place, { html: formula(gamma) });
  return { boxes, told, height: under + 24 + 44 * table.length };
}
