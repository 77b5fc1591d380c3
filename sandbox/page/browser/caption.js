// @ts-check
// The newest caption of a scene. An open form makes the rest of the page inert, so the caption moves into the form.

const HIDDEN = "caption hidden";

/** The bar that holds the caption. Only its contents are redrawn. @type {HTMLElement | null} */
const bar = document.querySelector("[data-caption-bar]");
/** The element before the bar while no form is open. */
const before = bar?.previousElementSibling ?? null;

export function startCaption() {
  document.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element) || target.closest("[data-caption-close]") === null) return;
    localStorage.setItem(HIDDEN, captionIn()?.getAttribute("data-of") ?? "");
    showCaption();
  });
  // A browser may close a form by itself. The event does not bubble, so listen in the capture phase.
  document.addEventListener("close", showCaption, true);
  showCaption();
}

const captionIn = () => bar?.querySelector("[data-caption]") ?? null;

export function showCaption() {
  const caption = captionIn();
  const shown = caption !== null && caption.getAttribute("data-of") !== localStorage.getItem(HIDDEN);
  bar?.toggleAttribute("data-shown", shown);
  const plays = shown && caption.getAttribute("data-caption") === "playing";
  move(plays ? document.querySelector("dialog[data-modal][open]") : null);
}

/** Moves the bar out of a form that is about to be removed, so that new captions can find it. @param {Element} going */
export function saveCaption(going) {
  if (going.contains(bar)) move(null);
}

/** @param {Element | null} form  Null to move the bar back to the page. */
function move(form) {
  if (bar === null || bar.parentElement === (form ?? before?.parentElement)) return;
  const focused = bar.contains(document.activeElement) ? document.activeElement : null;
  if (form === null) before?.after(bar);
  else form.prepend(bar);
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
}
