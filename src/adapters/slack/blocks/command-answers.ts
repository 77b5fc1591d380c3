// Private answers to commands: lists, one run, help, health.

import type { Block } from "@slack/types";
import { isList } from "../../../domain/json.ts";
import { OPENING, type Run, runId, unreadableNow } from "../../../domain/run.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import type { HealthReport } from "../../../ports.ts";
import type { Health } from "../../../usecases/queries.ts";
import { frozenBlocks } from "./brake.ts";
import { type Deployment, runIdElement, UNNAMED } from "./deployment.ts";
import { withId } from "./message-id.ts";
import {
  count,
  duration,
  escaped,
  line,
  type Message,
  moment,
  person,
  quote,
  rich,
  span,
  untrustedSpan,
} from "./rich.ts";
import { runStatus, stays } from "./run-status.ts";
import { unreadableTitle } from "./run-thread.ts";

/** Most pending approvals that a row of a list names. */
const WAITS_MOST = 3;

/** A run with a link to its thread, or with other words to a card. Null: Slack gave none. */
export type Linked = {
  readonly run: Run;
  readonly link: string | null;
  readonly linkWords?: string;
  readonly deployment?: Deployment;
};

export function help(command: string): Message {
  const rows: [string, string][] = [
    ["run <task>", "start a run; its thread opens in this channel"],
    ["status <run id>", "show the state of a run"],
    ["list", "list the runs of your channels"],
    ["pending", "list what waits for you, then what waits for others in your channels"],
    ["watch <run id>", "follow, in this channel, a run that was started elsewhere"],
    ["unwatch <run id>", "stop following a run"],
    ["audit <run id>", "send the evidence of a run as a file, to admins and auditors only"],
    [
      "freeze here | everywhere | lift",
      "stop all starts and approvals, or let them go on, for those who may freeze",
    ],
    ["health", "check the agent service, the token gateway and Countersign itself"],
    ["help", "show this list"],
  ];
  const lines = rows.map(([usage, what]) =>
    line(span(`${command} ${usage}`, { code: true }), span(` ${what}\n`)),
  );
  const ending = line(
    span(
      `${command} alone opens a form. Approvals are decided with the buttons on their cards, never with a command.`,
    ),
  );
  return withId("answer:help", {
    text: `${command}: run, status, list, pending, watch, unwatch, audit, freeze, health, help`,
    blocks: [rich(...lines, ending)],
  });
}

export type ListWords = { readonly title: string; readonly none: string };

/** `more` is the number of runs that are not listed. */
export function runList({ title, none }: ListWords, runs: readonly Linked[], more: number): Message {
  if (runs.length === 0) return withId("answer:list:empty", { text: none, blocks: [rich(line(span(none)))] });
  const blocks: Block[] = [rich(line(span(title, { bold: true }))), ...runs.map((each) => runRow(each))];
  if (more > 0)
    blocks.push(
      rich(line(span(`${count(more)} more ${more === 1 ? "is" : "are"} not shown; these are the newest.`))),
    );
  return withId("answer:list", { text: `${title}: ${runs.length}`, blocks });
}

export function runRow({ run, link, linkWords = "open the thread", deployment = UNNAMED }: Linked): Block {
  const { icon, text } = runStatus(run);
  const id = runId(run);
  const waits = run.approvals.filter((each) => each.state.type === "pending");
  const thread = link === null ? [] : [span(" · "), { type: "link" as const, url: link, text: linkWords }];
  const head = line(
    span(`${icon} ${text}`, { bold: true }),
    span(stays(run) ? " since " : " "),
    moment(run.seen?.since ?? run.askedAt),
    span(", asked by "),
    person(run.requester),
    ...(id === null ? [] : [span(" · "), runIdElement(id, deployment)]),
    ...thread,
  );
  const asks = waits
    .slice(0, WAITS_MOST)
    .map((each) =>
      line(span("Waits for: "), untrustedSpan(oneLine(each.request.action ?? "(not said)", 160), 160)),
    );
  const unreadable = unreadableNow(run);
  if (unreadable !== null) asks.push(line(span(`⚠️ ${unreadableTitle(unreadable)}.`)));
  if (waits.length > WAITS_MOST)
    asks.push(line(span(`… and for ${count(waits.length - WAITS_MOST)} more decisions`)));
  return rich(
    head,
    ...(run.input === "" ? [] : [quote(untrustedSpan(oneLine(run.input, 200), 200))]),
    ...asks,
  );
}

export function oneRun(linked: Linked): Message {
  const { text } = runStatus(linked.run);
  const notPosted =
    linked.run.posts[OPENING]?.type === "up" ? [] : [rich(line(span("Its thread is not posted yet.")))];
  return withId("answer:status", {
    text: escaped(`${text}: ${oneLine(linked.run.input, 200)}`),
    blocks: [runRow(linked), ...notPosted],
  });
}

const SAYS_CHARS = 300;
/** INTERFACE.md lists four endpoints. */
const ENDPOINTS_MOST = 20;

/** One line for each thing that Countersign depends on, and in plain words what is wrong with it. */
export function healthReport(health: Health, now: number): Message {
  const { service, gateway, poller, store, unreadable, audit } = health;
  const isDown = poller.service.type === "away" || poller.service.type === "useless";
  const isSound = unreadable.runs === 0 && unreadable.unanswered === 0 && audit.code === null;
  const healthy = service.ok && gateway.ok && store.ok && !isDown && isSound;
  const title = healthy ? "Everything answers" : "Something is wrong";
  const blocks: Block[] = [
    rich(line(span(`${healthy ? "✅" : "⚠️"} ${title}`, { bold: true }))),
    part("Agent service", service, ["status", "version"]),
    part("Token gateway", gateway, ["service", "status", "message"]),
    rich(line(span(`${isDown ? "❌" : "✅"} Watching`, { bold: true }), ...pollerWords({ poller }, now))),
    ...(unreadable.runs === 0 ? [] : [unreadableBlock(unreadable)]),
    ...(unreadable.unanswered === 0 ? [] : [unansweredBlock(unreadable)]),
    rich(
      line(
        span(`${store.ok ? "✅" : "❌"} Store`, { bold: true }),
        span(
          store.ok
            ? ` answered in ${count(Math.round(store.latencyMs))} ms`
            : " does not answer: nothing can be recorded until it does.",
        ),
        ...(store.fault === null ? [] : [span(" "), untrustedSpan(sentence(store.fault), SAYS_CHARS)]),
      ),
    ),
    auditPart(audit, store.ok),
    ...frozenPart(health.frozen),
  ];
  return withId(healthy ? "answer:health:ok" : "answer:health:faulty", { text: title, blocks });
}

/** Not everybody is in every channel, so frozen channels are only counted. */
function frozenPart({ everywhere, channels }: Health["frozen"]): Block[] {
  const many = `${count(channels)} ${channels === 1 ? "channel is" : "channels are"}`;
  const some =
    channels === 0 ? [] : [rich(line(span("🧊 Frozen: ", { bold: true }), span(`${many} frozen.`)))];
  return [...frozenBlocks(everywhere === null ? [] : [everywhere]), ...some];
}

function unreadableBlock({ runs }: Health["unreadable"]): Block {
  const rest =
    "approvals that cannot be read, so they can't be decided here. A message in the run's thread says why.";
  const text = `${count(runs)} ${runs === 1 ? "run has" : "runs have"} ${rest}`;
  return rich(line(span("❌ Approvals: ", { bold: true }), span(text)));
}

function unansweredBlock({ unanswered }: Health["unreadable"]): Block {
  const runs = unanswered === 1 ? "1 run" : `${count(unanswered)} runs`;
  const says = `The service's answers about ${runs} cannot be used, so Countersign can't tell whether an approval is needed. A message in the run's thread says why.`;
  return rich(line(span("❌ Answers: ", { bold: true }), span(says)));
}

const sentence = (words: string): string =>
  `${words.charAt(0).toUpperCase()}${words.slice(1)}${words.endsWith(".") ? "" : "."}`;

/** Most findings that are told here; the audit has them all. */
const FINDINGS_MOST = 5;

function auditPart({ open, code, acknowledged }: Health["audit"], stored: boolean): Block {
  if (code === null) {
    const known = acknowledged === 1 ? "1 finding" : `${count(acknowledged)} findings`;
    const before = acknowledged === 0 ? "" : `${known} of tampering, acknowledged. `;
    const now = stored
      ? "Since its start Countersign has found no other change of the database from outside."
      : `${acknowledged === 0 ? "it" : "It"} cannot be checked while the store does not answer.`;
    const icon = !stored ? "❌" : acknowledged === 0 ? "✅" : "⚠️";
    const says =
      acknowledged === 0 && stored ? "no sign that the database was changed from outside" : before + now;
    return rich(line(span(`${icon} Audit`, { bold: true }), span(`: ${says}`)));
  }
  const shown = open.slice(0, FINDINGS_MOST).map((each) => line(untrustedSpan(each.words, SAYS_CHARS)));
  const more = open.length - shown.length;
  return rich(
    line(
      span("🚨 Audit", { bold: true }),
      span(
        ": the database was changed outside Countersign. No approval is sent until an admin acknowledges this. Denials are still sent.",
      ),
    ),
    ...shown,
    ...(more > 0 ? [line(span(`… and ${count(more)} more`))] : []),
    line(
      span("Admins: "),
      span("npm run audit -- verify", { code: true }),
      span(" says more. When you know what happened, "),
      span(`/agent audit acknowledge ${code} <what you found>`, { code: true }),
      span(" lets approvals be sent again."),
    ),
  );
}

function part(name: string, report: HealthReport, fields: readonly string[]): Block {
  const head = line(
    span(`${report.ok ? "✅" : "❌"} ${name}`, { bold: true }),
    span(report.fault === null ? ` answered in ${count(Math.round(report.latencyMs))} ms` : `: `),
    ...(report.fault === null ? [] : [untrustedSpan(report.fault, SAYS_CHARS)]),
  );
  const rows = fields.flatMap((field) => {
    const value = report.says[field];
    return value === undefined ? [] : [row(field, typeof value === "string" ? value : JSON.stringify(value))];
  });
  const { endpoints } = report.says;
  const list = endpoints !== undefined && isList(endpoints) ? endpoints : [];
  const shown = list
    .slice(0, ENDPOINTS_MOST)
    .map((each) => row("endpoint", typeof each === "string" ? each : JSON.stringify(each)));
  if (list.length > ENDPOINTS_MOST)
    shown.push(line(span(`… and ${count(list.length - ENDPOINTS_MOST)} more endpoints`)));
  return rich(head, ...rows, ...shown);
}

function row(name: string, value: string) {
  return line(span(`${name}: `), untrustedSpan(value, SAYS_CHARS, { code: true }));
}

function pollerWords({ poller }: Pick<Health, "poller">, now: number) {
  const runs = `: ${count(poller.watched)} ${poller.watched === 1 ? "run" : "runs"}`;
  switch (poller.service.type) {
    case "unknown":
      return [span(`${runs}; the service has not been asked yet`)];
    case "answers":
      return [span(`${runs}; the service answers`)];
    case "away":
    case "useless":
      // An outage may be silence first and errors later: only the newest failure is known.
      return [
        span(`${runs}${isKeyRefused(poller.service) ? REFUSES : ""}, no usable answer since `),
        moment(poller.service.at),
        span(` (${duration(now - poller.service.at)}): `),
        untrustedSpan(sentence(poller.service.why), SAYS_CHARS),
        ...(isKeyRefused(poller.service) ? [span(` ${CHECK_KEY}`)] : []),
      ];
  }
}

type ServiceDown = Extract<Health["poller"]["service"], { type: "away" | "useless" }>;

const isKeyRefused = ({ code }: ServiceDown): boolean => code === "http_401";
const REFUSES = ", the service refuses our requests";
const CHECK_KEY = "Check AGENT_API_KEY, and restart Countersign with the right one.";
