// @ts-check
// Offers subcommands while a slash command is being typed.

/**
 * @param {HTMLTextAreaElement} text
 * @param {string} value
 */
export function fill(text, value) {
  text.value = value;
  text.focus();
  text.setSelectionRange(value.length, value.length);
  text.dispatchEvent(new Event("input", { bubbles: true }));
}

/**
 * The offered uses. None is selected until an arrow key selects one, because Enter must send a complete command.
 * @param {HTMLElement} list
 * @param {HTMLTextAreaElement} text
 */
function choices(list, text) {
  const options = /** @type {HTMLElement[]} */ ([...list.children]);
  const shown = () => options.filter((one) => !one.hidden);
  const at = () => shown().findIndex((one) => one.getAttribute("aria-selected") === "true");
  /** @param {number} index */
  const choose = (index) => {
    const chosen = shown()[index];
    options.forEach((one) => one.setAttribute("aria-selected", String(one === chosen)));
    chosen?.scrollIntoView({ block: "nearest" });
    if (chosen === undefined) text.removeAttribute("aria-activedescendant");
    else text.setAttribute("aria-activedescendant", chosen.id);
  };
  return {
    choose,
    at,
    count: () => shown().length,
    wordsAt: (/** @type {number} */ index) => shown()[index]?.dataset["fill"] ?? text.value,
    narrow: (/** @type {string} */ typed) => {
      for (const one of options) {
        const whole = (one.dataset["fill"] ?? "").toLowerCase();
        one.hidden = !typed.startsWith("/") || !whole.startsWith(typed) || whole.trim() === typed;
      }
    },
  };
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLTextAreaElement} text
 */
export function completion(form, text) {
  const list = /** @type {HTMLElement} */ (form.querySelector("[data-uses]"));
  const uses = choices(list, text);
  const close = () => {
    list.hidden = true;
    uses.choose(-1);
  };
  const offer = () => {
    uses.narrow(text.value.toLowerCase());
    uses.choose(-1);
    list.hidden = uses.count() === 0;
  };
  list.addEventListener("mousedown", (event) => {
    event.preventDefault();
    const one = event.target instanceof Element ? event.target.closest("[data-fill]") : null;
    if (one instanceof HTMLElement) fill(text, one.dataset["fill"] ?? "");
  });
  /** Handles a key, and returns whether it was for the list. @param {KeyboardEvent} event */
  const takes = (event) => {
    if (list.hidden || event.shiftKey) return false;
    const at = uses.at();
    if (event.key === "ArrowDown") uses.choose((at + 1) % uses.count());
    else if (event.key === "ArrowUp") uses.choose(at <= 0 ? uses.count() - 1 : at - 1);
    else if (event.key === "Escape") close();
    else if (event.key === "Tab" || (event.key === "Enter" && at >= 0))
      fill(text, uses.wordsAt(Math.max(at, 0)));
    else return false;
    event.preventDefault();
    return true;
  };
  return { offer, close, takes };
}
