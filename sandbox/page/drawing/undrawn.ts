// Nothing that an app sends may vanish: what has no drawing says its name, and what was sent can be read.
import { html } from "../base/html.ts";
import type { Html } from "../base/html.ts";
import { record, string } from "../base/json.ts";

export function undrawn(what: string, value: unknown): Html {
  return html`<details data-undrawn>
    <summary>${saying(what, value)}</summary>
    <pre tabindex="0">${JSON.stringify(value, null, 2) ?? ""}</pre>
  </details>`;
}

/** Inside of running text, where nothing can be opened. */
export function undrawnWord(what: string, value: unknown): Html {
  return html`<span data-undrawn>${saying(what, value)} <code>${JSON.stringify(value) ?? ""}</code></span>`;
}

function saying(what: string, value: unknown): string {
  return `This sandbox cannot draw ${what} of type ${string(record(value)["type"]) || "?"}.`;
}
