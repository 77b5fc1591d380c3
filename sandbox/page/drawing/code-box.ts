// Preformatted text. A long one is folded in messages, by CSS alone: all of it stays in the page.
import { attr, html } from "../base/html.ts";
import type { Html, Part } from "../base/html.ts";

const SHOWN_LINES = 14;
/** About what so many lines hold. */
const SHOWN_CHARACTERS = 1_400;

export function codeBox(inner: Part, text: string, language = ""): Html {
  const lines = text.split("\n").length;
  const pre = html`<pre${attr("data-language", language || null)}>${inner}</pre>`;
  if (lines <= SHOWN_LINES && text.length <= SHOWN_CHARACTERS) return pre;
  const all = lines > SHOWN_LINES ? `${lines} lines` : `${text.length.toLocaleString("en-US")} characters`;
  return html`<div data-fold>
    ${pre}
    <details>
      <summary><span data-unfold>Show all ${all}</span><span data-refold>Show less</span></summary>
    </details>
  </div>`;
}
