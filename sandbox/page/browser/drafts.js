// @ts-check
// Keeps the text typed into an open form across a change of place or person and a reload, because the form stays open.

/** @param {string} view */
const nameOf = (view) => `form ${view}`;

/** @typedef {[name: string, value: string][]} Typed */

export function startFormDrafts() {
  for (const form of document.querySelectorAll("form[data-modal-form]")) {
    if (form instanceof HTMLFormElement) restore(form);
  }
  for (const kind of ["input", "change"]) {
    document.addEventListener(kind, (event) => {
      const form = event.target instanceof Element ? event.target.closest("form[data-modal-form]") : null;
      if (form instanceof HTMLFormElement) keep(form);
    });
  }
}

/** @param {HTMLFormElement} form */
function keep(form) {
  const typed = [...new FormData(form)].filter(([, value]) => typeof value === "string");
  sessionStorage.setItem(nameOf(viewOf(form)), JSON.stringify(typed));
}

/** @param {HTMLFormElement} form */
function viewOf(form) {
  return form.closest("[data-view]")?.getAttribute("data-view") ?? "";
}

/** @param {HTMLFormElement} form */
function restore(form) {
  const kept = sessionStorage.getItem(nameOf(viewOf(form)));
  if (kept === null) return;
  const typed = Map.groupBy(/** @type {Typed} */ (JSON.parse(kept)), ([name]) => name);
  for (const field of form.elements) {
    const values = typed.get(field.getAttribute("name") ?? "")?.map(([, value]) => value) ?? [];
    fill(field, values);
  }
}

/**
 * @param {Element} field
 * @param {string[]} values
 */
function fill(field, values) {
  const [value] = values;
  if (field instanceof HTMLInputElement && ["checkbox", "radio"].includes(field.type)) {
    field.checked = values.includes(field.value);
  } else if (field instanceof HTMLSelectElement) {
    for (const option of field.options) option.selected = values.includes(option.value);
  } else if (field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) {
    if (value !== undefined) field.value = value;
  }
}

/** Deletes the draft of the form that this page showed last, once it is closed. Forms of other people may be open in other tabs. */
export function forgetClosed() {
  const open = document.querySelector('[data-list="modal"] [data-view]')?.getAttribute("data-view");
  if (shown !== undefined && shown !== open) sessionStorage.removeItem(nameOf(shown));
  shown = open ?? undefined;
}

/** @type {string | undefined} */
let shown;
