// @ts-check
// The tab that started a scene follows it to the person, the place and the message of the newest caption. The message glows for a moment.
// A tab that the user moves to another place stays there, with a button to follow again.
import { bringIntoView } from "./scroll.js";

/** Names the play of a scene that this tab follows. */
const KEPT = "follows the scene";
/** How long the message glows (ms). The animation in the style sheet has the same duration. */
const GLOW_MS = 2_600;

export function startFollowing() {
  document.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element)) return;
    const button = target.closest("[data-follow]");
    if (button !== null) follow(button.closest("[data-caption]")?.getAttribute("data-of") ?? "");
    if (target.closest("[data-people] a, [data-sidebar] [data-list=sidebar] a") !== null) stopFollowing();
  });
  followScene();
}

/** In the side-by-side view, neither half follows: each shows a fixed person, and both share the tab's storage. */
const isFramed = window !== window.top;

/** Follows this play of a scene, and no later one. @param {string} play */
export function follow(play) {
  if (isFramed) return;
  sessionStorage.setItem(KEPT, play);
  followScene();
}

export function stopFollowing() {
  sessionStorage.removeItem(KEPT);
}

/** The caption that was followed last. */
let shown = "";

export function followScene() {
  const caption = document.querySelector("[data-caption]");
  if (!(caption instanceof HTMLElement) || caption.dataset["caption"] !== "playing") return;
  if (isFramed) return;
  const { goesTo, of, step, spot } = caption.dataset;
  const follows = sessionStorage.getItem(KEPT) === of;
  caption.querySelector("[data-follow]")?.toggleAttribute("hidden", follows);
  if (!follows || goesTo === undefined) return;
  if (goesTo !== document.body.dataset["place"]) return location.assign(goesTo);
  const now = `${of} ${step}`;
  if (shown === now) return glow();
  // On a page that the scene has opened, its entry in the list may be out of sight.
  if (shown === "") document.querySelector("[data-scene][data-plays]")?.scrollIntoView({ block: "nearest" });
  shown = now;
  light(spot);
}

/** The message that glows, and until when. @type {{ ts: string, until: number } | null} */
let lit = null;

/** @param {string | undefined} ts */
function light(ts) {
  lit = ts === undefined ? null : { ts, until: performance.now() + GLOW_MS };
  const [message] = glow();
  if (message !== undefined) bringIntoView(message);
}

/** Makes the message glow. Called again after a redraw, so that a redrawn message keeps glowing. */
function glow() {
  if (lit === null || performance.now() > lit.until) return [];
  const messages = [...document.querySelectorAll(`[data-message][data-ts="${CSS.escape(lit.ts)}"]`)];
  for (const message of messages) {
    if (message.hasAttribute("data-glows")) continue;
    message.setAttribute("data-glows", "");
    setTimeout(() => message.removeAttribute("data-glows"), lit.until - performance.now());
  }
  return messages;
}
