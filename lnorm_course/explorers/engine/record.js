// Shared by everything that draws a record; it comes last, after all that `mount` needs.

/** Format a number with two digits. */
function digits(value) {
  return value >= 9.95 ? value.toFixed(0) : `${Number(value.toPrecision(2))}`;
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

/**
 * On a page, draw a button that copies the address of the current state, and go to the state that
 * the page's address names, now and whenever it changes.
 *
 * limits: how many values each integer of a state has. state: returns the current state. go: takes
 * one to go to.
 */
function drawLink(root, limits, state, go) {
  const place = root.closest(`.lnorm-${NAME}-place`);
  if (!place) return; // JupyterLab's address isn't the notebook's
  const number = [...document.querySelectorAll(`.lnorm-${NAME}-place`)].indexOf(place);
  const start = `#${NAME}${number ? number + 1 : ""}=`;
  const tools = root.querySelector(".tools") ?? drawGroup(root, "tools", "tools");
  drawCopy(tools, () => `${start}${state()}`);
  const follow = () => {
    const [, asked] = location.hash.split(start);
    const wanted = asked && placesIn(asked, limits);
    if (!wanted) return;
    for (let at = place; at; at = at.parentElement) if (at.matches("details")) at.open = true;
    go(wanted);
    standAt(place);
  };
  addEventListener("hashchange", follow);
  follow();
}

for (const place of document.querySelectorAll(`.lnorm-${NAME}-place`)) {
  const page = place.querySelector("script").textContent;
  place.replaceChildren();
  mount(place, JSON.parse(page));
}

/** Make a Jupyter widget of `mount`. */
export default { render: ({ model, el }) => mount(el, model.get("page"), model) };
