// The private answer to `health`: one line for each part that Countersign depends on.

import type { Block, RichTextElement } from "@slack/types";
import { isList } from "../../../domain/json.ts";
import { isDown, type ServiceDown } from "../../../engine/service-breaker.ts";
import type { HealthReport } from "../../../ports.ts";
import type { PartHealth } from "../../../ports/monitoring.ts";
import type { HealthAnswer } from "../../../usecases/queries.ts";
import { frozenBlocks } from "./brake-blocks.ts";
import { withId } from "./message-id.ts";
import { count, duration, line, type Message, moment, plural, rich, span, untrustedSpan } from "./rich.ts";
import { COMMAND } from "./receipts.ts";

const SAYS_CHARS = 300;
/** The gateway documents four endpoints. */
const MAX_ENDPOINTS = 20;

export function healthReport(health: HealthAnswer, now: number, command: string = COMMAND): Message {
  const { service, gateway, store, unreadable, audit, parts } = health;
  const healthy = isHealthy(health);
  const title = healthy ? "Everything answers" : "Something is wrong";
  const blocks: Block[] = [
    rich(line(span(`${healthy ? "✅" : "⚠️"} ${title}`, { bold: true }))),
    part("Agent service", service, ["status", "version"]),
    keyPart(health),
    part("Token gateway", gateway, ["service", "status", "message"]),
    watchingPart(health, now),
    ...waitingParts(health),
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
    ...faultyParts(parts),
    ...policyPart(health.policy),
    auditPart(audit, store.ok, command),
    ...frozenPart(health.frozen),
    rich(line(span("Countersign "), span(health.version, { code: true }))),
  ];
  return withId(healthy ? "answer:health:ok" : "answer:health:faulty", { text: title, blocks });
}

function isHealthy({
  service,
  key,
  gateway,
  poller,
  store,
  unreadable,
  audit,
  parts,
  policy,
}: HealthAnswer): boolean {
  const isSound = unreadable.runs === 0 && unreadable.unanswered === 0 && audit.code === null;
  const isFaulty = parts.some(({ fault }) => fault !== null) || policy !== "in force";
  const answers = service.ok && key === "accepted" && gateway.ok && store.ok;
  return answers && !isDown(poller.service) && isSound && !isFaulty;
}

function keyPart({ key, service }: HealthAnswer): Block {
  const head = (icon: string) => span(`${icon} Agent service key`, { bold: true });
  switch (key) {
    case "accepted":
      return rich(line(head("✅"), span(" is accepted")));
    case "refused":
      return rich(line(head("❌"), span(`: the service refuses it (HTTP 401 or 403). ${CHECK_KEY}`)));
    case "paused":
      return rich(line(head("⚠️"), span(": not checked; the service asked Countersign to wait")));
    case "unknown": {
      const why = service.ok ? "the service gave no answer about it" : "the service gives no usable answer";
      return rich(line(head("⚠️"), span(`: not checked; ${why}`)));
    }
  }
}

/** The parts that are listed only when they are faulty. The other parts have their own lines. */
const FAULTY_PART_NAMES: Partial<Record<PartHealth["part"], string>> = {
  slack: "Slack",
  slack_token: "Slack token",
  key_file: "Key file",
  store_calls: "Store",
};

function faultyParts(parts: HealthAnswer["parts"]): Block[] {
  return parts.flatMap(({ part, fault }) => {
    const name = FAULTY_PART_NAMES[part];
    if (name === undefined || fault === null) return [];
    return [rich(line(span(`❌ ${name}: `, { bold: true }), span(sentence(fault))))];
  });
}

function policyPart(reading: HealthAnswer["policy"]): Block[] {
  const shown = (...says: RichTextElement[]): Block[] => [
    rich(line(span("❌ Policy: ", { bold: true }), ...says)),
  ];
  switch (reading) {
    case "in force":
      return [];
    case "faulty":
      return shown(
        span(
          "the file of POLICY_FILE can't be used, so its changes don't apply: the old policy stays in force. Correct the file: the log names each mistake, and so does ",
        ),
        span("npm run policy -- lint FILE", { code: true }),
        span("."),
      );
    case "not recorded":
      return shown(
        span(
          "the audit could not record the new policy, so it does not apply: the old one stays in force. Countersign tries again by itself.",
        ),
      );
  }
}

/** Frozen channels are only counted, because the reader may not be in all of them. */
function frozenPart({ everywhere, channels }: HealthAnswer["frozen"]): Block[] {
  const some = `${count(channels)} ${channels === 1 ? "channel is" : "channels are"}`;
  const frozenChannels =
    channels === 0 ? [] : [rich(line(span("🧊 Frozen: ", { bold: true }), span(`${some} frozen.`)))];
  return [...frozenBlocks(everywhere === null ? [] : [everywhere]), ...frozenChannels];
}

function unreadableBlock({ runs }: HealthAnswer["unreadable"]): Block {
  const text = `${count(runs)} ${plural(runs, "run has", "runs have")} requests that cannot be read, so they can't be decided here. ${threadsSayWhy(runs)}`;
  return rich(line(span("❌ Requests: ", { bold: true }), span(text)));
}

function unansweredBlock({ unanswered }: HealthAnswer["unreadable"]): Block {
  const runs = `${count(unanswered)} ${plural(unanswered, "run")}`;
  const says = `The service's answers about ${runs} cannot be used, so Countersign can't tell whether an approval is needed. ${threadsSayWhy(unanswered)}`;
  return rich(line(span("❌ Answers: ", { bold: true }), span(says)));
}

const threadsSayWhy = (runs: number): string =>
  `A message in ${plural(runs, "the", "each")} run's thread says why.`;

const sentence = (words: string): string =>
  `${words.charAt(0).toUpperCase()}${words.slice(1)}${words.endsWith(".") ? "" : "."}`;

/** The most lines about findings. The audit has them all. */
const MAX_FINDINGS = 5;
/** One line may be about many findings. */
const FINDING_CHARS = 1_000;

function auditPart(
  { open, code, acknowledged }: HealthAnswer["audit"],
  isStoreUp: boolean,
  command: string,
): Block {
  if (code === null) {
    const findings = acknowledged === 1 ? "1 finding" : `${count(acknowledged)} findings`;
    const before = acknowledged === 0 ? "" : `${findings} of tampering, acknowledged. `;
    const now = isStoreUp
      ? "Countersign has found no other outside change to the database since it started."
      : `${acknowledged === 0 ? "it" : "It"} cannot be checked while the store does not answer.`;
    const icon = !isStoreUp ? "❌" : acknowledged === 0 ? "✅" : "⚠️";
    const says =
      acknowledged === 0 && isStoreUp ? "no sign that the database was changed from outside" : before + now;
    return rich(line(span(`${icon} Audit`, { bold: true }), span(`: ${says}`)));
  }
  // The findings of one entry share its words.
  const words = [...new Set(open.map((finding) => finding.words))];
  const shown = words.slice(0, MAX_FINDINGS).map((each) => line(untrustedSpan(each, FINDING_CHARS)));
  const more = words.length - shown.length;
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
      span(" lists all findings. When you know what happened, "),
      span(`${command} audit acknowledge ${code} <what you found>`, { code: true }),
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
    .slice(0, MAX_ENDPOINTS)
    .map((endpoint) => row("endpoint", typeof endpoint === "string" ? endpoint : JSON.stringify(endpoint)));
  const more = list.length - MAX_ENDPOINTS;
  if (more > 0) shown.push(line(span(`… and ${count(more)} more ${plural(more, "endpoint")}`)));
  return rich(head, ...rows, ...shown);
}

function row(name: string, value: string) {
  return line(span(`${name}: `), untrustedSpan(value, SAYS_CHARS, { code: true }));
}

/** Says nothing that a line above contradicts: the key was checked just now by fetching a run, and the poller may not know that yet. */
function watchingPart(health: HealthAnswer, now: number): Block {
  const { poller, key, parts } = health;
  const { service, watched } = poller;
  const runs = `: ${count(watched)} ${watched === 1 ? "run" : "runs"}`;
  const shown = (icon: string, ...words: RichTextElement[]): Block =>
    rich(line(span(`${icon} Watching`, { bold: true }), span(runs), ...words));
  const stuck = parts.find(({ part, fault }) => part === "watching" && fault !== null)?.fault;
  if (stuck !== undefined && stuck !== null) return shown("❌", span(`. ${sentence(stuck)}`));
  if (isDown(service)) return shown(isBack(key, service) ? "⚠️" : "❌", ...downWords(health, service, now));
  switch (key) {
    case "accepted":
      return shown(
        "✅",
        span(service.type === "answers" ? "; the service answers" : "; none has been fetched yet"),
      );
    case "refused":
      return shown("❌", span("; no usable answer now (key refused, see above)"));
    case "paused":
      return shown("⚠️", span("; the service asked Countersign to wait"));
    case "unknown":
      // The check is more impatient than a poll.
      return service.type === "answers"
        ? shown("⚠️", span("; no answer to the check just now"))
        : shown("❌", span("; no usable answer now"));
  }
}

function downWords({ key, service }: HealthAnswer, down: ServiceDown, now: number): RichTextElement[] {
  const lasted = duration(now - down.at);
  if (isBack(key, down))
    return [span(`; no usable answer for ${lasted}, from `), moment(down.at), span(" until just now")];
  // An outage may begin with silence and continue with errors. Only the latest failure is known.
  const since = [span("; no usable answer since "), moment(down.at), span(` (${lasted})`)];
  if (key === "refused") return [...since, span(": key refused, see above")];
  if (service.fault !== null && withoutLimit(service.fault) === withoutLimit(down.why))
    return [...since, span(": see above")];
  return [...since, span(": "), untrustedSpan(sentence(down.why), SAYS_CHARS)];
}

/** The health endpoint has a shorter time limit than the fetch of a run, so the same failure names another number. */
const withoutLimit = (why: string): string => why.replace(/ within \d+ s\b/, "");

/** Whether the service has just answered, and the poller does not know that yet. */
const isBack = (key: HealthAnswer["key"], { type }: ServiceDown): boolean =>
  key === "accepted" && type === "away";

/** What waits for the service. Decisions are a fault only when one is late. */
function waitingParts({ waiting, parts }: HealthAnswer): Block[] {
  const { decisions, starts } = waiting;
  const isLate = parts.some(({ part, fault }) => part === "decisions" && fault !== null);
  const shown = (icon: string, name: string, says: string): Block =>
    rich(line(span(`${icon} ${name}: `, { bold: true }), span(says)));
  const age = decisions.late === 0 ? "" : `, the oldest for ${duration(decisions.oldestMs)}`;
  return [
    ...(decisions.count === 0 && !isLate
      ? []
      : [
          shown(
            isLate ? "❌" : "⏳",
            "Decisions",
            `${count(decisions.count)} recorded, not confirmed by the service yet${age}`,
          ),
        ]),
    ...(starts === 0
      ? []
      : [
          shown(
            "⏳",
            "Starts",
            `${count(starts)} ${starts === 1 ? "run" : "runs"} not started yet; retrying`,
          ),
        ]),
  ];
}

const CHECK_KEY =
  "Check AGENT_API_KEY. Countersign loads a new key from the file that AGENT_API_KEY_FILE names. If the key is in the environment, or comes from systemd's LoadCredential (which copies the file at the start), restart Countersign.";
