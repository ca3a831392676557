// A point of the picture that is dragged: a place to take it, over its marker, wide enough for a finger.
// The sliders that it moves stay the way for keys. See dragging.py for what a page says of a point.

/**
 * Lay the place to take a point over a picture.
 *
 * look() returns {state, arrangement, pixels}: where all controls stand, and how large an inch is now.
 * move(state): the hand is at another stop. Return what puts the place over its marker in an svg.
 */
function grip(parent, svg, number, { moves, depends, places, units }, look, move) {
  const handle = element("div", parent, { class: "grip", "aria-hidden": "true" });
  const keyOf = (state) => [...moves, ...depends].map((i) => state[i]).join();
  let from = null;
  handle.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    const { state } = look();
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    from = { x: event.clientX, y: event.clientY, state: [...state], place: places[keyOf(state)] };
  });
  handle.addEventListener("pointermove", (event) => {
    if (!from) return;
    const { state, arrangement, pixels } = look();
    const [right, up] = units[arrangement];
    const x = from.place[0] + (event.clientX - from.x) / pixels / right;
    const y = from.place[1] - (event.clientY - from.y) / pixels / up;
    const others = depends.map((i) => from.state[i]).join();
    let [best, least] = [null, Infinity];
    for (const [key, place] of Object.entries(places)) {
      const stops = key.split(",").map(Number);
      const away = Math.hypot((place[0] - x) * right, (place[1] - y) * up);
      if (stops.slice(moves.length).join() === others && away < least) [best, least] = [stops, away];
    }
    const next = state.map((old, i) => (moves.includes(i) ? best[moves.indexOf(i)] : old));
    if (next.join() !== state.join()) move(next);
  });
  for (const end of ["pointerup", "pointercancel"]) handle.addEventListener(end, () => { from = null; });
  return () => {
    const path = svg.querySelector(`[id$=drag${number}] > g > path`)?.getAttribute("d");
    const [, x, y] = path?.match(/M ([-\d.]+) ([-\d.]+)/) ?? [];
    const { width, height } = svg.viewBox.baseVal;
    handle.hidden = !x;
    handle.style.left = `${100 * x / width}%`;
    handle.style.top = `${100 * y / height}%`;
  };
}
