// The list of scenes, and the captions above the conversation while a scene plays.
import type { PersonId } from "../../slack/model.ts";
import { attr, controlButton, html, type Html } from "../base/html.ts";
import type { Caption, PageParts, SceneState } from "../base/parts.ts";
import { hrefOf, type Place } from "../base/place.ts";
import { channelsSeenBy, hrefAs } from "../base/reader.ts";
import type { Item } from "../base/regions.ts";
import type { Times } from "../base/times.ts";

type Scene = SceneState["scenes"][number];
type Playing = NonNullable<SceneState["playing"]>;

/** How a scene ended. The newest caption says why. */
const ENDS: Readonly<Record<NonNullable<Playing["ended"]>, string>> = {
  done: "Done",
  failed: "Failed",
  stopped: "Stopped",
};

export function sceneList({ scenes, playing }: SceneState, times: Times): Item[] {
  const busy = playing !== null && playing.ended === null;
  const items = scenes.map((scene) => ({
    key: scene.name,
    inner: drawScene(scene, { playing: playing?.name === scene.name ? playing : null, busy, times }),
  }));
  return items.length > 0 ? items : [{ key: "none", inner: html`<p data-empty>There are no scenes.</p>` }];
}

type Shown = { readonly playing: Playing | null; readonly busy: boolean; readonly times: Times };

function drawScene({ name, title, what }: Scene, { playing, busy, times }: Shown): Html {
  const id = `scene-${name}`;
  const isPlaying = playing !== null && playing.ended === null;
  const button = isPlaying
    ? controlButton({ act: "scene.stop", words: "Stop", label: `Stop: ${title}`, id, look: "danger" })
    : controlButton({
        act: "scene.play",
        args: { name },
        words: playing === null ? "Play" : "Play again",
        label: `${playing === null ? "Play" : "Play again"}: ${title}`,
        id,
        off: busy,
        look: busy ? "plain" : "primary",
      });
  return html`<article data-scene ${attr("data-plays", isPlaying)}>
    <h3>${title}</h3>
    ${button}
    <p>${what}</p>
    ${playing === null ? null : captions(playing, times)}
  </article>`;
}

function captions(playing: Playing, times: Times): Html {
  const begun = playing.captions[0]?.at ?? 0;
  return html`<ol data-captions>
      ${playing.captions.map(
        ({ at, text }) =>
          html`<li>
            <time datetime="${new Date(at).toISOString()}" title="${times.full(at)}"
              >${secondsSince(begun, at)}</time
            >
            <span>${text}</span>
          </li>`,
      )}
    </ol>
    ${
      playing.ended === null
        ? html`<p data-state="playing">Playing…</p>`
        : html`<p data-state="${playing.ended}">${ENDS[playing.ended]}</p>`
    }`;
}

function secondsSince(begun: number, at: number): string {
  return `+${((at - begun) / 1000).toFixed(1)} s`;
}

/** Every tab shows the newest caption above the conversation, so the panel need not be open. */
export function captionBar(parts: PageParts, place: Place): Item[] {
  const state = parts.panelState?.scenes();
  const playing = state?.playing ?? null;
  if (state === undefined || playing === null) return [];
  const title = state.scenes.find((one) => one.name === playing.name)?.title ?? playing.name;
  const newest = playing.captions.at(-1);
  const { ended } = playing;
  const inner = html`<div
    data-caption="${ended ?? "playing"}"
    data-of="${playing.id}"
    data-step="${playing.captions.length}"
    ${attr("data-goes-to", ended === null ? viewOf(parts, place, newest) : null)}
    ${attr("data-spot", newest?.spot?.ts)}
  >
    <p>
      <a href="${hrefOf({ ...place, panel: "scenes" })}">${title}</a>
      ${ended === null ? null : html`<b>${ENDS[ended]}</b>`}
    </p>
    ${ended === "done" ? whatHappened(state, playing) : html`<p data-words>${newest?.text ?? "Starting…"}${eyesOf(parts, place, newest?.eyes ?? null)}</p>`}
    <p data-caption-buttons>${ended === null ? whilePlaying(title) : afterwards(state, playing)}</p>
  </div>`;
  return [{ key: "caption", inner }];
}

/** The buttons during a scene. The browser shows Follow only in a tab that has left the scene. */
function whilePlaying(title: string): Html {
  return html`<button type="button" data-look="plain" data-follow hidden>Follow</button>
    ${controlButton({ act: "scene.stop", words: "Stop", label: `Stop: ${title}` })}`;
}

function afterwards({ scenes }: SceneState, { name }: Playing): Html {
  const next = scenes[scenes.findIndex((one) => one.name === name) + 1];
  return html`${
      next === undefined
        ? null
        : controlButton({
            act: "scene.play",
            args: { name: next.name },
            words: `Next: ${next.title}`,
            id: "next-scene",
          })
    } <button type="button" data-look="bare" data-caption-close aria-label="Hide the caption">✕</button>`;
}

function whatHappened({ scenes }: SceneState, { name, captions }: Playing): Html {
  const lesson = scenes.find((one) => one.name === name)?.lesson;
  return html`<p data-words><strong>What just happened.</strong> ${captions.at(-1)?.text} ${lesson}</p>`;
}

/** The address of what the caption describes, seen as the person whom it names. */
function viewOf(parts: PageParts, place: Place, caption: Caption | undefined): string | null {
  const { workspace } = parts;
  if (caption === undefined) return null;
  const { eyes, spot } = caption;
  const person = eyes ?? place.person;
  const isSeen = channelsSeenBy(workspace, person).some(({ id }) => id === spot?.channel);
  const where = spot !== null && isSeen ? spot.channel : place.where;
  const message = workspace.messageAt(where, spot?.ts ?? "");
  const isReply = message !== undefined && message.thread !== null && message.thread !== message.ts;
  const thread = isReply && !message.broadcast ? message.thread : where === place.where ? place.thread : null;
  return hrefOf({ ...place, person, where, thread });
}

/** For everyone else, a link to the view of the person whom the caption names. */
function eyesOf(parts: PageParts, place: Place, eyes: PersonId | null): Html | null {
  const person = eyes === null || eyes === place.person ? undefined : parts.workspace.people.get(eyes);
  if (person === undefined) return null;
  return html` <a href="${hrefAs(parts, place, person)}">See it as ${person.name}</a>`;
}
