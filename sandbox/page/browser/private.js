// @ts-check
// Private messages. A dismissed message stays hidden in this tab.

const KEPT = "dismissed messages";

/** @returns {string[]} */
function dismissed() {
  return /** @type {string[]} */ (JSON.parse(sessionStorage.getItem(KEPT) ?? "[]"));
}

export function startDismissing() {
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-dismiss-message]") : null;
    const message = button?.closest("[data-message]");
    if (!message) return;
    sessionStorage.setItem(KEPT, JSON.stringify([...dismissed(), message.getAttribute("data-ts")]));
    const pane = message.closest("[data-pane]");
    hideDismissed();
    const composer = pane?.querySelector("[data-composer] textarea");
    if (composer instanceof HTMLElement) composer.focus({ preventScroll: true });
  });
  hideDismissed();
}

/** Hides dismissed messages. Called again after each redraw. */
export function hideDismissed() {
  const gone = new Set(dismissed());
  for (const message of document.querySelectorAll("[data-message][data-ephemeral]")) {
    const piece = message.closest("li");
    if (piece !== null && gone.has(message.getAttribute("data-ts") ?? "")) piece.hidden = true;
  }
}
