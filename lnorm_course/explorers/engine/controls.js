// Native controls: what a reader moves, and what shows where it stands.

const nearest = (values, value) =>
  values.reduce((best, v, i) => (Math.abs(v - value) < Math.abs(values[best] - value) ? i : best), 0);

function element(tag, parent, attributes = {}, text = "") {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.textContent = text;
  parent?.append(made);
  return made;
}

/** Return the height of what scrolls with an element in it, or of the window. */
function seenOf(inner) {
  for (let at = inner.parentElement; at; at = at.parentElement) {
    const { overflowY } = getComputedStyle(at);
    if (/auto|scroll/.test(overflowY) && at.scrollHeight > at.clientHeight + 1) return at.clientHeight;
  }
  return innerHeight;
}

/** Draw one control; `change` takes the new place. Return what shows a place. */
function draw(control, parent, change) {
  const { kind, label, texts } = control;
  if (kind === "slider") {
    const box = element("label", parent, { class: "slider" });
    element("span", box, {}, label);
    const readout = element("span", box, { class: "readout", "aria-hidden": "true" });
    const input = element("input", box, {
      type: "range", min: 0, max: texts.length - 1, step: 1, "aria-label": label,
    });
    input.addEventListener("input", () => change(Number(input.value)));
    let [now, held] = [0, 0];
    input.addEventListener("pointerdown", () => { held = now; });
    input.addEventListener("pointercancel", () => change(held)); // a finger that scrolls the page
    return (place, off, most = texts.length - 1) => {
      now = place;
      input.max = most;
      input.value = place;
      input.disabled = off || most === 0;
      readout.textContent = texts[place];
      input.setAttribute("aria-valuetext", texts[place]);
    };
  }
  if (kind === "choice") {
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
  if (kind === "switch") {
    const box = element("label", parent, { class: "switch" });
    const input = element("input", box, { type: "checkbox" });
    element("span", box, {}, label);
    input.addEventListener("change", () => change(Number(input.checked)));
    return (place, off) => {
      input.checked = place === 1 && !off; // where it doesn't apply, it isn't ticked
      input.disabled = off;
    };
  }
  const button = element("button", parent, { type: "button" }, label);
  let count = 0;
  button.addEventListener("click", () => change(count + 1));
  return (place, off) => {
    count = place;
    button.disabled = off;
  };
}
