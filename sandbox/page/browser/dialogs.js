// @ts-check
// Modals and confirmations. The sandbox opens and closes a modal; closing it here only asks for that.
import { act, tell, whileBusy } from "./acts.js";
import { startAsking } from "./ask-first.js";
import { forgetParked, isComplete, keepPlace, park, showError, unpark } from "./form.js";
import { pathTo } from "./live.js";
import { hideDismissed, startDismissing } from "./private.js";

export { carryOver } from "./form.js";

/** The focus when a press opened a modal: the button, or else its message. @type {(string | null)[]} */
let opener = [];

/** Where the focus returns to after the modals that a press opened. @param {Element} pressed */
export function rememberOpener(pressed) {
  if (pressed.closest("dialog[data-modal]") === null)
    opener = [pathTo(pressed), pathTo(pressed.closest("[data-message]"))];
}

/** The message with the focus. A card may lose its buttons while one of them has the focus. @type {string | null} */
let within = null;

export function startDialogs() {
  document.addEventListener("submit", (event) => {
    if (!(event.target instanceof HTMLFormElement) || !event.target.matches("[data-modal-form]")) return;
    event.preventDefault();
    void submit(event.target);
  });
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-dismiss]") : null;
    const dialog = button?.closest("dialog");
    if (dialog) void dismiss(dialog, button?.getAttribute("data-dismiss") ?? "");
  });
  // Neither event bubbles. A browser may close at the second Escape without asking, hence both.
  document.addEventListener("cancel", (event) => isModal(event.target) && event.preventDefault(), true);
  document.addEventListener("cancel", (event) => isModal(event.target) && void dismiss(event.target), true);
  document.addEventListener("close", (event) => isModal(event.target) && void dismiss(event.target), true);
  document.addEventListener("input", parkOpen);
  document.addEventListener("change", parkOpen);
  document.addEventListener("keydown", submitByKeys);
  document.addEventListener("focusin", ({ target }) => {
    within = target instanceof Element ? pathTo(target.closest("[data-message]")) : null;
  });
  // The focus is not brought back to a person who moved it. A removed element loses the focus before it is gone.
  document.addEventListener("focusout", ({ target, relatedTarget }) => {
    const left = () => target instanceof Element && target.isConnected && (within = null);
    if (relatedTarget === null) setTimeout(left);
  });
  startAsking();
  startDismissing();
  openModal();
}

/** @param {Event} event */
function parkOpen({ target }) {
  const dialog = target instanceof Element ? target.closest("dialog[data-modal]") : null;
  if (dialog === null) return;
  park(dialog);
  waitForFields(dialog);
}

/** Ctrl+Enter, or ⌘, sends a form from anywhere in it. @param {KeyboardEvent} event */
function submitByKeys(event) {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
  const form = event.target instanceof Element ? event.target.closest("form[data-modal-form]") : null;
  const button = form?.querySelector('[type="submit"]:not(:disabled)');
  if (!(form instanceof HTMLFormElement) || !button) return;
  event.preventDefault();
  form.requestSubmit();
}

/**
 * @param {EventTarget | null} target
 * @returns {target is HTMLDialogElement}
 */
function isModal(target) {
  return target instanceof HTMLDialogElement && target.isConnected && target.matches("[data-modal]");
}

let shown = false;

/** Shows the dialog that the sandbox drew, or puts the focus back when it is gone. */
export function openModal() {
  hideDismissed();
  const dialog = document.querySelector('[data-list="modal"] dialog');
  if (dialog instanceof HTMLDialogElement) show(dialog);
  else if (shown) {
    shown = false;
    forgetParked();
    focusOn([...opener, "#composer"]);
  } else if (document.activeElement === document.body && within !== null) focusOn([within]);
}

/** @param {HTMLDialogElement} dialog */
function show(dialog) {
  shown = true;
  if (dialog.open) return keepPlace(dialog);
  unpark(dialog);
  dialog.showModal();
  waitForFields(dialog);
  const first =
    dialog.querySelector('[aria-invalid="true"], [autofocus]') ??
    dialog.querySelector("[data-blocks] :is(input, textarea, select)") ??
    dialog.querySelector("[data-blocks]");
  // A long request starts at its beginning. Its field at the end gets the focus only if it has an error.
  if (first instanceof HTMLElement) first.focus({ preventScroll: true });
  showError(dialog);
}

/** The first of these that is there. @param {(string | null)[]} paths */
function focusOn(paths) {
  for (const path of paths) {
    const back = path === null ? null : document.querySelector(path);
    if (!(back instanceof HTMLElement) || !back.checkVisibility()) continue;
    return back.focus({ preventScroll: true });
  }
}

/** A view may keep its submit button shut until its fields are filled in. @param {Element} dialog */
function waitForFields(dialog) {
  const button = dialog.querySelector("[data-waits]");
  const form = dialog.querySelector("form");
  if (button instanceof HTMLButtonElement && form !== null) button.disabled = !form.matches(":valid");
}

/**
 * `views`: all to be closed, the topmost first; only the shown one when none is named.
 * @param {HTMLDialogElement} dialog
 * @param {string} views
 */
async function dismiss(dialog, views = "") {
  const all = (views || (dialog.dataset["view"] ?? "")).split(" ");
  const result = await whileBusy(dialog, async () => {
    for (const view of all) {
      const closed = await act({ do: "close", view });
      if (!closed.ok) return closed;
    }
    return { ok: true };
  });
  if (result.ok) return;
  if (!dialog.open && dialog.isConnected) dialog.showModal();
  tell(dialog.querySelector("[data-alert]"), result);
}

/** The view that waits for its acknowledgement. Its form may be redrawn meanwhile. */
let submitting = "";

/** Shows on the current form whether it waits for an answer. */
export function markBusy() {
  for (const form of document.querySelectorAll("dialog[data-modal] form")) {
    const awaited = form.closest("dialog")?.dataset["view"] === submitting;
    for (const one of [form, form.querySelector('[type="submit"]')]) {
      if (awaited) one?.setAttribute("aria-busy", "true");
      else one?.removeAttribute("aria-busy");
    }
  }
}

/** @param {HTMLFormElement} form */
async function submit(form) {
  const view = form.closest("dialog")?.dataset["view"] ?? "";
  if (submitting !== "" || !isComplete(form)) return;
  const fields = [...new FormData(form)].filter(([, value]) => typeof value === "string");
  tell(form.querySelector("[data-alert]"), { ok: true });
  submitting = view;
  markBusy();
  const result = await act({ do: "submit", view, fields });
  submitting = "";
  markBusy();
  if (!result.ok) tell(document.querySelector("dialog[data-modal][open] [data-alert]"), result);
}
