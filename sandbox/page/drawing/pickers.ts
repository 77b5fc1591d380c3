// Selects of fixed options, people, channels or conversations, for one choice or several.
import { channelsSeenBy } from "../base/reader.ts";
import type { Channel } from "../../slack/model.ts";
import { asksFirst, confirm } from "./buttons.ts";
import { common, naming } from "./fields.ts";
import { attr, html } from "../base/html.ts";
import type { Html } from "../base/html.ts";
import { number, record, records, string, textOf } from "../base/read-blocks.ts";
import type { Json } from "../base/read-blocks.ts";
import { type ElementContext, optionsOf } from "./element-context.ts";

/** `value` is what the browser sends, and `id` is what the app receives. */
type Choice = { readonly value: string; readonly id: string; readonly words: string };
type Group = { readonly label: string; readonly choices: readonly Choice[] };

export function picker(element: Json, context: ElementContext): Html {
  const drawn = string(element["type"]).startsWith("multi_")
    ? several(element, context)
    : single(element, context);
  return html`${drawn}${confirm(element, context)}`;
}

function single(element: Json, context: ElementContext): Html {
  const chosen = string(chosenIn(element, context)[0]);
  const option = (one: Choice): Html =>
    html`<option value="${one.value}" ${attr("selected", chosen !== "" && one.id === chosen)}>
      ${one.words}
    </option>`;
  return html`<select
    id="${context.id}"
    ${common(element, context)}${naming(element, context)}${asksFirst(element, context)}${attr("required", context.required)}
  >
    <option value="">${textOf(element["placeholder"]) || PLACEHOLDERS[kindOf(element)]}</option>
    ${groupsOf(element, context).map(({ label, choices }) =>
      label === "" ? choices.map(option) : html`<optgroup label="${label}">${choices.map(option)}</optgroup>`,
    )}
  </select>`;
}

function several(element: Json, context: ElementContext): Html {
  const chosen = chosenIn(element, context);
  const most = number(element["max_selected_items"]);
  const words = textOf(element["placeholder"]) || PLACEHOLDERS[kindOf(element)];
  const row = (one: Choice): Html =>
    html`<label
      ><input
        type="checkbox"
        value="${one.value}"
        ${common(element, context)}${asksFirst(element, context)}${attr("checked", chosen.includes(one.id))}
      />
      <span>${one.words}</span></label
    >`;
  const groups = groupsOf(element, context).map(
    ({ label, choices }) =>
      html`${label === "" ? null : html`<p data-group>${label}</p>`}${choices.map(row)}`,
  );
  const limits = html`${attr("data-required", context.required)}${attr("data-most", most)}`;
  const note = most === undefined ? null : html`<p data-hint>At most ${most}.</p>`;
  const list = html`<div data-choices data-boxed role="group" aria-label="${words}" ${limits}>
    ${groups}
  </div>`;
  if (context.labelled) return html`${list}${note}`;
  return html`<details data-picker>
    <summary data-look="plain">${words}${chosen.length > 0 ? ` (${chosen.length})` : null}</summary>
    ${list}${note}
  </details>`;
}

type Kind = "option" | "person" | "channel" | "conversation";

const PLACEHOLDERS: Record<Kind, string> = {
  option: "Choose an option",
  person: "Choose a person",
  channel: "Choose a channel",
  conversation: "Choose a conversation",
};

function kindOf(element: Json): Kind {
  const type = string(element["type"]);
  if (type.includes("users_")) return "person";
  if (type.includes("channels_")) return "channel";
  return type.includes("conversations_") ? "conversation" : "option";
}

function chosenIn(element: Json, context: ElementContext): unknown[] {
  return context.kept === undefined ? initialOf(element, context) : [context.kept].flat();
}

function initialOf(element: Json, context: ElementContext): unknown[] {
  const options = [record(element["initial_option"]), ...records(element["initial_options"])];
  const ids = ["user", "channel", "conversation"].flatMap((what) => [
    element[`initial_${what}`],
    ...[element[`initial_${what}s`]].flat(),
  ]);
  const initial = [...options.map((one) => one["value"]), ...ids].filter((one) => one !== undefined);
  const here = element["default_to_current_conversation"] === true ? [context.reader.place.where] : [];
  return initial.length > 0 ? initial : here;
}

function groupsOf(element: Json, context: ElementContext): Group[] {
  const ungrouped = (choices: readonly Choice[]): Group[] => [{ label: "", choices }];
  const byId = (id: string, words: string): Choice => ({ value: id, id, words });
  switch (kindOf(element)) {
    case "person":
      return ungrouped(context.reader.people().map((one) => byId(one.id, one.name)));
    case "channel":
      return ungrouped(
        channelsFor(context)
          .filter((one) => one.kind === "public")
          .map((one) => byId(one.id, nameOf(one, context))),
      );
    case "conversation":
      return ungrouped(
        channelsFor(context)
          .filter((one) => isWanted(one, record(element["filter"])))
          .map((one) => byId(one.id, nameOf(one, context))),
      );
    case "option":
      return optionGroups(element);
  }
}

function optionGroups(element: Json): Group[] {
  const all = optionsOf(element).map((option, i) => ({
    value: String(i),
    id: string(option["value"]),
    words: [textOf(option["text"]), textOf(option["description"])].filter((one) => one !== "").join(" — "),
  }));
  const groups = records(element["option_groups"]);
  if (groups.length === 0) return [{ label: "", choices: all }];
  let from = 0;
  return groups.map((group) => {
    const choices = all.slice(from, (from += records(group["options"]).length));
    return { label: textOf(group["label"]), choices };
  });
}

function channelsFor({ workspace, reader }: ElementContext): Channel[] {
  if (workspace === undefined) return [];
  return channelsSeenBy(workspace, reader.place.person).filter((one) => !one.archived);
}

function nameOf(channel: Channel, { workspace, reader }: ElementContext): string {
  if (channel.kind !== "dm") return `${channel.kind === "private" ? "🔒 " : "#"}${channel.name}`;
  const other = channel.members.find((id) => id !== reader.place.person);
  return workspace?.people.get(other ?? "")?.name ?? channel.name;
}

/** Applies a ConversationFilter of @slack/types. All direct messages in the sandbox are with a bot. */
function isWanted(channel: Channel, filter: Json): boolean {
  const include = filter["include"];
  const kind = channel.kind === "dm" ? "im" : channel.kind;
  if (Array.isArray(include) && !include.includes(kind)) return false;
  return !(channel.kind === "dm" && filter["exclude_bot_users"] === true);
}
