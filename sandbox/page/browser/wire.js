// @ts-check
// One stream for any number of tabs. It runs in a worker that all tabs of the browser share or, where there is none, in the tab.

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
 * }} Hears
 */

/** A refused stream is not tried again by the browser itself (ms). */
const AGAIN_MS = 1000;

/** @param {Hears} hears */
export function createWire(hears) {
  /** @type {Map<string, Watched>} */
  const tabs = new Map();
  /** @type {EventSource | undefined} */
  let source;
  let stream = "";
  const inTurn = createTurns();
  const tell = (/** @type {string} */ tab) => inTurn(() => say(tab));
  /** @param {string} tab */
  const say = async (tab) => {
    if (stream === "") return;
    const { at = null, awake = false, drawn = "" } = tabs.get(tab) ?? {};
    const answer = await post({ stream, tab, at, awake, drawn });
    if (answer.ok) return hears.live(tab);
    if (answer.because === "gone") hears.gone(tab);
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
    source = startStream(hears, (name, refused) => {
      stream = name;
      hears.up(name !== "");
      for (const tab of tabs.keys()) tell(tab);
      if (refused) setTimeout(reopen, AGAIN_MS);
    });
  };
  return {
    open,
    close,
    /** Null: the tab is gone. @param {string} tab @param {Watched | null} watched */
    watch: (tab, watched) => {
      if (watched === null) tabs.delete(tab);
      else tabs.set(tab, watched);
      tell(tab);
    },
  };
}

/** One after the other, so that the newest is the last to arrive. */
function createTurns() {
  let queue = Promise.resolve();
  return (/** @type {() => Promise<void>} */ work) => {
    queue = queue.then(work).catch(() => undefined);
  };
}

/**
 * @param {Hears} hears
 * @param {(name: string, refused: boolean) => void} named  The stream's name; empty while it is lost.
 */
function startStream(hears, named) {
  const source = new EventSource("/page/live");
  source.addEventListener("name", (event) => named(String(event.data), false));
  source.addEventListener("error", () => named("", source.readyState === EventSource.CLOSED));
  source.addEventListener("message", (event) => {
    const { tab, patches } = /** @type {{ tab: string, patches: Patch[] }} */ (
      JSON.parse(String(event.data))
    );
    hears.patches(tab, patches);
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
