// Hints for a new user: first how to start a run, then that someone else must decide.
import type { Message } from "../slack/model.ts";
import { elementsIn } from "../slack/state-values.ts";
import { controlButton, html, type Html } from "./base/html.ts";
import type { PageParts } from "./base/parts.ts";
import { hrefOf, type Place } from "./base/place.ts";
import { playable } from "./base/reader.ts";

/** Before the app's first message, says how to start. After that, until the first decision, says who can decide. */
export function hint(parts: PageParts, place: Place): Html | null {
  const { workspace, examples } = parts;
  const person = workspace.people.get(place.person);
  if (person?.deactivated === true) {
    return html`<aside data-hint-box="person" aria-label="About this person">
      <p><strong>${person.name} is deactivated.</strong> As in Slack, nothing they press reaches the app.</p>
    </aside>`;
  }
  const channel = workspace.channels.get(place.where);
  if (channel === undefined || channel.kind === "dm" || examples.length === 0) return null;
  const spoken = workspace.messages.some(
    (one) => one.channel === place.where && one.author === workspace.app.person,
  );
  return spoken ? decide(parts, place) : start(parts, place);
}

function start(parts: PageParts, place: Place): Html {
  return html`<aside data-hint-box="start" aria-label="What to do first">
    ${close}
    <p><strong>Start here.</strong> Type a command, or click one to copy it into the message field:</p>
    <ul>
      ${parts.examples.map((one) => html`<li><button type="button" data-look="plain" data-fill="${one}">${one}</button></li>`)}
    </ul>
    <p data-note>These words in a task decide what its run does: ${parts.taskWords.join(", ")}.</p>
    <p>
      When a request waits for a decision, switch to ${othersIn(parts, place)} in the top bar and decide. The
      person who asked can't decide. A second tab can be a second person.
    </p>
    ${parts.panelState === null ? null : html`<p>Or <a href="${hrefOf({ ...place, panel: "scenes" })}">watch a scene</a>: one click plays a story with captions.</p>`}
  </aside>`;
}

/** The hint while the first request waits for a decision. A scene that is playing has its own captions instead. */
function decide(parts: PageParts, place: Place): Html | null {
  const { workspace, panelState } = parts;
  if (panelState?.scenes().playing?.ended === null) return null;
  const requests = workspace.messages.filter(
    (one) => one.channel === place.where && one.author === workspace.app.person && one.broadcast,
  );
  const waiting = requests.findLast(asksForDecision);
  const states = requests.map((one) => (asksForDecision(one) ? "waits" : parts.requestState(one)));
  const waits = states.includes("waits");
  if (states.some((one) => one !== "waits")) return dares(parts, states.at(-1) === "decided" && !waits);
  if (waiting === undefined) return null;
  const asker = firstNamed(waiting);
  const canDecide = asker !== place.person && workspace.people.get(place.person)?.kind === "member";
  if (asker === undefined || !canDecide)
    return small(
      html`<strong>Now switch to ${othersIn(parts, place, asker)}</strong> in the top bar and press a button:
        the person who asked can't decide. A second tab can be a second person.`,
    );
  const name = workspace.people.get(asker)?.name.split(" ")[0] ?? "Someone else";
  return small(html`<strong>Now press a button.</strong> ${name} asked, so someone else must decide.`);
}

/** The hint after the first request: scenes to try. Each gets a check mark once it has been played. */
function dares({ panelState }: PageParts, decided: boolean): Html | null {
  const state = panelState?.scenes();
  const all = state?.scenes.filter(({ dare }) => dare !== null) ?? [];
  if (state === undefined || all.every(({ name }) => state.done.has(name))) return null;
  return html`<aside data-hint-box="dares" aria-label="What to try next">
    ${close}
    <p>
      ${decided ? html`<strong>That request has been decided.</strong> ` : ""}Now try to get around the rules:
    </p>
    <ul>
      ${all.map(({ name, dare }) => {
        const done = state.done.has(name);
        return html`<li>
          ${controlButton({
            act: "scene.play",
            args: { name },
            words: `${done ? "✓ " : ""}${dare}`,
            label: `${dare}${done ? " (done)" : ""}`,
            id: `dare-${name}`,
          })}
        </li>`;
      })}
    </ul>
    <p data-note>Each one plays on the real bot and service, and shows what happens.</p>
  </aside>`;
}

/** The browser remembers which kinds of hints were closed. */
const close = html`<button type="button" data-look="bare" data-hint-close aria-label="Hide this hint">
  ✕
</button>`;

const small = (words: Html): Html =>
  html`<aside data-hint-box="decide" data-small aria-label="What to do next">
    ${close}
    <p>${words}</p>
  </aside>`;

/** Whether the message still asks for a decision. A decided message may keep other buttons, but no primary one. */
const asksForDecision = ({ blocks }: Message): boolean =>
  elementsIn(blocks).some(({ element }) => element.type === "button" && element["style"] === "primary");

/** Returns the first person that a request names, who is the requester. */
const firstNamed = ({ blocks }: Message): string | undefined =>
  /"user_id":"(\w+)"/.exec(JSON.stringify(blocks))?.[1];

/** Names at most two people of the channel who can decide: neither the asker nor the person of the page. */
function othersIn(parts: PageParts, { person, where }: Place, asker = person): string {
  const inChannel = parts.workspace.channels.get(where)?.members ?? [];
  const others = playable(parts).filter(
    ({ id, kind, deactivated }) =>
      inChannel.includes(id) && ![person, asker].includes(id) && kind === "member" && !deactivated,
  );
  const names = others.slice(0, 2).map((one) => one.name.split(" ")[0]);
  return names.join(" or ") || "someone else";
}
