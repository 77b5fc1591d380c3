// @ts-check
// The composer: drafts that last as long as the tab, completion of commands, and Enter to send.
import { act, showResult } from "./acts.js";
import { completion, fill } from "./completion.js";
import { goToEnd } from "./scroll.js";

export function startComposers() {
  for (const form of document.querySelectorAll("form[data-composer]")) {
    if (form instanceof HTMLFormElement) startComposer(form);
  }
  document.addEventListener("click", (event) => {
    const example = event.target instanceof Element ? event.target.closest("button[data-fill]") : null;
    const text = document.querySelector("#composer");
    if (example instanceof HTMLElement && text instanceof HTMLTextAreaElement)
      fill(text, example.dataset["fill"] ?? "");
  });
  const first = document.querySelector(
    document.body.hasAttribute("data-has-thread") ? "#reply" : "#composer",
  );
  if (first instanceof HTMLElement && location.hash === "" && matchMedia("(hover: hover)").matches) {
    first.focus({ preventScroll: true });
  }
}

/** @param {HTMLFormElement} form */
function startComposer(form) {
  const text = form.querySelector("textarea");
  if (text === null) return;
  const { channel = "", thread = "" } = form.dataset;
  const draft = `draft ${document.body.dataset["person"]} ${channel} ${thread}`;
  text.value = sessionStorage.getItem(draft) ?? "";
  const uses = completion(form, text);
  text.addEventListener("input", () => {
    sessionStorage.setItem(draft, text.value);
    showResult(form.querySelector("[data-alert]"), { ok: true });
    uses.offer();
  });
  text.addEventListener("blur", () => uses.close());
  text.addEventListener("keydown", (event) => {
    if (event.isComposing || uses.takes(event)) return;
    if (event.key !== "Enter" || event.shiftKey) return;
    event.preventDefault();
    form.requestSubmit();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    uses.close();
    void send(form, text, { draft, channel, thread });
  });
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLTextAreaElement} text
 * @param {{ draft: string, channel: string, thread: string }} to
 */
async function send(form, text, { draft, channel, thread }) {
  const typed = text.value;
  if (typed.trim() === "") return;
  text.value = "";
  sessionStorage.removeItem(draft);
  form.setAttribute("aria-busy", "true");
  const result = await act({ do: "say", channel, thread, text: typed });
  form.removeAttribute("aria-busy");
  showResult(form.querySelector("[data-alert]"), result);
  const list = form.closest("[data-pane]")?.querySelector("[data-scroll]");
  if (result.ok && list) goToEnd(list);
  if (!result.ok && text.value === "") {
    text.value = typed;
    sessionStorage.setItem(draft, typed);
  }
}
