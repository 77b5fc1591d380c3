// The frame around a conversation: the people, the channels, and the state of the app.
import type { Person } from "../slack/model.ts";
import { avatar } from "./base/avatar.ts";
import { attr, html } from "./base/html.ts";
import type { Html, Part } from "./base/html.ts";
import { hrefOf, needsWorld, PANELS, sideBySideHref } from "./base/place.ts";
import type { Panel, Place } from "./base/place.ts";
import type { BotState, PageParts } from "./base/parts.ts";
import { channelsSeenBy, channelTitle, hrefAs, playable } from "./base/reader.ts";
import type { Reader } from "./base/reader.ts";

/** Each link leads to the current channel if the person may see it. */
export function peopleBar(parts: PageParts, place: Place): Html {
  const side = sideBySideLink(parts, place);
  const people = playable(parts).map((person) => ({ person, href: hrefAs(parts, place, person) }));
  return html`<span data-lead>You are</span>
    <select data-become aria-label="You are">
      ${people.map(
        ({ person, href }) =>
          html`<option value="${href}" ${attr("selected", person.id === place.person)}>
            ${person.name}${kindOf(person) === null ? null : ` (${kindOf(person)})`}
          </option>`,
      )}
    </select>
    <ul>
      ${people.map(({ person, href }, i) => {
        const current = attr("aria-current", person.id === place.person ? "page" : null);
        const keys =
          i < SHORTCUTS
            ? html` title="Switch to ${person.name} (Alt+${i + 1})" aria-keyshortcuts="Alt+${i + 1}"`
            : null;
        return html`<li>
          <a href="${href}" data-person-link${keys}${current}
            >${avatar(person)}<span>${person.name}</span>${label(person)}</a
          >
        </li>`;
      })}
    </ul>
    ${side === null ? null : html`<a href="${side}" target="_top" data-side-link>Side by side</a>`}
    <button
      type="button"
      data-help-open
      data-look="bare"
      title="Keyboard shortcuts (Ctrl+/)"
      aria-label="Keyboard shortcuts"
    >
      ?
    </button>`;
}

/** The link to this person side by side with the first other member who sees the channel. Null if there is no such member. */
function sideBySideLink(parts: PageParts, { person, where }: Place): string | null {
  const sees = (one: Person): boolean =>
    channelsSeenBy(parts.workspace, one.id).some((channel) => channel.id === where);
  const other = playable(parts).find(
    (one) => one.id !== person && one.kind === "member" && !one.deactivated && sees(one),
  );
  return other === undefined ? null : sideBySideHref({ people: [person, other.id], where });
}

/** How many people have a shortcut: the keys 1 … 9. */
const SHORTCUTS = 9;

function kindOf(person: Person): string | null {
  if (person.deactivated) return "deactivated";
  return person.kind === "member" ? null : person.kind;
}

function label(person: Person): Part {
  const kind = kindOf(person);
  return kind === null ? null : html` <small data-tag>${kind}</small>`;
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

const PANEL_NAMES: Readonly<Record<Panel, { readonly name: string; readonly what: string }>> = {
  traffic: { name: "Traffic", what: "everything that the app, Slack and the service send each other" },
  service: { name: "Service", what: "the runs, and the faults that you can inject" },
  scenes: { name: "Scenes", what: "stories that play by themselves" },
  phone: { name: "Phone", what: "the notifications of the current person" },
};

export function status(parts: PageParts, place: Place): Html {
  const { state, words } = appState(parts);
  const panels = PANELS.filter((one) => !needsWorld(one) || parts.panelState !== null);
  return html`<h2>Under the hood</h2>
    <ul>
      ${panels.map((one) => panelRow(place, one))}
    </ul>
    <p data-connection="${state}">${words}</p>`;
}

/** Says that the app is away, for a window without room for the channels, where its state is. Null if the app is there. */
export function away(parts: PageParts): Html | null {
  const { state, words } = appState(parts);
  return state === "down" ? html`<p>${words}</p>` : null;
}

/** Checks the process before the connection, because a connection may outlive its process for a moment. */
function appState({ workspace, panelState, connected }: PageParts): AppState {
  const name = workspace.people.get(workspace.app.person)?.name ?? "The app";
  const bot = panelState?.bot() ?? "running";
  if (bot !== "running") return { state: "down", words: `${name} ${AWAY[bot]}` };
  const replicas = panelState?.replicas() ?? [];
  const counted = replicaWords(replicas);
  if (!connected()) return { state: "down", words: `${name} is not connected${counted}` };
  const allRun = replicas.every((replica) => replica === "running");
  return { state: allRun ? "up" : "partly", words: `${name} is connected${counted}` };
}

type AppState = { readonly state: "up" | "partly" | "down"; readonly words: string };

const AWAY: Readonly<Record<Exclude<BotState, "running">, string>> = {
  starting: "is starting…",
  paused: "is paused",
  stopped: "is stopped",
};

/** Counts the running replicas. Empty for an app that is one process. */
function replicaWords(replicas: readonly BotState[]): string {
  if (replicas.length < 2) return "";
  const running = replicas.filter((state) => state === "running").length;
  return `, ${running} of ${replicas.length} replicas running`;
}

/** The link of the open panel closes it. */
function panelRow(place: Place, panel: Panel): Html {
  const open = place.panel === panel;
  const { name, what } = PANEL_NAMES[panel];
  return html`<li>
    <a
      href="${hrefOf({ ...place, panel: open ? null : panel })}"
      data-panel-link
      title="${open ? "Hide" : "Show"} ${what} (Alt+Shift+${PANELS.indexOf(panel) + 1})"
      ${attr("aria-current", open ? "true" : null)}
      ><span data-sign="${panel}" aria-hidden="true"></span><span>${name}</span></a
    >
  </li>`;
}
