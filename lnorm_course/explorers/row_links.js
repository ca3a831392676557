// Words of a text that point into a row: `#row=mean` a part of it, `#row=all-equal` a state.

const HANDLE = 'a[href*="#row="]';
export const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
const AWAY = 8000; // milliseconds until a hand has left the picture

/** What an address calls a preset or a term, such as "#row=one-per-word". */
export const addressed = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-");
const nameIn = ({ hash }) => {
  try { return decodeURIComponent(hash.slice(5)); } catch { return ""; } // not written by a browser
};

/** Whose picture a link means: one of its section that has this state, is seen, and is near. */
function ownerOf(link) {
  const far = (one) => Math.abs(one.getBoundingClientRect().top - link.getBoundingClientRect().top)
    + 1e6 * !one.checkVisibility() + 2e6 * !one.row.find(nameIn(link));
  const around = link.closest("section:has(.lnorm-row .stage)") ?? document;
  return [...around.querySelectorAll(".lnorm-row .stage")].sort((a, b) => far(a) - far(b))[0]?.row;
}

/** Mark the words of the text whose part or state a row shows, once these are others. */
export function markLinks(row, names) {
  if (`${row.marked}` === `${names}`) return;
  row.marked = names;
  for (const link of document.querySelectorAll(HANDLE)) if (ownerOf(link) === row)
    link.classList.toggle("lnorm-lit", names.includes(nameIn(link)));
}

/** Pin the term that a link in the text names, or show its state. */
function point(row, link, isPressed = false) {
  if (!isPressed && (row.grip || performance.now() - row.touched < AWAY)) return;
  const [name, { state }] = [nameIn(link), row];
  const found = row.find(name);
  // Where a hand is asked for, reading on changes no number.
  if (!isPressed && state.results && `${found?.state.x ?? state.x}` !== `${state.x}`) return;
  if (found) { row.show(found); return; }
  const seen = [...row.root.querySelectorAll(`[data-of~="${name}"]`)]
    .some((part) => part.checkVisibility({ visibilityProperty: true }));
  if (!seen) row.go({ depth: "steps" }); // which has it
  row.pinned = isPressed && row.pinned === name ? "" : name;
  row.draw();
}

/** Follow the hand in the text: what is pointed at is lit, what is pressed stays. */
export function follow(row, event) {
  const link = event.target.closest?.(HANDLE);
  if (!link || ownerOf(link) !== row) return;
  if (event.type !== "click") {
    row.peek(/over|in$/.test(event.type) ? nameIn(link) : "");
    return;
  }
  event.preventDefault();
  row.touched = performance.now();
  row.stage.closest("details")?.setAttribute("open", "");
  point(row, link, true);
  const { top, bottom } = row.stage.getBoundingClientRect();
  if (bottom < 150 || top > innerHeight - 150)
    row.stage.scrollIntoView({ block: "nearest", behavior: isCalm ? "instant" : "smooth" });
}

// What a paragraph's first handle says is shown once the paragraph stands where one reads: where
// the picture that stays in view ends, at the latest.
const reading = new IntersectionObserver((seen) => {
  for (const { isIntersecting, target } of seen) if (isIntersecting && scrollY > 0) {
    const link = target.querySelector(HANDLE);
    point(ownerOf(link), link);
  }
}, { rootMargin: "-53% 0px -43% 0px" });

/** Go to the state that the address of the page names, and put paragraphs under their picture. */
export function settle(place, row) {
  if (row.find(nameIn(location))) {
    point(row, location, true);
    row.stage.scrollIntoView();
  }
  // The picture stays in view while paragraphs right below it speak of it.
  const below = () => place.nextElementSibling;
  while (below()?.matches(`p:has(${HANDLE})`)) place.append(below());
  for (const one of place.querySelectorAll(":scope > p")) reading.observe(one);
}
