// What stands around a conversation: who you are, where you can go, how the app is, and what to do first.
import type { Person } from "../slack/model.ts";
import { avatar } from "./avatar.ts";
import { channelTitle } from "./conversation.ts";
import { attr, html } from "./html.ts";
import type { Html, Part } from "./html.ts";
import { hrefOf } from "./place.ts";
import type { Place } from "./place.ts";
import type { PageParts } from "./parts.ts";
import { channelsSeenBy } from "./reader.ts";
import type { Reader } from "./reader.ts";

export function playable({ workspace }: PageParts): Person[] {
  return [...workspace.people.values()].filter((one) => one.kind !== "bot");
}

/** Whoever the tab turns into sees the same channel, if they may. */
export function peopleBar(parts: PageParts, place: Place): Html {
  return html`<span data-lead>You are</span>
    <ul>
      ${playable(parts).map((person) => {
        const here =
          place.where === "home" ||
          channelsSeenBy(parts.workspace, person.id).some((one) => one.id === place.where);
        const to = { ...place, person: person.id };
        const href = hrefOf(here ? to : { ...to, where: firstChannel(parts, person.id), thread: null });
        const current = attr("aria-current", person.id === place.person ? "page" : null);
        return html`<li>
          <a href="${href}" ${current}>${avatar(person)}<span>${person.name}</span>${label(person)}</a>
        </li>`;
      })}
    </ul>`;
}

function label(person: Person): Part {
  if (person.deactivated) return html` <small data-tag>deactivated</small>`;
  return person.kind === "member" ? null : html` <small data-tag>${person.kind}</small>`;
}

export function firstChannel({ workspace }: PageParts, person: string): string {
  const seen = channelsSeenBy(workspace, person);
  return (seen.find((one) => one.members.includes(person)) ?? seen[0])?.id ?? "home";
}

export function sidebar(parts: PageParts, reader: Reader, unread: (channel: string) => boolean): Html {
  const { place } = reader;
  const seen = channelsSeenBy(parts.workspace, place.person);
  const rows = (kind: "channels" | "dms"): Html[] =>
    seen
      .filter((one) => (one.kind === "dm") === (kind === "dms"))
      .map((one) => {
        const sign = one.kind === "dm" ? "✉" : one.kind === "private" ? "🔒" : "#";
        return row(place, {
          where: one.id,
          sign,
          name: channelTitle(parts, reader, one),
          unread: unread(one.id),
        });
      });
  const name = parts.workspace.people.get(parts.workspace.app.person)?.name ?? "The app";
  return html`<h2>Channels</h2>
    <ul>
      ${rows("channels")}
    </ul>
    <h2>${name}</h2>
    <ul>
      ${parts.openHome === null ? null : row(place, { where: "home", sign: "⌂", name: "Home", unread: false })}
      ${rows("dms")}
    </ul>`;
}

type Row = { where: string; sign: string; name: string; unread: boolean };

function row(place: Place, { where, sign, name, unread }: Row): Html {
  const current = attr("aria-current", where === place.where ? "page" : null);
  return html`<li>
    <a href="${hrefOf({ ...place, where, thread: null })}" ${current}${attr("data-unread", unread)}
      ><span data-sign aria-hidden="true">${sign}</span
      ><span>${name}</span
      >${unread ? html`<span data-dot></span><span class="unseen"> (unread)</span>` : null}</a
    >
  </li>`;
}

export function status(parts: PageParts, place: Place): Html {
  const connected = parts.connected();
  const name = parts.workspace.people.get(parts.workspace.app.person)?.name ?? "The app";
  return html`<p data-connection="${connected ? "up" : "down"}">
      ${connected ? `${name} is connected` : `${name} is not connected`}
    </p>
    <p>
      <a href="${hrefOf({ ...place, traffic: !place.traffic })}"
        >${place.traffic ? "Hide traffic" : "Show traffic"}</a
      >
    </p>`;
}

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
  </aside>`;
}
