// @ts-check
// The page's only script. It sends presses and choices to the sandbox, and applies the changes that it receives.
import { act, showResult, whileBusy } from "./acts.js";
import { saveCaption, showCaption, startCaption } from "./caption.js";
import { startComposers } from "./composer.js";
import { carryOver, markBusy, openModal, rememberOpener, startDialogs } from "./dialogs.js";
import { forgetClosed, startFormDrafts } from "./drafts.js";
import { followScene, startFollowing } from "./follow.js";
import { fieldsOf } from "./form.js";
import { startHints } from "./hints.js";
import { startKeyboard } from "./keyboard.js";
import { goLive, release } from "./live.js";
import { keepTyped, startPanels } from "./panel.js";
import { startAtEnd } from "./scroll.js";
import { filterTraffic, startTraffic } from "./traffic.js";

document.addEventListener("click", (event) => {
  if (!(event.target instanceof Element)) return;
  const pressed = event.target.closest(':is(button, a)[data-act="click"], button[data-act="shortcut"]');
  if (pressed instanceof HTMLElement) void press(pressed);
  for (const menu of document.querySelectorAll("details[data-overflow][open]")) {
    if (pressed !== null || !menu.contains(event.target)) menu.removeAttribute("open");
  }
});

document.addEventListener(
  "toggle",
  ({ target }) => {
    if (!(target instanceof HTMLDetailsElement) || !target.matches("[data-overflow]")) return;
    target.closest("li[data-key]")?.toggleAttribute("data-reaches-out", target.open);
    openWithinView(target);
  },
  true,
);

/**
 * A menu opens downwards, or upwards if it would extend beyond the end of its scroll area.
 * @param {HTMLDetailsElement} menu
 */
function openWithinView(menu) {
  menu.removeAttribute("data-upwards");
  const list = menu.querySelector("ul");
  const view = menu.closest("[data-scroll], dialog");
  if (!menu.open || list === null || view === null) return;
  const isCut = list.getBoundingClientRect().bottom > view.getBoundingClientRect().bottom;
  menu.toggleAttribute("data-upwards", isCut);
}

document.addEventListener("keydown", (event) => {
  const menu = document.querySelector("details[data-overflow][open]");
  if (event.key !== "Escape" || menu === null) return;
  event.preventDefault();
  menu.removeAttribute("open");
  menu.querySelector("summary")?.focus();
});

document.addEventListener("change", (event) => {
  const field = event.target;
  if (!(field instanceof HTMLInputElement || field instanceof HTMLSelectElement)) return;
  if (field.dataset["act"] !== "click") return;
  const group = field.closest("[data-choices]");
  const picked = group === null ? [field] : [...group.querySelectorAll("input")].filter((one) => one.checked);
  void click(
    field,
    picked.map((one) => one.value),
  );
});

/** @param {HTMLElement} pressed */
async function press(pressed) {
  if (pressed.hasAttribute("data-asks") && !(await confirmed(pressed))) return;
  rememberOpener(pressed);
  const { chosen, shortcut } = pressed.dataset;
  if (shortcut !== undefined) return useShortcut(pressed, shortcut);
  await click(pressed, chosen === undefined ? [] : [chosen]);
}

/**
 * @param {HTMLElement} pressed
 * @returns {Promise<boolean>}
 */
function confirmed(pressed) {
  const dialog = pressed.nextElementSibling;
  if (!(dialog instanceof HTMLDialogElement)) return Promise.resolve(true);
  const { promise, resolve } = Promise.withResolvers();
  const answer = (/** @type {MouseEvent} */ event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-answer]") : null;
    if (button !== null) dialog.close(button.getAttribute("data-answer") ?? "");
  };
  dialog.returnValue = "";
  dialog.addEventListener("click", answer);
  dialog.addEventListener(
    "close",
    () => {
      dialog.removeEventListener("click", answer);
      resolve(dialog.returnValue === "confirm");
    },
    { once: true },
  );
  dialog.showModal();
  return promise;
}

/**
 * @param {HTMLElement} element
 * @param {string[]} chosen
 */
async function click(element, chosen) {
  const message = element.closest("[data-message]");
  const view = element.closest("[data-view]");
  const at =
    view instanceof HTMLElement
      ? { view: view.dataset["view"] }
      : { channel: message?.getAttribute("data-channel"), ts: message?.getAttribute("data-ts") };
  const { block, action } = element.dataset;
  const form = element.closest("form[data-modal-form]");
  const fields = form instanceof HTMLFormElement ? fieldsOf(form) : [];
  const result = await whileBusy(element, () => act({ do: "click", at, block, action, chosen, fields }));
  const inModal = document.querySelector("dialog[data-modal][open] [data-alert]");
  showResult(inModal ?? document.querySelector("[data-toast]"), result);
}

/**
 * @param {HTMLElement} pressed
 * @param {string} shortcut
 */
async function useShortcut(pressed, shortcut) {
  const message = pressed.closest("[data-message]");
  const at = { channel: message?.getAttribute("data-channel"), ts: message?.getAttribute("data-ts") };
  const result = await whileBusy(pressed, () => act({ do: "shortcut", at, shortcut }));
  showResult(document.querySelector("[data-toast]"), result);
}

/** @type {import("./live.js").Hooks} */
const hooks = {
  replaced: (before, after) => {
    carryOver(before, after);
    keepTyped(before, after);
  },
  removed: saveCaption,
  applied: () => {
    openModal();
    markBusy();
    forgetClosed();
    showCaption();
    filterTraffic();
    followScene();
  },
};

startHints();
startPanels();
startAtEnd();
startComposers();
startFormDrafts();
startDialogs();
startCaption();
startKeyboard();
startFollowing();
startTraffic(() => release("traffic", hooks));
forgetClosed();
goLive(hooks);
