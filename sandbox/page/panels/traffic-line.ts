// One line of the traffic: who said what to whom, how much later than the line before, and all there is to know of it.
import type { Traffic } from "../../slack/model.ts";
import type { Workspace } from "../../slack/workspace.ts";
import { attr, html } from "../base/html.ts";
import type { Html, Part } from "../base/html.ts";
import { gist, named } from "./traffic-words.ts";
import type { Times } from "../base/times.ts";

/** More of a detail would make every tab heavy; a copy has all of it. */
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

/** The gateway is asked like the service, and its lines say so; what Slack tells a person does not reach the app. */
function sidesOf({ from, what }: Traffic): readonly [from: string, to: string] {
  if (from === "slack" && what.startsWith("tells ")) return ["Slack", "person"];
  if (from === "service" && /\bgateway\b/i.test(what)) return ["app", "gateway"];
  return SIDES[from] ?? [from, "?"];
}

export type Around = {
  readonly workspace: Workspace;
  readonly times: Times;
  readonly before: Traffic | undefined;
};

export function drawLine(line: Traffic, { workspace, times, before }: Around): Html {
  const { number, ms, answers, refused } = line;
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
      <span data-gap title="after the line before">${gap(before, line)}</span>
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
