import type { OpenView } from "../../slack/model.ts";
import type { Workspace } from "../../slack/workspace.ts";
import { avatar } from "../base/avatar.ts";
import { drawBlocks } from "./blocks.ts";
import { attr, html } from "../base/html.ts";
import type { Html } from "../base/html.ts";
import { textOf } from "../base/read-blocks.ts";
import type { Reader } from "../base/reader.ts";

/** Draws an open modal. The errors are part of the markup, so a different error counts as a change and is drawn. */
export function modal(open: OpenView, reader: Reader, workspace: Workspace): Html {
  const { view } = open;
  const id = `v-${open.id}`;
  const submit = textOf(view["submit"]);
  const surface = { reader, id, view: open, workspace };
  return html`<dialog data-modal data-view="${open.id}" aria-labelledby="${id}-title">
    <form data-modal-form novalidate>
      ${heading(open, workspace)}
      <div data-blocks tabindex="0" role="group" aria-labelledby="${id}-title">
        <p data-alert role="alert" ${open.trouble ? null : html`hidden`}>${open.trouble}</p>
        ${drawBlocks(view.blocks, surface)}
      </div>
      <footer>
        <button type="button" data-dismiss data-look="plain">
          ${textOf(view["close"]) || (submit === "" ? "Close" : "Cancel")}
        </button>
        ${submit === "" ? null : html`<button type="submit" id="${id}-submit" data-look="primary" ${attr("data-waits", view["submit_disabled"] === true)}>${submit}</button>`}
      </footer>
    </form>
  </dialog>`;
}

/** A pushed view has a Back button. ✕ closes all views. */
function heading(open: OpenView, workspace: Workspace): Html {
  const stack = workspace.viewsOf(open.person).map(({ id }) => id);
  const app = workspace.people.get(workspace.app.person);
  return html`<header>
    ${stack.length < 2 ? null : html`<button type="button" data-dismiss data-look="bare" aria-label="Back">←</button>`}
    ${app === undefined ? null : avatar(app, app.id)}
    <h2 id="v-${open.id}-title">${textOf(open.view["title"])}</h2>
    <button type="button" data-dismiss="${stack.toReversed().join(" ")}" data-look="bare" aria-label="Close">
      ✕
    </button>
  </header>`;
}
