// The search page: MiniSearch ranks the sections of all pages, with Sphinx's stemmer and stop words.

/* global MiniSearch, Stemmer, stopwords */

const SHOWN = 12; // results
const BEFORE = 8, AROUND = 36; // words of an excerpt: before the first match, and in total
const WHOLE_TITLE = 1.4; // factor for a title that was asked for
// What people write for things that the course calls by a different name.
const SAME = {
  layernorm: "layer norm", batchnorm: "batch norm", groupnorm: "group norm",
  instancenorm: "instance norm", rmsnorm: "rms norm", ln: "layer norm", bn: "batch norm",
  normalization: "norm", normalisation: "norm", normalize: "norm", normalise: "norm",
  fp16: "float16", fp32: "float32", fp64: "float64", bf16: "bfloat16", fp8: "float8",
  norm1d: "norm", norm2d: "norm", norm3d: "norm", dyt: "dyt tanh", gru: "lstm", rnn: "lstm",
  axes: "axis", dim: "axis", rope: "rope rotation", atten: "attention", attn: "attention",
  discrepancy: "differ", discrepancies: "differ", mismatch: "differ", inconsistent: "differ",
  init: "start", initialize: "start", initialise: "start", initialization: "start",
  slow: "slow fast", slower: "slow fast", faster: "fast", speed: "fast", performance: "fast",
  perf: "fast", zeros: "zero", torch: "pytorch", trainable: "trainable freeze", unfreeze: "freeze",
  vs: "differ", versus: "differ", quantization: "int8 quantize", quantize: "int8 quantize", convnext: "convnext image", one: "1",
  allreduce: "reduce synchronized", act: "activation", gamma: "γ weight", beta: "β bias", epsilon: "ε eps", sigma: "σ", mu: "μ", grads: "gradient",
};
// Rank answers above lessons, and pages for lecturers and authors below them.
const WEIGHT = [
  [/^docs\/questions\//, 1.6],
  [/^(\.github|README|index|docs\/(architecture|grading|hub|privacy|questions|teaching)\b)/, 0.5],
];
// Words that are part of nearly every name in code, and say nothing about the question.
const SKIPPED = new Set([...stopwords, "nn", "py", "x"]);
const stemmer = new Stemmer();

/** Tell whether a typo turns one word into the other: two letters swapped, or one extra, missing, or wrong. */
function isNear(one, other) {
  let [start, end] = [0, 0];
  while (start < one.length && one[start] === other[start]) start += 1;
  const most = Math.min(one.length, other.length) - start;
  while (end < most && one.at(-1 - end) === other.at(-1 - end)) end += 1;
  const [left, right] = [one, other].map((word) => word.slice(start, word.length - end));
  return Math.max(left.length, right.length) < 2 || (left.length === 2 && right === left[1] + left[0]);
}

/** Split a text into words; LayerNorm and normalized_shape are two each, and ConvNeXt is one. */
function tokenize(text) {
  return text.replace(/([a-zA-Z])(?=[A-Z][a-z]{2})/g, "$1 ").toLowerCase()
    .split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}

function processTerm(word) {
  if (SKIPPED.has(word)) return null;
  if (word.endsWith("biased")) return word; // the stemmer would turn it into "bias"
  return (SAME[word] ?? word).split(" ").map((each) => stemmer.stemWord(each));
}

/** Read all sections, and make them searchable. */
export async function opened() {
  const answer = await fetch("sections.json");
  if (!answer.ok) throw new Error(answer.statusText);
  const sections = await answer.json();
  const known = new Set(); // words as they're written, and their stems
  const index = new MiniSearch({
    fields: ["title", "page", "text", "code"],
    tokenize,
    processTerm: (word) => {
      const terms = processTerm(word);
      [word, ...[terms ?? []].flat()].forEach((one) => known.add(one));
      return terms;
    },
  });
  index.addAll(sections);
  /** Replace a word that occurs nowhere with the words that it's close to. */
  function spelled(word) {
    const terms = processTerm(word);
    const isKnown = (term) => known.has(term) || [...known].some((one) => term.length > 4 && one.startsWith(term));
    if (terms === null || word.length < 4 || [terms].flat().some(isKnown)) return terms;
    const near = [...Object.keys(SAME), ...known].filter((one) => one.length > 3 && isNear(word, one));
    return near.flatMap((one) => processTerm(one) ?? []);
  }
  const byId = new Map(sections.map((section) => [section.id, section]));
  const options = {
    boost: { title: 4, page: 1.5 },
    prefix: (term) => term.length > 4,
    processTerm: spelled,
    boostDocument: (id) => WEIGHT.find(([pages]) => pages.test(id))?.[1] ?? 1,
  };
  /** Rank a section higher if the question covers its whole title. */
  function ranked({ id, terms, score }) {
    const section = byId.get(id);
    const inTitle = tokenize(section.title).flatMap((word) => processTerm(word) ?? []);
    const isWhole = inTitle.every((term) => terms.includes(term));
    return { ...section, terms: new Set(terms), score: isWhole ? WHOLE_TITLE * score : score };
  }
  return (words) => index.search(words, options).map(ranked).sort((a, b) => b.score - a.score);
}

function element(name, ...inside) {
  const made = document.createElement(name);
  made.append(...inside);
  return made;
}

/** Show the words around the first match, and mark the matches without the punctuation around them. */
function excerpt({ text, terms }) {
  const words = text.split(" ");
  const isMatch = (word) => tokenize(word).flatMap((each) => processTerm(each) ?? [])
    .some((each) => terms.has(each));
  const marked = (word) => word.split(/([\p{L}\p{N}_]+)/u).map((part) => (isMatch(part) ? element("mark", part) : part));
  const start = Math.max(words.findIndex(isMatch) - BEFORE, 0);
  const shown = words.slice(start, start + AROUND)
    .flatMap((word) => [...marked(word), " "]);
  const [before, after] = [start > 0, start + AROUND < words.length];
  return element("p", before ? "… " : "", ...shown, after ? "…" : "");
}

function result(section) {
  const link = element("a", section.title);
  link.href = section.id;
  const page = section.page === section.title ? [] : [element("small", ` ${section.page}`)];
  return element("li", link, ...page, excerpt(section));
}

const form = document.querySelector(".lnorm-search");
const said = document.querySelector(".lnorm-found");
const asked = new URLSearchParams(location.search).get("q")?.trim();
form.q.value = asked ?? "";
if (asked) document.title = `${asked} - ${document.title}`;
if (!asked) form.q.focus();
else try {
  said.textContent = "Searching.";
  const found = (await opened())(asked);
  const few = found.slice(0, SHOWN);
  said.textContent = found.length > few.length
    ? `The ${few.length} best sections:`
    : found.length ? `Found: ${found.length}` : "Nothing was found. Try fewer words, or others.";
  document.querySelector(".lnorm-results").append(...few.map(result));
} catch {
  said.textContent = "The search could not be loaded. Is there a connection?";
}
