// What a screen reader calls the controls and the places of a page. It stands before `live.js` in one file.

const EXERCISES = ".lnorm-prediction, .lnorm-exercise";
const numberOf = (exercise) => [...document.querySelectorAll(EXERCISES)].indexOf(exercise) + 1;

/** Say in the names of controls which question they belong to, for a page has many that are called Check. */
function nameControls() {
  document.querySelectorAll(EXERCISES).forEach((exercise) => {
    const name = `question ${numberOf(exercise)}`;
    const form = exercise.matches("form") ? exercise : exercise.querySelector("form");
    const fold = exercise.matches(":has(+ .lnorm-answer)") ? exercise.nextElementSibling : null;
    if (form) form.ariaLabel = [form.ariaLabel, name].filter(Boolean).join(", ");
    for (const control of [...exercise.querySelectorAll("button, summary"), ...(fold?.querySelectorAll(":scope > summary") ?? [])])
      control.ariaLabel = `${control.textContent}, ${name}`;
  });
}

/** Name the places of a page, and say which colors it has. */
function namePlaces() {
  const places = { ".sidebar-drawer": "all pages", ".toc-drawer": "on this page", ".related-pages": "previous and next page" };
  for (const [place, name] of Object.entries(places))
    document.querySelectorAll(place).forEach((found) => Object.assign(found, { role: "navigation", ariaLabel: name }));
  const tell = () => document.querySelectorAll(".theme-toggle").forEach((button) => {
    button.ariaLabel = `colors: ${document.body.dataset.theme}; change`;
  });
  new MutationObserver(tell).observe(document.body, { attributeFilter: ["data-theme"] });
  tell();
}
