// @ts-check
// How this tab hears of changes: through the worker that all tabs share or, where there is none, by a stream of its own.
import { createWire } from "./wire.js";

/** @typedef {import("./wire.js").Patch} Patch */
/** @typedef {import("./wire.js").Watched} Watched */
/** @typedef {import("./wire.js").Hears} Hears */

/**
 * @param {string} tab
 * @param {Hears} hears
 * @returns {(watched: Watched) => void}
 */
export function connect(tab, hears) {
  if (typeof SharedWorker === "undefined") return connectAlone(hears);
  const worker = new SharedWorker(new URL("hub.js", import.meta.url), { type: "module" });
  /** @type {ReturnType<typeof connectAlone> | undefined} */
  let alone;
  /** @type {Watched | undefined} */
  let newest;
  worker.port.addEventListener("message", ({ data }) => {
    const news = /** @type {{ patches?: Patch[], up?: boolean, live?: true, gone?: true }} */ (data);
    if (news.patches !== undefined) hears.patches(tab, news.patches);
    if (news.up !== undefined) hears.up(news.up);
    if (news.live) hears.live(tab);
    if (news.gone) hears.gone(tab);
  });
  worker.addEventListener("error", () => {
    alone ??= connectAlone(hears);
    if (newest !== undefined) alone(newest);
  });
  worker.port.start();
  const held = new Promise((resolve) => {
    // Never let go: it is gone when the tab is.
    void navigator.locks.request(tab, () => new Promise(() => resolve(undefined)));
  });
  return (watched) => {
    newest = watched;
    if (alone !== undefined) alone(watched);
    else void held.then(() => worker.port.postMessage(watched));
  };
}

/**
 * A stream for this tab alone; it must not hold one of the six connections while nobody looks.
 * @param {Hears} hears
 */
function connectAlone(hears) {
  const wire = createWire(hears);
  let open = false;
  return (/** @type {Watched} */ watched) => {
    wire.watch(watched.tab, watched);
    if (open === watched.awake) return;
    open = watched.awake;
    if (open) wire.open();
    else wire.close();
  };
}
