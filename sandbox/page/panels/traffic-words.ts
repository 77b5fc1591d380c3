// Ids with the names of those they are, and what a line is about in a few words.
import type { Workspace } from "../../slack/workspace.ts";
import { html } from "../base/html.ts";
import type { Html, Part } from "../base/html.ts";
import { record, string } from "../base/json.ts";
import type { Json } from "../base/json.ts";

const IDS = /\b([UCDW][0-9A-Z]{2,20}|USLACKBOT)\b/;

/** The text as it is, with each known id's name beside it. */
export function named(text: string, workspace: Workspace): Part {
  // Odd pieces are the ids.
  return text.split(IDS).map((piece, i): Part => {
    const name = i % 2 === 1 ? nameOf(piece, workspace) : undefined;
    return name === undefined ? piece : html`${piece}<i data-name>${name}</i>`;
  });
}

function nameOf(id: string, { people, channels }: Workspace): string | undefined {
  const person = people.get(id)?.name;
  const channel = channels.get(id);
  if (person !== undefined || channel === undefined) return person;
  if (channel.kind !== "dm") return `#${channel.name}`;
  const other = channel.members.find((one) => people.get(one)?.kind !== "bot");
  return `direct message of ${people.get(other ?? "")?.name ?? "somebody"}`;
}

const GIST_CHARACTERS = 90;

/** Where, who and what: read from what Web API calls, payloads and people's acts have in common. */
export function gist(detail: unknown, workspace: Workspace): Html {
  const about = subjectOf(record(detail));
  const ids = [idIn(about["channel"] ?? about["channel_id"]), idIn(about["user"] ?? about["user_id"])];
  const names = ids.map((id) => nameOf(id, workspace)).filter((name) => name !== undefined);
  const words = [string(about["command"]), wordsOf(about)].filter((one) => one !== "").join(" ");
  return html`${names.join(" · ")}${names.length > 0 && words !== "" ? " · " : null}${shorten(words)}`;
}

function subjectOf(detail: Json): Json {
  const body = record(record(detail["payload"])["body"]);
  if (Object.keys(body).length > 0) return { ...body, ...record(body["event"]) };
  return "args" in detail ? record(detail["args"]) : "payload" in detail ? record(detail["payload"]) : detail;
}

function wordsOf(about: Json): string {
  const [action] = Array.isArray(about["actions"]) ? about["actions"].map(record) : [];
  return (
    string(about["text"]) || string(action?.["action_id"]) || string(record(about["view"])["callback_id"])
  );
}

function idIn(value: unknown): string {
  return string(value) || string(record(value)["id"]);
}

/** The whole of it is in the line's detail. */
function shorten(text: string): string {
  const points = Array.from(text.replace(/\s+/g, " "));
  return points.length > GIST_CHARACTERS ? `${points.slice(0, GIST_CHARACTERS).join("")}…` : points.join("");
}
