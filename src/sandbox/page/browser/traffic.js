// @ts-check
// The traffic panel: what it shows of its lines, and copying one.

export function startTraffic() {
  const filter = document.querySelector("[data-filter] input");
  if (!(filter instanceof HTMLInputElement)) return;
  filter.value = sessionStorage.getItem("traffic filter") ?? "";
  filter.addEventListener("input", () => {
    sessionStorage.setItem("traffic filter", filter.value);
    filterTraffic();
  });
  document.addEventListener("click", (event) => {
    const button = event.target instanceof Element ? event.target.closest("[data-copy]") : null;
    if (button !== null) void copy(button);
  });
  filterTraffic();
}

/** Lines come in at any time, so this is done again after every change. */
export function filterTraffic() {
  const filter = document.querySelector("[data-filter] input");
  if (!(filter instanceof HTMLInputElement)) return;
  const words = filter.value.toLowerCase().split(/\s+/);
  for (const line of document.querySelectorAll('[data-list="traffic"] > li')) {
    const text = (line.textContent ?? "").toLowerCase();
    line.toggleAttribute("hidden", !words.every((word) => text.includes(word)));
  }
}

/** @param {Element} button */
async function copy(button) {
  const text = button.parentElement?.querySelector("pre")?.textContent ?? "";
  const done = await navigator.clipboard.writeText(text).then(
    () => "Copied",
    () => "Not allowed",
  );
  button.textContent = done;
}
