// What is said of a row, computed from what is seen: a sentence, a table, and the formula.
import { fitted, isOnWay, short, stations } from "./row_numbers.js";

const ALL = ["", "", "both", "all three", "all four", "all five"];
const COUNTS = ["no", "one", "two", "three", "four"];

/** Return how many of two rows' numbers differ. */
export const differ = (one, other) =>
  one.filter((value, i) => Math.abs(value - other[i]) > 0.005).length;

/** What has become of a number, and which results change with it. */
export function tellCells({ state, seen, moved, words, page, hot }) {
  const { row, d } = hot ?? { row: state.at, d: 0 };
  const { mean, spread, steps } = seen.steps[row][d].group;
  const count = (number, one) => `${number} ${one}${number > 1 ? "s" : ""}`;
  const means = seen.groups.length;
  const told = [`“${words[row]}”, ${page.letters[d]}: ${short(state.x[row][d])}.`];
  if (state.over !== undefined)
    told.push(`${count(means, "mean")} of ${count(steps.length, "number")}${
      means > 1 ? " each, here" : ":"} ${fitted(mean)}, with spread ${fitted(spread)}.`);
  // A change is in one word, in one feature of all words, or everywhere.
  const isOne = (axis) => new Set(moved.map((step) => step[axis])).size === 1;
  const whose = isOne("row") ? `, those of “${words[row]}”`
    : isOne("d") ? `, those of ${page.letters[d]} in all words` : "";
  if (state.results && moved[0]) told.push(`${moved.length} results have changed${whose}.`);
  return told.join(" ");
}

/** How far guesses of results were off, if there are any. */
export function tellGuess(guess, y) {
  const near = guess?.filter((value, d) => Math.abs(value - y[d]) < 0.3).length;
  return `The results are ${y.map(short).join(", ")}.${
    guess ? ` The rings are your guesses, ${near} of ${y.length} within 0.3.` : ""}`;
}

/** What follows from what was done, computed from the numbers, so it's true in each view. */
export function tellRow({ cause, base, state: { at, rms, gamma, guess }, goal, t, page, grip }) {
  const one = stations(goal.x, goal);
  const [mean, spread, root] = [Math.abs(one.mean), one.spread, one.root].map(short);
  const all = ALL[goal.x.length] ?? `all ${goal.x.length}`;
  const so = cause && `${cause}: `;
  if (guess)
    return `your guess is ${guess.map(short).join(", ")}. Uncover the results when you like.`;
  if (isOnWay(t, goal.affine)) return [
    rms ? "RMSNorm subtracts nothing." : `− mean: ${all} slide by the same ${mean}.`,
    `÷ ${rms ? "RMS" : "spread"}: ${all} are divided by the same ${root}.`,
    `The same results, drawn ${page.reach / 2} times as large.`,
    "· γ + β: each result has a γ and a β of its own."][Math.floor(t)];
  if (one.spread < 1e-6)
    return `${so}only zeros are left, because 0 is divided by √ε.${gamma ? " Then β is added." : ""}`;
  if (!rms && one.root > 1.03 * one.spread)
    return `${so}the spread is ${spread}, but with ε the row is divided by ${root}.`;
  if (rms && !grip && !base) return Math.abs(one.mean) < 0.005
    ? "The mean is 0, so RMSNorm and layer norm give the same results."
    : "RMSNorm keeps the mean, so its results lie beside the rings, where layer norm's are.";
  if (base) {
    const moved = differ(stations(base[at], goal).y, one.y);
    const which = moved === goal.x.length ? all : COUNTS[moved] ?? moved;
    return `${so || "now "}${which} result${moved < 2 ? " has" : "s have"} changed.`;
  }
  if (gamma) return "each result is multiplied by a γ of its own, and a β of its own is added.";
  return `the mean is ${short(one.mean)}, and the spread is ${spread}.`;
}

/** The lines of a table that tells of a machine, and what stands beside each. */
export function tellMachine(machine, { rms, gamma }) {
  const { x, mean, centered, variance, root, y, out, letters, guess } = machine;
  const line = (label, values, part, beside, besideOf) =>
    ({ label, values: values.map(fitted), part, beside, besideOf });
  const squares = centered.map((value) => value ** 2);
  const given = [{ label: "", values: x.map((_, d) => letters[d]) },
    line("x", x, "x", `mean ${fitted(mean)}`, "mean")];
  return guess ? given : [...given,
    ...(rms ? [] : [line("x − mean", centered, "centered")]),
    line("squared", squares, "var", `${rms ? "mean" : "var"} ${fitted(variance)}`, "var"),
    line("÷ root", y, "y", `root ${fitted(root)}`, "spread"),
    ...(gamma ? [line("· γ + β", out, "gamma beta")] : [])];
}

export const writeTable = (lines) => lines.map((line, i) => {
  const cell = (tag, text, of = "") => `<${tag} data-of="${of}">${text}</${tag}>`;
  const values = line.values.map((text) => cell(i ? "td" : "th", text, line.part));
  return `<tr>${cell(i ? "th" : "td", line.label, line.part)}${values.join("")}${
    cell("td", line.beside ?? "", line.besideOf)}</tr>`;
}).join("");

export const writeFormula = ({ rms, gamma }) => `<mi data-of="y">y</mi><mo>=</mo><mfrac>
<mrow data-of="centered"><mi data-of="x">x</mi>${
  rms ? "" : '<mrow data-of="mean"><mo>−</mo><mi>mean</mi></mrow>'}</mrow><msqrt data-of="spread">
<mi data-of="var">${rms ? "mean of x²" : "var"}</mi>
<mo>+</mo><mi data-of="eps">ε</mi></msqrt></mfrac>${
  !gamma ? "" : `<mrow class="affine"><mo>·</mo><mi data-of="gamma">γ</mi>
<mo>+</mo><mi data-of="beta">β</mi></mrow>`}`;

/** What a screen reader says of the formula. */
export const readFormula = ({ rms, gamma }) => `y is x ${rms ? "" : "minus the mean, "}divided by ${
  rms ? "the root of the mean of its squares" : "the root of the variance"} plus ε${
  gamma ? ", times γ, plus β" : ""}`;
