// One row on its way through a block, on one scale: its numbers after each part, and x beside them.
import { clamp, fitted, short, stations } from "./row_numbers.js";

// What a part makes of the numbers that reach it, and of those that have entered the block.
const PARTS = {
  LN: (values) => stations(values).y,
  "f doubles": (values) => values.map((value) => 2 * value),
  "+ x": (values, x) => values.map((value, d) => value + x[d]),
};
const written = (value) => short(Math.abs(value) < 0.005 ? 0 : value); // what ε leaves is 0

/** Return each part's name, and the numbers after it. */
export function laneOf(x, lane) {
  let values = x;
  return [["x", x], ...lane.map((part) => [part, (values = PARTS[part](values, x))])];
}

export function layoutLane(width, steps, { letters, reach }) {
  const [mid, unit, gap] = [width / 2, (width / 2 - 12) / reach, 62];
  const at = (value) => mid + clamp(value * unit, 8 - mid, mid - 8);
  const hands = steps[0][1].map((value, d) =>
    ({ id: `dot${d}`, act: "dot", d, x: at(value), y: 34, w: 0, value, name: letters[d] }));
  return { width, unit, at, hands, letters, y: (s) => 34 + gap * s, height: 34 + gap * steps.length };
}

export function drawLane(svg, steps, { at, width, y, hands, letters }, { word, edge }) {
  steps.forEach(([part, values], s) => {
    svg.line(`axis${s}`, "axis", 8, y(s), width - 8, y(s));
    values.forEach((value, d) => {
      if (s) svg.line(`way${s},${d}`, "way", at(steps[s - 1][1][d]), y(s - 1), at(value), y(s));
      if (part === "+ x") // the trunk beside the branch
        svg.line(`trunk${s},${d}`, "way zoomed", at(steps[0][1][d]), y(0), at(value), y(s));
    });
    svg.label(`part${s}`, "tag", 0, y(s) - 14, part);
    const { spread } = stations(values);
    svg.label(`spread${s}`, "tag spread end", width, y(s) - 14, `spread ${fitted(spread)}`);
  });
  steps.forEach(([, values], s) => values.forEach((value, d) => {
    const near = values.map((one, j) => (Math.abs(at(one) - at(value)) < 7 ? letters[j] : ""));
    const slider = s ? {} : { tabindex: 0, role: "slider", "data-hand": hands[d].id,
      "aria-label": `number ${letters[d]} of ${word}`, "aria-valuemin": -edge, "aria-valuemax": edge,
      "aria-valuenow": value, "aria-valuetext": short(value) };
    svg.bead(`lane${s},${d}`, s ? "" : "hand", at(value), y(s), 13 + 10 * near.join("").length,
      near.join(""), near.findIndex(Boolean) === d ? 1 : 0, slider);
  }));
}

/** The lines of a table that tells of it; the first names features. */
export function tellLane(steps, letters) {
  return [{ label: "", values: [...letters].slice(0, steps[0][1].length), part: "", beside: "" },
    ...steps.map(([label, values]) => ({ label, values: values.map(written), part: "",
      beside: `spread ${fitted(stations(values).spread)}`, besideOf: "spread" }))];
}
