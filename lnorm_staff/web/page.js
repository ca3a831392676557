// What every page of the web edition needs. It stands before the other scripts in one file.

const decoded = (text) => {
  try { return decodeURIComponent(text); } catch { return text; }
};

/** Use the browser's memory, if it has one for this page. */
function kept(use) {
  try { use(localStorage); } catch (error) { console.debug(error); }
}

/**
 * Scroll to what an address names, and again when the page stands: until then, what is above it moves it. A reader who scrolls in between is left alone.
 */
function standAt(place) {
  const byHand = ["wheel", "touchmove", "keydown", "pointerdown"];
  const left = new AbortController();
  for (const kind of byHand) addEventListener(kind, () => left.abort(), { signal: left.signal, passive: true });
  const go = () => { if (!left.signal.aborted) place.scrollIntoView({ behavior: "instant" }); };
  go();
  const stands = document.readyState === "complete"
    ? null : new Promise((resolve) => { addEventListener("load", resolve); });
  const settled = () => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); });
  Promise.resolve(stands).then(go).then(settled).then(go).then(() => left.abort());
}

/** Open what is folded while a page is printed, but no hint and no solution. */
function unfold() {
  const closed = document.querySelectorAll("details:is([class^=lnorm-], .hide):not([open])");
  closed.forEach((fold) => { fold.open = true; });
  addEventListener("afterprint", () => closed.forEach((fold) => { fold.open = false; }), { once: true });
}

/** Let keys scroll what is wider than its place. */
function letKeysScroll() {
  for (const box of document.querySelectorAll(".content :is(.math, .table-wrapper, .output table)")) {
    if (box.scrollWidth <= box.clientWidth) continue;
    Object.assign(box, { tabIndex: 0, role: "group", ariaLabel: `a wide ${box.matches(".math") ? "formula" : "table"}` });
  }
}

/**
 * Make of each list at the side of a page, where it stands behind a button, a popover: the browser
 * then opens it by key, closes it by Escape or a click beside it, and gives the focus back.
 */
function letKeysOpenLists() {
  const lists = [["__navigation", ".sidebar-drawer", "all pages", "63em"], ["__toc", ".toc-drawer", "on this page", "82em"]];
  for (const [box, place, name, width] of lists) {
    const list = document.querySelector(place);
    if (!list) continue;
    Object.assign(list, { role: "navigation", ariaLabel: name });
    for (const label of document.querySelectorAll(`label[for=${box}]:not(.overlay)`)) {
      const button = element("button", null, { type: "button", class: label.className, "aria-label": name });
      button.append(...label.children);
      button.popoverTargetElement = list;
      label.replaceWith(button);
    }
    const isNarrow = matchMedia(`(max-width: ${width})`);
    const fit = () => { list.popover = isNarrow.matches ? "auto" : null; };
    isNarrow.addEventListener("change", fit);
    fit();
    list.addEventListener("click", ({ target }) => { if (list.popover && target.closest("a")) list.hidePopover(); });
  }
}

if (typeof document !== "undefined") {
  addEventListener("beforeprint", unfold);
  letKeysOpenLists();
  letKeysScroll();
  document.addEventListener("toggle", letKeysScroll, true); // what was folded had no width
  // Sphinx calls the titles over its lists of pages headings, and doesn't say of which level.
  document.querySelectorAll("[role=heading]:not([aria-level])").forEach((title) => { title.ariaLevel = 2; });
  const named = document.getElementById(decoded(location.hash.slice(1)));
  if (named) standAt(named);
}
