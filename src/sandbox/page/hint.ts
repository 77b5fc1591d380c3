// What a newcomer is told in a channel where nothing has happened yet.
import { playable } from "./chrome.ts";
import { html } from "./html.ts";
import type { Html } from "./html.ts";
import { hrefOf } from "./place.ts";
import type { Place } from "./place.ts";
import type { PageParts } from "./parts.ts";

/** Until the app has said something in the channel, the page says how to make it. */
export function hint(parts: PageParts, place: Place): Html | null {
  const { workspace, examples } = parts;
  const person = workspace.people.get(place.person);
  if (person?.deactivated === true) {
    return html`<aside data-hint-box aria-label="About this person">
      <p><strong>${person.name} is deactivated.</strong> Nothing they press reaches the app, as in Slack.</p>
    </aside>`;
  }
  const channel = workspace.channels.get(place.where);
  const spoken = workspace.messages.some(
    (one) => one.channel === place.where && one.author === workspace.app.person,
  );
  if (spoken || channel === undefined || channel.kind === "dm" || examples.length === 0) return null;
  const others = playable(parts).filter(
    (one) => one.id !== place.person && one.kind === "member" && !one.deactivated,
  );
  const names = others
    .slice(0, 2)
    .map((one) => one.name.split(" ")[0])
    .join(" or ");
  return html`<aside data-hint-box aria-label="What to do first">
    <p><strong>Start here.</strong> Type a command, or click one to put it below:</p>
    <ul>
      ${examples.map((one) => html`<li><button type="button" data-look="plain" data-fill="${one}">${one}</button></li>`)}
    </ul>
    <p>
      When the run asks for approval, become ${names || "somebody else"} in the bar at the top and decide;
      whoever asked cannot approve their own run. A second tab can be a second person.
    </p>
    ${parts.board === null ? null : html`<p>Or <a href="${hrefOf({ ...place, panel: "scenes" })}">watch a scene</a>: one click plays a story, with captions.</p>`}
  </aside>`;
}
