// What follows a question often begins with its answer. Until an answer is shown, a card closes it.

const WHERE_READERS_ACT = "form, details, .lnorm-exercise, .lnorm-live, .lnorm-progress";
const ELSEWHERE = /^(Further|Recap)/; // what begins anew

function isWhereReadersAct(part) {
  const bold = part.firstElementChild?.matches("strong") ? part.firstElementChild.textContent : "";
  return part.matches(WHERE_READERS_ACT) || /^(Predict|Your turn|Explore)\b/.test(bold);
}

/** Hide a section up to where the reader acts; return what shows it again, and whether that's all of it. */
function hidden(section) {
  const parts = [...section.children];
  const end = parts.findIndex(isWhereReadersAct);
  const passage = document.createElement("div");
  passage.className = "lnorm-passage";
  passage.append(...parts.slice(0, end < 0 ? undefined : end));
  passage.hidden = passage.inert = true;
  section.prepend(passage);
  const listed = document.querySelector(`.toc-tree a[href="#${section.id}"]`)?.closest("li");
  if (listed) listed.hidden = true;
  const show = () => {
    passage.replaceWith(...passage.childNodes);
    if (listed) listed.hidden = false;
  };
  return { show, isAll: end < 0 };
}

/** Close what follows a question, from the next heading to what the reader does next. */
function closeAfter(fold) {
  const closed = new Map(); // section → what shows it
  let section = fold.closest("section").nextElementSibling;
  for (let isAll = true; isAll && section; section = section.nextElementSibling) {
    const heading = section.querySelector(":scope > h2");
    if (!heading || ELSEWHERE.test(heading.textContent)) break;
    const found = hidden(section);
    closed.set(section, found.show);
    isAll = found.isAll;
  }
  if (!closed.size) return;
  const [first] = closed.keys();
  const card = document.createElement("p");
  const button = Object.assign(document.createElement("button"), { type: "button", textContent: "show what comes next" });
  card.className = "lnorm-closed";
  button.ariaLabel = `${button.textContent} after question ${numberOf(fold.previousElementSibling)}`;
  card.append("Answer first, or ", button);
  first.prepend(card);
  const open = () => {
    if (!card.isConnected) return;
    card.remove();
    closed.forEach((show) => show());
  };
  fold.previousElementSibling.addEventListener("submit", () => { card.firstChild.data = "Try again, or "; });
  button.addEventListener("click", () => {
    open();
    const heading = first.querySelector("h2");
    heading.tabIndex = -1;
    heading.focus();
  });
  fold.addEventListener("toggle", () => fold.open && open());
  const openIfNamed = () => {
    const named = [...closed.keys()].find(({ id }) => id === decoded(location.hash.slice(1)));
    if (named) { open(); named.scrollIntoView(); }
  };
  addEventListener("hashchange", openIfNamed);
  openIfNamed();
}
