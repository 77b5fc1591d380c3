// @ts-check
// Hints that the reader has closed stay closed in this browser. The style sheet hides them by the name of their kind.

const KEPT = "closed hints";

export function startHints() {
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest("[data-hint-close]") : null;
    const kind = button?.closest("[data-hint-box]")?.getAttribute("data-hint-box");
    if (!kind) return;
    localStorage.setItem(KEPT, `${localStorage.getItem(KEPT) ?? ""} ${kind}`.trim());
    hideClosed();
    const composer = document.querySelector("#composer");
    if (composer instanceof HTMLElement) composer.focus({ preventScroll: true });
  });
  addEventListener("storage", hideClosed);
  hideClosed();
}

function hideClosed() {
  document.body.dataset["closedHints"] = localStorage.getItem(KEPT) ?? "";
}
