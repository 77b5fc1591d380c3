import { drawBlocks } from "./blocks.ts";
import { html } from "../base/html.ts";
import type { Html } from "../base/html.ts";
import type { PageParts } from "../base/parts.ts";
import type { Reader } from "../base/reader.ts";
import type { Slot } from "../base/regions.ts";

export function homePane(parts: PageParts, slot: Slot): Html {
  const name = parts.workspace.people.get(parts.workspace.app.person)?.name ?? "The app";
  return html`<header data-bar>
      <button type="button" data-look="plain" data-menu popovertarget="sidebar" aria-label="Channels">
        ☰
      </button>
      <h1>${name}</h1>
      <span data-note>Home</span>
    </header>
    <h2 class="unseen">Home</h2>
    <div data-scroll tabindex="0" role="region" aria-label="Home">${slot("home")}</div>`;
}

export function home(parts: PageParts, reader: Reader): Html {
  const published = parts.workspace.homes.get(reader.place.person);
  if (published === undefined) {
    return html`<div data-empty>
      <p><strong>Nothing here yet.</strong></p>
      <p>The app has not published a Home tab for ${reader.nameOf(reader.place.person)}.</p>
    </div>`;
  }
  const view = { values: published.values, errors: {} };
  return html`<div data-blocks data-view="${published.id}">
    ${drawBlocks(published.view.blocks, { reader, id: "h", view, workspace: parts.workspace })}
  </div>`;
}
