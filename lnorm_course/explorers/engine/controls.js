// Native controls: what a reader moves, and what shows where it stands.

function element(tag, parent, attributes = {}, text = "") {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  parent?.append(made);
  return made;
}

/** Draw one control; `change` takes the new place. Return what shows a place, and whether it's off. */
function draw(control, parent, change) {
  return { slider: drawSlider, choice: drawChoice, switch: drawSwitch }[control.kind](control, parent, change);
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
  const box = element("fieldset", parent);
  element("legend", box, {}, label);
  const group = `lnorm-${Math.random().toString(36).slice(2)}`;
  const inputs = texts.map((text, place) => {
    const option = element("label", box);
    const input = element("input", option, { type: "radio", name: group });
    element("span", option, {}, text);
    input.addEventListener("change", () => change(place));
    return input;
  });
  return (place, off) => {
    box.disabled = off;
    inputs.forEach((input, i) => { input.checked = i === place; });
  };
}

function drawSwitch({ label }, parent, change) {
  const box = element("label", parent, { class: "switch" });
  const input = element("input", box, { type: "checkbox" });
  element("span", box, {}, label);
  input.addEventListener("change", () => change(Number(input.checked)));
  return (place, off) => {
    input.checked = place === 1 && !off; // where it doesn't apply, it isn't ticked
    input.disabled = off;
  };
}
