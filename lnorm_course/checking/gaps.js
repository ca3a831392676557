// A program with gaps, each a native select, for web pages and for JupyterLab.

/**
 * Return the indices of the fewest gaps to change so that a program is right; none if it's right.
 * Only gaps with a distractor are changed, so each has a sentence. Changing all of them makes
 * the program right.
 */
function toChange(chosen, gaps, programs) {
  const ways = programs
    .map((program) => program.flatMap((option, n) => (option === chosen[n] ? [] : [n])))
    .filter((way) => way.every((n) => gaps[n][chosen[n]].html));
  return ways.sort().sort((one, other) => one.length - other.length)[0]; // in a tie, the first gaps
}

/**
 * Draw a program and a button that checks it. `programs` lists the right ones, each as the
 * indices of its options. `take` is called with the chosen options and the gaps to change.
 * Return a function that chooses options and checks them.
 */
function program(place, { code, gaps, programs, right }, take) {
  const put = (tag, parent, attributes = {}, text = "") => {
    const made = Object.assign(document.createElement(tag), { textContent: text });
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    parent.append(made);
    return made;
  };
  place.textContent = "";
  const form = put("form", place, { class: "lnorm-program", "aria-label": `a program with ${gaps.length} ${gaps.length > 1 ? "gaps" : "gap"}` });
  const lines = [];
  const write = (text) => text.split("\n").forEach((part, i) => {
    if (i || !lines.length) {
      const indent = part.match(/^ */)[0].length;
      lines.push(put("div", form, { class: "line", style: `--indent: ${indent}ch` }));
      part = part.slice(indent);
    }
    if (part) put("code", lines.at(-1), {}, part);
  });
  const selects = gaps.map((options, n) => {
    const [name] = code[n].match(/\w+=$/) ?? [""]; // of an argument, which stays beside its value
    write(code[n].slice(0, code[n].length - name.length));
    const box = name ? put("span", lines.at(-1), { class: "argument" }) : lines.at(-1);
    if (name) put("code", box, {}, name);
    const before = code[n].split("\n").at(-1).trim();
    const label = `gap ${n + 1} of ${gaps.length}, line ${lines.length}${before && `, after ${before}`}`;
    const select = put("select", box, { "aria-label": label, autocomplete: "off" });
    put("option", select, { value: "" }, `gap ${n + 1}`);
    const sorted = [...options.entries()].sort(([, one], [, other]) => (one.code < other.code ? -1 : 1)); // tells nothing
    sorted.forEach(([at, option]) => put("option", select, { value: at }, option.code || "(nothing)"));
    select.addEventListener("change", () => {
      select.removeAttribute("aria-invalid");
      said.textContent = "";
    });
    return select;
  });
  write(code.at(-1));
  put("button", form, { type: "submit" }, "Check");
  const said = put("div", form, { class: "said", "aria-live": "polite" });
  const say = (sign, text) => { said.innerHTML = `<strong>${sign}</strong> ${text}`; };
  const told = (n) => {
    const shown = put("code", document.createElement("p"), {}, selects[n].selectedOptions[0].textContent);
    return `gap ${n + 1}, ${shown.outerHTML}: ${gaps[n][selects[n].value].html}`;
  };

  function check() {
    const open = selects.findIndex((select) => select.value === "");
    if (open >= 0) {
      say("○ Not attempted:", `choose what stands in gap ${open + 1}.`);
      selects[open].focus();
      return;
    }
    const chosen = selects.map((select) => Number(select.value));
    const wrong = toChange(chosen, gaps, programs);
    take(chosen, wrong);
    selects.forEach((select, n) => {
      if (wrong.includes(n)) select.setAttribute("aria-invalid", "true");
      else select.removeAttribute("aria-invalid");
    });
    if (!wrong.length) said.innerHTML = right;
    else if (wrong.length === 1) say("✗ Not yet:", told(wrong[0]));
    else say("✗ Not yet:", `${wrong.length} gaps have to change.<ul>${wrong.map((n) => `<li>${told(n)}</li>`).join("")}</ul>`);
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    check();
  });
  return (chosen) => {
    selects.forEach((select, n) => { select.value = chosen[n] ?? ""; });
    check();
  };
}
