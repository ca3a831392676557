// The residual stream in `RECORDED`, as a reader sees and changes it; `mount` adds it to any page.

const CHOICES = { place: ["norm", { post: "post-LN", pre: "pre-LN", none: "no norm" }],
  final: ["final norm", { on: "on", off: "off" }],
  own: ["the loss pulls", { one: "rows one way", own: "each its own" }] };
// The x position of the gradient, of the trunk, of branches, and of a chip that is off.
const [BACK, TRUNK, BRANCH, OFF] = [58, 166, 262, 317];
const [TOP, DETAIL, ROOM] = [34, 140, 340]; // heights: above block 1, of a detailed one, of all
const [WIDE, STRONG] = [11, 1.1]; // half the width for a spread of 1, and for a gradient of 1
const [MOST, HALF] = [52, 54]; // the maximum half widths of the trunk and of the gradient
const [SIZE, MOVED] = [340, 450]; // the picture's width, and the milliseconds of a transition
const CALM = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)");

/** What a stack of blocks looks like: numbers for each block, and for all of them. */
export function at({ place, depth, final, own }) {
  const hasFinal = final === "on" && place !== "post";
  const gradient = (kind) => RECORDED.gradients[
    `${place}${kind}${own === "own" ? ", own directions" : ""}`][depth];
  const [added, sum, leaves] = [0, 1, 2].map((n) =>
    RECORDED.spreads[place].slice(0, depth).map((block) => block[n]));
  const [enters, end] = [[RECORDED.enters, ...leaves.slice(0, -1)], leaves.at(-1)];
  return { place, depth, hasFinal, enters, normed: place === "pre" ? enters.map(() => 1) : enters,
    added, sum, leaves, end, last: [hasFinal ? 1 : end],
    gradient: gradient(hasFinal ? ", final norm" : ""), without: hasFinal ? gradient("") : null };
}

/** Describe the current state, from its numbers. */
export function told({ place, depth, hasFinal, sum, end, gradient, without }, { has, back }) {
  const forward = place === "post" ? "Each addition widens the trunk, and the norm after it brings"
    + ` the spread back, from ${digits(sum.at(-1))} to ${digits(end)} in block ${depth}.`
    : `${place === "pre" ? "The norm is on the branch, so nothing" : "Nothing"} narrows the trunk: `
    + `the spread is ${digits(end)} after ${depth > 1 ? `${depth} blocks` : "the block"}.`;
  const next = hasFinal ? " The final norm brings it to 1."
    : has.includes("final") && place !== "post" ? " What comes next gets rows of that size." : "";
  const two = (all) => (depth > 1 ? `${digits(all.at(-1))} in block ${depth} and ` : "")
    + `${digits(all[0])} in block 1`;
  return `${forward}${next}${back ? ` On the way back, the gradient norm is ${two(gradient)}${
    without ? `, and without the final norm it would be ${two(without)}` : ""}.` : ""}`;
}

/** Describe a row after the addition in a block; 0 is before the first block. */
export function toldRow({ place, depth, hasFinal }, block) {
  const where = block ? `after the addition in block ${block}` : "at the start";
  const next = place === "post" ? "The norm there divides by it, and the trunk goes on with 1."
    : block < depth && place === "pre"
      ? `The norm in block ${block + 1} divides by it for the branch, and the trunk keeps it.`
    : block === depth && hasFinal ? "The final norm divides by it, and what comes next gets 1."
    : "No norm follows. Below is what one would make of it.";
  return `Four of a row’s 64 numbers ${where}, with the mean of all 64 and their spread. ${next}`;
}

/** Return the positions of the blocks: the first in detail, the others as high as space allows. */
function layout(depth, most) {
  const height = depth > 1 ? Math.min(DETAIL, (ROOM - DETAIL) / (depth - 1)) : DETAIL;
  const blocks = Array.from({ length: depth }, (_, i) =>
    ({ y: TOP + (i ? DETAIL + (i - 1) * height : 0), h: i ? height : DETAIL }));
  const end = TOP + (most > 2 ? ROOM : most * DETAIL);
  return { blocks, end, height: end + 78 };
}

/** All half widths, from which a transition starts. */
const shapeOf = (s) => ({ gradient: s.gradient.map((one) => Math.min(HALF, STRONG * one)),
  ...Object.fromEntries(["enters", "normed", "added", "sum", "leaves", "last"].map((key) =>
    [key, s[key].map((one) => Math.min(MOST, WIDE * one))])) });

const drawChip = ([x, y], kind = "") => `<g class="chip ${kind}" transform="translate(${x} ${y})">
  <circle r="22"/><rect x="-21" y="-13" width="42" height="26" rx="13"/><text y="5">LN</text></g>`;

/** Draw a branch from the trunk and back: its parts below the trunk, and those above it. */
function drawBranch({ y, h }, shape, i, place) {
  const [enters, sum, side] = [shape.enters[i], shape.sum[i], BRANCH - 18];
  const put = (kind, d, more = "") => `<path class="${kind}" d="${d}"${more}/>`;
  if (h < 90) return ["", put("loop", `M${TRUNK + enters} ${y + 0.1 * h}H${side - 8}q8 0 8 ${
    0.2 * h}v${0.3 * h}q0 ${0.2 * h} -8 ${0.2 * h}H${TRUNK + sum}`) + put("norm", {
    pre: `M${side - 6} ${y + 0.45 * h}h12`, none: "",
    post: `M${TRUNK - sum - 4} ${y + 0.94 * h}h${2 * sum + 8}` }[place])];
  const pipe = (name, d) => put("pipe", d, ` stroke-width="${2 * shape[name][i]}"`);
  const chip = { pre: [BRANCH, y + 42], post: [TRUNK, y + 128] }[place];
  return [pipe("enters", `M${TRUNK} ${y + 8}H${BRANCH - 24}q24 0 24 24v10`)
    + pipe("normed", `M${BRANCH} ${y + 42}v32`)
    + pipe("added", `M${BRANCH} ${y + 74}v4q0 24 -24 24H${TRUNK}`),
  `<rect class="f" x="${BRANCH - 21}" y="${y + 62}" width="42" height="24" rx="3"/><text
    x="${BRANCH}" y="${y + 79}">f</text><circle class="f" cx="${TRUNK}" cy="${y + 102}" r="9"/>${
    put("", `M${TRUNK - 5} ${y + 102}h10m-5 -5v10`)}${i && chip ? drawChip(chip) : ""}`];
}

/** Draw the trunk, its branches, and the gradient beside it. */
function draw(shape, s, { blocks, end, height }, back) {
  const sides = [[shape.enters[0], 6]]; // half widths of the trunk, and their positions
  blocks.forEach(({ y, h }, i) => sides.push([shape.enters[i], y + 0.67 * h],
    [shape.sum[i], y + 0.77 * h], [shape.sum[i], y + 0.86 * h], [shape.leaves[i], y + 0.97 * h]));
  const [last] = shape.last;
  sides.push([shape.leaves.at(-1), end + 16], [last, end + 42], [last, height - 14]);
  const line = (sign, all) => all.map(([half, y]) => `${TRUNK + sign * half} ${y}`).join("L");
  const branches = blocks.map((one, i) => drawBranch(one, shape, i, s.place));
  const note = (x, y, text, kind = "") => `<text class="${kind}" x="${x}" y="${y}">${text}</text>`;
  const wide = (one) => (one * WIDE > MOST ? `← ${digits(one)} →` : digits(one)); // too wide
  const numbers = [note(TRUNK, 24, digits(s.enters[0])), note(TRUNK - 28, 24, "x"),
    note(TRUNK, height - 18, wide(s.last[0])), s.hasFinal ? note(TRUNK, end + 8, wide(s.end)) : "",
    ...blocks.map(({ y, h }, i) => (h < 90 ? ""
      : note(TRUNK - shape.sum[i] - 5, y + 0.79 * h, digits(s.sum[i]), "end")))];
  if (back) numbers.push(`<path class="bars" d="${blocks.map(({ y, h }, i) =>
    `M${BACK - shape.gradient[i]} ${y + 0.06 * h}h${2 * shape.gradient[i]}v${0.88 * h}h${
      -2 * shape.gradient[i]}Z`).join("")}"/><path class="way" d="M${BACK} ${end + 34}V${
    TOP - 14}m-7 9l7 -9l7 9"/>`, note(BACK, 14, "gradient"), note(BACK, end + 50, "loss"),
  note(BACK, TOP + DETAIL / 2, digits(s.gradient[0])),
  s.depth > 1 ? note(BACK, end - 4, digits(s.gradient.at(-1))) : "");
  const trunk = `M${line(1, sides)}L${TRUNK} ${height - 2}L${line(-1, sides.toReversed())}Z`;
  return [...branches.map(([under]) => under), `<path class="trunk" d="${trunk}"/>`,
    ...branches.map(([, over]) => over), ...numbers];
}

/** Draw the stream into an element, and return its cleanup function. */
export function mount(parent, { depths, has, ...page }, widget) {
  const [state, most] = [{ ...page }, depths.at(-1)];
  const root = drawGroup(parent, "lnorm-stream", "a stack of residual blocks");
  const stage = element("div", root, { class: "stage" });
  const { end, height } = layout(most, most);
  stage.innerHTML = `<svg aria-hidden="true" viewBox="0 0 ${SIZE} ${height}"></svg>`;
  let [held, shape, frame] = [null, null, 0]; // what is dragged, what is drawn, and the animation
  const choose = (changes) => { Object.assign(state, changes); show(); };
  const places = { final: { on: [TRUNK, end + 30], off: [OFF, end + 30] }, // positions of the chips
    place: { pre: [BRANCH, TOP + 42], post: [TRUNK, TOP + 128], none: [OFF, TOP + 128] } };
  const chips = () => ["place", "final"].slice(0, has[1] && state.place !== "post" ? 2 : 1);
  const [svg, side] = [stage.firstChild, element("div", root, { class: "side" })];
  const control = (drawn, key, label, values, texts = values) =>
    [key, values, drawn({ label, texts }, side, (i) => choose({ [key]: values[i] }))];
  const controls = has.map((key) => control(drawChoice, key, CHOICES[key][0],
    Object.keys(CHOICES[key][1]), Object.values(CHOICES[key][1])));
  if (depths.length > 1) controls.push(control(drawSlider, "depth", "number of blocks", depths));
  const says = element("p", side, { role: "status" });
  drawButtons(["one row on its way"], drawGroup(side, "tools", "tools"), () => open(state.depth));
  element("small", side, {}, `Tap the trunk to see one row there. ${state.back
    ? "The blue bars are as wide as the gradient norm of each block’s weights. " : ""}The trunk is
    as wide as the spread of its rows, before training, from Xavier’s initialization: the medians of
    five seeds.`);
  const table = element("table", root); // what is drawn, for screen readers

  function open(block) {
    const [s, first] = [at(state), state.place === "post" ? 1 : 0];
    const blocks = [0, ...depths].slice(first).filter((one) => one <= s.depth);
    openRow(root, widget, { names: blocks.map((one) => (one ? `block ${one}` : "x")),
      at: Math.max(0, blocks.findLastIndex((one) => one <= block)),
      rows: RECORDED.rows[s.place].slice(first), says: blocks.map((one) => toldRow(s, one)) });
  }

  const inside = ({ clientX, clientY }) => {
    const { x, y, width } = svg.getBoundingClientRect();
    return [clientX - x, clientY - y].map((one) => (one * SIZE) / width);
  };
  const far = ([x, y], [left, top]) => Math.hypot(x - left, y - top);
  const hands = { // the first one, or the page scrolls under a finger that drags
    touchstart: (event) => { if (event.target.closest(".hand")) event.preventDefault(); },
    pointerdown: (event) => {
      held = { key: event.target.closest(".hand")?.classList[2], from: inside(event) };
      if (held.key) svg.setPointerCapture(event.pointerId);
    },
    pointermove: (event) => {
      const here = inside(event);
      if (!held?.key || !(held[held.key] || far(held.from, here) > 6)) return;
      held[held.key] = here;
      const [[name]] = Object.entries(places[held.key])
        .toSorted(([, one], [, other]) => far(one, here) - far(other, here));
      choose({ [held.key]: name });
    },
    pointerup: () => {
      if (held && !held[held.key]) { // a tap
        const { blocks } = layout(state.depth, most);
        open(held.key === "final" ? state.depth
          : blocks.filter(({ y, h }) => y + 0.6 * h < held.from[1]).length);
      }
      hands.pointercancel();
    },
    pointercancel: () => { held = null; show(); }, // the finger is scrolling the page
  };
  for (const type in hands) svg.addEventListener(type, hands[type], { passive: false });

  function show() {
    const s = at(state), { depth, back } = state;
    for (const [key, values, paint] of controls)
      paint(values.indexOf(state[key]), key === "final" && s.place === "post");
    const words = told(s, { has, back });
    if (says.textContent !== words) says.textContent = words; // don't announce it twice
    const lines = s.enters.map((one, i) => [i + 1, ...[one, s.added[i], s.leaves[i],
      ...(back ? [s.gradient[i]] : [])].map(digits)].join("<td>"));
    table.innerHTML = `<tr><th>block<th>spread that enters<th>added<th>that leaves${
      back ? "<th>gradient norm" : ""}<tr><td>${lines.join("<tr><td>")}`;
    const goal = { ...shapeOf(s), chips: chips().map((key) => places[key][state[key]]) };
    const [from, began] = [shape?.enters.length === depth ? shape : goal, performance.now()];
    const slots = chips().flatMap((key) => Object.values(places[key])).map(([x, y]) => `<path
      class="slot" d="M${x - 8} ${y - 13}h16a13 13 0 0 1 0 26h-16a13 13 0 0 1 0 -26"/>${
      x === OFF ? `<text x="${x}" y="${y + 5}">off</text>` : ""}`);
    cancelAnimationFrame(frame);
    (function step(time) {
      const part = CALM.matches ? 1 : Math.max(0, Math.min(1, (time - began) / MOVED));
      shape = Object.fromEntries(Object.entries(goal).map(([key, to]) =>
        [key, mix(to.map((one, i) => from[key][i] ?? one), to, part * part * (3 - 2 * part))]));
      const hand = (key, i) => drawChip(held?.[key] ?? shape.chips[i], `hand ${key}`);
      svg.innerHTML = [...slots, ...draw(shape, s, layout(depth, most), back),
        ...chips().map(hand)].join("");
      if (part < 1) frame = requestAnimationFrame(step);
    })(began);
  }
  show();
  drawLink(root, controls.map(([, values]) => values.length),
    () => controls.map(([key, values]) => values.indexOf(state[key])),
    (at) => choose(Object.fromEntries(controls.map(([key, values], i) => [key, values[at[i]]]))));
  return () => { cancelAnimationFrame(frame); root.remove(); };
}
