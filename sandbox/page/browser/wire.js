// @ts-check
// One stream for any number of tabs. It runs in a worker that all tabs of the browser share or, if there is none, in the tab.

/** @typedef {{ key: string, mark: string, html: string }} Piece */
/** @typedef {{ list: string, keys?: string[], items: Piece[] }} Patch */
/** @typedef {{ tab: string, at: string, awake: boolean, drawn: string }} Watched */
/** @typedef {{ ok: true } | { ok: false, because: "gone" | "lost" }} Watching */
/**
 * @typedef {{
 *   patches: (tab: string, patches: Patch[]) => void,
 *   up: (up: boolean) => void,
 *   live: (tab: string) => void,
 *   gone: (tab: string) => void,
 * }} Listener
 */

/** How long to wait before a refused stream is opened again (ms). The browser does not retry a refused stream. */
const RETRY_MS = 1000;

/** @param {Listener} listener */
export function createWire(listener) {
  /** @type {Map<string, Watched>} */
  const tabs = new Map();
  /** @type {EventSource | undefined} */
  let source;
  let stream = "";
  const inTurn = createTurns();
  const update = (/** @type {string} */ tab) => inTurn(() => sendState(tab));
  /** @param {string} tab */
  const sendState = async (tab) => {
    if (stream === "") return;
    const { at = null, awake = false, drawn = "" } = tabs.get(tab) ?? {};
    const answer = await post({ stream, tab, at, awake, drawn });
    if (answer.ok) return listener.live(tab);
    if (answer.because === "gone") listener.gone(tab);
    else reopen();
  };
  const close = () => {
    source?.close();
    stream = "";
  };
  const reopen = () => {
    close();
    open();
  };
  const open = () => {
    source = startStream(listener, (name, refused) => {
      stream = name;
      listener.up(name !== "");
      for (const tab of tabs.keys()) update(tab);
      if (refused) setTimeout(reopen, RETRY_MS);
    });
  };
  return {
    open,
    close,
    /** Adds or updates a tab. Null removes it. @param {string} tab @param {Watched | null} watched */
    watch: (tab, watched) => {
      if (watched === null) tabs.delete(tab);
      else tabs.set(tab, watched);
      update(tab);
    },
  };
}

/** Runs requests one after another, so that the newest state arrives last. */
function createTurns() {
  let queue = Promise.resolve();
  return (/** @type {() => Promise<void>} */ work) => {
    queue = queue.then(work).catch(() => undefined);
  };
}

/**
 * @param {Listener} listener
 * @param {(name: string, refused: boolean) => void} named  Called with the stream's name, which is empty while the stream is lost.
 */
function startStream(listener, named) {
  const source = new EventSource("/page/live");
  source.addEventListener("name", (event) => named(String(event.data), false));
  source.addEventListener("error", () => named("", source.readyState === EventSource.CLOSED));
  source.addEventListener("message", (event) => {
    const { tab, patches } = /** @type {{ tab: string, patches: Patch[] }} */ (
      JSON.parse(String(event.data))
    );
    listener.patches(tab, patches);
  });
  return source;
}

/**
 * @param {Record<string, unknown>} what
 * @returns {Promise<Watching>}
 */
async function post(what) {
  const headers = { "content-type": "application/json", "x-sandbox-page": "1" };
  const response = await fetch("/page/watch", { method: "POST", headers, body: JSON.stringify(what) });
  return /** @type {Watching} */ (await response.json());
}
