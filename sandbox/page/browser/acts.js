// @ts-check
// What a person does, sent to the sandbox; and what it, or Slack, says back to them.

/** @typedef {{ ok: true } | { ok: false, error: string }} ActResult */

/**
 * @param {Record<string, unknown>} what
 * @returns {Promise<ActResult>}
 */
export function act(what) {
  return post("/page/act", { person: document.body.dataset["person"], ...what });
}

/**
 * What one does to the sandbox's world itself.
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
 * @param {Element | null | undefined} place
 * @param {ActResult} result
 */
export function tell(place, result) {
  if (!(place instanceof HTMLElement)) return;
  place.hidden = result.ok;
  place.textContent = result.ok ? "" : result.error;
}

/**
 * Shows that an answer is awaited, and keeps a second press from counting.
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
