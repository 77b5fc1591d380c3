// @ts-check
// The fields of a modal. Checks them before the form is submitted, and keeps typed text while the view changes.

/** @typedef {HTMLElement & { name: string, validity: ValidityState, validationMessage: string }} Field */

/**
 * The fields of a form and their values. One without a value is sent as empty, so that it differs from one that is not drawn yet.
 * @param {HTMLFormElement} form
 */
export function fieldsOf(form) {
  const filled = [...new FormData(form)].filter(([, value]) => typeof value === "string");
  const names = new Set([...form.elements].flatMap((one) => one.getAttribute("name") ?? []));
  for (const [name] of filled) names.delete(name);
  return [...filled, ...[...names].map((name) => [name, ""])];
}

/**
 * Checks the fields as Slack's client does before it submits to the app, and shows what is missing.
 * @param {HTMLFormElement} form
 */
export function isComplete(form) {
  form.querySelectorAll("[data-own-error]").forEach((one) => withdraw(form, one));
  const wrong = /** @type {Field[]} */ ([...form.querySelectorAll(":invalid:not(fieldset)")]);
  for (const field of wrong) complain(field, wordsOf(field));
  const groups = [...form.querySelectorAll("[data-required], [data-most]")].filter((group) => {
    const words = missingIn(group);
    const first = group.querySelector("input");
    if (words !== null) complain(first ?? group, words);
    return words !== null;
  });
  const order = [...form.querySelectorAll("input, select, textarea")];
  const first = order.find((one) => wrong.some((it) => it === one) || groups.some((it) => it.contains(one)));
  if (first instanceof HTMLElement) first.focus();
  return wrong.length === 0 && groups.length === 0;
}

/** @param {Field} field */
function wordsOf({ validity, validationMessage }) {
  return validity.valueMissing ? "Please fill in this field." : validationMessage;
}

/** @param {Element} group */
function missingIn(group) {
  const chosen = group.querySelectorAll(":checked").length;
  const most = Number(group.getAttribute("data-most") ?? Infinity);
  if (chosen > most) return `Choose at most ${most}.`;
  return chosen === 0 && group.hasAttribute("data-required") ? "Please fill in this field." : null;
}

/**
 * @param {Element} field
 * @param {string} text
 */
function complain(field, text) {
  const block = field.closest("[data-kind]");
  if (block === null || block.querySelector("[data-own-error]") !== null) return;
  block.querySelectorAll("[data-error]").forEach((one) => one.remove());
  const words = document.createElement("p");
  words.dataset["error"] = "";
  words.dataset["ownError"] = "";
  words.id = `${field.id || block.getAttribute("data-block-id")}-own-error`;
  words.textContent = text;
  (field.closest("[data-choices]") ?? field).after(words);
  field.setAttribute("aria-invalid", "true");
  field.setAttribute(
    "aria-describedby",
    `${words.id} ${field.getAttribute("aria-describedby") ?? ""}`.trim(),
  );
}

/**
 * Removes an error of `complain`, and its marks from the field.
 * @param {HTMLFormElement} form
 * @param {Element} words
 */
function withdraw(form, words) {
  for (const field of form.elements) {
    if (!isDescribed(field, words)) continue;
    const others = field.getAttribute("aria-describedby")?.split(" ").slice(1) ?? [];
    field.removeAttribute("aria-invalid");
    field.removeAttribute("aria-describedby");
    if (others.length > 0) field.setAttribute("aria-describedby", others.join(" "));
  }
  words.remove();
}

/**
 * Repeats in the new drawing what only the page has said.
 * @param {HTMLFormElement} old
 * @param {HTMLFormElement} drawn
 */
function repeatOwnWords(old, drawn) {
  for (const words of old.querySelectorAll("[data-own-error]")) {
    const name = [...old.elements].find((one) => isDescribed(one, words))?.getAttribute("name");
    const field = [...drawn.elements].find((one) => one.getAttribute("name") === name);
    if (field !== undefined) complain(field, words.textContent ?? "");
  }
  const alert = old.querySelector("[data-own-alert]:not([hidden])");
  if (alert !== null) drawn.querySelector("[data-alert][hidden]")?.replaceWith(alert);
}

/** Whether `complain` put these words at this field. @param {Element} field @param {Element} words */
function isDescribed(field, words) {
  return field.getAttribute("aria-describedby")?.split(" ")[0] === words.id;
}

/** The input of each field. An option is identified by its text, because its number may change. @typedef {Map<string, string[]>} Typed */

/** The input of views that are covered by a pushed view. @type {Map<string, Typed>} */
const parked = new Map();

/** @param {HTMLFormElement} form @returns {Typed} */
function typedIn(form) {
  /** @type {Typed} */
  const typed = new Map();
  for (const field of form.elements) {
    const name = field.getAttribute("name");
    if (name !== null) typed.set(name, [...(typed.get(name) ?? []), ...saidBy(field)]);
  }
  return typed;
}

/** @param {Element} field @returns {string[]} */
function saidBy(field) {
  if (field instanceof HTMLSelectElement) return [...field.selectedOptions].map((one) => one.text);
  if (isTick(field)) return field.checked ? [wordsBeside(field)] : [];
  return field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement ? [field.value] : [];
}

/** @param {HTMLFormElement} form @param {Typed} typed */
function fill(form, typed) {
  for (const field of form.elements) {
    const said = typed.get(field.getAttribute("name") ?? "");
    if (said === undefined) continue;
    if (field instanceof HTMLSelectElement)
      for (const option of field.options) option.selected = said.includes(option.text);
    else if (isTick(field)) field.checked = said.includes(wordsBeside(field));
    else if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)
      field.value = said[0] ?? field.value;
  }
}

/** @param {Element} field @returns {field is HTMLInputElement} */
function isTick(field) {
  return field instanceof HTMLInputElement && ["checkbox", "radio"].includes(field.type);
}

/** @param {Element} field */
function wordsBeside(field) {
  return field.closest("label")?.textContent?.trim() ?? "";
}

/** @param {ParentNode} within */
const formIn = (within) => within.querySelector("form[data-modal-form]");

/**
 * Keeps what was typed into a view when the app changes the view, for the fields that still exist.
 * @param {HTMLElement} before
 * @param {HTMLElement} after
 */
export function carryOver(before, after) {
  const scroller = before.querySelector("dialog[open] [data-blocks]");
  if (scroller !== null) redrawn = { top: scroller.scrollTop, errors: errorsIn(before) };
  const [old, drawn] = [formIn(before), formIn(after)];
  if (!(old instanceof HTMLFormElement && drawn instanceof HTMLFormElement)) return;
  fill(drawn, typedIn(old));
  repeatOwnWords(old, drawn);
}

/** The scroll position and the errors of a view that was just redrawn. Null if none was. @type {{ top: number, errors: Set<string> } | null} */
let redrawn = null;

/** Restores the scroll position of a redrawn view, or scrolls to its first new error. @param {Element} dialog */
export function keepPlace(dialog) {
  const scroller = dialog.querySelector("[data-blocks]");
  if (redrawn === null || scroller === null) return;
  scroller.scrollTop = redrawn.top;
  showError(newlyInvalid(dialog, redrawn.errors));
  redrawn = null;
}

/** A view that replaced another one starts at its beginning. */
export function forgetPlace() {
  redrawn = null;
}

const INVALID = '[aria-invalid="true"]';

/** @param {ParentNode} within */
export const firstInvalid = (within) => within.querySelector(INVALID);

/** The errors, each with the name of its field, because another error of the same field is new. @param {ParentNode} within */
export function errorsIn(within) {
  return new Set([...within.querySelectorAll(INVALID)].map(errorOf));
}

/** @param {Element} field */
function errorOf(field) {
  const words = field.closest("[data-kind]")?.querySelector("[data-error]")?.textContent;
  return `${field.getAttribute("name")} ${words}`;
}

/** Returns the first field whose error is not among the earlier ones. @param {ParentNode} within @param {Set<string>} earlier */
export function newlyInvalid(within, earlier) {
  return [...within.querySelectorAll(INVALID)].find((field) => !earlier.has(errorOf(field))) ?? null;
}

/** Scrolls to a field with an error. If there is no room for both, the error is shown. @param {Element | null} field */
export function showError(field) {
  const block = field?.closest("[data-kind]");
  block?.scrollIntoView({ block: "nearest" });
  block?.querySelector("[data-error]")?.scrollIntoView({ block: "nearest" });
}

/** The part of the form that scrolls. @type {Element | null} */
let scrolling = null;
/** Its height (pixels). A redraw replaces the part, and need not change the height. */
let room = 0;
const resized = new ResizeObserver(() => {
  const before = room;
  room = scrolling?.clientHeight ?? 0;
  if (room !== before) showError(scrolling?.querySelector(`${INVALID}:focus`) ?? null);
});

/** Keeps the error of the focused field visible when a caption or the keyboard of a phone leaves less room. @param {Element} dialog */
export function keepErrorVisible(dialog) {
  const now = dialog.querySelector("[data-blocks]");
  if (now === scrolling) return;
  resized.disconnect();
  scrolling = now;
  if (now !== null) resized.observe(now);
}

/** Remembers the input of an open form, in case another view is pushed onto it. @param {Element} dialog */
export function park(dialog) {
  const form = formIn(dialog);
  if (form instanceof HTMLFormElement) parked.set(dialog.getAttribute("data-view") ?? "", typedIn(form));
}

/** Restores the input of a form that is shown again. @param {Element} dialog */
export function unpark(dialog) {
  const form = formIn(dialog);
  const typed = parked.get(dialog.getAttribute("data-view") ?? "");
  if (form instanceof HTMLFormElement && typed !== undefined) fill(form, typed);
}

export function forgetParked() {
  parked.clear();
}
