// A lecture, one screen at a time. An address such as `#fifteen/3` names a screen.

const [WIDE, HIGH] = [864, 486]; // pixels of the stage, before it's zoomed
const [LARGEST, SMALLEST] = [34, 12.7];
const stage = document.querySelector("main");
const [back, where, next] = stage.querySelectorAll("nav a");
const screens = [...stage.querySelectorAll("section")];
let shown = screens[0];
let saysAloud = false;

/** Return which lecture is shown, its screens, and the number of the current screen. */
function place() {
  const [name, number] = location.hash.slice(1).split("/");
  const known = screens.some((one) => one.dataset.lecture === name) ? name : "";
  const list = screens.filter((one) => one.dataset.lecture === known);
  return { name: known, list, at: Math.min(Math.max(Number(number) || 1, 1), list.length) };
}

/** Make the stage as large as the window, and a screen's text and picture as large as fits. */
function fit() {
  const zoom = Math.min(innerWidth / WIDE, innerHeight / HIGH);
  Object.assign(stage.style, { zoom, width: `${innerWidth / zoom}px`, height: `${innerHeight / zoom}px` });
  const box = shown.querySelector(".shown");
  stage.style.setProperty("--high", `${box.clientHeight}px`);
  const row = box.querySelector(".stage")?.row;
  for (let grow = row?.isCells ? box.clientWidth / 640 : 1.7; row && grow >= 1; grow -= 0.05) { // cells need a fixed width
    stage.style.setProperty("--grow", grow);
    row.measure();
    if (row.height * grow <= box.clientHeight) break;
  }
  const asked = [...box.querySelectorAll(".words > *")];
  for (const one of asked) one.hidden = false;
  let size = shown.matches(".show") ? 18 : LARGEST;
  do box.style.fontSize = `${size}px`; while (isOver(box) && (size -= 0.5) >= SMALLEST);
  // If there are many controls, hide the question, which was asked before.
  for (const one of asked) if (shown.matches(".show") && isOver(box)) one.hidden = true;
}

function isOver(box) {
  const { bottom, right } = box.getBoundingClientRect();
  return [...box.querySelectorAll("p, li, button, label")].some((one) => {
    const place = one.getBoundingClientRect();
    return !one.closest(".stage") && (place.bottom > bottom + 1 || place.right > right + 1);
  });
}

function show() {
  const { name, list, at } = place();
  screens.forEach((one) => { one.hidden = one !== list[at - 1]; });
  shown = list[at - 1];
  const address = (to) => `#${name}/${Math.min(Math.max(to, 1), list.length)}`;
  [back.href, next.href] = [address(at - 1), address(at + 1)];
  where.textContent = name ? `${name} ${at} / ${list.length}` : "";
  for (const said of stage.querySelectorAll(".say")) said.hidden = !saysAloud;
  shown.focus({ preventScroll: true });
  fit();
}

/** Show the explanation of a different choice. */
function tell(letter) {
  const why = [...shown.querySelectorAll(".why")];
  if (why[letter]) why.forEach((one, i) => { one.hidden = i !== letter; });
  fit();
}

const STEPS = { ArrowRight: 1, ArrowDown: 1, " ": 1, Enter: 1, ArrowLeft: -1, ArrowUp: -1, Backspace: -1 };
addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const isFree = target === document.body || target === shown; // no picture's control has the focus
  const step = { PageDown: 1, PageUp: -1 }[key] ?? (isFree ? STEPS[key] : undefined);
  if (step) {
    event.preventDefault();
    (step > 0 ? next : back).click();
  } else if (key === "Escape") shown.focus();
  else if (key === "n") { saysAloud = !saysAloud; show(); }
  else if (key.length === 1) tell(key.toUpperCase().charCodeAt() - 65);
}, true);
for (const screen of screens.filter((one) => one.matches(".show"))) {
  const picture = screen.querySelector(".lnorm-drawn");
  (picture.querySelector(".side") ?? picture).prepend(screen.querySelector(".words"));
  for (const tool of picture.querySelectorAll(".tools button"))
    if (["full screen", "copy link"].includes(tool.textContent)) tool.dataset.tool = "";
  const refit = new MutationObserver(() => { if (isOver(screen.querySelector(".shown"))) fit(); });
  for (const said of picture.querySelectorAll(":scope > p")) refit.observe(said, { childList: true });
}
addEventListener("hashchange", show);
addEventListener("resize", fit);
document.fonts.ready.then(show);
