// @ts-check
// How this tab receives changes: through the worker that all tabs share or, if there is none, over its own stream.
import { createWire } from "./wire.js";

/** @typedef {import("./wire.js").Patch} Patch */
/** @typedef {import("./wire.js").Watched} Watched */
/** @typedef {import("./wire.js").Listener} Listener */

/**
 * @param {string} tab
 * @param {Listener} listener
 * @returns {(watched: Watched) => void}
 */
export function connect(tab, listener) {
  if (typeof SharedWorker === "undefined") return connectAlone(listener);
  const worker = new SharedWorker(new URL("hub.js", import.meta.url), { type: "module" });
  /** @type {ReturnType<typeof connectAlone> | undefined} */
  let alone;
  /** @type {Watched | undefined} */
  let newest;
  worker.port.addEventListener("message", ({ data }) => {
    const message = /** @type {{ patches?: Patch[], up?: boolean, live?: true, gone?: true }} */ (data);
    if (message.patches !== undefined) listener.patches(tab, message.patches);
    if (message.up !== undefined) listener.up(message.up);
    if (message.live) listener.live(tab);
    if (message.gone) listener.gone(tab);
  });
  worker.addEventListener("error", () => {
    alone ??= connectAlone(listener);
    if (newest !== undefined) alone(newest);
  });
  worker.port.start();
  const held = new Promise((resolve) => {
    // Never released by the tab itself, so the lock ends only with the tab.
    void navigator.locks.request(tab, () => new Promise(() => resolve(undefined)));
  });
  return (watched) => {
    newest = watched;
    if (alone !== undefined) alone(watched);
    else void held.then(() => worker.port.postMessage(watched));
  };
}

/**
 * Opens a stream for this tab alone. It is closed while the tab is hidden, because a browser opens only six connections.
 * @param {Listener} listener
 */
function connectAlone(listener) {
  const wire = createWire(listener);
  let open = false;
  return (/** @type {Watched} */ watched) => {
    wire.watch(watched.tab, watched);
    if (open === watched.awake) return;
    open = watched.awake;
    if (open) wire.open();
    else wire.close();
  };
}
