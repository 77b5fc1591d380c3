// Buttons and forms of the panels. Each names one act on the sandbox's world; the browser posts it to /control/do.
import { attr, html } from "./html.ts";
import type { Html } from "./html.ts";

export type Act = {
  readonly act: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly words: string;
  /** What a reader who hears only this button is told; `words` when absent. */
  readonly label?: string;
  readonly look?: "plain" | "primary" | "danger";
  /** Two buttons that take each other's place share one, so that the focus stays. */
  readonly id?: string;
  readonly off?: boolean;
};

export function controlButton({ act, args = {}, words, label, look = "plain", id, off = false }: Act): Html {
  return html`<button
    type="button"
    ${attr("id", id)}
    data-look="${look}"
    data-control="${act}"
    data-args="${JSON.stringify(args)}"
    ${attr("aria-label", label)}${attr("disabled", off)}
  >
    ${words}
  </button>`;
}
