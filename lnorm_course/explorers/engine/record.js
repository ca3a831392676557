// Shared by everything that draws a record; it comes last, after all that `mount` needs.

/** Format a number with two digits. */
function digits(value) {
  return value >= 9.95 ? value.toFixed(0) : `${Number(value.toPrecision(2))}`;
}

/** Interpolate between two numbers, or elementwise between two lists. */
function mix(a, b, share) {
  return Array.isArray(b) ? b.map((one, i) => mix(a[i], one, share)) : a + (b - a) * share;
}

/**
 * Open the machine over a picture, with rows of four numbers; "back" and the key Escape close it.
 *
 * widget: in JupyterLab, the widget with the row's script. says: what to see in each row.
 */
async function openRow(parent, widget, { names, at, rows, says }) {
  const blob = widget && new Blob([widget.get("_row")], { type: "text/javascript" });
  const { mount: mountRow } = await import(blob ? URL.createObjectURL(blob) : "./row.js");
  const dialog = element("dialog", parent);
  drawButtons(["← back"], dialog, () => dialog.close());
  const row = mountRow(dialog, { alt: "four numbers of a row, on their way through a norm", x: rows,
    letters: "abcd", sentences: [names], reach: 12, depths: {}, start: { depth: "row" },
    preset: names[at],
    states: Object.fromEntries(names.map((name, i) =>
      [name, { at: i, rows: {}, says: says[i] }])) });
  dialog.addEventListener("close", () => { row.close(); dialog.remove(); });
  dialog.showModal();
}

for (const place of document.querySelectorAll(`.lnorm-${NAME}-place`)) {
  const page = place.querySelector("script").textContent;
  place.replaceChildren();
  mount(place, JSON.parse(page));
}

/** Make a Jupyter widget of `mount`. */
export default { render: ({ model, el }) => mount(el, model.get("page"), model) };
