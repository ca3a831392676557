// Native controls: what a reader moves, and what shows where it stands.

function element(tag, parent, attributes = {}, text = "") {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  parent?.append(made);
  return made;
}

/** Draw buttons; `press` takes the place of one. Return them. */
function drawButtons(names, parent, press) {
  return names.map((name, place) => {
    const button = element("button", parent, { type: "button" }, name);
    button.addEventListener("click", () => press(place));
    return button;
  });
}

/** Draw one control; `change` takes the new place. Return what shows a place, and whether it's off. */
function draw(control, parent, change) {
  return (control.kind === "slider" ? drawSlider : drawChoice)(control, parent, change);
}

function drawSlider({ label, texts }, parent, change) {
  const box = element("label", parent, { class: "slider" });
  element("span", box, {}, label);
  const readout = element("span", box, { class: "readout", "aria-hidden": "true" });
  const range = { type: "range", min: 0, max: texts.length - 1, step: 1, "aria-label": label };
  const input = element("input", box, range);
  input.addEventListener("input", () => change(Number(input.value)));
  let [now, held] = [0, 0];
  input.addEventListener("pointerdown", () => { held = now; });
  input.addEventListener("pointercancel", () => change(held)); // a finger that scrolls the page
  return (place, off) => {
    now = place;
    input.value = place;
    input.disabled = off;
    readout.textContent = texts[place];
    input.setAttribute("aria-valuetext", texts[place]);
  };
}

function drawChoice({ label, texts }, parent, change) {
  const box = element("div", parent, { class: "choice", role: "group", "aria-label": label });
  element("span", box, { "aria-hidden": "true" }, label);
  const buttons = drawButtons(texts, box, change);
  return (place, off) => buttons.forEach((button, i) => {
    button.ariaPressed = i === place && !off; // where it doesn't apply, nothing is chosen
    button.disabled = off;
  });
}
