// Predictions: a reader's answers are judged as in Python. This comes before `live.js` in a single file.

const SIGNS = { wrong: "✗ Not yet:", open: "○ Not attempted:" };

/** Read what the reader typed: a number, several numbers as a list, or a word. */
function read(text, kind) {
  let plain = text.trim().replaceAll("−", "-").replace(/^(['"])(.*)\1$/, "$2");
  if (kind === "number") {
    if (/^[-+]?[1-9]\d{0,2}(,\d{3})+$/.test(plain)) plain = plain.replaceAll(",", ""); // 65,504
    plain = plain.replace(/^([-+]?\d*),(\d+)$/, "$1.$2"); // 0,71, as is written in much of Europe
  }
  if (kind === "tuple" && /^[-+.\d]+(\s+[-+.\d]+)+$/.test(plain)) plain = plain.replace(/\s+/g, ",");
  if (plain === "True" || plain === "False") return plain === "True";
  const inner = plain.match(/^[([](.*)[)\]]$/)?.[1];
  const listed = inner ?? plain;
  if (inner?.trim() === "") return [];
  if (listed.includes(",") || plain.startsWith("[")) {
    const parts = listed.replace(/,\s*$/, "").split(",").map(calculated);
    if (parts.every((part) => part !== null)) return parts;
  }
  return calculated(plain) ?? plain.split(/\s+/).join(" ").toLowerCase();
}

/** Calculate a number such as 0.5, 1e-5, 1/3 or 8 * 4 * 5; null if it isn't one. */
function calculated(text) {
  if (!/^[-+*/().\d\se]+$/i.test(text) || !/\d/.test(text)) return null;
  try {
    const value = Function(`"use strict"; return (${text});`)();
    return typeof value === "number" ? value : null;
  } catch { return null; }
}

function same(given, expected, tol) {
  if (Array.isArray(expected))
    return Array.isArray(given) && given.length === expected.length
      && expected.every((each, i) => same(given[i], each, tol));
  if (typeof expected === "number")
    return typeof given === "number" && Math.abs(given - expected) <= tol;
  return typeof expected === "string" ? given === expected.trim().toLowerCase() : given === expected;
}

const isShort = (value) =>
  (Array.isArray(value) ? value.every(isShort) : Number(value.toFixed(1)) === value);

/** Return the choice nearest to a number, as `_nearest` in prediction.py does, or null. */
function nearestChoice(number, choices) {
  const away = (choice) => Math.abs(choice - number);
  const [one, other] = [...choices].sort((a, b) => away(a) - away(b));
  return away(one) < Math.abs(one - other) / 2 - 1e-9 ? one : null;
}

/** Judge an answer as the exercise in Python does; return {isRight, html}. */
function judge(text, { kind, asked, right, wrong, tol, rounded, nearly, choices, choose, closest }) {
  const say = (message, sign = SIGNS.wrong) => ({
    isRight: false, html: `<strong>${sign}</strong> ${message}`,
  });
  if (!text.trim()) return say("give an answer first.", SIGNS.open);
  const known = (value) => {
    const found = right.find((one) => same(value, one.value, tol));
    if (found) return { isRight: true, html: found.html };
    const slip = wrong.find((one) => same(value, one.value, rounded));
    return slip && { isRight: false, html: slip.html };
  };
  const given = read(text, kind);
  if (known(given)) return known(given);
  const isNumber = typeof given === "number" || (Array.isArray(given) && given.every(Number.isFinite));
  if (choices.length && Number.isFinite(given)) {
    const choice = nearestChoice(given, choices);
    if (choice === null) return say(choose);
    const { isRight, html } = known(choice);
    return { isRight, html: html.replace("</strong> ", `</strong> ${closest[choices.indexOf(choice)]} `) };
  }
  if (isNumber && nearly && same(given, right[0].value, isShort(given) ? nearly : 0.01))
    return say("that’s close. Round it to two decimals.");
  if (kind === "number" && Array.isArray(given))
    return say("give one number.", SIGNS.open);
  if (kind === "number" && typeof given !== "number") return say(`the answer is ${asked}, in digits.`, SIGNS.open);
  if (kind === "tuple" && !(Array.isArray(given) && isNumber))
    return say(`the answer is ${asked}.`, SIGNS.open);
  const shown = document.createElement("span");
  shown.textContent = text.trim().replace(/^-/, "−");
  return say(`it’s not ${shown.innerHTML}. The hints may help.`);
}

/** Let a form judge what is typed into it, and open the answer under it once it's right. */
function prediction(form) {
  const data = JSON.parse(form.querySelector("script").textContent);
  const said = form.querySelector(".said");
  const key = `lnorm ${form.id}`;
  const next = form.nextElementSibling;
  const fold = next?.matches("details.lnorm-answer") ? next : null;
  const typed = form.querySelector("input[type=text]");
  nameQuestion(form, typed, data);
  said.id = `${form.id}-said`;
  typed?.setAttribute("aria-describedby", said.id);
  const answer = () => new FormData(form).get("answer") ?? "";
  const show = () => {
    const { isRight, html } = judge(answer(), data);
    said.innerHTML = html;
    if (isRight) form.classList.add("solved");
    form.classList.toggle("right", isRight);
    form.classList.toggle("wrong", !isRight);
    typed?.setAttribute("aria-invalid", !isRight);
    if (isRight) form.querySelectorAll("details").forEach((hint) => { hint.open = false; });
    if (isRight && fold) fold.open = true;
    return isRight;
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const isRight = show();
    if (isRight || !form.matches(".solved")) kept((store) => store.setItem(key, answer()));
  });
  kept((store) => {
    const before = store.getItem(key);
    if (!before) return;
    if (typed) typed.value = before;
    else form.querySelectorAll("input").forEach((input) => { input.checked = input.value === before; });
    if (judge(before, data).isRight) show();
  });
}

/** Label a field, or a form with choices, with the question above it, and ask phones for a keypad of digits. */
function nameQuestion(form, typed, { kind, asked }) {
  const question = form.previousElementSibling;
  if (question?.matches("p")) {
    question.id ||= `${form.id}-question`;
    (typed ?? form).setAttribute("aria-labelledby", question.id);
  }
  // An iPhone's keypad of digits has no minus sign.
  const isApple = /iP(hone|ad|od)|Macintosh/.test(navigator.userAgent);
  if (typed && kind === "number" && asked === "a number" && !isApple) typed.inputMode = "decimal";
}

if (typeof document !== "undefined") document.querySelectorAll(".lnorm-prediction").forEach(prediction);
