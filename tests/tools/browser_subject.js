// Runs in the page before anything else: what `browser_subject.py` needs there.

/** Every message to and from the kernel passes here: it can be late, or not be sent. */
const GIVE_UP = 5000;
const network = (window.network = { delay: 0, withoutAhead: false, last: 0 });

window.WebSocket = class extends WebSocket {
  constructor(...all) {
    super(...all);
    super.addEventListener("message", (event) => late(() => this.hear?.(event)));
  }
  set onmessage(hear) { this.hear = hear; }
  get onmessage() { return this.hear; }
  send(data) {
    if (network.withoutAhead && asText(data).includes('"next"')) return;
    late(() => this.readyState === WebSocket.OPEN && super.send(data));
  }
};

function late(act) {
  network.last = performance.now();
  if (!network.delay) act();
  else setTimeout(() => { network.last = performance.now(); act(); }, network.delay);
}

function asText(data) {
  return typeof data === "string" ? data : new TextDecoder().decode(data);
}

/** Wait until no message has come or gone for a while. */
window.quiet = (calm, most) => new Promise((resolve) => {
  const start = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - Math.max(network.last, start) < calm + 2 * network.delay && now - start < most) return;
    clearInterval(timer);
    resolve();
  }, 20);
});

/** What a picture shows, as one text; empty while it is blank. */
window.shown = (output) => [...output.querySelectorAll("img, .sheet > svg, p")]
  .map((e) => (e.tagName === "IMG" ? (e.complete && e.naturalWidth ? e.src : "") : e.outerHTML))
  .join("");

/** Do what the browser does at a key; keys that a script makes do not move its own sliders. */
window.send = (key) => {
  const slider = document.activeElement;
  if (slider.type !== "range") {
    slider.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    return;
  }
  if (key === "ArrowRight") slider.stepUp();
  else slider.stepDown();
  slider.dispatchEvent(new Event("input", { bubbles: true }));
};

// A picture is read again only when the page has changed: reading costs time that is measured.
function changes(output) {
  const seen = { picture: shown(output), unread: false };
  const observer = new MutationObserver(() => { seen.unread = true; });
  observer.observe(output, { subtree: true, childList: true, attributes: true, characterData: true });
  seen.next = () => {
    if (!seen.unread) return false;
    const before = seen.picture;
    seen.picture = shown(output);
    seen.unread = !seen.picture;
    return seen.picture !== before;
  };
  seen.end = () => observer.disconnect();
  return seen;
}

const frame = () => new Promise(requestAnimationFrame);
const painted = () => new Promise((resolve) => { setTimeout(resolve, 0); });

/** The time from one frame to the next. */
window.frameTime = async () => {
  const times = [await frame()];
  for (let i = 0; i < 120; i += 1) times.push(await frame());
  const between = times.slice(1).map((time, i) => time - times[i]).sort((a, b) => a - b);
  return between[60];
};

/** The time from a key press, `wait` after a frame, until another picture has been painted. */
window.press = async (output, key, wait) => {
  const seen = changes(output);
  const begin = await frame();
  await painted();
  while (performance.now() < begin + wait);
  const start = performance.now();
  send(key);
  do await frame(); while (!(seen.next() && seen.picture) && performance.now() < start + GIVE_UP);
  await painted();
  seen.end();
  return performance.now() - start;
};

/** Send keys at even times, and look at every frame. */
window.drag = async (output, keys, milliseconds, rest) => {
  const seen = changes(output);
  const start = performance.now();
  let [sent, blank, pictures, changed, lastKey] = [0, 0, 0, start, start];
  const timer = setInterval(() => {
    send(keys[sent]);
    sent += 1;
    lastKey = performance.now();
    if (sent === keys.length) clearInterval(timer);
  }, milliseconds / keys.length);
  while (sent < keys.length || performance.now() - lastKey < rest) {
    await frame();
    if (seen.next() && seen.picture) { pictures += 1; changed = performance.now(); }
    if (!seen.picture) blank += 1;
  }
  seen.end();
  return { pictures, blank, after: Math.max(0, changed - lastKey), picture: seen.picture };
};
