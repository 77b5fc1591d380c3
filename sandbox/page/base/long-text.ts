import { html } from "./html.ts";
import type { Part } from "./html.ts";

/** So much of a long text is shown; the rest can be opened. */
const CHARACTERS = 280;

export function long(text: string): Part {
  const points = Array.from(text);
  if (points.length <= CHARACTERS) return text;
  return html`${points.slice(0, CHARACTERS).join("")}…
    <details>
      <summary>All ${points.length} characters</summary>
      <pre tabindex="0">${text}</pre>
    </details>`;
}
