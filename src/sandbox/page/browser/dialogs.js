// @ts-check
// Modals and confirmations. A modal is open for as long as the sandbox says so; closing it here only asks for that.
import { act, tell, whileBusy } from "./acts.js";
import { pathTo } from "./live.js";

/** @type {string | null} */
let opener = null;

/** Where the focus returns to after the modals that a press opened. @param {Element} pressed */
export function rememberOpener(pressed) {
  if (pressed.closest("dialog[data-modal]") === null) opener = pathTo(pressed);
}

export function startDialogs() {
  document.addEventListener("submit", (event) => {
    if (!(event.target instanceof HTMLFormElement) || !event.target.matches("[data-modal-form]")) return;
    event.preventDefault();
    void submit(event.target);
  });
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-dismiss]") : null;
    const dialog = button?.closest("dialog");
    if (dialog) void dismiss(dialog);
  });
  // Neither event bubbles. A browser may close at the second Escape without asking, hence both.
  document.addEventListener("cancel", (event) => isModal(event.target) && event.preventDefault(), true);
  document.addEventListener("cancel", (event) => isModal(event.target) && void dismiss(event.target), true);
  document.addEventListener("close", (event) => isModal(event.target) && void dismiss(event.target), true);
  openModal();
}

/**
 * @param {EventTarget | null} target
 * @returns {target is HTMLDialogElement}
 */
function isModal(target) {
  return target instanceof HTMLDialogElement && target.isConnected && target.matches("[data-modal]");
}

let shown = false;

/** Brings the dialog that the sandbox drew to the front, or puts the focus back when there is none any more. */
export function openModal() {
  const dialog = document.querySelector('[data-list="modal"] dialog');
  if (dialog instanceof HTMLDialogElement) {
    shown = true;
    if (dialog.open) return;
    dialog.showModal();
    const first =
      dialog.querySelector('[aria-invalid="true"], [autofocus]') ??
      dialog.querySelector("[data-blocks] :is(input, textarea, select)") ??
      dialog.querySelector("[data-blocks]");
    if (first instanceof HTMLElement) {
      // A long request is read from its beginning: the field waits at the end of it.
      first.focus({ preventScroll: true });
    }
  } else if (shown) {
    shown = false;
    const back =
      (opener === null ? null : document.querySelector(opener)) ?? document.querySelector("#composer");
    if (back instanceof HTMLElement) back.focus({ preventScroll: true });
  }
}

/** @param {HTMLDialogElement} dialog */
async function dismiss(dialog) {
  const result = await whileBusy(dialog, () => act({ do: "close", view: dialog.dataset["view"] ?? "" }));
  if (result.ok) return;
  if (!dialog.open && dialog.isConnected) dialog.showModal();
  tell(dialog.querySelector("[data-told]"), result);
}

/** The view whose acknowledgement is awaited; its form may be drawn anew meanwhile. */
let submitting = "";

/** Shows on the form that is there now whether its answer is awaited. */
export function markBusy() {
  for (const button of document.querySelectorAll('dialog[data-modal] [type="submit"]')) {
    const awaited = button.closest("dialog")?.dataset["view"] === submitting;
    if (awaited) button.setAttribute("aria-busy", "true");
    else button.removeAttribute("aria-busy");
  }
}

/** @param {HTMLFormElement} form */
async function submit(form) {
  const view = form.closest("dialog")?.dataset["view"] ?? "";
  if (submitting !== "" || !isComplete(form)) return;
  const fields = [...new FormData(form)].filter(([, value]) => typeof value === "string");
  tell(form.querySelector("[data-told]"), { ok: true });
  submitting = view;
  markBusy();
  const result = await act({ do: "submit", view, fields });
  submitting = "";
  markBusy();
  if (!result.ok) tell(document.querySelector("dialog[data-modal][open] [data-told]"), result);
}

/** Slack's own client asks for what is missing before it asks the app. @param {HTMLFormElement} form */
function isComplete(form) {
  const wrong = /** @type {(HTMLElement & { validity: ValidityState, validationMessage: string })[]} */ ([
    ...form.querySelectorAll(":invalid:not(fieldset)"),
  ]);
  form.querySelectorAll("[data-own-error]").forEach((one) => one.remove());
  for (const control of wrong) complain(control);
  wrong[0]?.focus();
  return wrong.length === 0;
}

/** @param {HTMLElement & { validity: ValidityState, validationMessage: string }} control */
function complain(control) {
  const block = control.closest("[data-kind]");
  if (block === null || block.querySelector("[data-own-error]") !== null) return;
  block.querySelectorAll("[data-error]").forEach((one) => one.remove());
  const words = document.createElement("p");
  words.dataset["error"] = "";
  words.dataset["ownError"] = "";
  words.id = `${control.id || block.getAttribute("data-block-id")}-own-error`;
  words.textContent = control.validity.valueMissing
    ? "Please fill in this field."
    : control.validationMessage;
  (control.closest("[data-choices]") ?? control).after(words);
  control.setAttribute("aria-invalid", "true");
  control.setAttribute(
    "aria-describedby",
    `${words.id} ${control.getAttribute("aria-describedby") ?? ""}`.trim(),
  );
}

/**
 * What was typed into a view that the app changes meanwhile stays, for the fields that stay.
 * @param {HTMLElement} before
 * @param {HTMLElement} after
 */
export function carryOver(before, after) {
  const old = before.querySelector("form[data-modal-form]");
  if (!(old instanceof HTMLFormElement)) return;
  for (const control of old.elements) {
    const twins = [...after.querySelectorAll("[name]")].filter(
      (one) => one.getAttribute("name") === control.getAttribute("name"),
    );
    for (const twin of twins) carry(control, twin);
  }
}

/**
 * @param {Element} from
 * @param {Element} to
 */
function carry(from, to) {
  if (from instanceof HTMLTextAreaElement && to instanceof HTMLTextAreaElement) to.value = from.value;
  if (from instanceof HTMLSelectElement && to instanceof HTMLSelectElement) {
    const words = from.selectedOptions[0]?.textContent;
    for (const option of to.options) if (option.textContent === words) option.selected = true;
  }
  if (!(from instanceof HTMLInputElement) || !(to instanceof HTMLInputElement)) return;
  if (from.type === "text") to.value = from.value;
  else if (from.closest("label")?.textContent === to.closest("label")?.textContent) to.checked = from.checked;
}
