// The numbers of all words as cells, and which of them share a mean: where each box stands.
import { fitted, plain, short } from "./row_numbers.js";

const GAP = 7; // pixels between cells

/** Place what a state shows: boxes, the lines of a table that tells of them, and how high it is. */
export function layoutCells({ state, seen: { steps }, moved, hot, page, width }) {
  const { x, results, over, gamma, beta } = state;
  const { sentences: [{ length }], letters, braces = {} } = page;
  const braced = [...over ?? ""].filter((axis) => braces[axis]);
  const margin = 22 * braced.filter((axis) => axis !== "D").length;
  const [left, beside] = width < 520 ? [margin + 72, 78] : [margin + 96, 112];
  const cell = Math.min(112, (width - left - beside) / x[0].length);
  const [wide, end] = [cell * x[0].length, left + cell * x[0].length];
  const under = page.braces ? 22 : 0; // the letters
  const tall = results ? 48 : 40;
  const top = (row) => under + 24 + row * (tall + GAP) + Math.floor(row / length) * 6;
  const bottom = top(steps.length - 1) + tall;
  const [boxes, told] = [[], []];
  const put = (id, kind, place, more) => boxes.push({ id, kind, place, ...more });
  // A line of the table: its label, its numbers, and what stands beside them.
  const across = (name, kind, [y, high], label, numbers, means = []) => {
    const line = [{ kind: "label", ...label }, ...numbers, ...means];
    line.forEach((box, i) => {
      const [at, size] = i === 0 ? [margin, left - margin - 12]
        : i > numbers.length ? [end, width - end - 4] : [left + cell * (i - 1), cell - GAP];
      put(`${name}${i - 1}`, kind, [at, y, size, box.high ?? high], { d: i - 1, ...box });
    });
    told.push({ label: label.text, values: numbers.map(({ text }) => text), beside: means[0]?.text });
  };
  // Whose mean is not that of what is pointed at is paler.
  const center = hot && over !== undefined && steps[hot.row][hot.d].group;
  const own = (step, kind) => ({ row: step.row, d: step.d, opacity: center && step.group !== center ? 0.5 : "",
    kind: `${kind} ${moved.includes(step) ? "moved" : ""}` });
  const written = (row, of, kind, full, write, more) => steps[row].map((step) => ({ ...own(step, kind),
    value: step[of], tone: Math.min(1, Math.abs(step[of]) / full), text: write(step[of]), ...more }));
  const pill = (step, high) => ({ ...own(step, "pill"), id: `mean${step.row},${step.d}`, high,
    of: "mean", text: fitted(step.group.mean) });

  const mean = { text: "mean", of: "mean" };
  across("letter", "letter", [under, 20], { text: "" }, steps[0].map(({ d }) => ({ text: letters[d] })),
    over?.includes("D") ? [mean] : []); // there's room for means
  page.sentences.flat().forEach((text, row) => {
    const [y, means] = [top(row), []];
    // Cells that share a mean have a frame, in each row if other rows stand between them.
    if (over !== undefined) for (const step of steps[row]) {
      const block = step.group.steps.filter((one) => over.includes("L") || one.row === row);
      if (step !== block[0]) continue;
      const last = block.at(-1);
      const high = top(last.row) + tall - y;
      put(`frame${row},${step.d}`, "frame", [left + cell * step.d - 3, y - 3,
        cell * (last.d - step.d + 1) - GAP + 6, high + 6], { opacity: own(step).opacity });
      if (over.includes("D")) means.push(pill(step, high));
    }
    across(`x${row},`, "cell", [y, results ? 24 : 40], { id: `word${row}`, kind: "word", text, row },
      written(row, "x", "cell", 8, page.decimals ? fitted : short, { of: "x", act: "dot", hit: tall,
        unit: 32, label: (name) => `number ${name} of ${text}` }), means);
    if (results) across(`y${row},`, "below", [y + 24, 24],
      { text: results === "y" ? "its norm" : "x − mean" }, written(row, results, "below", 2, plain));
  });
  if (over === "NL") across("mean0,", "pill", [bottom + 8, 32], mean, steps[0].map((step) => pill(step)));
  [gamma, beta].forEach((values, i) => { // they belong to features
    const of = ["gamma", "beta"][i];
    if (values) across(of, "letter", [bottom + 10 + 40 * i, 34], { text: "γβ"[i], of },
      values.map((value) => ({ text: short(value), of })));
  });
  const places = { N: [0, top(0), 14, bottom - top(0)], D: [left, 0, wide - GAP, 16],
    L: [margin - 22, top(0), 14, top(length - 1) + tall - top(0)] };
  for (const axis of braced)
    put(`brace${axis}`, `brace ${axis}`, places[axis], { text: braces[axis] });
  // There's room for what another state has below, or all that follows would move.
  return { boxes, told, height: bottom + (gamma ? 88 : page.isAcross ? 44 : 6) };
}
