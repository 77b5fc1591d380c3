// @ts-check
// Takes the changes the sandbox streams and puts them into the page, leaving alone what did not change: a text being typed, an
// opened detail, the focus and the place one has scrolled to.

/** @typedef {{ key: string, mark: string, html: string }} Piece */
/** @typedef {{ list: string, keys?: string[], items: Piece[] }} Patch */

/** Near enough to the end to count as reading the newest. */
const END_PIXELS = 60;

/** @param {{ replaced: (before: HTMLElement, after: HTMLElement) => void, applied: () => void }} hooks */
export function goLive(hooks) {
  /** @type {EventSource | undefined} */
  let source;
  const lost = /** @type {HTMLElement | null} */ (document.querySelector("[data-lost]"));
  const open = () => {
    source = new EventSource(`/page/live?at=${encodeURIComponent(document.body.dataset["place"] ?? "")}`);
    source.addEventListener("open", () => lost?.toggleAttribute("hidden", true));
    source.addEventListener("error", () => lost?.toggleAttribute("hidden", false));
    source.addEventListener("message", (event) => {
      const patches = /** @type {Patch[]} */ (JSON.parse(String(event.data)));
      keepingScroll(() => patches.forEach((patch) => apply(patch, hooks.replaced)));
      hooks.applied();
    });
  };
  // A browser allows six connections to one host; tabs in the background must not use them up.
  document.addEventListener("visibilitychange", () => {
    source?.close();
    if (document.visibilityState === "visible") open();
  });
  if (document.visibilityState === "visible") open();
}

/**
 * @param {Patch} patch
 * @param {(before: HTMLElement, after: HTMLElement) => void} replaced
 */
function apply(patch, replaced) {
  const list = document.querySelector(`[data-list="${patch.list}"]`);
  if (list === null) return;
  const nodes = new Map([...list.children].map((node) => [node.getAttribute("data-key") ?? "", node]));
  for (const piece of patch.items) {
    const before = nodes.get(piece.key);
    if (before?.getAttribute("data-mark") === piece.mark) continue;
    const after = parse(piece.html);
    if (before instanceof HTMLElement) nodes.set(piece.key, replace(before, after, replaced));
    else nodes.set(piece.key, list.appendChild(after));
  }
  if (patch.keys !== undefined) order(list, nodes, patch.keys);
}

/**
 * @param {Element} list
 * @param {Map<string, Element>} nodes
 * @param {string[]} keys
 */
function order(list, nodes, keys) {
  const wanted = new Set(keys);
  for (const [key, node] of nodes) if (!wanted.has(key)) node.remove();
  keys.forEach((key, i) => {
    const node = nodes.get(key);
    if (node !== undefined && list.children[i] !== node) list.insertBefore(node, list.children[i] ?? null);
  });
}

/** @param {string} html */
function parse(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  return /** @type {HTMLElement} */ (template.content.firstElementChild);
}

/**
 * @param {HTMLElement} before
 * @param {HTMLElement} after
 * @param {(before: HTMLElement, after: HTMLElement) => void} replaced
 */
function replace(before, after, replaced) {
  const details = [...before.querySelectorAll("details")].map((one) => one.open);
  after.querySelectorAll("details").forEach((one, i) => (one.open = details[i] ?? one.open));
  const focus = before.contains(document.activeElement) ? pathTo(document.activeElement) : null;
  replaced(before, after);
  const now = swap(before, after);
  const again =
    now.querySelector('[aria-invalid="true"]') ?? (focus === null ? null : now.querySelector(focus));
  if (focus !== null && again instanceof HTMLElement) again.focus({ preventScroll: true });
  return now;
}

/**
 * An open modal gets new contents and stays open: a new dialog would flicker.
 * @param {HTMLElement} before
 * @param {HTMLElement} after
 */
function swap(before, after) {
  const open = before.querySelector(":scope > dialog[open]");
  const drawn = after.querySelector(":scope > dialog");
  if (open === null || drawn === null) {
    before.replaceWith(after);
    return after;
  }
  open.replaceChildren(...drawn.childNodes);
  before.setAttribute("data-mark", after.getAttribute("data-mark") ?? "");
  return before;
}

/**
 * How to find an element again after its piece was drawn anew.
 * @param {Element | null} element
 * @returns {string | null}
 */
export function pathTo(element) {
  if (!(element instanceof HTMLElement)) return null;
  if (element.id !== "") return `#${CSS.escape(element.id)}`;
  const { action, block } = element.dataset;
  const at = element.closest("[data-message]")?.id;
  const within = at === undefined ? "" : `#${CSS.escape(at)} `;
  if (action !== undefined) {
    return `${within}[data-block="${CSS.escape(block ?? "")}"][data-action="${CSS.escape(action)}"]`;
  }
  const href = element.getAttribute("href");
  return href === null ? null : `a[href="${CSS.escape(href)}"]`;
}

/** @param {() => void} change */
function keepingScroll(change) {
  const scrollers = [...document.querySelectorAll("[data-scroll]:has(> ol)")].map((node) => ({
    node,
    atEnd: isAtEnd(node),
    last: lastKey(node),
  }));
  change();
  for (const { node, atEnd, last } of scrollers) {
    if (node.querySelector('[data-list="traffic"]') !== null) continue;
    if (atEnd) node.scrollTop = node.scrollHeight;
    else if (lastKey(node) !== last) newBelow(node)?.removeAttribute("hidden");
  }
}

/** @param {Element} node */
function lastKey(node) {
  return node.querySelector("ol")?.lastElementChild?.getAttribute("data-key") ?? null;
}

/** @param {Element} node */
function isAtEnd(node) {
  return node.scrollHeight - node.scrollTop - node.clientHeight < END_PIXELS;
}

/** @param {Element} scroller */
function newBelow(scroller) {
  return scroller.parentElement?.querySelector("[data-new]");
}

/** Starts at the newest message unless the address names one, and offers the way down when something came meanwhile. */
export function startAtEnd() {
  for (const node of document.querySelectorAll("[data-scroll]:has(> ol)")) {
    const named =
      location.hash !== "" && node.querySelector(`#${CSS.escape(location.hash.slice(1))}`) !== null;
    const traffic = node.querySelector('[data-list="traffic"]') !== null;
    if (!named && !traffic) node.scrollTop = node.scrollHeight;
    const button = newBelow(node);
    button?.addEventListener("click", () => {
      node.scrollTop = node.scrollHeight;
      button.setAttribute("hidden", "");
    });
    node.addEventListener("scroll", () => isAtEnd(node) && button?.setAttribute("hidden", ""), {
      passive: true,
    });
  }
}
