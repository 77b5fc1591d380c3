// @ts-check
// Sends what a person does to the sandbox, and shows the errors that the sandbox or Slack answers.

/** @typedef {{ ok: true, result?: unknown } | { ok: false, error: string }} ActResult */

/**
 * @param {Record<string, unknown>} what
 * @returns {Promise<ActResult>}
 */
export function act(what) {
  return post("/page/act", { person: document.body.dataset["person"], ...what });
}

/**
 * Performs an act of the control API.
 * @param {string} name
 * @param {Record<string, unknown>} args
 */
export function control(name, args) {
  return post("/control/do", { act: name, args });
}

/**
 * @param {string} path
 * @param {Record<string, unknown>} what
 * @returns {Promise<ActResult>}
 */
async function post(path, what) {
  const headers = { "content-type": "application/json", "x-sandbox-page": "1" };
  try {
    const response = await fetch(path, { method: "POST", headers, body: JSON.stringify(what) });
    return /** @type {ActResult} */ (await response.json());
  } catch {
    return { ok: false, error: "The sandbox did not answer." };
  }
}

/**
 * Shows the error of a result, or hides the place if there is none. Errors of earlier acts are hidden.
 * @param {Element | null | undefined} place
 * @param {ActResult} result
 */
export function showResult(place, result) {
  for (const older of document.querySelectorAll("[data-toast], [data-composer] [data-alert]"))
    older.toggleAttribute("hidden", true);
  if (!(place instanceof HTMLElement)) return;
  // The sandbox may have drawn the same words, and then it also withdraws them.
  if (!result.ok && !place.hidden && place.textContent === result.error) return;
  place.toggleAttribute("data-own-alert", !result.ok);
  place.hidden = result.ok;
  place.textContent = result.ok ? "" : result.error;
}

/**
 * Marks the element as busy while `work` is under way, and ignores further presses.
 * @param {Element} element
 * @param {() => Promise<ActResult>} work
 * @returns {Promise<ActResult>}
 */
export async function whileBusy(element, work) {
  if (element.getAttribute("aria-busy") === "true") return { ok: true };
  element.setAttribute("aria-busy", "true");
  try {
    return await work();
  } finally {
    element.removeAttribute("aria-busy");
  }
}
