// Native controls: what a reader moves, and what shows its position. Also what all pictures use to draw.

/** Interpolate between two numbers, or elementwise between two lists. */
function mix(a, b, share) {
  return Array.isArray(b) ? b.map((one, i) => mix(a[i], one, share)) : a + (b - a) * share;
}

function element(tag, parent, attributes = {}, text = "") {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  parent?.append(made);
  return made;
}

/** Draw a group of controls; it keeps their keys from moving JupyterLab to the next cell. */
function drawGroup(parent, kind, name) {
  const group = element("div", parent, { class: kind, role: "group", "aria-label": name });
  if (kind.startsWith("lnorm-")) group.classList.add("lnorm-drawn"); // a whole picture, not a part
  group.addEventListener("keydown", (event) => {
    const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (/^(Arrow|Page|Home|End|Enter|Escape| )/.test(event.key) && isPlain) event.stopPropagation();
  });
  return group;
}

/** Draw buttons, and return them; `press` is called with the index of the one pressed. */
function drawButtons(names, parent, press) {
  return names.map((name, place) => {
    const button = element("button", parent, { type: "button" }, name);
    button.addEventListener("click", () => press(place));
    return button;
  });
}

/** Draw a button that copies the address of the current state; `hash` returns its fragment. */
function drawCopy(parent, hash) {
  const [button] = drawButtons(["copy link"], parent, async () => {
    button.ariaLive = "polite"; // screen readers announce the result
    history.replaceState(null, "", hash());
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = location.protocol === "file:" ? "link copied, for this device" : "link copied";
    } catch { // a page that isn't secure may not copy
      button.textContent = "it’s in the address bar";
    }
    setTimeout(() => { button.textContent = "copy link"; }, 2000);
  });
  return button;
}

/** Read a state from an address: integers, each of them below its limit; null if it has others. */
function placesIn(text, limits) {
  const places = text.split(",").map(Number);
  const fits = (at, i) => Number.isInteger(at) && at >= 0 && at < limits[i];
  return places.length === limits.length && places.every(fits) ? places : null;
}

/**
 * Scroll to the target of an address, and again once the page is complete, because what loads
 * above the target moves it. If the reader scrolls in the meantime, don't scroll again.
 */
function standAt(place) {
  const byHand = ["wheel", "touchmove", "keydown", "pointerdown"];
  const left = new AbortController();
  for (const kind of byHand)
    addEventListener(kind, () => left.abort(), { signal: left.signal, passive: true });
  const go = () => { if (!left.signal.aborted) place.scrollIntoView({ behavior: "instant" }); };
  go();
  const stands = document.readyState === "complete"
    ? null : new Promise((resolve) => { addEventListener("load", resolve); });
  const frame = () => new Promise((resolve) => { requestAnimationFrame(resolve); });
  Promise.resolve(stands).then(go).then(frame).then(frame).then(go).then(() => left.abort());
}

/** Draw a slider; `change` gets the new position. Return what shows a position, and if it's off. */
function drawSlider({ label, texts }, parent, change) {
  const box = element("label", parent, { class: "slider" });
  element("span", box, {}, label);
  const readout = element("span", box, { class: "readout", "aria-hidden": "true" });
  const input = element("input", box, { type: "range", max: texts.length - 1 });
  input.addEventListener("input", () => change(Number(input.value)));
  let held = 0;
  input.addEventListener("pointerdown", () => { held = Number(input.value); });
  input.addEventListener("pointercancel", () => change(held)); // the finger is scrolling the page
  return (place, off) => {
    input.value = place;
    input.disabled = off;
    readout.textContent = texts[place];
    input.setAttribute("aria-valuetext", texts[place]);
  };
}

/** Draw a choice, likewise. */
function drawChoice({ label, texts }, parent, change) {
  const box = drawGroup(parent, "choice", label);
  element("span", box, { "aria-hidden": "true" }, label);
  const buttons = drawButtons(texts, box, change);
  return (place, off) => buttons.forEach((button, i) => {
    button.ariaPressed = i === place && !off; // when it's off, nothing is chosen
    button.disabled = off;
  });
}
