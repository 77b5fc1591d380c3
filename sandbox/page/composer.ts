import { turnedOff } from "../slack/acting.ts";
import { html } from "./base/html.ts";
import type { Html } from "./base/html.ts";
import type { Place } from "./base/place.ts";
import type { PageParts, SlashCommand } from "./base/parts.ts";

type Use = { readonly shown: string; readonly fill: string; readonly about: string };

/** The subcommands of a slash command, which the manifest's usage hint separates by bars. */
function usesOf({ command, description, usage_hint: hint }: SlashCommand): Use[] {
  const uses = (hint ?? "").split("|").map((use) => use.trim());
  return uses.map((use, i) => {
    const typed = use.replace(/\s*[<[].*$/, "");
    const fill = `${command} ${typed}`.trim() + (typed === use ? "" : " ");
    return { shown: `${command} ${use}`.trim(), fill, about: i === 0 ? description : "" };
  });
}

export function composer(parts: PageParts, { place, to }: { place: Place; to: string }): Html {
  const { channels, app } = parts.workspace;
  if (channels.get(place.where)?.kind === "dm" && !app.takesMessages)
    return html`<p data-empty>${turnedOff}</p>`;
  const id = place.thread === null ? "composer" : "reply";
  const label = place.thread === null ? `Message ${to}` : "Reply";
  // Slack has no slash commands in threads.
  const uses = place.thread === null ? parts.commands.flatMap(usesOf) : [];
  return html`<form data-composer data-channel="${place.where}" data-thread="${place.thread ?? ""}">
    <p data-alert role="alert" hidden></p>
    <ul id="${id}-uses" role="listbox" aria-label="Commands" data-uses hidden>
      ${uses.map(
        (use, i) =>
          html`<li role="option" id="${id}-use-${i}" aria-selected="false" data-fill="${use.fill}">
            <span>${use.shown}</span> <small>${use.about}</small>
          </li>`,
      )}
    </ul>
    <textarea
      id="${id}"
      name="text"
      rows="1"
      aria-label="${label}"
      aria-autocomplete="list"
      aria-controls="${id}-uses"
      placeholder="${place.thread === null ? `${label}, or type /` : "Reply…"}"
    ></textarea>
    <button type="submit" data-look="send" aria-label="Send">➤</button>
  </form>`;
}
