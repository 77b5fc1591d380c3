// @ts-check
// The confirmation dialog of menus and fields. The confirmation of a button is handled with its press, in page.js.

const CONTROL = "[data-asks-first]";

/** Controls whose choice was confirmed and is being sent. @type {WeakSet<Element>} */
const confirmed = new WeakSet();

export function startAsking() {
  // In the capture phase, before the listener that sends the choice.
  document.addEventListener("change", ask, true);
  document.addEventListener("click", (event) => event.target instanceof Element && askMenu(event), true);
}

/** @param {Event} event */
function ask(event) {
  const field = event.target;
  if (!(field instanceof Element) || !field.matches(CONTROL) || confirmed.delete(field)) return;
  event.stopImmediatePropagation();
  show(field, (yes) => {
    for (const one of groupOf(field)) settle(one, yes);
    if (yes) again(field, new Event("change", { bubbles: true }));
  });
}

/** @param {MouseEvent} event */
function askMenu(event) {
  const item = event.target instanceof Element ? event.target.closest(`button${CONTROL}`) : null;
  if (item === null || confirmed.delete(item)) return;
  event.stopImmediatePropagation();
  item.closest("details")?.removeAttribute("open");
  show(item, (yes) => yes && again(item, new MouseEvent("click", { bubbles: true })));
}

/** @param {Element} control @param {Event} event */
function again(control, event) {
  confirmed.add(control);
  control.dispatchEvent(event);
}

/** @param {Element} control @param {(yes: boolean) => void} answered */
function show(control, answered) {
  const dialog = document.getElementById(control.getAttribute("data-asks-first") ?? "");
  if (!(dialog instanceof HTMLDialogElement)) return answered(true);
  const gone = new AbortController();
  const answer = (/** @type {MouseEvent} */ event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-answer]") : null;
    if (button !== null) dialog.close(button.getAttribute("data-answer") ?? "");
  };
  const closed = () => {
    gone.abort();
    answered(dialog.returnValue === "confirm");
  };
  dialog.returnValue = "";
  dialog.addEventListener("click", answer, { signal: gone.signal });
  dialog.addEventListener("close", closed, { signal: gone.signal });
  dialog.showModal();
}

/** @param {Element} field */
function groupOf(field) {
  return [...(field.closest("[data-choices]")?.querySelectorAll("input") ?? [field])];
}

/** Reverts an unconfirmed choice. A confirmed choice becomes the state to revert to. @param {Element} field @param {boolean} yes */
function settle(field, yes) {
  if (field instanceof HTMLSelectElement)
    for (const option of field.options) {
      if (yes) option.defaultSelected = option.selected;
      else option.selected = option.defaultSelected;
    }
  if (!(field instanceof HTMLInputElement)) return;
  if (yes) {
    field.defaultChecked = field.checked;
    field.defaultValue = field.value;
  } else if (["checkbox", "radio"].includes(field.type)) field.checked = field.defaultChecked;
  else field.value = field.defaultValue;
}
