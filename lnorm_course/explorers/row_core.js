// The row: the numbers of one word on their way through a norm, at four depths that open out of each
// other: the words, the numbers of all words, one word on two lines, and its steps. What they become
// is computed here; a test holds it to `lnorm_utils`. row.py says what a page is, row.json the states.

const LETTERS = "abcdefgh";
const [UPPER, LOWER, GAP] = [11, 2.2, 7]; // a line's end, from −11 to 11, and pixels between cells
const FORMULA = `<math display="block" style="font-size: 1.45em"><mi data-of="y">y</mi><mo>=</mo><mfrac>
<mrow data-of="centered"><mi data-of="x">x</mi><mo>−</mo><mi data-of="mean">mean</mi></mrow>
<msqrt data-of="spread"><mi data-of="var">var</mi><mo>+</mo><mi data-of="eps">ε</mi></msqrt></mfrac>`;
const AFFINE = '<mo>·</mo><mi data-of="gamma">γ</mi><mo>+</mo><mi data-of="beta">β</mi>';
// The rows of the table: what they are called, what they are of, and where their color is full.
const ROWS = { x: ["x", "x"], centered: ["x − mean", "centered", 8], square: ["squared", "var", 64],
  normed: ["÷ spread", "y", 2], y: ["y", "y", 2], affine: ["· γ + β", "gamma beta y", 2] };

const average = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const fixed = (value, digits = 2) =>
  (Math.abs(value) < 0.5 * 10 ** -digits ? 0 : value).toFixed(digits).replace("-", "−");
const fitted = (value) => {
  const size = Math.abs(value);
  if (size > 1e-12 && size < 0.001) return value.toExponential(0).replaceAll("-", "−");
  return fixed(value, size >= 100 ? 0 : size > 1e-12 && size < 0.01 ? 3 : 2);
};
const short = (value) => fitted(value).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
const isOpen = ({ depth }) => depth === "row" || depth === "steps";

/**
 * Return each step of a norm over rows of numbers, and the groups of cells that share a mean.
 *
 * over: "D", each row; "LD", each sentence, which has `length` rows; "NL", each column; "NLD", all.
 */
export function derive(x, { over = "D", length = 1, eps = 1e-5, gamma, beta } = {}) {
  const sentence = (row) => Math.floor(row / length);
  const number = { D: (row) => row, LD: sentence, NL: (_, d) => d, NLD: () => 0 };
  const groups = [];
  const steps = x.map((values, row) => values.map((value, d) => {
    const step = { x: value, d, id: `c${row}-${d}`, group: number[over](row, d) };
    (groups[step.group] ??= { cells: [], steps: [] }).cells.push([row, d]);
    groups[step.group].steps.push(step);
    return step;
  }));
  for (const group of groups) {
    group.mean = average(group.steps.map((step) => step.x));
    for (const step of group.steps) step.centered = step.x - group.mean;
    for (const step of group.steps) step.square = step.centered ** 2;
    group.variance = average(group.steps.map((step) => step.square));
    group.root = Math.sqrt(group.variance + eps);
    for (const step of group.steps) {
      step.normed = step.centered / group.root;
      step.y = step.normed * (gamma?.[step.d] ?? 1) + (beta?.[step.d] ?? 0);
    }
  }
  return { steps, groups };
}

/** Place what a state shows: boxes, those of words and numbers first, and how high all of it is. */
function layout(state, page, width, { steps, groups }) {
  const { depth, at, results, over, gamma } = state;
  const [length, features] = [page.sentences[0].length, state.x[0].length];
  const [open, slim] = [isOpen(state), width < 520];
  const aside = depth === "steps" && !slim ? 168 : 0; // there the formula stands
  const left = aside + (slim ? 67 : 96);
  const right = slim ? 72 : 112;
  const cell = Math.min(112, (width - left - right) / features);
  const end = left + cell * features;
  const tall = depth === "numbers" && results ? 48 : 40;
  const table = open ? 282 + (depth === "steps" && slim ? 88 : 0) : 0;
  const top = (row) => 24 + row * (tall + GAP) + Math.floor(row / length) * 6;
  const boxes = [];
  const put = (id, kind, place, more) => boxes.push({ id, kind, place, ...more });
  const across = (name, y, kind, more) => steps[at].forEach((step, d) => put(`${name}${d}`, kind,
    [left + cell * d, y, cell - GAP, kind === "letter" ? 20 : 40], { d, ...more(step) }));

  let [along, down] = [0, 0];
  page.sentences.flat().forEach((word, row) => {
    const isShown = !open || Math.floor(row / length) === Math.floor(at / length);
    let place = [0, top(row), left - 12, tall];
    if (depth !== "numbers") {
      const wide = Math.max(11 * word.length + 26, open ? 0 : 15 * features);
      const isNext = row % length === 0 || along + wide > width;
      if (!open && row && isNext) [along, down] = [0, down + 66];
      place = [along, down, wide, 36];
      if (isShown) along += wide + 10;
    }
    put(`w${row}`, "word", place, { text: word, row, isShown, isOn: open && row === at });
    steps[row].forEach((step, d) => put(step.id, "cell", depth === "words"
      ? [place[0] + (place[2] - 15 * features) / 2 + 15 * d + 1, down + 41, 13, 13]
      : [left + cell * d, open ? table + 24 : top(row), cell - GAP, tall], {
      row, d, group: step.group, value: step.x, of: "x", tone: step.x / 8,
      isShown: !open || row === at, below: depth === "numbers" && results ? step[results] : null,
      text: depth === "words" ? "" : page.decimals ? fitted(step.x) : short(step.x) }));
  });
  if (depth === "words") return { boxes, height: down + 60 };
  across("letter", table, "letter", ({ d }) => ({ text: LETTERS[d] }));

  if (depth === "numbers") {
    const bottom = top(steps.length - 1) + tall;
    const isDown = over === "NL";
    const below = results === "y" ? "x / norm" : "x / x − mean";
    if (results) put("corner", "letter", [0, 0, left - 12, 20], { text: below });
    if (over) put("mean", isDown ? "label" : "letter", isDown ? [0, bottom + 8, left - 12, 32]
      : [end, 0, right - 4, 20], { text: "mean", of: "mean" });
    if (over) groups.forEach(({ cells, mean }, group) => {
      const [[firstRow, first], [lastRow, last]] = [cells[0], cells.at(-1)];
      const [x, y] = [left + cell * first - 3, top(firstRow) - 3];
      const [w, h] = [cell * (last - first + 1) - GAP + 6, top(lastRow) + tall + 3 - y];
      put(`f${group}`, "frame", [x, y, w, h], { group });
      put(`g${group}`, "pill", isDown ? [x + 3, bottom + 8, w - 6, 32]
        : [end, y + 3, right - 4, h - 6], { group, of: "mean", text: fitted(mean) });
    });
    if (gamma) for (const [i, name] of ["gamma", "beta"].entries()) { // they belong to features
      const y = bottom + 10 + 40 * i;
      put(name, "label", [0, y, left - 12, 34], { text: "γβ"[i], of: name });
      across(name, y, "step", ({ d }) => ({ text: short(state[name][d]), of: name, tone: 0 }));
    }
    return { boxes, height: bottom + (gamma ? 88 : isDown ? 44 : 6) };
  }
  const { mean, variance, root } = groups[steps[at][0].group];
  const beside = { x: ["mean", mean], square: ["var", variance], normed: ["spread", root] };
  const names = depth === "row" ? ["x", "y"] : ["x", "centered", "square", "normed"];
  if (gamma) names.splice(depth === "row" ? 1 : 4, 1, "affine");
  names.forEach((name, i) => {
    const y = table + 24 + 44 * i;
    const [label, of, full] = ROWS[name];
    const more = { of, from: `c${at}-0`, isLast: i === names.length - 1 };
    put(`r-${name}`, "label", [aside, y, left - aside - 8, 40], { ...more, text: label });
    const [term, value = 0] = beside[name] ?? [];
    const text = `${term === "spread" ? "√" : term} ${fitted(value)}`;
    if (term && depth === "steps" || name === "x")
      put(`v-${name}`, "value", [end, y, right, 40], { ...more, of: term, text });
    if (name !== "x") across(name, y, "step", (step) => {
      const number = step[name] ?? step.y;
      const written = full === 2 || page.decimals ? fitted : short;
      return { ...more, from: step.id, tone: number / full, text: written(number) };
    });
  });
  if (depth === "steps") put(`formula${Boolean(gamma)}`, "formula", aside
    ? [0, table + 56, aside - 20, 80] : [0, table - 84, width, 76],
  { html: `${FORMULA}${gamma ? AFFINE : ""}</math>` });
  return { boxes, height: table + 24 + 44 * names.length };
}

/** Draw a word's row on a line, and below it what the norm makes of it. */
function plot(state, width, own, hot) {
  const end = (name, least) => Math.max(least, ...own.map((step) => 1.1 * Math.abs(step[name])));
  const upper = end("x", UPPER); // where the lines end
  const half = upper * (end("y", LOWER) / upper) ** state.zoom;
  const x = (value, most) => 12 + (width - 24) * (value / most + 1) / 2;
  const text = (at, y, fill, said) => `<text x="${at}" y="${y}" fill="var(${fill})">${said}</text>`;
  const line = (name, values, most, y) => {
    const mean = average(values);
    const spread = Math.sqrt(average(values.map((value) => (value - mean) ** 2)));
    const [from, to, middle] = [mean - spread, mean + spread, mean].map((value) => x(value, most));
    const [about, down] = name === "y" ? [width / 2, 62]
      : [Math.min(Math.max(middle, 96), width - 96), -36];
    const ends = `M${from} ${y - 22}V${y + 22}`;
    const ticks = [-10, -5, -2, -1, 0, 1, 2, 5, 10].filter((tick) =>
      Math.abs(tick) < most && (most < 5 || tick % 5 === 0));
    return `<path d="M12 ${y}H${width - 12}"/><path data-of="spread" fill="#e69f00"
      fill-opacity="0.24" stroke="none" d="${ends}H${to}V${y - 22}"/>
      <path stroke="var(--spread)" d="${ends}M${to} ${y - 22}V${y + 22}"/>
      <path data-of="mean" stroke="var(--mean)" stroke-width="3.5" d="M${middle} ${y - 27}V${y + 27}"/>
      <g paint-order="stroke" stroke="var(--paper)" stroke-width="5">
      ${ticks.map((tick) => text(x(tick, most), y + 40, "--soft", short(tick))).join("")}
      <g style="font: italic 20px 'STIX Two Math', math, serif">
      ${text(width - 10, y - 16, "--accent", name)}</g><g font-weight="600">
      ${text(about, y + down, "--soft", `<tspan data-of="mean">mean ${fitted(mean)}</tspan>
      <tspan dx="8" data-of="spread">spread ${fitted(spread)}</tspan>`)}</g></g>
      ${values.map((value, d) => `<circle class="dot" data-d="${d}" data-name="${name}" r="13"
        cx="${x(value, most)}" cy="${y}" fill="var(--accent)"
        stroke="${d === hot ? "#e69f00" : "var(--paper)"}"/>
        <g pointer-events="none" stroke="none" font-weight="600">
        ${text(x(value, most), y + 5, "--on-accent", LETTERS[d])}</g>`).join("")}`;
  };
  const threads = own.map((step) => [x(step.x, upper), x(step.y, half)])
    .map(([from, to]) => `<path d="M${from} 51C${from} 95 ${to} 95 ${to} 143"/>`);
  return `<g fill="none" stroke="var(--soft)" stroke-width="2">
    <g data-of="y" stroke="var(--accent)" opacity="0.7">${threads.join("")}</g>
    ${line("x", own.map((step) => step.x), upper, 36)}
    ${line("y", own.map((step) => step.y), half, 156)}</g>`;
}
