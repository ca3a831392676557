// An explorer as a widget that gets its frames from the kernel. Any anywidget host can show it.
// `panels.py` puts `explorer.js` before it, in one text.

const REST = 150; // milliseconds after which the kernel is told the controls' positions

function render({ model, el }) {
  const waiting = new Map(); // state → the requests that wait for its frame
  /** Send the kernel a message, if there still is one. */
  const tell = (act) => {
    try { act(); } catch (error) { console.debug(error); }
  };
  const take = (frame) => {
    for (const resolve of waiting.get(String(frame.state)) ?? []) resolve(frame);
    waiting.delete(String(frame.state));
  };
  let resting = 0;
  const save = () => {
    clearTimeout(resting);
    resting = 0;
    model.set("state", explorer.state);
    tell(() => model.save_changes());
  };
  const explorer = new Explorer(el, model.get("page"), model.get("state"), {
    ask: (state) => new Promise((resolve) => {
      waiting.set(String(state), [...waiting.get(String(state)) ?? [], resolve]);
      tell(() => model.send({ state }));
    }),
    changed: () => {
      clearTimeout(resting);
      resting = setTimeout(save, REST);
    },
  });
  const follow = () => { if (!resting) explorer.go(model.get("state")); };
  model.on("msg:custom", take);
  model.on("change:state", follow);
  return () => {
    model.off("msg:custom", take);
    model.off("change:state", follow);
    if (resting) save();
    explorer.close();
  };
}

export default { render };
