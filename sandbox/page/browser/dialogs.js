// @ts-check
// Modals and confirmations. The sandbox opens and closes modals. Closing one here only asks the sandbox to close it.
import { act, showResult, whileBusy } from "./acts.js";
import { startAsking } from "./ask-first.js";
import {
  fieldsOf,
  firstInvalid,
  forgetParked,
  forgetPlace,
  isComplete,
  keepErrorVisible,
  keepPlace,
  park,
  showError,
  unpark,
} from "./form.js";
import { pathTo } from "./live.js";
import { hideDismissed, startDismissing } from "./private.js";

export { carryOver } from "./form.js";

/** The paths of the button that opened a modal and, as a fallback, of its message. @type {(string | null)[]} */
let opener = [];

/** Remembers where the focus returns after the modals that a press opens are closed. @param {Element} pressed */
export function rememberOpener(pressed) {
  if (pressed.closest("dialog[data-modal]") === null)
    opener = [pathTo(pressed), pathTo(pressed.closest("[data-message]"))];
}

/** The path of the message with the focus. A card may lose its buttons while one of them has the focus. @type {string | null} */
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
  // Neither event bubbles. Both are needed, because a browser may close a dialog at the second Escape without a cancel event.
  document.addEventListener("cancel", (event) => isModal(event.target) && event.preventDefault(), true);
  document.addEventListener("cancel", (event) => isModal(event.target) && void dismiss(event.target), true);
  document.addEventListener("close", (event) => isModal(event.target) && void dismiss(event.target), true);
  document.addEventListener("input", parkOpen);
  document.addEventListener("change", parkOpen);
  document.addEventListener("keydown", submitByKeys);
  document.addEventListener("focusin", ({ target }) => {
    within = target instanceof Element ? pathTo(target.closest("[data-message]")) : null;
  });
  // If the person moved the focus away, it is not brought back. A removed element loses the focus before it is removed.
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

/** Ctrl+Enter or ⌘+Enter submits a form from anywhere in it. @param {KeyboardEvent} event */
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

/** The title and the id of the first block of the shown view. Null if no view is shown. @type {Shown | null} */
let shown = null;

/** @typedef {{ readonly title: string | null | undefined, readonly first: string | null | undefined }} Shown */

/** @param {Element} dialog @returns {Shown} */
function shownIn(dialog) {
  return {
    title: dialog.querySelector("header h2")?.textContent,
    first: dialog.querySelector("[data-blocks] > [data-kind]")?.getAttribute("data-block-id"),
  };
}

/** Whether another view replaced the shown one. A form that is only changed keeps its title or its first block. @param {Shown} now */
function isAnother(now) {
  return shown?.title !== now.title && shown?.first !== now.first;
}

/** Shows the dialog that the sandbox drew, or restores the focus after it is removed. */
export function openModal() {
  hideDismissed();
  const dialog = document.querySelector('[data-list="modal"] dialog');
  if (dialog instanceof HTMLDialogElement) show(dialog);
  else if (shown !== null) {
    shown = null;
    forgetParked();
    focusOn([...opener, "#composer", "#reply"]);
  } else if (document.activeElement === document.body && within !== null) focusOn([within]);
}

/** @param {HTMLDialogElement} dialog */
function show(dialog) {
  const now = shownIn(dialog);
  const isSame = dialog.open && !isAnother(now);
  shown = now;
  keepErrorVisible(dialog);
  if (!isSame) unpark(dialog);
  waitForFields(dialog);
  if (isSame) return keepPlace(dialog);
  forgetPlace();
  if (!dialog.open) dialog.showModal();
  const first =
    dialog.querySelector('[aria-invalid="true"], [autofocus]') ??
    dialog.querySelector("[data-blocks] :is(input, textarea, select)") ??
    dialog.querySelector("[data-blocks]");
  // A long request is shown from its beginning. The page scrolls to the field at its end only if the field has an error.
  if (first instanceof HTMLElement) first.focus({ preventScroll: true });
  showError(firstInvalid(dialog));
}

/** Focuses the first of these elements that exists and is visible. @param {(string | null)[]} paths */
function focusOn(paths) {
  for (const path of paths) {
    const back = path === null ? null : document.querySelector(path);
    if (!(back instanceof HTMLElement) || !back.checkVisibility({ visibilityProperty: true })) continue;
    return back.focus({ preventScroll: true });
  }
}

/** A view may disable its submit button until its fields are filled in. @param {Element} dialog */
function waitForFields(dialog) {
  const button = dialog.querySelector("[data-waits]");
  const form = dialog.querySelector("form");
  if (button instanceof HTMLButtonElement && form !== null) button.disabled = !form.matches(":valid");
}

/**
 * Closes the views with these ids, the topmost first. Without ids, closes the view that is shown.
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
  showResult(dialog.querySelector("[data-alert]"), result);
}

/** The id of the view that waits for its acknowledgement. Its form may be redrawn in the meantime. */
let submitting = "";

/** Marks the current form as busy while it waits for an answer. */
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
  const fields = fieldsOf(form);
  showResult(form.querySelector("[data-alert]"), { ok: true });
  submitting = view;
  markBusy();
  const result = await act({ do: "submit", view, fields });
  submitting = "";
  markBusy();
  if (!result.ok) showResult(document.querySelector("dialog[data-modal][open] [data-alert]"), result);
}
