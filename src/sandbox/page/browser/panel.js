// @ts-check
// The panels' buttons and forms: each names an act on the sandbox's world, and its arguments. And the captions of a scene.
import { control, tell, whileBusy } from "./acts.js";

export function startPanels() {
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const button = event.target.closest('button[type="button"][data-control]');
    if (button instanceof HTMLElement) void send(button, button.dataset["control"] ?? "", argsOf(button));
    if (event.target.closest("[data-caption-close]") !== null) hideCaption();
  });
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (!(form instanceof HTMLFormElement) || form.dataset["control"] === undefined) return;
    event.preventDefault();
    const pressed = event.submitter instanceof HTMLElement ? event.submitter : form;
    const act = pressed.dataset["control"] ?? form.dataset["control"];
    const filled = filledIn(form, pressed.dataset["wordsAs"]);
    if (form.hasAttribute("data-only-changes") && Object.keys(filled).length === 0) return;
    void send(pressed, act, { ...argsOf(form), ...filled });
  });
  showCaption();
}

/**
 * @param {HTMLElement} pressed
 * @param {string} act
 * @param {Record<string, unknown>} args
 */
async function send(pressed, act, args) {
  tell(document.querySelector("[data-toast]"), { ok: true });
  const result = await whileBusy(pressed, () => control(act, args));
  tell(document.querySelector("[data-toast]"), result);
  const form = pressed.closest("form");
  if (result.ok && form?.hasAttribute("data-alone")) form.reset();
}

/**
 * @param {HTMLElement} element
 * @returns {Record<string, unknown>}
 */
function argsOf(element) {
  return /** @type {Record<string, unknown>} */ (JSON.parse(element.dataset["args"] ?? "{}"));
}

/** @typedef {HTMLInputElement | HTMLSelectElement} Field */

/**
 * @param {HTMLFormElement} form
 * @param {string | undefined} wordsAs  The argument that the form's one text goes into.
 * @returns {Record<string, unknown>}
 */
function filledIn(form, wordsAs) {
  const fields = /** @type {Field[]} */ ([...form.querySelectorAll("[data-takes]")]);
  /** @type {Record<string, unknown>} */
  const args = {};
  for (const field of fields) {
    const value = taken(field);
    if (field.dataset["was"] === JSON.stringify(value) || value === undefined) continue;
    args[field.name === "words" ? (wordsAs ?? field.name) : field.name] = value;
  }
  return args;
}

/**
 * Undefined: not given.
 * @param {Field} field
 * @returns {unknown}
 */
function taken({ dataset, value }) {
  switch (dataset["takes"]) {
    case "number":
      return value === "" ? undefined : Number(value);
    case "json":
      return /** @type {unknown} */ (JSON.parse(value));
    case "text or null":
      return value === "" ? null : value;
    case "text or nothing":
      return value === "" ? undefined : value;
    default:
      return value;
  }
}

/**
 * What one is typing into a panel stays when its piece is drawn anew.
 * @param {HTMLElement} before
 * @param {HTMLElement} after
 */
export function keepTyped(before, after) {
  for (const field of before.querySelectorAll("[data-takes][id]")) {
    const twin = after.querySelector(`#${CSS.escape(field.id)}`);
    if (field instanceof HTMLInputElement && twin instanceof HTMLInputElement) {
      if (field.value !== field.defaultValue) twin.value = field.value;
    }
    if (field instanceof HTMLSelectElement && twin instanceof HTMLSelectElement) {
      const untouched = field.selectedOptions[0]?.defaultSelected ?? true;
      if (!untouched) twin.value = field.value;
    }
  }
}

const HIDDEN = "caption hidden";

function hideCaption() {
  const of = document.querySelector("[data-caption]")?.getAttribute("data-of") ?? "";
  localStorage.setItem(HIDDEN, of);
  showCaption();
}

/** While a scene plays its captions stand above an open form too, which everything else on the page lies beneath. */
export function showCaption() {
  const bar = document.querySelector("[data-caption-bar]");
  if (!(bar instanceof HTMLElement)) return;
  const caption = bar.querySelector("[data-caption]");
  const shown = caption !== null && caption.getAttribute("data-of") !== localStorage.getItem(HIDDEN);
  bar.toggleAttribute("data-shown", shown);
  const dialog = document.querySelector("dialog[open]");
  const plays = shown && caption.getAttribute("data-caption") === "playing";
  const above = plays && dialog !== null ? (dialog.getAttribute("data-view") ?? "") : null;
  if (bar.getAttribute("data-above") !== above) raise(bar, above);
  const over = above === null ? 0 : bar.getBoundingClientRect().bottom;
  document.documentElement.style.setProperty("--over", `${over}px`);
}

/**
 * What was shown last lies above what was shown before.
 * @param {HTMLElement} bar
 * @param {string | null} above
 */
function raise(bar, above) {
  if (bar.matches(":popover-open")) bar.hidePopover();
  if (above === null) bar.removeAttribute("data-above");
  else {
    bar.setAttribute("data-above", above);
    bar.showPopover();
  }
}
