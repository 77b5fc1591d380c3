// @ts-check
// The worker that all tabs of one browser share. It holds the only stream, because a browser opens only six connections to one host.
import { createWire } from "./wire.js";

/** @typedef {import("./wire.js").Watched} Watched */

/** @type {Map<string, MessagePort>} */
const ports = new Map();
let up = true;

const wire = createWire({
  patches: (tab, patches) => ports.get(tab)?.postMessage({ patches }),
  live: (tab) => ports.get(tab)?.postMessage({ live: true }),
  gone: (tab) => ports.get(tab)?.postMessage({ gone: true }),
  up: (now) => {
    up = now;
    for (const port of ports.values()) port.postMessage({ up });
  },
});
wire.open();

addEventListener("connect", (event) => {
  const [port] = /** @type {MessageEvent} */ (event).ports;
  if (port === undefined) return;
  port.addEventListener("message", ({ data }) => {
    const watched = /** @type {Watched} */ (data);
    if (!ports.has(watched.tab)) join(watched.tab, port);
    wire.watch(watched.tab, watched);
  });
  port.start();
});

/**
 * A tab holds a lock with its name while it lives. Only the release of this lock shows that the tab was closed or has crashed.
 * @param {string} tab
 * @param {MessagePort} port
 */
function join(tab, port) {
  ports.set(tab, port);
  port.postMessage({ up });
  void navigator.locks.request(tab, () => {
    ports.delete(tab);
    wire.watch(tab, null);
  });
}
