// Four numbers that one can drag, and each step of their layer norm. What is drawn hangs on the numbers
// --at, --mean, and --spread of the style: parts of a line's width. Without a script, the start stands there.

const EPS = 1e-5;
const [UPPER, LOWER] = [11, 2.2]; // a line goes from minus to plus so many
const BEAT = 420; // milliseconds for a term of the formula
const written = (value, decimals = 2) => (Math.abs(value) < 0.5 * 10 ** -decimals ? 0 : value).toFixed(decimals).replace("-", "−");
const short = (value) => written(value).replace(/\.?0+$/, "");
const average = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Return each step of layer norm over a row, without γ and β. */
export function layerNorm(row) {
  const mean = average(row);
  const centered = row.map((value) => value - mean);
  const squares = centered.map((value) => value ** 2);
  const variance = average(squares);
  const root = Math.sqrt(variance + EPS);
  return { mean, centered, squares, variance, root, result: centered.map((value) => value / root) };
}

function alive(figure) {
  const all = (selector) => [...figure.querySelectorAll(selector)];
  const one = (selector) => figure.querySelector(selector);
  const inputs = all("input");
  const [upper, lower] = [all(".upper .dot"), all(".lower .dot")];
  const [xs, centered, squared, ys] = all("tbody tr").map((row) => [...row.querySelectorAll("td")]);
  const [shift, equal, reset] = all("button");
  const start = inputs.map((input) => Number(input.defaultValue));
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let [lit, moving, telling] = [0, 0, 0];
  const place = (part, value, half) => part.style.setProperty("--at", (value + half) / (2 * half));
  const range = (part, mean, spread, half) => {
    part.style.setProperty("--mean", (mean + half) / (2 * half));
    part.style.setProperty("--spread", spread / (2 * half));
  };

  function draw(row) {
    const steps = layerNorm(row);
    const { mean, result } = steps;
    const spread = Math.sqrt(steps.variance);
    const after = layerNorm(result);
    const spreadAfter = Math.sqrt(after.variance);
    row.forEach((value, i) => {
      inputs[i].value = value;
      inputs[i].setAttribute("aria-valuetext", short(value));
      place(upper[i], value, UPPER);
      place(lower[i], result[i], LOWER);
      const [from, to] = [(value + UPPER) / (2 * UPPER), (result[i] + LOWER) / (2 * LOWER)].map((part) => 100 * part);
      all(".threads path")[i].setAttribute("d", `M${from} 0C${from} 50 ${to} 50 ${to} 100`);
      xs[i].textContent = short(value);
      centered[i].textContent = short(steps.centered[i]);
      squared[i].textContent = short(steps.squares[i]);
      ys[i].textContent = written(result[i]);
    });
    range(one(".plot"), mean, spread, UPPER);
    range(one(".lower"), after.mean, spreadAfter, LOWER);
    const told = { ".mean": mean, ".spread": spread, ".mean-after": after.mean, ".spread-after": spreadAfter };
    for (const [selector, value] of Object.entries(told)) one(selector).textContent = written(value);
    xs[4].querySelector("b").textContent = written(mean);
    squared[4].querySelector("b").textContent = written(steps.variance);
    ys[4].querySelector("b").textContent = steps.root < 0.01 ? written(steps.root, 4) : written(steps.root);
    shift.disabled = shiftOf(row) === 0;
    clearTimeout(telling);
    telling = setTimeout(() => {
      one(".told").value = `Mean ${written(mean)}, spread ${written(spread)}. After layer norm: ${result.map((value) => written(value)).join(", ")}.`;
    }, 600);
  }

  /** Light one term of the formula after the other, with all that belongs to it. */
  function light() {
    if (lit || calm.matches) return;
    const next = () => {
      lit = lit < 5 ? lit + 1 : 0;
      for (const part of all("[data-step]")) part.classList.toggle("lit", Number(part.dataset.step) === lit);
      if (lit) setTimeout(next, BEAT);
    };
    next();
  }

  const values = () => inputs.map((input) => Number(input.value));
  const most = Number(inputs[0].max);
  let way = 2; // kept until an end is reached
  function shiftOf(row) {
    const fits = (by) => row.every((value) => Math.abs(value + by) <= most);
    return [way, -way].find(fits) ?? 0;
  }

  /** Let the dots glide to other places. */
  function glide(target) {
    const from = values();
    const begin = performance.now();
    cancelAnimationFrame(moving);
    const step = (now) => {
      const part = calm.matches ? 1 : Math.min(1, (now - begin) / 500);
      const eased = part * part * (3 - 2 * part);
      draw(part < 1 ? from.map((value, i) => value + eased * (target[i] - value)) : target);
      if (part < 1) moving = requestAnimationFrame(step);
    };
    moving = requestAnimationFrame(step);
    light();
  }

  let held = start;
  for (const input of inputs) {
    input.addEventListener("pointerdown", () => { held = values(); });
    input.addEventListener("pointercancel", () => draw(held)); // a finger that scrolls the page
  }
  figure.addEventListener("input", () => {
    cancelAnimationFrame(moving);
    draw(values());
    light();
  });
  shift.addEventListener("click", () => {
    way = shiftOf(values()) || way;
    glide(values().map((value) => value + way));
  });
  equal.addEventListener("click", () => {
    const middle = Math.round(4 * average(values())) / 4; // a stop of the sliders
    glide(values().map(() => middle));
  });
  reset.addEventListener("click", () => glide(start));
  // What a browser kept of a visit isn't where the picture begins.
  draw(start);
  const sight = new IntersectionObserver(([entry]) => {
    if (entry.isIntersecting) { sight.disconnect(); light(); }
  }, { threshold: 0.6 });
  sight.observe(one(".steps"));
}

if (typeof document !== "undefined") document.querySelectorAll(".lnorm-hero").forEach(alive);
