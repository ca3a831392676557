// Programs with gaps on a page, where each possible program was run when the page was made.
// It stands behind `gaps.js` in one file.

/** Number the fewest gaps to change, as `to_change` in checking/choosing.py does. */
function toChange(chosen, gaps, isRight) {
  if (isRight(chosen)) return [];
  const marked = gaps.flatMap((pieces, n) => (pieces[chosen[n]].html ? [n] : []));
  const groups = (list, count) => (count
    ? list.flatMap((one, i) => groups(list.slice(i + 1), count - 1).map((rest) => [one, ...rest]))
    : [[]]);
  const canBeRight = (at, [gap, ...rest]) => (gap === undefined
    ? isRight(at)
    : gaps[gap].some((_, piece) => canBeRight(Object.assign([...at], { [gap]: piece }), rest)));
  for (let count = 1; count < marked.length; count += 1) {
    const found = groups(marked, count).find((group) => canBeRight(chosen, group));
    if (found) return found;
  }
  return marked;
}

/** Make a program of an exercise in code, keep what was chosen, and open what follows once it's right. */
function choosing(exercise) {
  const place = exercise.querySelector(".place");
  const page = JSON.parse(exercise.querySelector("script").textContent);
  const bits = Uint8Array.from(atob(page.outcomes), (letter) => letter.charCodeAt(0));
  const isRight = (chosen) => {
    const number = chosen.reduce((before, at, n) => before * page.gaps[n].length + at, 0);
    return (bits[number >> 3] >> (number & 7)) & 1;
  };
  const key = `lnorm ${exercise.id}`;
  const next = exercise.nextElementSibling;
  const choose = program(place, page, (chosen) => {
    const wrong = toChange(chosen, page.gaps, isRight);
    if (!wrong.length) exercise.classList.add("solved");
    exercise.classList.toggle("right", !wrong.length);
    exercise.classList.toggle("wrong", wrong.length);
    if (!wrong.length && next?.matches("details.lnorm-answer")) next.open = true;
    if (!wrong.length || !exercise.matches(".solved")) kept((store) => store.setItem(key, chosen.join()));
    return wrong;
  });
  const name = exercise.id.split("-").at(-1).replaceAll("_", " ");
  place.querySelectorAll("button").forEach((button) => { button.ariaLabel = `${button.textContent}: ${name}`; });
  kept((store) => {
    const before = store.getItem(key)?.split(",") ?? [];
    if (before.length && before.every((at, n) => page.gaps[n]?.[at])) choose(before);
  });
}

if (typeof document !== "undefined") document.querySelectorAll(".lnorm-choosing").forEach(choosing);
