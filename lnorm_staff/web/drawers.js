// The lists at the sides of a page, which stand behind buttons where there's no room. It stands before `live.js`.

const DRAWERS = [["__navigation", ".sidebar-drawer", "all pages"], ["__toc", ".toc-drawer", "on this page"]];

/** Let keys open the lists at the sides, walk through one while it's open, and close it. */
function letKeysUseDrawers() {
  const drawers = DRAWERS.map(([id, place, name]) => ({
    name,
    box: document.getElementById(id), // Furo's, and checked while the list is open
    place: document.querySelector(place),
    list: document.querySelector(`${place} :is(.sidebar-sticky, .toc-sticky)`),
    buttons: [...document.querySelectorAll(`label[for=${id}]:not(.overlay)`)],
  })).filter(({ list }) => list);
  const inSight = ({ buttons }) => buttons.find((button) => button.getClientRects().length);

  /** Leave what's covered, and what's out of sight, to nobody's keys. */
  function tell() {
    for (const one of drawers) one.box.checked &&= Boolean(inSight(one)); // else it stands beside the page
    const open = drawers.find(({ box }) => box.checked);
    for (const one of drawers) {
      one.place.inert = open ? one !== open : Boolean(inSight(one));
      for (const button of one.buttons) button.ariaExpanded = one.box.checked;
    }
    for (const covered of document.querySelectorAll(".mobile-header, .content, .skip-to-content")) covered.inert = Boolean(open);
    return open;
  }

  function close(one) {
    one.box.checked = false;
    tell();
    inSight(one)?.focus({ preventScroll: true });
  }

  for (const one of drawers) {
    for (const button of one.buttons) {
      Object.assign(button, { role: "button", tabIndex: 0, ariaLabel: one.name });
      button.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        button.click();
      });
    }
    const closing = element("button", null, { type: "button", class: "lnorm-close" }, "Close");
    closing.addEventListener("click", () => close(one));
    one.list.prepend(closing);
    one.place.tabIndex = -1;
    one.box.addEventListener("change", () => {
      if (tell()) one.place.focus({ preventScroll: true });
      else inSight(one)?.focus({ preventScroll: true });
    });
    one.place.addEventListener("click", (event) => {
      const link = event.target.closest("a");
      if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (one.box.checked) close(one);
      if (!link.getAttribute("href").startsWith("#")) return;
      event.preventDefault();
      goTo(link.hash);
    });
  }
  document.addEventListener("keydown", ({ key }) => {
    const open = key === "Escape" && drawers.find(({ box }) => box.checked);
    if (open) close(open);
  });
  addEventListener("resize", tell);
  tell();
}

/** Go to a section of this page, or to its top, and let keys go on from there. */
function goTo(hash) {
  const section = document.getElementById(decoded(hash.slice(1)));
  location.hash = hash;
  const heading = (section ?? document).querySelector("h1, h2, h3, h4") ?? section;
  heading.tabIndex = -1;
  heading.focus({ preventScroll: true });
  if (section) standAt(section);
  else scrollTo({ top: 0, behavior: "instant" });
}
