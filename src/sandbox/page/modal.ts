import type { OpenView } from "../slack/model.ts";
import { drawBlocks } from "./blocks.ts";
import { html } from "./html.ts";
import type { Html } from "./html.ts";
import { textOf } from "./json.ts";
import type { Reader } from "./reader.ts";

/** The errors are in the markup, so a second, different error counts as a change and is drawn. */
export function modal(open: OpenView, reader: Reader): Html {
  const { view } = open;
  const id = `v-${open.id}`;
  const submit = textOf(view["submit"]);
  return html`<dialog data-modal data-view="${open.id}" aria-labelledby="${id}-title">
    <form data-modal-form novalidate>
      <header>
        <h2 id="${id}-title">${textOf(view["title"])}</h2>
        <button type="button" data-dismiss data-look="bare" aria-label="Close">✕</button>
      </header>
      <div data-blocks tabindex="-1">
        <p data-told role="alert" ${open.trouble ? null : html`hidden`}>${open.trouble}</p>
        ${drawBlocks(view.blocks, { reader, id, view: open })}
      </div>
      <footer>
        <button type="button" data-dismiss data-look="plain">${textOf(view["close"]) || "Cancel"}</button>
        ${submit === "" ? null : html`<button type="submit" id="${id}-submit" data-look="primary">${submit}</button>`}
      </footer>
    </form>
  </dialog>`;
}
