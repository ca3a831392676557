// A picture with controls, on any page. It knows no kernel: it asks a source for its frames.
//
// A state is a list of integers: for each control, the index of its value among its stops. A
// frame is what a state shows: a drawing for each panel, words, and which controls are off.

const WAIT = 1000; // milliseconds until it says that it's waiting, and asks again
const MOST_FRAMES = 1000; // the size of the cache
const [PAUSE, LOT] = [40, 4]; // milliseconds of rest before it prefetches, and frames per request

const sleep = (time) => new Promise((resolve) => { setTimeout(resolve, time); });

class Explorer {
  /**
   * page: what `Explorer.about` says in Python. start: the state to begin with.
   * source.ask(state): a promise of the state's frame.
   * source.changed(state): called when the reader has moved something.
   * source.link(state): if states have addresses, the fragment of the state's address.
   */
  constructor(parent, page, start, source) {
    Object.assign(this, { page, source, state: start, shown: null, frames: new Map() });
    const { panels, presets, controls, drags, frame } = page;
    this.used = Math.max(controls.findIndex(({ kind }) => kind === "slider"), 0);
    if (frame) this.frames.set(String(frame.state), frame);
    this.root = drawGroup(parent, "lnorm-explorer", panels.map(({ alt }) => alt).join(", and "));
    this.root.style.setProperty("--panels", panels.length);
    this.root.style.setProperty("--tall", panels.reduce((sum, { size: [w, h] }) => sum + h / w, 0));
    const chips = drawGroup(this.root, "chips", "presets");
    const names = presets.map(({ name }) => name);
    this.chips = drawButtons(names, chips, (i) => this.move(presets[i].state));
    const body = element("div", this.root, { class: "body" });
    const scene = element("div", body, { class: "scene" });
    this.sheets = panels.map((panel) => drawPanel(panel, scene));
    this.grips = drags.map((drag, number) => this.drawGrip(drag, number));
    const box = element("div", body, { class: "controls" });
    this.controls = controls.map((control, number) => this.drawControl(control, number, box));
    this.words = element("p", this.root, { "aria-live": "polite" });
    this.drawTools(drawGroup(this.root, "tools", "tools"));
    this.sight = new IntersectionObserver(([entry]) => {
      this.isSeen = entry.isIntersecting;
      this.rest();
    });
    this.sight.observe(this.root);
    this.go(start);
  }

  drawControl(control, number, parent) {
    const isSlider = control.kind === "slider";
    return (isSlider ? drawSlider : drawChoice)(control, parent, (place) => {
      if (isSlider) this.used = number;
      this.move(this.state.with(number, place));
    });
  }

  drawTools(parent) {
    const tool = (name, act) => drawButtons([name], parent, act)[0];
    if (this.page.controls.some(({ kind }) => kind === "slider"))
      this.player = tool("play", () => (this.turn ? this.stop() : this.play()));
    tool("reset", () => this.move(this.page.start));
    if (document.fullscreenEnabled) tool("full screen", () => this.root.requestFullscreen());
    if (this.source.link) drawCopy(parent, () => this.source.link(this.state));
  }

  /**
   * Lay a drag area over a marker, wide enough for a finger. Dragging it goes to the state whose
   * marker is nearest, among those with a frame. With the keyboard, the sliders do the same.
   */
  drawGrip({ panel, sliders }, number) {
    const sheet = this.sheets[panel];
    const grip = element("div", sheet.parentElement, { class: "grip", "aria-hidden": "true" });
    const marker = new RegExp(`drag${number}"[^]*?<g style="marker[^]*?d="M ([-.\\d]+) ([-.\\d]+)`);
    const placeIn = (frame) => frame.svgs[panel].match(marker)?.slice(1).map(Number);
    const { width, height } = sheet.viewBox.baseVal;
    grip.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      grip.setPointerCapture(event.pointerId);
      [this.used] = sliders;
      this.rest();
    });
    grip.addEventListener("pointermove", ({ pointerId, clientX, clientY }) => {
      if (!grip.hasPointerCapture(pointerId)) return;
      const box = sheet.getBoundingClientRect();
      const hand = [clientX - box.left, clientY - box.top].map((v) => v * width / box.width);
      const fits = ({ state }) => state.every((p, i) => p === this.state[i] || sliders.includes(i));
      const away = (at = [Infinity]) => Math.hypot(...at.map((v, i) => v - hand[i]));
      const [{ state }] = [...this.frames.values()].filter(fits)
        .map((frame) => ({ state: frame.state, far: away(placeIn(frame)) }))
        .sort((a, b) => a.far - b.far);
      if (String(state) !== String(this.state)) this.move(state);
    });
    return (frame) => {
      const [x, y] = placeIn(frame) ?? [];
      grip.hidden = x === undefined;
      Object.assign(grip.style, { left: `${100 * x / width}%`, top: `${100 * y / height}%` });
    };
  }

  /** Show a state that the reader has chosen. */
  move(state) {
    this.stop();
    this.go(state);
    this.source.changed(state);
  }

  /** Show a state as soon as its frame has arrived. */
  go(state) {
    this.state = state;
    this.mark();
    if (this.frames.has(String(state))) this.paint(state);
    else if (!this.isAsking) this.catchUp();
    this.rest();
  }

  /** Request and paint the current state until the hand rests, skipping the ones in between. */
  async catchUp() {
    this.isAsking = true;
    while (!this.frames.has(String(this.state))) {
      const state = this.state;
      const frame = await Promise.race([this.source.ask(state), sleep(WAIT)]);
      this.root.classList.toggle("waiting", !frame);
      if (!frame) continue;
      this.frames.set(String(state), frame);
      // A frame on the way is better than none, unless the last one is already shown.
      if (this.shown !== String(this.state)) this.paint(state);
    }
    this.isAsking = false;
    this.go(this.state);
  }

  /** Begin to prefetch when the hand has rested for a moment. */
  rest() {
    clearTimeout(this.resting);
    if (this.isSeen) this.resting = setTimeout(() => this.askAhead(), PAUSE);
  }

  /** Prefetch the states that may come next, until the hand moves. */
  async askAhead() {
    if (this.frames.size > MOST_FRAMES) this.frames.clear();
    const from = this.state;
    const next = this.near();
    while (next.length && from === this.state && this.isSeen) {
      const lot = next.splice(0, LOT).filter((state) => !this.frames.has(String(state)));
      const found = await Promise.all(lot.map((state) => this.source.ask(state)));
      lot.forEach((state, i) => this.frames.set(String(state), found[i]));
    }
  }

  /** List the states that are one move away, those of the slider used last first. */
  near() {
    const { controls, presets } = this.page;
    const alone = (i) => controls[i].texts.map((_, place) => this.state.with(i, place))
      .sort((a, b) => Math.abs(a[i] - this.state[i]) - Math.abs(b[i] - this.state[i]));
    const others = [...controls.keys()].filter((i) => i !== this.used);
    return [...alone(this.used), ...presets.map(({ state }) => state), ...others.flatMap(alone)];
  }

  paint(state) {
    this.shown = String(state);
    const frame = this.frames.get(this.shown);
    this.sheets.forEach((svg, i) => { svg.innerHTML = frame.svgs[i]; });
    for (const follow of this.grips) follow(frame);
    this.words.textContent = frame.words;
    this.off = frame.off;
    this.mark();
  }

  /** Update the controls and presets to the current state. */
  mark() {
    this.controls.forEach((show, i) => show(this.state[i], this.off?.includes(i)));
    this.page.presets.forEach(({ state }, i) => {
      this.chips[i].ariaPressed = String(state) === String(this.state);
    });
  }

  /** Animate the slider used last: to its end, then from its beginning back to where it was. */
  async play() {
    const isOn = (i) => this.page.controls[i].kind === "slider" && !this.off?.includes(i);
    const slider = [this.used, ...this.page.controls.keys()].find(isOn);
    if (slider === undefined) return;
    const [from, count] = [this.state[slider], this.page.controls[slider].texts.length];
    const turn = this.turn = {};
    this.player.textContent = "stop";
    this.words.setAttribute("aria-live", "off");
    for (let step = 1; step <= count; step += 1) {
      // A few stops pass slowly enough to follow, and many take about five seconds.
      await sleep(Math.min(1200, Math.max(110, 5000 / count)));
      if (this.turn !== turn) return;
      if (step === count) this.stop(); // first, so that screen readers announce the final words
      this.go(this.state.with(slider, (from + step) % count));
    }
    this.source.changed(this.state);
  }

  stop() {
    this.turn = null;
    if (this.player) this.player.textContent = "play";
    this.words.setAttribute("aria-live", "polite");
  }

  close() {
    this.stop();
    clearTimeout(this.resting);
    this.isSeen = false;
    this.sight.disconnect();
    this.root.remove();
  }
}

/** Draw what doesn't move in a panel, and return the element for what does. */
function drawPanel({ alt, size: [width, height], background }, parent) {
  const sheet = element("div", parent, { class: "sheet", role: "img", "aria-label": alt });
  sheet.style.aspectRatio = `${width} / ${height}`;
  element("img", sheet, { alt: "", src: background });
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `0 0 ${width * 72} ${height * 72}`);
  return sheet.appendChild(svg);
}
