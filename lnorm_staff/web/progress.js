// The reader's progress. This comes after `predictions.js` and `choosing.js` in a single file.

const PROGRESS = "lnorm progress"; // {lesson: [right, all, next]} without side trips; the last lesson is the latest
const lessonAt = (address) => new URL(address, document.baseURI).pathname.split("/").at(-1).replace(/\.html$/, "");

/** Return what the browser has stored about all lessons. */
function progress() {
  let known = null;
  kept((store) => { known = JSON.parse(store.getItem(PROGRESS)); });
  return known ?? {};
}

/**
 * Count the exercises on this page, show how many are right, and store that once there is an answer.
 * `answered` is the event of an answer that was just given.
 */
function showProgress(answered = null) {
  const place = document.querySelector(".lnorm-progress");
  if (place) {
    const exercises = [...document.querySelectorAll(":is(.lnorm-prediction, .lnorm-choosing)")];
    const isRight = (one) => one.classList.contains("solved");
    const [main, further] = [false, true].map((is) => exercises.filter((one) => one.classList.contains("further") === is));
    const counted = (some) => `${some.filter(isRight).length} of ${some.length}`;
    const more = further.length ? ` In the side trips, ${counted(further)}.` : "";
    for (const card of document.querySelectorAll(".lnorm-recall"))
      card.firstElementChild.dataset.right = counted([...card.querySelectorAll(".lnorm-prediction")]);
    place.textContent = `${counted(main)} exercises on this page are right.${more}`;
    kept((store) => {
      if (!main.some((one) => store.getItem(`lnorm ${one.id}`))) return;
      const { [lessonAt(location)]: before, ...others } = progress();
      const now = [main.filter(isRight).length, main.length, main.find((one) => !isRight(one))?.id];
      if (answered || before?.join() !== now.join())
        store.setItem(PROGRESS, JSON.stringify({ ...others, [lessonAt(location)]: now }));
      tellAtTheTop(...now);
    });
  }
  const known = progress();
  for (const link of document.querySelectorAll(":is(.sidebar-tree, .lnorm-map) a")) mark(link, known[lessonAt(link)]);
  letReaderGoOn(known);
}

function tellAtTheTop(right, all) {
  let bar = document.querySelector(".lnorm-bar");
  if (!bar) {
    bar = element("p", null, { class: "lnorm-bar" });
    document.querySelector("article")?.prepend(bar);
  }
  bar.style.setProperty("--done", `${(100 * right) / all}%`);
  bar.textContent = `${right} of ${all} right`;
}

/** Write after a link to a lesson how many of its exercises are right. */
function mark(link, [right, all] = []) {
  link.querySelector(".lnorm-far")?.remove();
  if (all === undefined) return;
  const isDone = right === all;
  link.append(" ");
  element("span", link, { class: isDone ? "lnorm-far done" : "lnorm-far" }, isDone ? "✓ done" : `${right} of ${all}`);
}

/** Let returning readers continue with the lesson of their latest answer, or with what comes after it. */
function letReaderGoOn(known) {
  const start = document.querySelector(".lnorm-ways a");
  const latest = Object.keys(known).filter((name) => /^\d/.test(name)).at(-1);
  if (!start || !latest) return;
  const boxes = [...document.querySelectorAll(".lnorm-map li")].map((box) => ({ isCore: box.matches(".core"), link: box.querySelector("a") }));
  const isOpen = ({ link }) => { const [right, all] = known[lessonAt(link)] ?? [0, 1]; return right < all; };
  const at = boxes.findIndex(({ link }) => lessonAt(link) === latest);
  const inOrder = [boxes[at], ...boxes.slice(at).filter((box) => box.isCore), ...boxes.filter((box) => box.isCore), ...boxes];
  const next = inOrder.find((box) => box && isOpen(box));
  if (!next) return;
  const place = known[lessonAt(next.link)]?.[2]; // the first exercise that isn't right
  start.href = place ? `${next.link.href}#${place}` : next.link.href;
  start.textContent = `Lesson ${parseInt(lessonAt(next.link), 10)}`;
  start.ariaLabel = `Go on with lesson ${parseInt(lessonAt(next.link), 10)}`;
}

/** Offer to forget all answers. */
function letReaderForget(place) {
  const button = element("button", place, { type: "button" }, "Forget my answers on this device");
  const said = element("span", place, { role: "status" });
  button.addEventListener("click", () => {
    if (!confirm("Forget all answers and how far you have come? This can’t be undone.")) return;
    kept((store) => {
      Object.keys(store).filter((key) => key.startsWith("lnorm ")).forEach((key) => store.removeItem(key));
      said.textContent = " All answers are forgotten.";
      showProgress();
    });
  });
}

if (typeof document !== "undefined") {
  showProgress();
  document.addEventListener("submit", showProgress); // after the form itself has judged it
  document.querySelectorAll(".lnorm-forget").forEach(letReaderForget);
}
