// Explorers in a page of the course, whose frames were drawn ahead of time. This comes after `explorer.js` in a single file.

const slug = (name) => name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

/** Fetch a gzip file and unpack it, or take it from the page itself if it's included there. */
async function load(address) {
  const inside = document.querySelector(`script[data-file="${address}"]`);
  const packed = inside
    ? new Blob([Uint8Array.from(atob(inside.textContent), (letter) => letter.charCodeAt(0))]).stream()
    : await fetch(address).then((answer) => {
      if (!answer.ok) throw Object.assign(new Error(`${address}: ${answer.status}`), { isGone: true });
      return answer.body;
    });
  return new Response(packed.pipeThrough(new DecompressionStream("gzip"))).text();
}

/** Return a function that finds an explorer's frames in files, which baking.py describes. */
function fromFiles(folder, page, failed) {
  const files = new Map(); // name → promise of the file's content, unless it couldn't be fetched
  const opened = (name, read) => {
    if (!files.has(name)) {
      files.set(name, load(`${folder}/${name}.gz`).then(read)
        .catch((problem) => { files.delete(name); throw problem; }));
    }
    return files.get(name);
  };
  const lineOf = (state) => state.reduce((at, place, i) => at * page.controls[i].texts.length + place, 0);
  const find = async (state) => {
    const first = await opened("first", JSON.parse);
    return first[state.join()] ?? JSON.parse((await opened("all", (text) => text.split("\n")))[lineOf(state)]);
  };
  const ask = (state) => find(state).catch(async (problem) => { await failed(problem); return ask(state); });
  return ask;
}

/** Return functions to read a state from an address, by its preset or numbers, and to write its address. */
function addresses(topic, page) {
  const read = () => {
    const [, asked] = location.hash.match(`^#${topic}=(.*)$`) ?? [];
    if (!asked) return null;
    const wanted = decoded(asked);
    const preset = page.presets.find(({ name }) => name === wanted || slug(name) === wanted);
    return preset?.state ?? placesIn(wanted, page.controls.map(({ texts }) => texts.length));
  };
  const link = (state) => {
    const chosen = page.presets.find((one) => one.state.join() === state.join());
    return `#${topic}=${chosen ? slug(chosen.name) : state.join()}`;
  };
  return { read, link };
}

/** Replace the still image of an explorer with the explorer, whose first frame is in the page. */
function explorer(place) {
  const page = JSON.parse(place.querySelector("script").textContent);
  const { folder, topic, preset } = place.dataset;
  const { read, link } = addresses(topic, page);
  page.start = page.presets.find(({ name }) => name === preset)?.state ?? page.start;
  place.textContent = "";
  const notice = element("p", place, { class: "lnorm-offline", role: "status" });
  let failing = null; // a promise, until the reader tries again
  const failed = ({ isGone }) => {
    failing ??= new Promise((resolve) => {
      notice.textContent = `${isGone ? "This page is out of date" : "No connection"}, so the picture may not follow. `;
      const button = element("button", notice, { type: "button" }, isGone ? "Reload" : "Try again");
      button.onclick = () => {
        if (isGone) location.reload();
        if (notice.contains(document.activeElement)) place.querySelector(".lnorm-explorer button").focus();
        notice.textContent = "";
        failing = null;
        resolve();
      };
    });
    return failing;
  };
  const ask = fromFiles(folder, page, failed);
  const drawn = new Explorer(place, page, read() ?? page.start, { ask, link, changed() {} });
  const goThere = () => {
    const state = read();
    if (state) drawn.go(state);
    if (location.hash.startsWith(`#${topic}=`)) standAt(place);
  };
  addEventListener("hashchange", goThere);
  goThere();
}

if (typeof document !== "undefined") document.querySelectorAll(".lnorm-live").forEach(explorer);
