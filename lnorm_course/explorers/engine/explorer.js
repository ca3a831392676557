// A picture with controls, as `controls.js` draws them. `mount` draws the frame of each state and knows
// no kernel: it asks a source for the frames that it doesn't have.
//
// A state is a list of whole numbers: for each control the place of its value among its stops, and
// for a button how often it was pressed. A frame is what a picture shows of a state: see frames.py.

const PIXELS_PER_INCH = 86.4; // so many at least: text of 10 pt is 12 pixels high then
const OF_WINDOW = 0.52; // the part of the window's height that a picture may take
const SLIM = 560; // pixels: where there are fewer, controls are under the picture, which stays in sight
const EDGE = 8; // pixels between a large picture and the edge of what is seen
const MOST_KEPT = 12e6; // bytes of frames
const MOST_AHEAD = 500;
const OURS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp",
  "PageDown", "Enter", " "]);
const [CALM, REST, SLOW, BEAT] = [40, 150, 1000, 110]; // milliseconds

/**
 * Draw an explorer into an element.
 *
 * page: what `Explorer.page` holds. start: the state to begin with.
 * source.ask({arrangement, now, background, next}): send a frame now, and others when there is time.
 * source.changed(state, isPreset): the reader has moved a control, or pressed a preset.
 * source.link(state): where states have addresses, copy the address of one, and say so.
 * Return {receive, go, close}: take frames and a background; show a state; let go of everything.
 */
function mount(parent, page, start, source) {
  const root = element("div", parent, {
    class: "lnorm-explorer", role: "group", "aria-label": page.alt,
  });
  root.addEventListener("keydown", (event) => { // or JupyterLab goes to the next cell
    if (OURS.has(event.key) && !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey)
      event.stopPropagation();
  });
  const chips = element("div", root, { class: "chips", role: "group", "aria-label": "presets" });
  chips.addEventListener("scroll", () => { chips.classList.toggle("scrolled", chips.scrollLeft > 3); });
  const panel = element("div", root, { class: "controls" });
  const scene = element("div", root, { class: "scene" });
  const tabs = element("div", scene, { class: "views", role: "group", "aria-label": "panels" });
  const stage = element("div", scene, { class: "stage" });
  const sheet = element("div", stage, { class: "sheet" });
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("aria-hidden", true); // its words stand below it, and are read there
  sheet.append(svg);
  const words = element("p", root, { "aria-live": "polite" });
  const tools = element("div", root, { class: "tools", role: "group", "aria-label": "tools" });

  const frames = new Map(); // key → frame, those drawn last at the end
  const backgrounds = new Map(); // arrangement → image
  let kept = 0;
  let state = [...start];
  let arrangement = 0;
  let shown = null; // the key of the frame that is shown
  let drawnIn = -1; // its arrangement
  let off = []; // the numbers of the controls that have no effect, as far as it's known
  let asked = []; // keys in the order in which they were asked for, the last one being shown next
  let { view } = page; // the number of the one that's shown where there isn't room for all
  let used = Math.max(page.controls.findIndex((c) => c.kind === "slider"), 0);
  let [isSeen, isClosed, calm, slow, playing] = [false, false, 0, 0, 0];

  const keyOf = (someState) => `${arrangement}:${someState.join(",")}`;
  const presets = page.presets.map(({ name, state: target }) => {
    const chip = element("button", chips, { type: "button" }, name);
    chip.addEventListener("click", () => { stop(); move(target, true); });
    return { chip, key: target.join(",") };
  });
  const controls = page.controls.map((control, index) =>
    draw(control, panel, (place) => {
      stop();
      used = control.kind === "slider" ? index : used;
      move(state.map((old, i) => (i === index ? place : old)));
    }));
  panel.addEventListener("focusin", (event) => {
    const at = [...panel.children].indexOf(event.target.closest(".controls > *"));
    if (page.controls[at]?.kind === "slider" && at !== used) { used = at; ahead(); }
  });

  const views = page.views.at(-1).map(([name], at) => {
    const tab = element("button", tabs, { type: "button" }, name);
    tab.addEventListener("click", () => { view = at; scale(drawnIn); });
    return tab;
  });
  const grips = page.drags.map((drag, number) => grip(sheet, svg, number, drag, () => ({
    state, arrangement: drawnIn, pixels: sheet.offsetWidth / page.sizes[drawnIn][0],
  }), (next) => { stop(); move(next); }));

  const tool = (name, act) => {
    const button = element("button", tools, { type: "button" }, name);
    button.addEventListener("click", act);
    return button;
  };
  const sweeps = page.controls.some((c) => c.kind === "slider");
  const play = sweeps ? tool("play", () => (playing ? stop() : sweep())) : null;
  tool("reset", () => { stop(); move(page.start, true); });
  const large = tool("large type", () => {
    large.setAttribute("aria-pressed", root.classList.toggle("large"));
    words.style.minHeight = "";
    fit();
  });
  large.setAttribute("aria-pressed", false);
  tool("save picture", save);
  if (source.link) {
    const link = tool("copy link", async () => {
      link.textContent = said.textContent = await source.link(state);
      setTimeout(() => { link.textContent = "copy link"; said.textContent = ""; }, 2000);
    });
    const said = element("span", tools, { class: "said", role: "status" }); // for screen readers
  }

  /** Show a state that the reader has chosen. */
  function move(next, isPreset = false) {
    go(next);
    source.changed(state, isPreset);
  }

  function go(next) {
    state = [...next];
    const frame = frames.get(keyOf(state));
    if (frame) settle(frame);
    else { mark(); ask(); }
    ahead();
  }

  /** Paint the frame of the present state, which may stand for another one. */
  function settle(frame) {
    const key = keyOf(state);
    asked = [];
    state = [...frame.state];
    paint(key, frame);
    if (keyOf(state) !== key) { keep(keyOf(state), frame); source.changed(state); }
    mark(frame);
  }

  function paint(key, frame) {
    const at = Number(key.split(":", 1)[0]);
    if (!backgrounds.has(at)) return;
    if (at !== drawnIn) {
      drawnIn = at;
      for (const [number, image] of backgrounds) image.hidden = number !== at;
      svg.setAttribute("viewBox", `0 0 ${page.sizes[at].map((inches) => inches * 72).join(" ")}`);
      scale(at);
    }
    shown = key;
    svg.innerHTML = frame.svg;
    for (const follow of grips) follow();
    choose(frame.state);
    words.textContent = frame.words;
    clearTimeout(slow);
    slow = 0;
    root.classList.remove("waiting");
  }

  /** Let the controls and the presets show the state. */
  function mark(frame) {
    const now = state.join(",");
    off = frame?.off ?? page.off[now] ?? off;
    controls.forEach((show, i) => show(state[i], off.includes(i), frame?.most[i]));
    for (const { chip, key } of presets) {
      chip.setAttribute("aria-pressed", key === now);
      if (key === now && chips.scrollWidth > chips.clientWidth)
        chips.scrollLeft = chip.offsetLeft - (chips.clientWidth - chip.offsetWidth) / 2;
    }
  }

  /** Where a control chooses the part that is shown, show the one that it stands at. */
  function choose(chosen) {
    const [control] = page.chooses_view;
    if (control === undefined || view === chosen[control]) return;
    view = chosen[control];
    scale(drawnIn);
  }

  function ask() {
    asked.push(keyOf(state));
    slow ||= setTimeout(() => root.classList.add("waiting"), SLOW);
    source.ask({ arrangement, now: state, background: !backgrounds.has(arrangement) });
  }

  /** When the hand rests, ask for the states that may come next, the nearest first. */
  function ahead() {
    clearTimeout(calm);
    if (!isSeen || isClosed) return;
    calm = setTimeout(() => {
      const next = coming().filter((s) => !frames.has(keyOf(s))).slice(0, MOST_AHEAD);
      source.ask({ arrangement, next });
    }, CALM);
  }

  function coming() {
    const most = frames.get(keyOf(state))?.most ?? {};
    const along = (index) => {
      const { kind, texts } = page.controls[index];
      const last = most[index] ?? texts.length - 1;
      const places = kind === "button" ? [state[index] + 1] : [...Array(last + 1).keys()];
      places.sort((a, b) => Math.abs(a - state[index]) - Math.abs(b - state[index]));
      return places.map((place) => state.map((old, i) => (i === index ? place : old)));
    };
    const others = page.controls.map((_, index) => index).filter((index) => index !== used);
    return [...along(used), ...page.presets.map((p) => p.state), ...others.flatMap(along)];
  }

  function keep(key, frame) {
    kept += frame.svg.length - (frames.get(key)?.svg.length ?? 0);
    frames.delete(key);
    frames.set(key, frame);
    for (const [old, { svg: text }] of frames) {
      if (kept <= MOST_KEPT) break;
      if (old !== shown && old !== key) { frames.delete(old); kept -= text.length; }
    }
  }

  async function receive({ frames: found = {}, backgrounds: images = {} }) {
    for (const [number, source_] of Object.entries(images)) {
      const image = element("img", null, { alt: "", src: source_ });
      await image.decode();
      image.hidden = true;
      sheet.prepend(image);
      backgrounds.set(Number(number), image);
    }
    for (const [key, frame] of Object.entries(found)) keep(key, frame);
    if (shown === keyOf(state)) return;
    const frame = frames.get(keyOf(state));
    if (frame) { settle(frame); ahead(); return; }
    const latest = asked.findLastIndex((key) => frames.has(key));
    if (latest >= 0) { // the hand is ahead of the kernel: show the latest that has come
      paint(asked[latest], frames.get(asked[latest]));
      asked = asked.slice(latest + 1);
    }
  }

  /** Choose the arrangement for the room there is. */
  function fit() {
    if (!stage.clientWidth) return;
    words.style.minHeight = "";
    const isSlim = root.classList.toggle("slim", root.clientWidth < SLIM);
    const below = isSlim ? words : scene;
    if (panel.nextSibling !== below) root.insertBefore(panel, below); // so that keys go as eyes do
    if (fitting() !== arrangement) { arrangement = fitting(); go(state); }
    scale(Math.max(drawnIn, 0));
  }

  function fitting() {
    if (isLarge()) { // of those that show all panels at once, the one drawn largest, or nearly so
      const scales = page.sizes.map(([width], at) => (page.views[at].length ? 0 : widest(at) / width));
      return scales.findIndex((each) => each > 0.9 * Math.max(...scales));
    }
    const found = page.sizes.findIndex(([width]) => width * PIXELS_PER_INCH <= stage.clientWidth);
    return found < 0 ? page.sizes.length - 1 : found;
  }

  function isLarge() { return root.classList.contains("large"); }

  /** How wide a picture can be: in large type so that it's seen with the controls, and with its words. */
  function widest(at) {
    const width = page.sizes[at][0];
    const height = shownOf(at).height;
    const above = stage.getBoundingClientRect().top - root.getBoundingClientRect().top;
    const beside = Math.max(above, words.offsetHeight) + EDGE;
    const tall = isLarge() ? seenOf(root) - beside : innerHeight * OF_WINDOW;
    return Math.min(stage.clientWidth, tall * (width / height));
  }

  /** Tell in inches where the part of a picture begins that is shown, and how high the highest is. */
  function shownOf(at) {
    const parts = page.views[at];
    if (!parts.length) return { top: 0, height: page.sizes[at][1], isAll: true };
    return { top: parts[view][1], height: Math.max(...parts.map((part) => part[2])), isAll: false };
  }

  /** Make a picture as wide as there is room, but no smaller than can be read. */
  function scale(at) {
    const [width, height] = page.sizes[at];
    const { top, height: high, isAll } = shownOf(at);
    sheet.style.aspectRatio = `${width} / ${height}`;
    const wide = Math.max(widest(at), width * PIXELS_PER_INCH);
    sheet.style.width = `${wide}px`;
    sheet.style.marginTop = `${-top * wide / width}px`;
    stage.style.height = isAll ? "" : `${high * wide / width}px`;
    tabs.hidden = isAll || page.chooses_view.length > 0;
    views.forEach((tab, i) => tab.setAttribute("aria-pressed", i === view));
    root.style.setProperty("--scene", `${scene.offsetHeight}px`);
    if (wide > stage.clientWidth) stage.setAttribute("tabindex", 0); // so that keys scroll it
    else stage.removeAttribute("tabindex");
  }

  /** Move a slider to its end, and from its beginning back to where it was. */
  function sweep() {
    const isOn = (index) =>
      page.controls[index].kind === "slider" && !frames.get(keyOf(state))?.off.includes(index);
    const slider = isOn(used) ? used : page.controls.findIndex((_, index) => isOn(index));
    if (slider < 0) return;
    const from = state[slider];
    const lastOf = () => frames.get(keyOf(state))?.most[slider] ?? page.controls[slider].texts.length - 1;
    play.textContent = "stop";
    words.setAttribute("aria-live", "off");
    // Few stops go by slowly enough to be followed, and many in about five seconds.
    const beat = Math.min(1200, Math.max(BEAT, 5000 / (lastOf() + 1)));
    let waited = 0;
    playing = setInterval(() => {
      if (shown !== keyOf(state) && (waited += beat) < SLOW) return;
      waited = 0;
      const place = state[slider] >= lastOf() ? 0 : state[slider] + 1;
      if (place === from) stop(); // first, so that the words of the end are read out
      move(state.map((old, i) => (i === slider ? place : old)));
    }, beat);
  }

  function stop() {
    clearInterval(playing);
    playing = 0;
    if (play) play.textContent = "play";
    words.setAttribute("aria-live", "polite");
  }

  /** Save what is shown, with its words under it, as a PNG file. */
  async function save() {
    if (!shown) return;
    const [width, height] = page.sizes[drawnIn].map((inches) => inches * 192);
    const canvas = element("canvas", null, { width, height: height + 160 });
    const paper = canvas.getContext("2d");
    const copy = svg.cloneNode(true);
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("width", width);
    copy.setAttribute("height", height);
    const moving = new Image();
    moving.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`;
    await moving.decode();
    paper.fillStyle = "white";
    paper.fillRect(0, 0, width, height + 160);
    paper.drawImage(backgrounds.get(drawnIn), 0, 0, width, height);
    paper.drawImage(moving, 0, 0, width, height);
    paper.fillStyle = "black";
    paper.font = "28px sans-serif";
    let [line, down] = ["", height + 36];
    for (const word of [...words.textContent.split(" "), ""]) {
      if (!word || paper.measureText(`${line} ${word}`).width > width - 60) {
        paper.fillText(line, 30, down);
        [line, down] = ["", down + 36];
      }
      line = `${line} ${word}`.trim();
    }
    const link = element("a", null, { href: canvas.toDataURL("image/png"), download: `${page.alt}.png` });
    link.click();
  }

  const sizes = new ResizeObserver(fit);
  sizes.observe(stage);
  addEventListener("resize", fit); // of a window that only gets higher, the stage hears nothing
  // What stands below longer words goes down once, and not up and down with each change.
  const lengths = new ResizeObserver(() => { words.style.minHeight = `${words.offsetHeight}px`; });
  lengths.observe(words);
  const sight = new IntersectionObserver(([entry]) => {
    isSeen = entry.isIntersecting;
    ahead();
  });
  sight.observe(root);
  mark();
  if (!page.frames) arrangement = fitting();
  scale(arrangement);
  receive(page).then(() => { if (shown !== keyOf(state)) go(state); fit(); });
  return {
    receive,
    go: (next) => { if (next.join() !== state.join()) go(next); },
    close: () => {
      isClosed = true;
      stop();
      clearTimeout(calm);
      clearTimeout(slow);
      removeEventListener("resize", fit);
      for (const observer of [sizes, lengths, sight]) observer.disconnect();
      root.remove();
    },
  };
}
