// @ts-check
// The tab that played a scene follows it: to the person and the place of its newest caption, and to the message
// there, which glows for a moment. A tab that was moved elsewhere stays there, with a link back.
import { bringIntoView } from "./scroll.js";

/** Set while this tab follows the scene. */
const KEPT = "follows the scene";
/** How long the message glows (ms); the style sheet's animation is as long. */
const GLOW_MS = 2_600;

export function startFollowing() {
  document.addEventListener("click", ({ target }) => {
    if (!(target instanceof Element)) return;
    if (target.closest('[data-control="scene.play"], [data-follow]') !== null) follow();
    if (target.closest("[data-people] a, [data-sidebar] [data-list=sidebar] a") !== null) stopFollowing();
  });
  followScene();
}

/** Side by side no half follows: the people stay, and both halves share the tab's storage. */
const isFramed = window !== window.top;

function follow() {
  if (isFramed) return;
  sessionStorage.setItem(KEPT, "yes");
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
  const follows = sessionStorage.getItem(KEPT) !== null;
  caption.querySelector("[data-follow]")?.toggleAttribute("hidden", follows);
  const { goesTo, of, step, spot } = caption.dataset;
  if (!follows || goesTo === undefined) return;
  if (goesTo !== document.body.dataset["place"]) return location.assign(goesTo);
  const now = `${of} ${step}`;
  if (shown === now) return glow();
  // On a page that the scene has led to, its own entry may be out of sight.
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

/** A message that was drawn again glows on. */
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
