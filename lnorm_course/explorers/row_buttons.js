// The buttons of a row: its presets, and what changes one part of its state.
import { drawButtons, drawCopy } from "./engine/controls.js";

/** Draw the buttons, and return of each when it's seen, and when it's pressed. */
export function drawTools(row) {
  const { page, presets, chips, tools } = row;
  const has = page.toggles ?? ["eps"];
  const isRow = (name) => () => !row.isCells && !row.state.guess && has.includes(name);
  const ones = page.x[0].map(() => 1);
  const affine = { gamma: ones.with(0, 0.5).with(1, 2), beta: ones.map(() => 0).with(-1, 0.5) };
  // Where a button is, its name, what it does, when it's pressed, and when it's seen.
  const buttons = [
    ...presets.map((one) => [chips, one.name, () => row.show(one), () => row.shown.includes(one)]),
    ...Object.entries(row.depths).map(([depth, label]) =>
      [tools, label, () => row.go({ depth }), () => depth === row.state.depth]),
    ...Object.entries(page.axes ?? {}).map(([axis, label]) => [tools, label, () => row.go({
      over: [..."NLD"].filter((one) => (one === axis) !== row.state.over.includes(one)).join("") }),
    () => row.state.over.includes(axis)]),
    [chips, "uncover", () => row.uncover(), null, () => Boolean(row.state.guess)],
    [tools, "RMSNorm", () => row.go({ rms: !row.state.rms }), () => row.state.rms, isRow("rms")],
    [tools, "· γ + β", () => row.go(row.state.gamma ? { gamma: null, beta: null } : affine),
      () => Boolean(row.state.gamma), isRow("affine")],
    [tools, "ε = 1", () => row.go({ eps: row.state.eps === 1 ? 1e-5 : 1 }),
      () => row.state.eps === 1, isRow("eps")],
    [tools, "reset", () => row.show(row.find(page.preset))],
    ...(document.fullscreenEnabled
      ? [[tools, "full screen", () => row.root.requestFullscreen()]] : []),
  ].map(([into, label, press, isOn, when = () => true]) =>
    ({ isOn, when, button: drawButtons([label], into, press)[0] }));
  if (tools.closest(".lnorm-row-place")) drawCopy(tools, () => row.link); // a page has an address
  if (page.toggles) { // many: behind one
    const [more] = drawButtons(["more"], tools, () => {
      more.ariaExpanded = !tools.classList.toggle("folded");
    });
    more.className = "more";
    more.click();
  }
  return buttons;
}
