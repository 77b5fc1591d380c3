// One line of the traffic: sender, receiver, content, the time since the previous line, and the details.

import type { Traffic } from "../../slack/model.ts";
import type { Workspace } from "../../slack/workspace.ts";
import { attr, html, type Html, type Part } from "../base/html.ts";
import { type Json, record, string } from "../base/read-blocks.ts";
import type { Times } from "../base/times.ts";

/** Longer details would slow down every tab. A copy of the line has all of them. */
const DETAIL_CHARACTERS = 12_000;

const SIDES: Readonly<Record<Traffic["from"], readonly [from: string, to: string]>> = {
  app: ["app", "Slack"],
  slack: ["Slack", "app"],
  service: ["app", "service"],
  person: ["person", "Slack"],
};

export function jsonLines(lines: readonly Traffic[]): string {
  return lines.map((line) => `${jsonLine(line)}\n`).join("");
}

function jsonLine(line: Traffic): string {
  const { number, at, from: _side, ...rest } = line;
  const [from, to] = sidesOf(line);
  return JSON.stringify({ number, at: new Date(at).toISOString(), from, to, ...rest });
}

/** Requests to the gateway are recorded as requests to the service. Slack's answers to a person do not reach the app. */
function sidesOf({ from, what }: Traffic): readonly [from: string, to: string] {
  if (from === "slack" && what.startsWith("answers ")) return ["Slack", "person"];
  if (from === "service" && /\bgateway\b/i.test(what)) return ["app", "gateway"];
  return SIDES[from] ?? [from, "?"];
}

export type Around = {
  readonly workspace: Workspace;
  readonly times: Times;
  readonly before: Traffic | undefined;
};

export function drawLine(line: Traffic, { workspace, times, before }: Around): Html {
  const { number, ms, answers } = line;
  const refused = line.refused ?? (line.lost ? "the answer was lost" : null);
  const [from, to] = sidesOf(line);
  return html`<details
    id="line-${number}"
    data-line="${number}"
    data-at="${line.at}"
    data-sides="${from} ${to}"
    ${attr("data-refused", refused !== null)}
  >
    <summary>
      <time datetime="${new Date(line.at).toISOString()}" title="${times.full(line.at)}"
        >${times.fine(line.at)}</time
      >
      <span data-gap title="since the previous line">${gap(before, line)}</span>
      <span data-way
        ><b data-side="${from}">${from}</b> <span aria-hidden="true">→</span><span class="unseen"> to </span>
        <b data-side="${to}">${to}</b></span
      >
      <span data-what
        ><code>${named(line.what, workspace)}</code>
        ${ms === null ? null : html`<span data-took>${ms} ms</span> `}<span data-gist
          >${gist(line.detail, workspace)}</span
        ></span
      >
      ${refused === null ? null : html`<strong data-why>${refused}</strong>`}
    </summary>
    <div>
      <p data-note>
        Line
        ${number}${answers === null ? null : html`, answers <a href="#line-${answers}">line ${answers}</a>`}
      </p>
      <button type="button" data-look="plain" data-copy>Copy</button>
      <pre tabindex="0">${detailOf(line.detail, workspace)}</pre>
    </div>
  </details>`;
}

function gap(before: Traffic | undefined, line: Traffic): string {
  if (before === undefined) return "";
  const ms = line.at - before.at;
  return ms < 1000 ? `+${Math.max(0, Math.round(ms))} ms` : `+${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
}

function detailOf(detail: unknown, workspace: Workspace): Part {
  const text = typeof detail === "string" ? detail : (JSON.stringify(detail, null, 2) ?? "");
  const rest = text.length - DETAIL_CHARACTERS;
  if (rest <= 0) return named(text, workspace);
  return html`${named(text.slice(0, DETAIL_CHARACTERS), workspace)}
    <em>… ${rest} more characters. Copy has them all.</em>`;
}

// Adds names to ids, and summarises a line in a few words.

const IDS = /\b([UCDW][0-9A-Z]{2,20}|USLACKBOT)\b/;

/** Adds the name after each known id. */
function named(text: string, workspace: Workspace): Part {
  // The pieces at odd positions are the ids.
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
  return `direct message of ${people.get(other ?? "")?.name ?? "someone"}`;
}

const GIST_CHARACTERS = 90;

/** Place, person and action, taken from the fields that Web API calls, payloads and people's acts have in common. */
function gist(detail: unknown, workspace: Workspace): Html {
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

/** Shortens the text for the summary. The line's detail has the full text. */
function shorten(text: string): string {
  const points = Array.from(text.replace(/\s+/g, " "));
  return points.length > GIST_CHARACTERS ? `${points.slice(0, GIST_CHARACTERS).join("")}…` : points.join("");
}
