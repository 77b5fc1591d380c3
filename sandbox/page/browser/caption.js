// @ts-check
// The newest caption of a scene. An open form makes the rest of the page inert, so the caption moves into the form.

/** Names the play whose caption was closed in this browser. */
const HIDDEN = "caption hidden";
/** Names the finished play whose caption this tab no longer shows. */
const LEFT = "caption left";
/** Names the finished play whose caption this tab has shown, and where. */
const SEEN = "caption seen";
/** Names the play that this tab has watched. */
const WATCHED = "caption watched";
/** How long a finished caption stays without being touched (ms). */
const STAYS_MS = 60_000;

/** The bar that holds the caption. Only its contents are redrawn. @type {HTMLElement | null} */
const bar = document.querySelector("[data-caption-bar]");
/** The element before the bar while no form is open. */
const before = bar?.previousElementSibling ?? null;

export function startCaption() {
  document.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element) || target.closest("[data-caption-close]") === null) return;
    localStorage.setItem(HIDDEN, playIn(captionIn()));
    showCaption();
  });
  // A browser may close a form by itself. The event does not bubble, so listen in the capture phase.
  document.addEventListener("close", showCaption, true);
  const play = playIn(captionIn());
  // A scene that was over before this tab came is shown only in the list of scenes.
  if (isOver(captionIn()) && play !== sessionStorage.getItem(WATCHED)) sessionStorage.setItem(LEFT, play);
  showCaption();
}

const captionIn = () => bar?.querySelector("[data-caption]") ?? null;
/** @param {Element | null} caption */
const playIn = (caption) => caption?.getAttribute("data-of") ?? "";
/** @param {Element | null} caption */
const isOver = (caption) => caption !== null && caption.getAttribute("data-caption") !== "playing";

export function showCaption() {
  const caption = captionIn();
  const play = playIn(caption);
  if (play !== "") sessionStorage.setItem(WATCHED, play);
  if (isOver(caption)) leaveInTime(play);
  const shown = play !== "" && play !== localStorage.getItem(HIDDEN) && play !== sessionStorage.getItem(LEFT);
  bar?.toggleAttribute("data-shown", shown);
  move(shown && !isOver(caption) ? document.querySelector("dialog[data-modal][open]") : null);
}

/** The finished play whose caption leaves when its time is over. */
let leaving = "";

/** A finished caption leaves after a while, or when the reader moves on to another person or place. @param {string} play */
function leaveInTime(play) {
  if (leaving === play) return;
  leaving = play;
  leaveLater(play);
  // In the side-by-side view, two places share this memory.
  if (window !== window.top) return;
  const here = `${play} ${location.pathname.split("/").slice(2, 4).join(" ")}`;
  const seen = sessionStorage.getItem(SEEN);
  if (seen?.startsWith(`${play} `) && seen !== here) sessionStorage.setItem(LEFT, play);
  sessionStorage.setItem(SEEN, here);
}

/** @param {string} play */
function leaveLater(play) {
  setTimeout(() => {
    if (leaving !== play) return;
    if (document.hidden || bar?.matches(":hover, :focus-within")) return leaveLater(play);
    sessionStorage.setItem(LEFT, play);
    showCaption();
  }, STAYS_MS);
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
