// The numbers of all words as cells, and which of them share a mean: where each box stands.
import { fitted, plain, short } from "./row_numbers.js";

const GAP = 7; // pixels between cells

/** Where the columns and rows of cells are. */
function gridOf({ state: { results, over = "" }, seen: { steps }, page, width }) {
  const { sentences: [{ length }], braces = {} } = page;
  const braced = [...over].filter((axis) => braces[axis]);
  const margin = 22 * braced.filter((axis) => axis !== "D").length;
  const [left, beside] = width < 520 ? [margin + 72, 78] : [margin + 96, 112];
  const cell = Math.min(112, (width - left - beside) / steps[0].length);
  const end = left + cell * steps[0].length;
  const [under, tall] = [page.braces ? 22 : 0, results ? 48 : 40]; // the letters; a row of cells
  const top = (row) => under + 24 + row * (tall + GAP) + Math.floor(row / length) * 6;
  const bottom = top(steps.length - 1) + tall;
  const places = { N: [0, top(0), 14, bottom - top(0)], D: [left, 0, end - left - GAP, 16],
    L: [margin - 22, top(0), 14, top(length - 1) + tall - top(0)] };
  return { margin, left, cell, end, under, tall, top, bottom, braces: braced.map((axis) => ({
    id: `brace${axis}`, kind: `brace ${axis}`, text: braces[axis], place: places[axis] })) };
}

/** Place what a state shows: boxes, the lines of a table that tells of them, and how high it is. */
export function layoutCells(shown) {
  const { state, seen: { steps }, moved, hot, page, width } = shown;
  const { results, over, gamma, beta } = state;
  const { margin, left, cell, end, under, tall, top, bottom, braces } = gridOf(shown);
  const [boxes, told] = [[...braces], []];
  // A line of the table: its label, its numbers, and maybe their mean beside them.
  const across = (name, y, high, label, numbers, mean) => {
    const put = (d, at, wide, box) =>
      boxes.push({ id: name + d, d, place: [at, y, wide, box.high ?? high], ...box });
    put(-1, margin, left - margin - 12, { kind: "label", ...label });
    numbers.forEach((box, d) => put(d, left + cell * d, cell - GAP, box));
    if (mean) put(numbers.length, end, width - end - 4, mean);
    told.push({ label: label.text, values: numbers.map(({ text }) => text), beside: mean?.text });
  };
  // What has another mean than the number that is pointed at is paler.
  const center = hot && over !== undefined && steps[hot.row][hot.d].group;
  const own = (step, kind) => ({ row: step.row, opacity: center && step.group !== center ? 0.5 : "",
    kind: moved.includes(step) ? `${kind} moved` : kind });
  const written = (kind, row, of, full, write, more) => steps[row].map((step) => {
    const value = step[of];
    const tone = Math.min(1, Math.abs(value) / full);
    return { ...own(step, kind), value, tone, text: write(value), ...more };
  });
  const pill = (step, high) => ({ ...own(step, "pill"), id: `mean${step.row},${step.d}`, d: step.d,
    of: "mean", text: fitted(step.group.mean), high });

  const hasRoom = over?.includes("D"); // beside the numbers, for means
  const letter = (text, of) => ({ kind: "letter", text, of });
  across("letter", under, 20, { text: "" }, steps[0].map(({ d }) => letter(page.letters[d])),
    hasRoom && letter("mean", "mean"));
  page.sentences.flat().forEach((text, row) => {
    // Cells that share a mean have a frame, in each row if other rows stand between them.
    const block = ({ group }) => group.steps.filter((one) => over.includes("L") || one.row === row);
    const firsts = over === undefined ? [] : steps[row].filter((step) => block(step)[0] === step);
    const high = (step) => top(block(step).at(-1).row) + tall - top(row);
    for (const step of firsts) boxes.push({ ...own(step, "frame"), id: `frame${row},${step.d}`,
      place: [left + cell * step.d - 3, top(row) - 3,
        cell * (block(step).at(-1).d - step.d + 1) - GAP + 6, high(step) + 6] });
    const label = (name) => `number ${name} of ${text}`;
    across(`x${row},`, top(row), results ? 24 : 40, { id: `word${row}`, kind: "word", text, row },
      written("cell", row, "x", 8, page.decimals ? fitted : short,
        { of: "x", act: "dot", hit: tall, unit: 32, label }),
      hasRoom && firsts.map((step) => pill(step, high(step)))[0]);
    const below = { text: results === "y" ? "its norm" : "x − mean" };
    if (results)
      across(`y${row},`, top(row) + 24, 24, below, written("below", row, results, 2, plain));
  });
  const mean = { text: "mean", of: "mean" };
  if (over === "NL") across("mean0,", bottom + 8, 32, mean, steps[0].map((step) => pill(step)));
  Object.entries({ gamma, beta }).forEach(([of, values], i) => { // they belong to features
    if (values) across(of, bottom + 10 + 40 * i, 34, { text: "γβ"[i], of },
      values.map((value) => letter(short(value), of)));
  });
  // There's room for what another state has below, or all that follows would move.
  return { boxes, told, height: bottom + (gamma ? 88 : page.isAcross ? 44 : 6) };
}
