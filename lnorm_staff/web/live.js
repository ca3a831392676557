// Explorers in a page of the course, whose frames were drawn ahead. It stands behind `explorer.js` in one file.

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

if (typeof document !== "undefined") document.querySelectorAll(".lnorm-live").forEach(explorer);
