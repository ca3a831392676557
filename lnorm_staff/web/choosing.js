// Programs with gaps on a page. This comes after `gaps.js` in a single file.

/** Turn an exercise in code into a program with gaps, store the choices, and open what follows once they're right. */
function choosing(exercise) {
  const place = exercise.querySelector(".place");
  const page = JSON.parse(exercise.querySelector("script").textContent);
  const key = `lnorm ${exercise.id}`;
  const next = exercise.nextElementSibling;
  const choose = program(place, page, (chosen, wrong) => {
    if (!wrong.length) exercise.classList.add("solved");
    exercise.classList.toggle("right", !wrong.length);
    exercise.classList.toggle("wrong", wrong.length);
    if (!wrong.length && next?.matches("details.lnorm-answer")) next.open = true;
    if (!wrong.length || !exercise.matches(".solved")) kept((store) => store.setItem(key, chosen.join()));
  });
  const name = exercise.id.split("-").at(-1).replaceAll("_", " ");
  place.querySelectorAll("button").forEach((button) => { button.ariaLabel = `${button.textContent}: ${name}`; });
  kept((store) => {
    const before = store.getItem(key)?.split(",") ?? [];
    if (before.length && before.every((at, n) => page.gaps[n]?.[at])) choose(before);
  });
}

if (typeof document !== "undefined") document.querySelectorAll(".lnorm-choosing").forEach(choosing);
