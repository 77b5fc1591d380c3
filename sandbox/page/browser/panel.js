// @ts-check
// The buttons and forms of the panels. Each names an act of the control API and its arguments.
import { control, showResult, whileBusy } from "./acts.js";
import { follow } from "./follow.js";

export function startPanels() {
  document.addEventListener("click", (event) => {
    if (!(event.target instanceof Element)) return;
    const button = event.target.closest('button[type="button"][data-control]');
    if (button instanceof HTMLElement) void send(button, button.dataset["control"] ?? "", argsOf(button));
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
}

/**
 * @param {HTMLElement} pressed
 * @param {string} act
 * @param {Record<string, unknown>} args
 */
async function send(pressed, act, args) {
  showResult(document.querySelector("[data-toast]"), { ok: true });
  const result = await whileBusy(pressed, () => control(act, args));
  showResult(document.querySelector("[data-toast]"), result);
  if (result.ok && act === "scene.play") followPlay(result.result);
  const form = pressed.closest("form");
  if (result.ok && form?.hasAttribute("data-alone")) form.reset();
}

/** The tab that started a scene follows it. @param {unknown} answer  The answer of the act `scene.play`. */
function followPlay(answer) {
  if (typeof answer === "object" && answer !== null && "id" in answer) follow(String(answer.id));
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
 * @param {string | undefined} wordsAs  The name of the argument that takes the form's text field.
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
 * Returns the argument in a field, or undefined if the field has none.
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
 * Keeps what is being typed into a panel when its piece is redrawn.
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
