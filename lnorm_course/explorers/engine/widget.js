// A Jupyter widget made of `mount`, whose source of frames is the kernel.

/** Tell the kernel, if there still is one: without it, what is prepared goes on moving. */
function tell(act) {
  try { act(); } catch (error) { console.debug(error); }
}

function render({ model, el }) {
  const page = model.get("page");
  const names = page.controls.map((control) => control.name);
  const read = () =>
    page.controls.map(({ name, kind, values }) => {
      const value = model.get(name);
      if (kind === "button") return value;
      return values.includes(value) ? values.indexOf(value) : nearest(values, value);
    });
  let isOurs = false;
  // A frame that is awaited goes first: the kernel draws slowly while it hears of changes. Until it
  // has heard of the reader's choice, what it says itself is older.
  let [awaiting, chosen] = [0, null];
  const save = () => {
    clearTimeout(awaiting);
    awaiting = 0;
    if (!chosen) return;
    isOurs = true;
    page.controls.forEach(({ name, values }, i) => model.set(name, values ? values[chosen[i]] : chosen[i]));
    isOurs = false;
    chosen = null;
    tell(() => model.save_changes());
  };
  const explorer = mount(el, page, read(), {
    ask: (message) => {
      if (message.now) awaiting ||= setTimeout(save, REST);
      tell(() => model.send(message));
    },
    changed: (state) => {
      chosen = state;
      if (!awaiting) save();
    },
  });
  let isFollowing = false;
  const follow = () => { // all controls at once, when the last of them has changed
    if (isOurs || isFollowing) return;
    isFollowing = true;
    queueMicrotask(() => {
      isFollowing = false;
      if (!chosen) explorer.go(read());
    });
  };
  const take = async (content, [zipped]) => {
    const stream = zipped && new Blob([zipped]).stream().pipeThrough(new DecompressionStream("gzip"));
    await explorer.receive(stream ? { frames: await new Response(stream).json() } : content);
    if (awaiting) save();
  };
  model.on("msg:custom", take);
  names.forEach((name) => model.on(`change:${name}`, follow));
  return () => {
    model.off("msg:custom", take);
    names.forEach((name) => model.off(`change:${name}`, follow));
    if (awaiting) save();
    explorer.close();
  };
}

export default { render };
