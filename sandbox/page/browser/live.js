// @ts-check
// Applies the changes that the sandbox streams. Everything else stays as it is: text being typed, opened details, the focus and the
// scroll position.
import { connect } from "./connection.js";
import { replace } from "./redraw.js";
import { keepingScroll } from "./scroll.js";

export { pathTo } from "./redraw.js";

/** @typedef {import("./wire.js").Patch} Patch */
/**
 * @typedef {object} Hooks
 * @property {(before: HTMLElement, after: HTMLElement) => void} replaced  Called before a piece is redrawn.
 * @property {(piece: Element) => void} removed  Called before a piece is removed.
 * @property {() => void} applied  Called after all received changes are in the page.
 */

/** Changes are applied after this time at the latest (ms), because hidden tabs draw no frames. */
const FRAME_MS = 100;

/** @param {Hooks} hooks */
export function goLive(hooks) {
  const { place: at, drawn = "" } = document.body.dataset;
  if (at === undefined) return;
  const tab = `tab ${crypto.randomUUID()}`;
  const lost = document.querySelector("[data-lost]");
  const listener = {
    patches: (/** @type {string} */ _tab, /** @type {Patch[]} */ patches) => gather(patches, hooks),
    up: (/** @type {boolean} */ up) => void lost?.toggleAttribute("hidden", up),
    live: () => void (document.body.dataset["live"] = ""),
    gone: () => location.reload(),
  };
  const watch = connect(tab, listener);
  const report = () => watch({ tab, at, drawn, awake: document.visibilityState === "visible" });
  document.addEventListener("visibilitychange", report);
  // A page restored from the back/forward cache has lost its stream.
  addEventListener("pageshow", (event) => event.persisted && location.reload());
  report();
}

/** @type {Patch[]} */
let gathered = [];
let planned = false;

/**
 * Collects changes, and applies all of them at the next frame.
 * @param {Patch[]} patches
 * @param {Hooks} hooks
 */
function gather(patches, hooks) {
  gathered.push(...patches);
  if (planned) return;
  planned = true;
  const draw = () => {
    if (!planned) return;
    planned = false;
    const now = gathered;
    gathered = [];
    keepingScroll(() => {
      for (const patch of now) take(patch, hooks);
      hooks.applied();
    });
  };
  requestAnimationFrame(draw);
  setTimeout(draw, FRAME_MS);
}

/** Paused lists, each with the changes that wait for it. @type {Map<string, Patch[]>} */
const held = new Map();

/** @param {string} list */
export function hold(list) {
  held.set(list, []);
}

/**
 * @param {string} list
 * @param {Hooks} hooks
 */
export function release(list, hooks) {
  const patches = held.get(list) ?? [];
  held.delete(list);
  if (patches.length > 0) gather(patches, hooks);
}

/** Returns how many changes wait for a paused list. @param {string} list */
export function waiting(list) {
  return held.get(list)?.reduce((sum, patch) => sum + patch.items.length, 0) ?? 0;
}

/**
 * @param {Patch} patch
 * @param {Hooks} hooks
 */
function take(patch, hooks) {
  const still = held.get(patch.list);
  if (still === undefined) apply(patch, hooks);
  else still.push(patch);
}

/**
 * @param {Patch} patch
 * @param {Hooks} hooks
 */
function apply(patch, { replaced, removed }) {
  const list = document.querySelector(`[data-list="${patch.list}"]`);
  if (list === null) return;
  const nodes = new Map([...list.children].map((node) => [node.getAttribute("data-key") ?? "", node]));
  const fresh = document.createDocumentFragment();
  for (const piece of patch.items) {
    const before = nodes.get(piece.key);
    if (before?.getAttribute("data-mark") === piece.mark) continue;
    const after = parse(piece.html);
    if (before instanceof HTMLElement) nodes.set(piece.key, replace(before, after, replaced));
    else nodes.set(piece.key, fresh.appendChild(after));
  }
  list.append(fresh);
  if (patch.keys === undefined) return;
  for (const [key, node] of nodes) if (!patch.keys.includes(key)) removed(node);
  order(list, nodes, patch.keys);
}

/**
 * @param {Element} list
 * @param {Map<string, Element>} nodes
 * @param {string[]} keys
 */
function order(list, nodes, keys) {
  const wanted = new Set(keys);
  for (const [key, node] of nodes) if (!wanted.has(key)) node.remove();
  let next = list.firstElementChild;
  for (const key of keys) {
    const node = nodes.get(key);
    if (node === undefined) continue;
    if (node === next) next = next.nextElementSibling;
    else list.insertBefore(node, next);
  }
}

/** @param {string} html */
function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return /** @type {HTMLElement} */ (template.content.firstElementChild);
}
