// @ts-check
// Replaces a piece with its new drawing. Opened details and confirmations stay open, and the focus and the caret stay where they are. If the
// focused element is gone from the modal, the content of the modal gets the focus. A new error takes the focus to its field.
import { errorsIn, newlyInvalid } from "./form.js";

/**
 * @param {HTMLElement} before
 * @param {HTMLElement} after
 * @param {(before: HTMLElement, after: HTMLElement) => void} replaced
 */
export function replace(before, after, replaced) {
  keepOpen(before, after);
  const focused = document.activeElement;
  const hadFocus = before.contains(focused);
  const focus = hadFocus ? pathTo(focused) : null;
  const setCaret = caretOf(focused);
  const errors = errorsIn(before);
  replaced(before, after);
  const askAgain = keepAsking(before, after);
  const now = swap(before, after);
  const again =
    newlyInvalid(now, errors) ??
    (focus === null ? null : now.querySelector(focus)) ??
    now.querySelector("dialog[data-modal][open] [data-blocks]");
  if (hadFocus && again instanceof HTMLElement) again.focus({ preventScroll: true });
  if (again !== null && again.id === focused?.id) setCaret(again);
  askAgain();
  return now;
}

/**
 * Returns a function that sets the same selection in the new drawing of a text field.
 * @param {Element | null} field
 * @returns {(now: Element) => void}
 */
function caretOf(field) {
  if (!isText(field)) return () => undefined;
  const { selectionStart, selectionEnd, selectionDirection } = field;
  return (now) =>
    isText(now) && now.setSelectionRange(selectionStart, selectionEnd, selectionDirection ?? "none");
}

/** @param {Element | null} field @returns {field is HTMLInputElement | HTMLTextAreaElement} */
function isText(field) {
  return field instanceof HTMLTextAreaElement || (field instanceof HTMLInputElement && field.type === "text");
}

/**
 * Moves an open confirmation into the new drawing, because a person is about to answer it. Returns a function that shows it again.
 * @param {HTMLElement} before
 * @param {HTMLElement} after
 * @returns {() => void}
 */
function keepAsking(before, after) {
  const asking = before.querySelector("dialog[data-confirm][open]");
  const drawn = asking === null ? null : after.querySelector(`#${CSS.escape(asking.id)}`);
  if (!(asking instanceof HTMLDialogElement) || drawn === null) return () => undefined;
  const focused = asking.contains(document.activeElement) ? document.activeElement : null;
  drawn.replaceWith(asking);
  return () => {
    asking.removeAttribute("open");
    asking.showModal();
    if (focused instanceof HTMLElement) focused.focus();
  };
}

/**
 * Carries over which details are open. They are matched by their summary without its numbers, which may count, and by their order.
 * @param {HTMLElement} before
 * @param {HTMLElement} after
 */
function keepOpen(before, after) {
  const old = namedDetails(before);
  for (const [name, details] of namedDetails(after)) details.open = old.get(name)?.open ?? details.open;
}

/**
 * @param {HTMLElement} within
 * @returns {Map<string, HTMLDetailsElement>}
 */
function namedDetails(within) {
  /** @type {Map<string, HTMLDetailsElement>} */
  const named = new Map();
  for (const details of within.querySelectorAll("details")) {
    const words = (details.querySelector("summary")?.textContent ?? "").replace(/\d+/g, "");
    let name = words;
    for (let i = 1; named.has(name); i += 1) name = `${words} ${i}`;
    named.set(name, details);
  }
  return named;
}

/**
 * Replaces the contents of an open modal, because a new dialog would flicker. The caption bar in it stays.
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
  const above = open.querySelector(":scope > [data-caption-bar]");
  while (open.lastChild !== above) open.lastChild?.remove();
  open.append(...drawn.childNodes);
  before.setAttribute("data-mark", after.getAttribute("data-mark") ?? "");
  return before;
}

/**
 * Returns a selector that finds the element again after its piece was redrawn. Null if there is none.
 * @param {Element | null} element
 * @returns {string | null}
 */
export function pathTo(element) {
  if (!(element instanceof HTMLElement)) return null;
  if (element.id !== "") return `#${CSS.escape(element.id)}`;
  const { action, block, control, args } = element.dataset;
  const at = element.closest("[data-message]")?.id;
  const within = at === undefined ? "" : `#${CSS.escape(at)} `;
  // An option has no id of its own.
  if (element instanceof HTMLInputElement && element.closest("[data-choices]") !== null)
    return `${within}[name="${CSS.escape(element.name)}"][value="${CSS.escape(element.value)}"]`;
  if (action !== undefined) {
    return `${within}[data-block="${CSS.escape(block ?? "")}"][data-action="${CSS.escape(action)}"]`;
  }
  if (control !== undefined) {
    const which = args === undefined ? "" : `[data-args="${CSS.escape(args)}"]`;
    return `[data-control="${CSS.escape(control)}"]${which}`;
  }
  const href = element.getAttribute("href");
  return href === null ? null : `a[href="${CSS.escape(href)}"]`;
}
