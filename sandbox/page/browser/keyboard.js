// @ts-check
// Keyboard shortcuts for the person, the channel, the panel and the help.

import { stopFollowing } from "./follow.js";

const PARTS =
  "[data-people], [data-sidebar], main [data-scroll], #composer, [data-thread-pane], [data-panel-pane]";

export function startKeyboard() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    if (takes(event)) event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    if (event.target.closest("[data-help-open]") !== null) openHelp();
    if (event.target.closest("[data-help-close]") !== null) help()?.close();
  });
  startPersonMenu();
}

/** On some systems, an arrow key or a letter changes a closed menu. That only shows a name: it counts at Enter, or when the focus leaves. */
function startPersonMenu() {
  // True until the current task has ended. A change in that time comes from the key, and not from the open list.
  let isKeyAtWork = false;
  const onKey = (/** @type {KeyboardEvent} */ event) => {
    const menu = personMenu(event.target);
    if (menu === null) return;
    if (event.key !== "Enter") {
      isKeyAtWork = true;
      setTimeout(() => (isKeyAtWork = false));
    } else if (goToPersonIn(menu)) event.preventDefault();
  };
  document.addEventListener("keydown", onKey);
  // A letter changes the menu at this event.
  document.addEventListener("keypress", onKey);
  document.addEventListener("change", ({ target }) => isKeyAtWork || goToPersonIn(personMenu(target)));
  document.addEventListener("focusout", ({ target }) => goToPersonIn(personMenu(target)));
}

/** @param {EventTarget | null} target */
function personMenu(target) {
  return target instanceof HTMLSelectElement && target.hasAttribute("data-become") ? target : null;
}

/** Goes to the person that the menu shows, and returns whether that is another one. @param {HTMLSelectElement | null} menu */
function goToPersonIn(menu) {
  if (menu === null || menu.selectedOptions[0]?.defaultSelected !== false) return false;
  stopFollowing();
  location.assign(menu.value);
  return true;
}

/**
 * Handles a key, and returns whether it was a shortcut.
 * @param {KeyboardEvent} event
 */
function takes(event) {
  const { key, code, altKey, shiftKey } = event;
  const control = event.ctrlKey || event.metaKey;
  const digit = /^Digit([1-9])$/.exec(code)?.[1];
  if (control && key === "/") return openHelp();
  if (key === "F6" && !control && !altKey) return nextPart(shiftKey ? -1 : 1);
  if (key === "?" && !control && !altKey && !isTyping(event.target)) return openHelp();
  if (!altKey || control) return false;
  if (digit !== undefined)
    return go(shiftKey ? "[data-panel-link]" : "[data-person-link]", Number(digit) - 1);
  if (usesArrows(event.target)) return false;
  if (key === "ArrowUp") return goNext(-1);
  return key === "ArrowDown" && goNext(1);
}

/** @param {EventTarget | null} target */
function isTyping(target) {
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement && !["checkbox", "radio", "button"].includes(target.type))
  );
}

/**
 * Whether Alt and an arrow key are left to the browser, which opens a menu or moves in a text with them. They are also left in a dialog,
 * because it covers the channels. In an empty message, they have no other use.
 * @param {EventTarget | null} target
 */
function usesArrows(target) {
  if (document.querySelector("dialog[open]") !== null) return true;
  return isTyping(target) && !(target instanceof HTMLTextAreaElement && target.value === "");
}

/**
 * @param {string} links
 * @param {number} index
 */
function go(links, index) {
  const link = document.querySelectorAll(links)[index];
  if (!(link instanceof HTMLAnchorElement)) return false;
  // A real click, so that click listeners are called.
  link.click();
  return true;
}

/** Goes to the channel above or below. @param {number} step */
function goNext(step) {
  const links = [...document.querySelectorAll('[data-list="sidebar"] a')];
  const at = links.findIndex((one) => one.getAttribute("aria-current") === "page");
  return go('[data-list="sidebar"] a', (at + step + links.length) % links.length);
}

/** @param {number} step */
function nextPart(step) {
  const parts = [...document.querySelectorAll(PARTS)].filter(isVisible);
  const at = parts.findLastIndex((one) => one.contains(document.activeElement));
  const next = parts[(at + step + parts.length) % parts.length];
  const target = next?.matches("textarea, [tabindex]") ? next : firstIn(next);
  if (target instanceof HTMLElement) target.focus();
  return target !== undefined;
}

/** @param {Element} element */
function isVisible(element) {
  return element.checkVisibility({ visibilityProperty: true });
}

/** Returns the current entry of the part, or else its first one. @param {Element | undefined} part */
function firstIn(part) {
  const all = [
    ...(part?.querySelectorAll('a, button, select, input, textarea, [tabindex="0"]') ?? []),
  ].filter(isVisible);
  return all.find((one) => one.getAttribute("aria-current") === "page") ?? all[0];
}

function help() {
  const dialog = document.querySelector("dialog[data-help]");
  return dialog instanceof HTMLDialogElement ? dialog : null;
}

function openHelp() {
  const dialog = help();
  if (dialog === null || dialog.open) return false;
  dialog.showModal();
  return true;
}
