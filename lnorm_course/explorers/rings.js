// The rings in `RECORDED`, as a reader sees and changes them: `mount` adds them to any page.

const { runs: RUNS, moments: MOMENTS, points: POINTS, shown: SHOWN, grid: GRID } = RECORDED;
const [LAST, PLAYED] = [MOMENTS.at(-1), 4000]; // steps, and milliseconds
const [LEARNED, APART, HALF] = [0.2, 0.5, 8]; // limits of loss and distance; half a strip's width

const codes = (text, first) => Int16Array.from(text, (sign) => sign.charCodeAt(0) - first);
for (const run of Object.values(RUNS)) {
  [run.p, run.says] = [codes(run.p, 35), codes(atob(run.says), 0)];
  run.along = new Int8Array(codes(atob(run.along), 0));
  run.curve = run.loss.map((loss, step) => `${step} ${1 - Math.min(loss, 1)}`);
}
const percent = (share) => `${Math.round(100 * share)}%`;

/** What a network looks like at a step, interpolated between two recorded moments. */
export function at(name, step) {
  const { loss, apart, range, maps, ...run } = RUNS[name];
  const i = Math.min(MOMENTS.findLastIndex((moment) => moment <= step), MOMENTS.length - 2);
  const w = (step - MOMENTS[i]) / (MOMENTS[i + 1] - MOMENTS[i]);
  const between = ([a, b]) => Array.from(a, (one, k) => mix(one, b[k], w));
  const parts = (all, size, layers = 1, l = 0) => [i, i + 1].map((n) => n * layers + l)
    .map((part) => all.subarray(part * size, (part + 1) * size));
  const shares = (all, size, most) => between(parts(all, size)).map((one) => one / most);
  const distances = apart[i].map((one, l) => one ** (1 - w) * apart[i + 1][l] ** w);
  const rows = () => distances.map((distance, l) => {
    const ends = parts(run.along, SHOWN.length, distances.length, l);
    const [now, size] = [between(ends), (row) => Math.hypot(...row)];
    // If a direction turns between two moments, points must not seem to collapse.
    const kept = mix(...ends.map(size), w) / (size(now) || 1);
    return now.map((one) => (one * kept * distance) / 40);
  });
  const [p, says] = [shares(run.p, GRID ** 2, 56), shares(run.says, SHOWN.length, 255)];
  return { name, step, p, says, rows, apart: distances, last: distances.at(-1),
    gradient: maps[i][0], range: between([range[i], range[i + 1]]),
    loss: mix(loss[Math.floor(step)], loss[Math.ceil(step)], step % 1) };
}

/** Describe the current state, from its numbers. */
export function told({ name, step, apart, last, loss, range, gradient }) {
  const [low, high] = range.map(percent), [first, ...others] = RUNS[name].apart[0];
  const [now, costs] = [`${digits(last)} apart`, `The loss is ${loss.toFixed(2)}`];
  const all = low === high ? `all get the same answer, ${low} outer`
    : range[1] - range[0] < 0.05 ? `all get nearly the same answer, ${low} to ${high} outer`
    : `they get different answers, ${low} to ${high} outer`
      + (range[0] > 0.5 || range[1] < 0.5 ? ", though all on one side of 50%" : "");
  if (step < 1) return `The points ${last < APART ? "fall together" : "stay apart"} on their way:`
    + ` ${digits(first)} apart after layer 1, ${now} after layer ${apart.length}. So ${all}.`
    + (name.includes("only") ? ` The first map’s gradient is ${digits(gradient)}, and in the plain`
    + ` network ${digits(RUNS.plain.maps[0][0])}.` : "");
  if (loss < LEARNED) return `The two rings arrive apart. ${costs}. (Points of one ring may fall`
    + " together, because they should get the same answer.)";
  const after = `At step ${Math.floor(step)}, the points arrive ${now}`;
  if (last >= APART) return `${after}, and ${all}. ${costs}.`
    + (step < LAST ? "" : " So to be apart isn’t enough.");
  return last > 2 * others.at(-1) ? `${after}: the steps pull them apart. ${costs}.`
    : `${after}, and ${all}. ${costs}${Math.abs(loss - Math.LN2) < 0.01 ? ": a plateau" : ""}.`;
}

/** Describe all networks; before the race, the reader has ticked some of them. */
export function toldRace([, ...changes], ticked) {
  const list = (all) => all.map(({ name }) => name).join(", ") || "none";
  const [{ step }, together] = [changes[0], changes.filter(({ last }) => last < APART)];
  if (ticked < 0) return "Which of the six will bring the loss below 0.2? Tick them, then race.";
  if (step < 1) return "Before training, the points arrive apart with all changes but"
    + ` ${list(together)}: there, they are ${together.map(({ name }) => digits(at(name, 40).last))}`
    + " apart at step 40.";
  const works = list(changes.filter(({ loss }) => loss < LEARNED));
  return `Below 0.2 at step ${Math.floor(step)}: ${works}.` + (step < LAST ? ""
    : ` You ticked ${ticked}. What do they have in common? Go back to step 0, and look.`);
}

/** Draw a network for the first time, except for what changes in training. */
function drawFigure(box) {
  const rings = [0, 1].map((ring) => POINTS.filter((point) => point[2] === ring)
    .map(([x, y]) => `M${x} ${-y}h0`).join(""));
  const open = (view) => `<svg aria-hidden="true" preserveAspectRatio="none" viewBox="${view}">`;
  const path = (kind, d = "") => `<path class="${kind}" d="${d}"/>`;
  box.innerHTML += `<div class="plane"><canvas width="${GRID}" height="${GRID}"></canvas>
    ${open([-1, -1, 2, 2].map((one) => one * RECORDED.edge))}${path("inner dots", rings[0])}
    ${path("outer dots", rings[1])}</svg></div><div class="loss">${open([0, 0, LAST, 1])}
    ${path("", `M0 0V1H${LAST}M0 ${1 - Math.LN2}H${LAST}`)}${path("curve")}</svg>
    <span class="ends"><span>loss</span><span>line: 0.69, guessing</span></span></div>
    <div class="strips" aria-hidden="true"><span class="ends"><span>after layer</span>
    <span>how far apart</span></span><div></div>${open([0, 0, 1, 1])}${path("inner")}
    ${path("outer")}${path("inner dots")}${path("outer dots")}</svg><span class="ends">
    <span>says inner</span><span>50%</span><span>says outer</span></span></div>`;
}

/** Draw a network's current state; its strips only where they are visible. */
function paint(box, s, hasStrips) {
  const image = new ImageData(GRID, GRID);
  s.p.forEach((p, k) => image.data.set( // blue or orange: the surer, the fuller
    [...(p < 0.5 ? [0, 114, 178] : [240, 140, 0]), 140 * Math.abs(2 * p - 1)], 4 * k));
  box.querySelector("canvas").getContext("2d").putImageData(image, 0, 0);
  const [seen, loss] = [RUNS[s.name].curve.slice(0, s.step + 1), 1 - Math.min(s.loss, 1)];
  box.querySelector(".curve").setAttribute("d", `M${[...seen, `${s.step} ${loss}`].join("L")}`);
  if (hasStrips) paintStrips(box.querySelector(".strips"), s);
}

/** Draw the threads, which connect a point's positions in the strips. */
function paintStrips(strips, s) {
  // The inner three quarters of a strip are linear; the rest is compressed.
  const inside = (v) => (Math.abs(v) < 6 ? v : Math.sign(v) * (HALF - 4 / (Math.abs(v) - 4)));
  const drawn = ["", "", "", ""];
  const [rows, layers, isSmall] = [s.rows(), s.apart.length, strips.closest("label")];
  SHOWN.forEach((point, k) => {
    const ring = POINTS[point][2]; // circles above, squares below, so that both show
    const path = [...rows.map((row) => inside(row[k])), HALF * (2 * s.says[k] - 1)]
      .map((x, l) => [x.toFixed(3), l + 0.38 + 0.24 * ring]);
    drawn[ring] += path.map(([x, y], n) => (n
      ? `C${path[n - 1][0]} ${y - 0.5} ${x} ${y - 0.5} ${x} ${y}` : `M${x} ${y}`)).join("");
    if (!isSmall) drawn[ring + 2] += path.map(([x, y]) => `M${x} ${y}h0`).join("");
  });
  strips.querySelectorAll("path").forEach((path, n) => path.setAttribute("d", drawn[n]));
  strips.querySelector("svg").setAttribute("viewBox", `-8.5 0 17 ${layers + 1}`);
  strips.style.setProperty("--rows", layers + 1);
  strips.querySelector("div").innerHTML = s.apart
    .map((apart, l) => `<span>${l + 1}</span><data>${digits(apart)}</data>`).join("");
}

/** Play from the first step to the last, slowly at first, where most happens; return the stop. */
function play(show) {
  const [isCalm, began] = [matchMedia("(prefers-reduced-motion: reduce)"), performance.now()];
  let frame = requestAnimationFrame(function next(now) {
    const part = isCalm.matches ? 1 : Math.max(0, Math.min(1, (now - began) / PLAYED));
    if (part < 1) frame = requestAnimationFrame(next);
    show(LAST * part ** 1.7, part < 1);
  });
  return () => cancelAnimationFrame(frame);
}

/** Draw the rings into an element, and return their cleanup function. */
export function mount(parent, page) {
  const isRace = page.preset === "race";
  const root = drawGroup(parent, `lnorm-rings${isRace ? " race" : ""}`, "two rings");
  const pick = (i) => { all[0].dataset.network = page.names[i]; go(0); };
  const buttons = drawButtons(isRace ? [] : page.names, drawGroup(root, "chips", "networks"), pick);
  const figures = element("div", root, { class: "figures" });
  const all = (isRace ? page.names : [page.preset]).map((name) => {
    const box = element(isRace ? "label" : "div", figures, { class: "figure" });
    box.dataset.network = name;
    if (isRace) element("span", box, { class: "name" }, name);
    drawFigure(box);
    return box;
  });
  const ticks = [...figures.querySelectorAll(".name")].slice(1)
    .map((head) => element("input", head, { type: "checkbox", "aria-label": head.textContent }));
  let [step, stop, ticked, spoken] = [0, null, -1, 0];
  const bar = element("div", root, { class: "bar" });
  const race = () => { ticked = ticks.filter(({ checked }) => checked).length; stop = play(draw); };
  const [player] = drawButtons([""], bar, () => (stop ? go(step) : race()));
  const slider = element("input", bar, { type: "range", max: LAST, "aria-label": "step" });
  slider.addEventListener("input", () => go(Number(slider.value)));
  const [where, says] = [element("span", bar), element("p", root, { role: "status" })];
  const table = element("table", root); // what is drawn, for screen readers
  function draw(to, isPlaying) {
    if (!isPlaying) stop = null;
    step = to;
    const isOver = root.classList.toggle("over", ticked >= 0 && !isPlaying);
    const states = all.map((box) => at(box.dataset.network, step));
    states.forEach((s, i) => {
      paint(all[i], s, !isRace || isOver);
      all[i].dataset.loss = `loss ${s.loss.toFixed(2)}${s.loss < LEARNED ? " ✓" : ""}`;
    });
    if (!isRace) root.dataset.network = states[0].name;
    for (const tick of ticks) tick.disabled = isPlaying;
    buttons.forEach((one, i) => { one.ariaPressed = page.names[i] === states[0].name; });
    player.textContent = isPlaying ? "stop" : isRace ? "race" : "train";
    const loss = isRace ? "" : `, loss ${states[0].loss.toFixed(2)}`;
    slider.ariaValueText = where.textContent = `step ${Math.floor(step)}${loss}`;
    Object.assign(slider, { value: step, disabled: isRace && ticked < 0 });
    if (isPlaying && performance.now() - spoken < 900) return; // don't announce it constantly
    spoken = performance.now();
    says.textContent = isRace ? toldRace(states, ticked) : told(states[0]);
    const cells = states.map((s) => [s.name, s.loss.toFixed(2), ...s.apart.map(digits)]);
    table.innerHTML = `<tr><th>network<th>loss<th colspan="8">apart after each layer</tr>${
      cells.map((line) => `<tr><td>${line.join("<td>")}</tr>`).join("")}`;
  }
  function go(to) { stop?.(); draw(to, false); }
  const limits = [isRace ? 2 : page.names.length, LAST + 1, ...ticks.map(() => 2)];
  go(0);
  drawLink(root, limits, () => [
    isRace ? Number(ticked >= 0) : page.names.indexOf(all[0].dataset.network), Math.floor(step),
    ...ticks.map(({ checked }) => Number(checked))], ([first, to, ...checked]) => {
    ticks.forEach((tick, i) => { tick.checked = checked[i]; });
    if (isRace) ticked = first ? checked.filter(Boolean).length : -1;
    else all[0].dataset.network = page.names[first];
    go(to);
  });
  return () => { stop?.(); root.remove(); };
}
