// What a reader sees of the residual stream in `RECORDED`, and moves: `mount` puts it into any page.

const PLACES = { post: "post-LN", pre: "pre-LN", none: "no norm" };
// The middle of the gradient, of the trunk, of branches, and of a chip that is off.
const [BACK, TRUNK, BRANCH, OFF] = [58, 166, 262, 317];
const [TOP, DETAIL, ROOM] = [34, 140, 340]; // above the first block, of a detailed one, of all
const [WIDE, STRONG] = [11, 1.1]; // half a width for a spread of 1, and for a gradient of 1
const [MOST, HALF] = [52, 54]; // half of the widest trunk, and of the widest gradient
const MOVED = 450; // milliseconds
const CALM = globalThis.matchMedia?.("(prefers-reduced-motion: reduce)");
const SIZE = 340; // how wide the picture is
const digits = (value) => (value >= 9.95 ? value.toFixed(0) : `${Number(value.toPrecision(2))}`);
const mix = (a, b, part) => (Array.isArray(b) ? b.map((one, i) => mix(a[i], one, part))
  : a + (b - a) * part);

/** What a stack of blocks looks like: numbers of each block, and of all. */
export function at({ place, depth, final, own }) {
  const hasFinal = final === "on" && place !== "post";
  const gradients = (isLast) => RECORDED.gradients[
    `${place}${isLast ? ", final norm" : ""}${own === "own" ? ", own directions" : ""}`][depth];
  const blocks = RECORDED.spreads[place][0].slice(0, depth);
  const enters = blocks.map((_, i) => (i ? blocks[i - 1][2] : RECORDED.enters));
  const [gradient, low, high] = gradients(hasFinal);
  return { place, depth, hasFinal, enters, added: blocks.map(([one]) => one), gradient, low, high,
    sum: blocks.map(([, one]) => one), leaves: blocks.map(([, , one]) => one),
    end: blocks.at(-1)[2], without: hasFinal ? gradients(false)[0] : null };
}

/** Say what follows from what is seen, made from the numbers. */
export function told({ place, depth, hasFinal, added, sum, end, gradient, without }, { has, back }) {
  const blocks = depth > 1 ? `${depth} blocks` : "the block";
  const forward = {
    post: `Each addition widens the trunk, and the norm after it brings the spread back, from ${
      digits(sum.at(-1))} to ${digits(end)} in ${depth > 1 ? `block ${depth}` : "this block"}.`,
    pre: `The norm is on the branch, so nothing narrows the trunk: the spread is ${digits(end)}`
      + ` after ${blocks}.`,
    none: `Nothing narrows the trunk. ${depth > 1 ? `The branch adds ${digits(added[0])} in block 1 and ${
      digits(added.at(-1))} in block ${depth}, and the` : "The"} spread is ${digits(end)} after ${blocks}.`,
  }[place];
  const next = hasFinal ? " The final norm brings it to 1."
    : has.includes("final") && place !== "post" ? " What comes next gets rows of that size." : "";
  if (!back) return forward + next;
  const two = (all) => (depth > 1 ? `${digits(all.at(-1))} in block ${depth} and ${digits(all[0])} in`
    + " block 1" : digits(all[0]));
  return `${forward}${next} On the way back, the gradient norm is ${two(gradient)}${without
    ? `, and without the final norm it would be ${two(without)}` : ""}.`;
}

/** Where the blocks are: the first in detail, and others as high as there's room for. */
function layout(depth, most) {
  const height = depth > 1 ? Math.min(DETAIL, (ROOM - DETAIL) / (depth - 1)) : DETAIL;
  const blocks = Array.from({ length: depth }, (_, i) =>
    ({ y: TOP + (i ? DETAIL + (i - 1) * height : 0), h: i ? height : DETAIL }));
  const end = TOP + (most > 2 ? ROOM : most * DETAIL);
  return { blocks, end, height: end + 78 };
}

/** All widths that a change can be followed in, and where the chips are. */
function shapeOf(s) {
  const wide = (spread) => Math.min(MOST, WIDE * spread);
  const normed = s.enters.map((one) => (s.place === "pre" ? 1 : one));
  return { enters: s.enters.map(wide), normed: normed.map(wide), added: s.added.map(wide),
    sum: s.sum.map(wide), leaves: s.leaves.map(wide), last: wide(s.hasFinal ? 1 : s.end),
    gradient: s.gradient.map((one) => Math.min(HALF, STRONG * one)) };
}

/** Draw a branch that leaves the trunk and comes back to it: what is under the trunk, and over it. */
function drawBranch({ y, h }, shape, i, place) {
  const [part, pipe] = [h / DETAIL, (name, d) =>
    `<path class="pipe" stroke-width="${2 * shape[name][i]}" d="${d}"/>`];
  const [leaves, norm, f, back] = [8, 42, 74, 102].map((one) => y + one * part);
  const [low, high, side] = [y + 0.1 * h, y + 0.8 * h, BRANCH - 18];
  if (h < 90) return ["", `<path class="loop" d="M${TRUNK + shape.enters[i]} ${low}H${side - 8}Q${side
    } ${low} ${side} ${y + 0.3 * h}V${y + 0.6 * h}Q${side} ${high} ${side - 8} ${high}H${
    TRUNK + shape.sum[i]}"/>${place === "none" ? "" : `<path class="norm" d="${place === "pre"
    ? `M${side - 6} ${y + 0.45 * h}h12` : `M${TRUNK - shape.sum[i] - 4} ${y + 0.94 * h}h${
      2 * shape.sum[i] + 8}`}"/>`}`];
  const bend = 24 * part;
  const [x, to] = place === "pre" ? [BRANCH, norm] : [TRUNK, y + 128 * part];
  return [pipe("enters", `M${TRUNK} ${leaves}H${BRANCH - bend}Q${BRANCH} ${leaves} ${BRANCH} ${
    leaves + bend}V${norm}`) + pipe("normed", `M${BRANCH} ${norm}V${f}`) + pipe("added",
    `M${BRANCH} ${f}V${back - bend}Q${BRANCH} ${back} ${BRANCH - bend} ${back}H${TRUNK}`),
  `<rect class="f" x="${BRANCH - 21}" y="${f - 12}" width="42" height="24" rx="3"/>
    <text x="${BRANCH}" y="${f + 5}">f</text><circle cx="${TRUNK}" cy="${back}" r="9"/>
    <path class="plus" d="M${TRUNK - 5} ${back}h10m-5 -5v10"/>${i && place !== "none" // the first is HTML
    ? `<rect class="chip" x="${x - 19}" y="${to - 12}" width="38" height="24" rx="12"/>
    <text class="on" x="${x}" y="${to + 5}">LN</text>` : ""}`];
}

/** Draw the trunk, its branches, and the gradient beside it. */
function draw(shape, s, { blocks, end, height }, back) {
  const sides = [[shape.enters[0], 6]]; // half widths of the trunk, and where
  blocks.forEach(({ y, h }, i) => sides.push([shape.enters[i], y + 0.67 * h],
    [shape.sum[i], y + 0.77 * h], [shape.sum[i], y + 0.86 * h], [shape.leaves[i], y + 0.97 * h]));
  sides.push([shape.leaves.at(-1), end + 16], [shape.last, end + 42], [shape.last, height - 14]);
  const line = (sign, all) => all.map(([half, y]) => `${TRUNK + sign * half} ${y}`).join("L");
  const branches = blocks.map((one, i) => drawBranch(one, shape, i, s.place));
  const note = (x, y, text, kind = "") => `<text class="${kind}" x="${x}" y="${y}">${text}</text>`;
  const wide = (one) => (one * WIDE > MOST ? `← ${digits(one)} →` : digits(one)); // than is drawn
  const [first, last] = [blocks[0].y + DETAIL / 2, end - 4];
  const numbers = [note(TRUNK, 24, digits(s.enters[0])), note(TRUNK - 28, 24, "x"), note(TRUNK, height - 18,
    wide(s.hasFinal ? 1 : s.end)), s.hasFinal ? note(TRUNK, end + 8, wide(s.end)) : "",
  ...blocks.map(({ y, h }, i) => (h < 90 ? "" : note(TRUNK - shape.sum[i] - 5, y + 0.79 * h,
    digits(s.sum[i]), "end")))];
  if (back) numbers.push(note(BACK, 14, "gradient"), note(BACK, end + 50, "loss"), note(BACK, first, digits(s.gradient[0])),
    s.depth > 1 ? note(BACK, last, digits(s.gradient.at(-1))) : "");
  return `${branches.map(([under]) => under).join("")}<path class="trunk" d="M${line(1, sides)}L${TRUNK
  } ${height - 2}L${line(-1, sides.toReversed())}Z"/>${branches.map(([, over]) => over).join("")}${back
    ? `<path class="bars" d="${blocks.map(({ y, h }, i) => `M${BACK - shape.gradient[i]} ${y + 0.06 * h
    }h${2 * shape.gradient[i]}v${0.88 * h}h${-2 * shape.gradient[i]}Z`).join("")}"/><path class="way"
    d="M${BACK} ${end + 34}V${TOP - 14}m-7 9l7 -9l7 9"/>` : ""}${numbers.join("")}`;
}

/** Let a chip be dragged between its places, and be moved by keys and taps. Return it. */
function takeChip(stage, label, places, { set, hold }) {
  const names = Object.keys(places);
  const chip = element("button", stage, { type: "button", role: "slider", "aria-label": label,
    "aria-valuemin": 0, "aria-valuemax": names.length - 1 }, "LN");
  const [now, last] = [() => Number(chip.ariaValueNow), names.length - 1];
  const inside = ({ clientX, clientY }) => {
    const { x, y, width } = stage.firstChild.getBoundingClientRect();
    return [clientX - x, clientY - y].map((one) => (one * SIZE) / width);
  };
  let from = null;
  chip.addEventListener("keydown", (event) => {
    const to = { ArrowLeft: now() - 1, ArrowUp: now() - 1, ArrowRight: now() + 1,
      ArrowDown: now() + 1, Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    set(names[Math.max(0, Math.min(last, to))]);
  });
  chip.addEventListener("click", ({ detail }) => { // by a key or a tap, and not after a drag
    if (!detail || !from?.isMoved) set(names[(now() + 1) % names.length]);
  });
  chip.addEventListener("pointerdown", (event) => {
    chip.setPointerCapture(event.pointerId);
    from = { at: inside(event), isHeld: true };
  });
  chip.addEventListener("pointermove", (event) => {
    const here = inside(event);
    const far = ([x, y]) => Math.hypot(x - here[0], y - here[1]);
    if (!from?.isHeld || !(from.isMoved ||= far(from.at) > 6)) return;
    hold(here);
    set(names.toSorted((a, b) => far(places[a]) - far(places[b]))[0]);
  });
  for (const type of ["pointerup", "pointercancel"]) chip.addEventListener(type, () => {
    if (from?.isMoved) hold(null);
    if (from) from.isHeld = false;
  });
  return { chip, names, places };
}

/** Draw the stream into an element, and return what lets go of it. */
export function mount(parent, { depths, has, ...page }) {
  const [state, most] = [{ ...page }, depths.at(-1)];
  const root = drawGroup(parent, "lnorm-stream", "a stack of residual blocks");
  const stage = element("div", root, { class: "stage" });
  stage.innerHTML = '<svg aria-hidden="true"><g></g></svg>';
  const svg = stage.firstChild;
  const { end, height } = layout(most, most);
  svg.setAttribute("viewBox", `0 0 ${SIZE} ${height}`);
  let [held, shape, frame] = [{}, null, 0];
  const choose = (changes) => { Object.assign(state, changes); show(); };
  const places = { place: { post: [TRUNK, TOP + 128], pre: [BRANCH, TOP + 42], none: [OFF, TOP + 128] } };
  if (has.includes("final")) places.final = { on: [TRUNK, end + 30], off: [OFF, end + 30] };
  const slots = Object.values(places).map((all) => Object.values(all).map(([x, y]) => `<path
    class="slot" d="M${x - 8} ${y - 13}h16a13 13 0 0 1 0 26h-16a13 13 0 0 1 0 -26"/>${x === OFF
    ? `<text x="${x}" y="${y + 5}">off</text>` : ""}`).join(""));
  const chips = Object.entries(places).map(([key, all]) => takeChip(stage,
    key === "final" ? "final norm" : "norm of each block", all, { set: (to) => choose({ [key]: to }),
      hold: (at) => { held = { [key]: at }; show(); } }));
  const side = element("div", root, { class: "side" });
  const pick = (label, key, texts) => has.includes(key)
    && [key, drawChoice({ label, texts: Object.values(texts) }, side,
      (i) => choose({ [key]: Object.keys(texts)[i] })), Object.keys(texts)];
  const picks = [pick("norm", "place", PLACES),
    pick("final norm", "final", { on: "on", off: "off" }),
    pick("the loss pulls", "own", { one: "rows one way", own: "each its own" })].filter(Boolean);
  const slide = depths.length > 1 && drawSlider({ label: "number of blocks", texts: depths.map(String) },
    side, (i) => choose({ depth: depths[i] }));
  const says = element("p", side, { role: "status" });
  element("small", side, {}, `${state.back ? "The blue bars are as wide as the gradient norm of each block’s weights. " : ""
  }The trunk is as wide as the spread of its rows, before training, from Xavier’s initialization: the
  medians of five seeds.`);
  const table = element("table", root); // what is drawn, for whoever hears it

  function show() {
    const s = at(state), { place, depth, back } = state;
    const chosen = [place, state.final];
    chips.forEach(({ chip, names }, i) => Object.assign(chip, { ariaValueNow: names.indexOf(chosen[i]),
      ariaValueText: i ? chosen[i] : PLACES[place], hidden: i > 0 && place === "post" }));
    for (const [key, paint, names] of picks)
      paint(names.indexOf(state[key]), key === "final" && place === "post");
    if (slide) slide(depths.indexOf(depth), false);
    const words = told(s, { has, back });
    if (says.textContent !== words) says.textContent = words; // or it would be read out again
    const ends = (i) => `${digits(s.gradient[i])} (${digits(s.low[i])} to ${digits(s.high[i])})`;
    table.innerHTML = `<tr><th>block<th>spread that enters<th>added<th>that leaves${
      back ? "<th>gradient norm (five seeds)" : ""}</tr>${s.enters.map((one, i) => `<tr><td>${[i + 1,
      ...[one, s.added[i], s.leaves[i]].map(digits), ...(back ? [ends(i)] : [])].join("<td>")}</tr>`).join("")}`;
    const goal = { ...shapeOf(s), chips: chips.map(({ places: all, names }, i) =>
      held[["place", "final"][i]] ?? all[chosen[i] ?? names[0]]) };
    const [from, began] = [shape?.enters.length === depth ? shape : goal, performance.now()];
    cancelAnimationFrame(frame);
    (function step(time) {
      const part = CALM.matches ? 1 : Math.max(0, Math.min(1, (time - began) / MOVED));
      shape = Object.fromEntries(Object.entries(goal).map(([key, to]) => [key, mix(from[key], to,
        key === "chips" && Object.values(held)[0] ? 1 : part * part * (3 - 2 * part))]));
      svg.firstChild.innerHTML = slots.slice(0, place === "post" ? 1 : 2).join("") + draw(shape, s, layout(depth, most), back);
      chips.forEach(({ chip }, i) => Object.assign(chip.style, { left: `${shape.chips[i][0] / SIZE * 100}%`,
        top: `${shape.chips[i][1] / height * 100}%` }));
      if (part < 1) frame = requestAnimationFrame(step);
    })(began);
  }
  show();
  return () => { cancelAnimationFrame(frame); root.remove(); };
}

for (const place of document.querySelectorAll(".lnorm-stream-place")) {
  const page = place.querySelector("script").textContent;
  place.replaceChildren();
  mount(place, JSON.parse(page));
}

/** A Jupyter widget made of `mount`. */
export default { render: ({ model, el }) => mount(el, model.get("page")) };
