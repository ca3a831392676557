// What is alive in a page of the course: explorers, whose frames were drawn ahead, and predictions.
// It stands behind `controls.js`, `explorer.js`, `cards.js`, and `progress.js` in one file.

const SIGNS = { wrong: "✗ Not yet:", open: "○ Not attempted:" };
const decoded = (text) => {
  try { return decodeURIComponent(text); } catch { return text; }
};
const slug = (name) => name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

/** Fetch a file that was packed with gzip, or take it from the page itself if it's there. */
async function load(address) {
  const inside = document.querySelector(`script[data-file="${address}"]`);
  const packed = inside
    ? new Blob([Uint8Array.from(atob(inside.textContent), (letter) => letter.charCodeAt(0))]).stream()
    : await fetch(address).then((answer) => {
      if (!answer.ok) throw Object.assign(new Error(`${address}: ${answer.status}`), { isGone: true });
      return answer.body;
    });
  return new Response(packed.pipeThrough(new DecompressionStream("gzip"))).text();
}

/**
 * Answer what an explorer asks for from files, which are described in baking.py. Where a state was
 * not drawn, the control that moves is put into the preset that was shown last, and `go` goes there.
 */
function baked(folder, page, start, isNear, { receive, go, failed }) {
  const apart = (a, b) => a.filter((place, i) => place !== b[i]).length;
  const anchors = [page.start, ...page.presets.map((preset) => preset.state)];
  const files = new Map(); // name → promise of what is in the file, unless that couldn't be fetched
  const ready = new Map(); // arrangement → what has come of near and rest
  const nearest = (state) =>
    anchors.reduce((best, one) => (apart(one, state) < apart(best, state) ? one : best));
  let before = start; // the state that was shown last, and the preset that it comes from
  let anchor = nearest(start);

  function opened(name, read) {
    const fetched = () => load(`${folder}/${name}.gz`).then(read)
      .catch((problem) => { files.delete(name); throw problem; });
    if (!files.has(name)) files.set(name, fetched());
    return files.get(name);
  }

  const first = (arrangement) => opened(`${arrangement}.first`, JSON.parse);
  /** Fetch the frames of a part, and after it those of the next one. */
  async function more(arrangement, part) {
    await opened(`${arrangement}.${part}`, (text) => {
      const [numbers, ...lines] = text.split("\n");
      const places = JSON.parse(numbers);
      const look = (state) => (state.join() in places ? JSON.parse(lines[places[state.join()]]) : null);
      ready.set(arrangement, [...(ready.get(arrangement) ?? []), look]);
    });
    if (part === "near" && page.whole) more(arrangement, "rest").catch(console.debug);
  }

  /** Note that the reader has come to a state; a slider may pass a preset, and doesn't press it. */
  function changed(state, isPreset = false) {
    before = state;
    if (isPreset) anchor = nearest(state);
  }

  async function find({ arrangement, now, background }) {
    const moved = now.findIndex((place, i) => place !== before[i]);
    const alone = anchor.map((place, i) => (i === moved ? now[i] : place));
    await isNear;
    const state = now.map((place, i) =>
      (page.controls[i].kind === "button" ? place % page.presses : place));
    const found = () =>
      (ready.get(arrangement) ?? []).reduce((frame, look) => frame ?? look(state), null);
    const give = (frame, beside = {}) =>
      receive({ frames: { [`${arrangement}:${now.join()}`]: frame }, ...beside });
    let frame = background ? null : found();
    if (frame) { give(frame); return; }
    const drawn = await first(arrangement);
    const beside = background ? { backgrounds: { [arrangement]: drawn.background } } : {};
    frame = drawn.frames[state.join()];
    if (frame) {
      give(frame, beside);
      more(arrangement, "near").catch(console.debug);
      return;
    }
    await receive(beside);
    await more(arrangement, "near");
    if (!found() && page.whole) await more(arrangement, "rest");
    frame = found();
    if (frame) give(frame);
    else if (apart(before, now) === 0) { changed(alone); go(alone); }
  }

  const ask = (asked) => asked.now && find(asked).catch(({ isGone }) => failed(isGone, () => ask(asked)));
  return { ask, changed };
}

/**
 * Scroll to what an address names, and again when the page stands, and when that is drawn: until then,
 * what is above it moves it. A reader who scrolls in between is left alone.
 */
function standAt(place, whenDrawn) {
  const byHand = ["wheel", "touchmove", "keydown", "pointerdown"];
  const left = new AbortController();
  for (const kind of byHand) addEventListener(kind, () => left.abort(), { signal: left.signal, passive: true });
  const go = () => { if (!left.signal.aborted) place.scrollIntoView({ behavior: "instant" }); };
  go();
  const stands = document.readyState === "complete"
    ? null : new Promise((resolve) => { addEventListener("load", resolve); });
  const settled = () => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); });
  Promise.resolve(stands).then(go).then(() => whenDrawn).then(settled).then(go).then(() => left.abort());
}

/** Return what answers an explorer from files, which are described in baking.py. */
function fromFiles(folder, page, failed) {
  const files = new Map(); // name → promise of what is in the file, unless that couldn't be fetched
  const opened = (name, read) => {
    if (!files.has(name)) {
      files.set(name, load(`${folder}/${name}.gz`).then(read)
        .catch((problem) => { files.delete(name); throw problem; }));
    }
    return files.get(name);
  };
  const lineOf = (state) => state.reduce((at, place, i) => at * page.controls[i].texts.length + place, 0);
  const find = async (state) => {
    const first = await opened("first", JSON.parse);
    return first[state.join()] ?? JSON.parse((await opened("all", (text) => text.split("\n")))[lineOf(state)]);
  };
  const ask = (state) => find(state).catch(async (problem) => { await failed(problem); return ask(state); });
  return ask;
}

/** Draw an explorer whose panels, and what it shows first, are in the page. */
function livePanels(place, page, start, opening, link, goThere) {
  let failing = null; // a promise, until somebody tries again
  const failed = ({ isGone }) => {
    failing ??= new Promise((resolve) => {
      notice.textContent = `${isGone ? "This page is out of date" : "No connection"}, so the picture may not follow. `;
      const button = element("button", notice, { type: "button" }, isGone ? "Reload" : "Try again");
      button.onclick = () => {
        if (isGone) location.reload();
        if (notice.contains(document.activeElement)) place.querySelector(".lnorm-explorer button").focus();
        notice.textContent = "";
        failing = null;
        resolve();
      };
    });
    return failing;
  };
  const ask = fromFiles(place.dataset.folder, page, failed);
  const notice = element("p", place, { class: "lnorm-offline", role: "status" });
  const drawn = new Explorer(place, { ...page, start: opening }, start, { ask, link, changed() {} });
  goThere((state) => drawn.go(state), Promise.resolve());
}

/** Make an explorer of its still image. */
function explorer(place) {
  const page = JSON.parse(place.querySelector("script").textContent);
  const { folder, topic } = place.dataset;
  const preset = (name) => page.presets.find((one) => one.name === name || slug(one.name) === name);
  const named = () => {
    const [, asked] = location.hash.match(`^#${topic}=(.*)$`) ?? [];
    if (!asked) return null;
    const wanted = decoded(asked);
    if (preset(wanted)) return preset(wanted).state;
    const places = wanted.split(",").map(Number);
    const fits = places.length === page.start.length && places.every((at, i) =>
      Number.isInteger(at) && at >= 0 && at < (page.controls[i].texts.length || Infinity));
    return fits ? places : null;
  };
  const link = async (state) => {
    const chosen = page.presets.find((one) => one.state.join() === state.join());
    history.replaceState(null, "", `#${topic}=${chosen ? slug(chosen.name) : state.join()}`);
    try {
      await navigator.clipboard.writeText(location.href);
      return "link copied";
    } catch { // a page that isn't secure may not copy
      return "it’s in the address bar";
    }
  };
  const still = place.querySelector("img");
  place.textContent = "";
  const opening = preset(place.dataset.preset)?.state ?? page.start;
  const start = named() ?? opening;
  if (page.panels) {
    livePanels(place, page, start, opening, link, (go, whenDrawn) => {
      const goThere = () => {
        const state = named();
        if (state) go(state);
        if (location.hash.startsWith(`#${topic}=`)) standAt(place, whenDrawn);
      };
      addEventListener("hashchange", goThere);
      goThere();
    });
    return;
  }
  const isNear = new Promise((resolve) => {
    const sight = new IntersectionObserver(([entry]) => {
      if (entry.isIntersecting) { sight.disconnect(); resolve(); }
    }, { rootMargin: "900px" });
    sight.observe(place);
  });
  let isDrawn;
  const whenDrawn = new Promise((resolve) => { isDrawn = resolve; });
  const { ask, changed } = baked(folder, page, start, isNear, {
    receive: async (found) => {
      await drawn.receive(found);
      if (notice.contains(document.activeElement)) place.querySelector(".lnorm-explorer button").focus();
      notice.textContent = "";
      if (found.frames) isDrawn();
    },
    go: (state) => drawn.go(state),
    failed: (isGone, again) => {
      const hadFocus = notice.contains(document.activeElement);
      notice.textContent = `${isGone ? "This page is out of date" : "No connection"}, so the picture may show another state. `;
      const button = element("button", notice, { type: "button" }, isGone ? "Reload" : "Try again");
      if (hadFocus) button.focus();
      button.onclick = () => {
        if (isGone) location.reload();
        button.textContent = "Trying …";
        again();
      };
    },
  });
  const notice = element("p", null, { class: "lnorm-offline", role: "status" });
  const drawn = mount(place, { ...page, start: opening }, start, { ask, changed, link });
  place.prepend(notice);
  if (still) { // what stands there until the first frame has come
    still.className = "still";
    addEventListener("load", () => { still.loading = "eager"; }); // it stays if the connection goes
    place.querySelector(".sheet").append(still);
    whenDrawn.then(() => still.remove());
  }
  if (!page.whole) {
    place.append(Object.assign(document.createElement("p"), {
      className: "note",
      textContent: "In this page each slider moves alone, starting from the preset you pressed "
        + "last. In JupyterLab they move together.",
    }));
  }
  const goThere = () => {
    const state = named();
    if (state) {
      drawn.go(state);
      changed(state, true);
    }
    if (location.hash.startsWith(`#${topic}=`)) standAt(place, whenDrawn);
  };
  addEventListener("hashchange", goThere);
  goThere();
}

/** Read what somebody typed: a number, several of them as a list, or a word. */
function read(text, kind) {
  let plain = text.trim().replaceAll("−", "-").replace(/^(['"])(.*)\1$/, "$2");
  if (kind === "number") {
    if (/^[-+]?[1-9]\d{0,2}(,\d{3})+$/.test(plain)) plain = plain.replaceAll(",", ""); // 65,504
    plain = plain.replace(/^([-+]?\d*),(\d+)$/, "$1.$2"); // 0,71, as much of Europe writes
  }
  if (kind === "tuple" && /^[-+.\d]+(\s+[-+.\d]+)+$/.test(plain)) plain = plain.replace(/\s+/g, ",");
  if (plain === "True" || plain === "False") return plain === "True";
  const inner = plain.match(/^[([](.*)[)\]]$/)?.[1];
  const listed = inner ?? plain;
  if (inner?.trim() === "") return [];
  if (listed.includes(",") || plain.startsWith("[")) {
    const parts = listed.replace(/,\s*$/, "").split(",").map(calculated);
    if (parts.every((part) => part !== null)) return parts;
  }
  return calculated(plain) ?? plain.split(/\s+/).join(" ").toLowerCase();
}

/** Calculate a number such as 0.5, 1e-5, 1/3 or 8 * 4 * 5; null if it isn't one. */
function calculated(text) {
  if (!/^[-+*/().\d\se]+$/i.test(text) || !/\d/.test(text)) return null;
  try {
    const value = Function(`"use strict"; return (${text});`)();
    return typeof value === "number" ? value : null;
  } catch { return null; }
}

function same(given, expected, within) {
  if (Array.isArray(expected))
    return Array.isArray(given) && given.length === expected.length
      && expected.every((each, i) => same(given[i], each, within));
  if (typeof expected === "number")
    return typeof given === "number" && Math.abs(given - expected) <= within;
  return typeof expected === "string" ? given === expected.trim().toLowerCase() : given === expected;
}

const isShort = (value) =>
  (Array.isArray(value) ? value.every(isShort) : Number(value.toFixed(1)) === value);

/** Return the choice that a number is nearest to, as `nearest` in prediction.py does, or null. */
function nearestChoice(number, choices) {
  const away = (choice) => Math.abs(choice - number);
  const [one, other] = [...choices].sort((a, b) => away(a) - away(b));
  return away(one) < Math.abs(one - other) / 2 - 1e-9 ? one : null;
}

/** Judge an answer as the exercise in Python does; return {isRight, html}. */
function judge(text, { kind, asked, right, wrong, within, rounded, nearly, choices, choose, closest }) {
  const say = (message, sign = SIGNS.wrong) => ({
    isRight: false, html: `<strong>${sign}</strong> ${message}`,
  });
  if (!text.trim()) return say("give an answer first.", SIGNS.open);
  const known = (value) => {
    const found = right.find((one) => same(value, one.value, within));
    if (found) return { isRight: true, html: found.html };
    const slip = wrong.find((one) => same(value, one.value, rounded));
    return slip && { isRight: false, html: slip.html };
  };
  const given = read(text, kind);
  if (known(given)) return known(given);
  const isNumber = typeof given === "number" || (Array.isArray(given) && given.every(Number.isFinite));
  if (choices.length && Number.isFinite(given)) {
    const choice = nearestChoice(given, choices);
    if (choice === null) return say(choose);
    const { isRight, html } = known(choice);
    return { isRight, html: html.replace("</strong> ", `</strong> ${closest[choices.indexOf(choice)]} `) };
  }
  if (isNumber && nearly && same(given, right[0].value, nearly) && isShort(given))
    return say("that’s close. Give it to two decimals.");
  if (kind === "number" && Array.isArray(given))
    return say("give one number.", SIGNS.open);
  if (kind === "number" && typeof given !== "number") return say(`the answer is ${asked}, in digits.`, SIGNS.open);
  if (kind === "tuple" && !(Array.isArray(given) && isNumber))
    return say(`the answer is ${asked}.`, SIGNS.open);
  const shown = document.createElement("span");
  shown.textContent = text.trim().replace(/^-/, "−");
  return say(`it’s not ${shown.innerHTML}. The hints may help.`);
}

/** Let a form judge what is typed into it, and open the answer under it once it's right. */
function prediction(form) {
  const data = JSON.parse(form.querySelector("script").textContent);
  const said = form.querySelector(".said");
  const key = `lnorm ${form.id}`;
  const next = form.nextElementSibling;
  const fold = next?.matches("details.lnorm-answer") ? next : null;
  const typed = form.querySelector("input[type=text]");
  nameQuestion(form, typed, data);
  said.id = `${form.id}-said`;
  typed?.setAttribute("aria-describedby", said.id);
  const answer = () => new FormData(form).get("answer") ?? "";
  const show = () => {
    const { isRight, html } = judge(answer(), data);
    said.innerHTML = html;
    if (isRight) form.classList.add("solved");
    form.classList.toggle("right", isRight);
    form.classList.toggle("wrong", !isRight);
    typed?.setAttribute("aria-invalid", !isRight);
    if (isRight) form.querySelectorAll("details").forEach((hint) => { hint.open = false; });
    if (isRight && fold) fold.open = true;
    return isRight;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const isRight = show();
    if (isRight || !form.matches(".solved")) kept((store) => store.setItem(key, answer()));
  });
  kept((store) => {
    const before = store.getItem(key);
    if (!before) return;
    if (typed) typed.value = before;
    else form.querySelectorAll("input").forEach((input) => { input.checked = input.value === before; });
    if (judge(before, data).isRight) show();
  });
  const isInLesson = document.querySelector(".lnorm-progress");
  if (isInLesson && fold && !fold.open && !fold.nextElementSibling) closeAfter(fold);
}

/** Call a field, or a form with choices, what the question above says, and ask a phone for its digits. */
function nameQuestion(form, typed, { kind, asked }) {
  const question = form.previousElementSibling;
  if (question?.matches("p")) {
    question.id ||= `${form.id}-question`;
    (typed ?? form).setAttribute("aria-labelledby", question.id);
  }
  // The digits of an iPhone come without a minus.
  const isApple = /iP(hone|ad|od)|Macintosh/.test(navigator.userAgent);
  if (typed && kind === "number" && asked === "a number" && !isApple) typed.inputMode = "decimal";
}

/** Use the browser's memory, if it has one for this page. */
function kept(use) {
  try { use(localStorage); } catch (error) { console.debug(error); }
}

/** Open what is folded while a page is printed, but no hint and no solution. */
function unfold() {
  const closed = document.querySelectorAll("details[class^=lnorm-]:not([open])");
  closed.forEach((fold) => { fold.open = true; });
  addEventListener("afterprint", () => closed.forEach((fold) => { fold.open = false; }), { once: true });
}

/** Let keys scroll what is wider than its place, and let its edge show that it goes on. */
function letKeysScroll() {
  for (const box of document.querySelectorAll(".content :is(pre, .math, .table-wrapper, table)")) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
      if (box.tagName === "DIV") box.role = "group";
      box.ariaLabel ??= `a wide ${box.matches(".math") ? "formula" : box.matches("pre") ? "text" : "table"}`;
    }
    box.classList.toggle("lnorm-goes-on", box.scrollLeft + box.clientWidth < box.scrollWidth - 1);
  }
}

if (typeof document !== "undefined") {
  document.querySelectorAll(".lnorm-live").forEach(explorer);
  document.querySelectorAll(".lnorm-prediction").forEach(prediction);
  showProgress();
  addEventListener("beforeprint", unfold);
  const named = document.getElementById(decoded(location.hash.slice(1)));
  if (named) standAt(named);
  nameControls();
  namePlaces();
  letKeysUseDrawers();
  letKeysScroll();
  addEventListener("resize", letKeysScroll);
  document.addEventListener("scroll", ({ target }) => {
    if (target.tabIndex === 0) letKeysScroll();
  }, { capture: true, passive: true });
  document.addEventListener("toggle", letKeysScroll, true); // what was folded had no width
  // Sphinx calls the titles over its lists of pages headings, and doesn't say of which level.
  document.querySelectorAll("[role=heading]:not([aria-level])").forEach((title) => { title.ariaLevel = 2; });
}
