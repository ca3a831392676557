// Words of a text that point into a row: `#row=mean` a part of it, `#row=all-equal` a state.

export const HANDLE = 'a[href*="#row="]';

/** What an address calls a preset or a term, such as "#row=one-per-word". */
export const addressed = (name) => name.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-");
export const nameIn = (link) => decodeURIComponent(link.hash.slice(5));

/** Whose picture a link means: one of its section that has this state, is seen, and is near. */
export function ownerOf(link) {
  const far = (one) => Math.abs(one.getBoundingClientRect().top - link.getBoundingClientRect().top)
    + 1e6 * !one.checkVisibility() + 2e6 * !one.row.addresses.includes(nameIn(link));
  const around = link.closest("section:has(.lnorm-row .stage)") ?? document;
  return [...around.querySelectorAll(".lnorm-row .stage")].sort((a, b) => far(a) - far(b))[0]?.row;
}
