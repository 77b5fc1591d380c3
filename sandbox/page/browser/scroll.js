// @ts-check
// Keeps the scroll position. A reader at the end stays at the end. For all others, a button counts what arrived below.

/** A reader this close to the end counts as reading the newest piece. */
const END_PIXELS = 60;

const SCROLLERS =
  '[data-scroll]:has(> :is([data-list="messages"], [data-list="replies"], [data-list="traffic"]))';

/** The lists that are scrolled to their end. Only the reader's scrolling changes this, never a layout change. @type {WeakSet<Element>} */
const following = new WeakSet();

/** The key of the first piece that arrived while the reader was further up. @type {WeakMap<Element, string>} */
const firstNew = new WeakMap();

/** @param {() => void} change */
export function keepingScroll(change) {
  const before = [...document.querySelectorAll(SCROLLERS)].map((node) => ({
    node,
    atEnd: following.has(node),
    lastKey: keyOf(listOf(node)?.lastElementChild),
  }));
  change();
  for (const { node, atEnd, lastKey } of before) {
    const came = after(node, lastKey);
    if (came === null) continue;
    if (atEnd) {
      forget(node);
      node.scrollTop = node.scrollHeight;
    } else if (!firstNew.has(node)) firstNew.set(node, keyOf(came) ?? "");
  }
  for (const { node, atEnd } of before) {
    if (atEnd) node.scrollTop = node.scrollHeight;
    else mark(node);
  }
}

/**
 * Returns the first piece after the former last piece. Null if nothing was added below.
 * @param {Element} node
 * @param {string | null} lastKey
 */
function after(node, lastKey) {
  const list = listOf(node);
  if (list === null || keyOf(list.lastElementChild) === lastKey) return null;
  const pieces = [...list.children];
  const at = pieces.findLastIndex((one) => keyOf(one) === lastKey);
  return pieces[at + 1] ?? null;
}

/** Draws the line above the first new piece, and shows the number of new pieces on the button. @param {Element} node */
function mark(node) {
  const list = listOf(node);
  const key = firstNew.get(node);
  const pieces = [...(list?.children ?? [])];
  const at = key === undefined ? -1 : pieces.findIndex((one) => keyOf(one) === key);
  pieces.forEach((one, i) => one.toggleAttribute("data-first-new", i === at));
  const button = newBelow(node);
  if (button === null || at < 0) return;
  const newCount = pieces.length - at;
  const what = list?.getAttribute("data-list") === "traffic" ? "line" : "message";
  button.textContent = `${newCount} new ${what}${newCount === 1 ? "" : "s"} ↓`;
  button.removeAttribute("hidden");
}

/** @param {Element} node */
function forget(node) {
  firstNew.delete(node);
  mark(node);
  newBelow(node)?.setAttribute("hidden", "");
}

/** @param {Element} node */
function listOf(node) {
  return node.querySelector(":scope > ol[data-list]");
}

/** @param {Element | null | undefined} piece */
function keyOf(piece) {
  return piece?.getAttribute("data-key") ?? null;
}

/** @param {Element} node */
function isAtEnd(node) {
  return node.scrollHeight - node.scrollTop - node.clientHeight < END_PIXELS;
}

/** @param {Element} scroller */
function newBelow(scroller) {
  return scroller.parentElement?.querySelector("[data-new]") ?? null;
}

/** Starts at the newest piece, unless the address names a message. A button leads down when something new arrives. */
export function startAtEnd() {
  for (const node of document.querySelectorAll(SCROLLERS)) {
    const named =
      location.hash !== "" && node.querySelector(`#${CSS.escape(location.hash.slice(1))}`) !== null;
    if (!named) node.scrollTop = node.scrollHeight;
    const button = newBelow(node);
    button?.addEventListener("click", () => {
      node.scrollTop = node.scrollHeight;
      button.setAttribute("hidden", "");
    });
    stickToEnd(node);
    // The line above the first new message stays until the next message arrives, for readers who scroll down.
    node.addEventListener("scroll", () => isAtEnd(node) && button?.setAttribute("hidden", ""), {
      passive: true,
    });
  }
}

/** Brings the reader to the end, where the answer to what they did appears, and keeps them there. @param {Element} node */
export function goToEnd(node) {
  following.add(node);
  forget(node);
  node.scrollTop = node.scrollHeight;
}

/**
 * A list at its end stays there when its height changes, for example for a caption or a long draft, and when a message grows, but not when
 * the reader opens something in it.
 * @param {Element} node
 */
function stickToEnd(node) {
  let sizes = sizesOf(node);
  if (isAtEnd(node)) following.add(node);
  const scrolled = () => {
    if (isAtEnd(node)) following.add(node);
    // A browser scrolls by itself when heights change. If the heights are the same, the reader scrolled.
    else if (sizes === sizesOf(node)) following.delete(node);
  };
  node.addEventListener("scroll", scrolled, { passive: true });
  node.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("summary") !== null) following.delete(node);
  });
  const resized = new ResizeObserver(() => {
    sizes = sizesOf(node);
    if (following.has(node)) node.scrollTop = node.scrollHeight;
  });
  for (const element of [node, ...node.children]) resized.observe(element);
}

/** @param {Element} node */
function sizesOf({ scrollHeight, clientHeight }) {
  return `${scrollHeight} ${clientHeight}`;
}

/** Scrolls to the message. A message taller than its pane is aligned with the top of the pane. @param {Element} message */
export function bringIntoView(message) {
  const scroller = message.closest("[data-scroll]");
  const pane = scroller?.getBoundingClientRect();
  if (!scroller || pane === undefined) return;
  const { top, bottom, height } = message.getBoundingClientRect();
  if (top >= pane.top && bottom <= pane.bottom) return;
  message.scrollIntoView({ block: height > pane.height ? "start" : "nearest", behavior: "instant" });
  if (!isAtEnd(scroller)) following.delete(scroller);
}
