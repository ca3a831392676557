// The numbers of all words as cells, and which of them share a mean: where each box stands.
import { fitted, plain, short } from "./row_numbers.js";

const GAP = 7; // pixels between cells

/** Place what a state shows: boxes, the lines of a table that tells of them, and how high it is. */
export function layoutCells({ x, results, over, gamma, beta }, page, width, { steps }) {
  const { sentences: [{ length }], letters, braces = {} } = page;
  const features = x[0].length;
  const braced = [...over ?? ""].filter((axis) => braces[axis]);
  const margin = 22 * braced.filter((axis) => axis !== "D").length;
  const left = margin + (width < 520 ? 72 : 96);
  const cell = Math.min(112, (width - left - (width < 520 ? 78 : 112)) / features);
  const end = left + cell * features;
  const under = page.braces ? 22 : 0; // the letters
  const isBeside = over?.includes("D"); // where there's room for means
  const written = page.decimals ? fitted : short;
  const [boxes, told] = [[], []];
  const put = (id, kind, place, more) => boxes.push({ id, kind, place, ...more });
  // A line of the table: its label, its numbers, and what stands beside them.
  const across = (name, kind, [y, high], ...line) => told.push(line.map((box, i) => {
    const [column, at, wide] = i === 0 ? ["label", margin, left - margin - 12]
      : i > features ? ["value", end, width - end - 4] : [kind, left + cell * (i - 1), cell - GAP];
    put(`${name},${i - 1}`, column, [at, y, wide, box.high ?? high], { d: i - 1, ...box });
    return box.text;
  }));
  const numbers = (values, full, write, more) => values.map((value) =>
    ({ value, tone: Math.abs(value) / full, text: write(value), ...more }));
  across("letter", "letter", [under, 20], { text: "" },
    ...steps[0].map(({ d }) => ({ text: letters[d] })),
    ...(isBeside ? [{ kind: "letter", text: "mean", of: "mean" }] : []));

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
    across(`cell${row}`, "cell", [y, results ? 24 : 40],
      { id: `word${row}`, kind: "word", text, row },
      ...numbers(x[row], 8, written, { row, of: "x" }), ...means);
    if (results) across(`below${row}`, "below", [y + 24, 24],
      { text: results === "y" ? "its norm" : "x − mean" },
      ...numbers(steps[row].map((step) => step[results]), 2, plain, { row }));
  });
  if (over === "NL") across("means", "pill", [bottom + 8, 32], { text: "mean", of: "mean" },
    ...steps[0].map((step) => pill(step)));
  if (gamma) for (const [i, of] of ["gamma", "beta"].entries()) // they belong to features
    across(of, "letter", [bottom + 10 + 40 * i, 34], { text: "γβ"[i], of },
      ...numbers([gamma, beta][i], Infinity, short, { of }));
  const placed = { N: [0, top(0), 14, bottom - top(0)],
    L: [margin - 22, top(0), 14, top(length - 1) + tall - top(0)],
    D: [left, 0, cell * features - GAP, 16] };
  for (const axis of braced)
    put(`brace${axis}`, `brace ${axis}`, placed[axis], { text: braces[axis] });
  return { boxes, told, height: bottom + (gamma ? 88 : over === "NL" ? 44 : 6) };
}
