// The search page: MiniSearch ranks the sections of all pages, with Sphinx's stemmer and stop words.

/* global MiniSearch, Stemmer, stopwords */

const SHOWN = 12; // results
const BEFORE = 8, AROUND = 36; // words of an excerpt: before the first match, and in all
// What people write for what the course calls otherwise.
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
  allreduce: "reduce synchronized", act: "activation", gamma: "γ weight", beta: "β bias", epsilon: "ε eps", sigma: "σ", mu: "μ", grads: "gradient",
};
// Answers stand above lessons, and what only lecturers and authors need below them.
const WEIGHT = [
  [/^docs\/questions\//, 1.6],
  [/^(\.github|README|index|docs\/(architecture|grading|hub|privacy|questions|teaching)\b)/, 0.5],
];
// Words in nearly every name in code, which say nothing about the question.
const SKIPPED = new Set([...stopwords, "nn", "py", "x"]);
const stemmer = new Stemmer();

/** Split a text into words; LayerNorm and normalized_shape are two each. */
function tokenize(text) {
  return text.replace(/([a-zA-Z])(?=[A-Z][a-z])/g, "$1 ").toLowerCase()
    .split(/[^\p{L}\p{N}]+/u).filter(Boolean);
}

function processTerm(word) {
  if (SKIPPED.has(word)) return null;
  return (SAME[word] ?? word).split(" ").map((each) => stemmer.stemWord(each));
}

/** Read all sections, and make them searchable. */
async function opened() {
  const answer = await fetch("sections.json");
  if (!answer.ok) throw new Error(answer.statusText);
  const sections = await answer.json();
  const index = new MiniSearch({ fields: ["title", "page", "text"], tokenize, processTerm });
  index.addAll(sections);
  const byId = new Map(sections.map((section) => [section.id, section]));
  const options = {
    boost: { title: 4, page: 1.5 },
    prefix: (term) => term.length > 4,
    fuzzy: (term) => (term.length > 5 ? 0.15 : false),
    boostDocument: (id) => WEIGHT.find(([pages]) => pages.test(id))?.[1] ?? 1,
  };
  return (words) => index.search(words, options)
    .map(({ id, terms }) => ({ ...byId.get(id), terms: new Set(terms) }));
}

function element(name, ...inside) {
  const made = document.createElement(name);
  made.append(...inside);
  return made;
}

/** Show the words around the first match, the matches marked. */
function excerpt({ text, terms }) {
  const words = text.split(" ");
  const isMatch = (word) => tokenize(word).flatMap((each) => processTerm(each) ?? [])
    .some((each) => terms.has(each));
  const start = Math.max(words.findIndex(isMatch) - BEFORE, 0);
  const shown = words.slice(start, start + AROUND)
    .flatMap((word) => [isMatch(word) ? element("mark", word) : word, " "]);
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
if (!asked) form.q.focus();
else try {
  said.textContent = "Searching.";
  const found = (await opened())(asked);
  const few = found.slice(0, SHOWN);
  said.textContent = found.length > few.length
    ? `The first ${few.length} of ${found.length} sections:`
    : found.length ? `Found: ${found.length}` : "Nothing was found. Try fewer words, or others.";
  document.querySelector(".lnorm-results").append(...few.map(result));
} catch {
  said.textContent = "The search could not be loaded. Is there a connection?";
}
