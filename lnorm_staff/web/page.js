// What every page of the web edition needs. This comes before the other scripts in a single file.

const decoded = (text) => {
  try { return decodeURIComponent(text); } catch { return text; }
};

/** Use the browser's local storage, if this page may use it. */
function kept(use) {
  try { use(localStorage); } catch (error) { console.debug(error); }
}

/** Open what is folded while a page is printed, except hints and solutions. */
function unfold() {
  const closed = document.querySelectorAll("details:is([class^=lnorm-], .hide):not([open])");
  closed.forEach((fold) => { fold.open = true; });
  addEventListener("afterprint", () => closed.forEach((fold) => { fold.open = false; }), { once: true });
}

/** Let the keyboard scroll what is wider than its box. */
function letKeysScroll() {
  for (const box of document.querySelectorAll(".content :is(.math, .table-wrapper, .output table)")) {
    if (box.scrollWidth <= box.clientWidth) continue;
    Object.assign(box, { tabIndex: 0, role: "group", ariaLabel: `a wide ${box.matches(".math") ? "formula" : "table"}` });
  }
}

/** Let code wrap with a hanging indent, and on a phone, let long code show only how it begins. */
function foldCode() {
  const line = /(?:<span><\/span>)?( *).*\n?/g;
  for (const pre of document.querySelectorAll(".content .highlight pre")) {
    pre.innerHTML = pre.innerHTML.replace(line, (text, { length }) =>
      text && `<span class="lnorm-line" style="--indent: ${length + 2}ch">${text}</span>`);
    if (pre.children.length < 7 || !pre.closest(".cell_input:not(.hide *, .lnorm-imports *)")) continue;
    const [button] = drawButtons([`Show all ${pre.children.length} lines`], pre.parentElement, () => {
      button.remove();
      Object.assign(pre, { tabIndex: -1 }).focus();
    });
    button.className = "lnorm-more";
  }
}

/** Name the page at its top on a phone, and each piece of folded code by its last line. */
function name() {
  const here = document.querySelector(".sidebar-tree .current-page > a")?.textContent;
  const top = here && document.querySelector(".mobile-header .brand");
  if (top) [top.textContent, top.parentElement.ariaLabel] = [here, `${here}: to the first page`];
  for (const title of document.querySelectorAll(".cell .hide .admonition-title")) {
    const last = title.closest(".cell").querySelector("pre").textContent.trim().split("\n").at(-1);
    element("span", title, { class: "lnorm-unseen" }, `: ${last}`);
  }
}

/**
 * If a list at the side of a page is hidden behind a button, turn it into a popover: the browser then
 * opens it by key, closes it on Escape or on a click outside, and returns the focus.
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
  name();
  foldCode();
  letKeysOpenLists();
  letKeysScroll();
  document.addEventListener("toggle", letKeysScroll, true); // folded elements had no width before
  // Sphinx marks the titles over its lists of pages as headings, but doesn't give their level.
  document.querySelectorAll("[role=heading]:not([aria-level])").forEach((title) => { title.ariaLevel = 2; });
  const named = document.getElementById(decoded(location.hash.slice(1)));
  if (named) standAt(named);
}
