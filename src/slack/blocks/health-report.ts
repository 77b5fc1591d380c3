import type { Block } from "@slack/types";
import { isList } from "../../core/json.ts";
import type { HealthReport } from "../../flow/ports.ts";
import type { Health } from "../../flow/questions.ts";
import { count, duration, line, type Message, moment, rich, said, words } from "./rich.ts";

const SAYS_CHARS = 300;
/** INTERFACE.md lists four. */
const ENDPOINTS_MOST = 20;

/** Everything Countersign depends on, side by side, with what is wrong in plain words. */
export function healthReport(health: Health, now: number): Message {
  const { service, gateway, poller, store, unreadable, audit } = health;
  const isDown = poller.service.is === "away" || poller.service.is === "useless";
  const read = unreadable.runs === 0 && audit.code === null;
  const well = service.ok && gateway.ok && store.ok && !isDown && read;
  const title = well ? "Everything answers" : "Something is wrong";
  const blocks: Block[] = [
    rich(line(words(`${well ? "✅" : "⚠️"} ${title}`, { bold: true }))),
    part("Agent service", service, ["status", "version"]),
    part("Token gateway", gateway, ["service", "status", "message"]),
    rich(line(words(`${isDown ? "❌" : "✅"} Watching`, { bold: true }), ...pollerWords({ poller }, now))),
    ...(unreadable.runs === 0 ? [] : [unreadableBlock(unreadable)]),
    rich(
      line(
        words(`${store.ok ? "✅" : "❌"} Store`, { bold: true }),
        words(
          store.ok
            ? ` answered in ${Math.round(store.latencyMs)} ms`
            : " does not answer: nothing can be recorded until it does",
        ),
      ),
    ),
    auditPart(audit),
  ];
  return { text: title, blocks };
}

function unreadableBlock({ runs }: Health["unreadable"]): Block {
  const rest =
    "approvals that cannot be read, so nobody can decide them here. A message in the run's thread says why.";
  const says = `${count(runs)} ${runs === 1 ? "run has" : "runs have"} ${rest}`;
  return rich(line(words("❌ Approvals: ", { bold: true }), words(says)));
}

/** Most findings that are told here; the audit has them all. */
const FINDINGS_MOST = 5;

function auditPart({ open, code }: Health["audit"]): Block {
  if (code === null)
    return rich(
      line(words("✅ Audit", { bold: true }), words(": no change of the database by others was found")),
    );
  const shown = open.slice(0, FINDINGS_MOST).map((each) => line(said(each.words, SAYS_CHARS)));
  const more = open.length - shown.length;
  return rich(
    line(
      words("🚨 Audit", { bold: true }),
      words(
        ": the database was changed outside Countersign. No approval leaves until an admin acknowledges it; denials do.",
      ),
    ),
    ...shown,
    ...(more > 0 ? [line(words(`… and ${count(more)} more`))] : []),
    line(
      words("Admins: "),
      words("npm run audit -- verify", { code: true }),
      words(" tells more. When you know what happened, "),
      words(`/agent audit acknowledge ${code} <what you found>`, { code: true }),
      words(" lets approvals leave again."),
    ),
  );
}

function part(name: string, report: HealthReport, fields: readonly string[]): Block {
  const head = line(
    words(`${report.ok ? "✅" : "❌"} ${name}`, { bold: true }),
    words(report.fault === null ? ` answered in ${Math.round(report.latencyMs)} ms` : `: `),
    ...(report.fault === null ? [] : [said(report.fault, SAYS_CHARS)]),
  );
  const told = fields.flatMap((field) => {
    const value = report.says[field];
    return value === undefined ? [] : [row(field, typeof value === "string" ? value : JSON.stringify(value))];
  });
  const { endpoints } = report.says;
  const list = endpoints !== undefined && isList(endpoints) ? endpoints : [];
  const shown = list
    .slice(0, ENDPOINTS_MOST)
    .map((each) => row("endpoint", typeof each === "string" ? each : JSON.stringify(each)));
  if (list.length > ENDPOINTS_MOST)
    shown.push(line(words(`… and ${count(list.length - ENDPOINTS_MOST)} more endpoints`)));
  return rich(head, ...told, ...shown);
}

function row(name: string, value: string) {
  return line(words(`${name}: `), said(value, SAYS_CHARS, { code: true }));
}

function pollerWords({ poller }: Pick<Health, "poller">, now: number) {
  const runs = `: ${count(poller.watched)} ${poller.watched === 1 ? "run" : "runs"}`;
  switch (poller.service.is) {
    case "unknown":
      return [words(`${runs}, nothing asked yet`)];
    case "answers":
      return [words(`${runs}, the service answers`)];
    case "away":
    case "useless":
      return [
        words(`${runs}, no ${poller.service.is === "away" ? "answer" : "answer of use"} since `),
        moment(poller.service.at),
        words(` (${duration(now - poller.service.at)}): `),
        said(poller.service.why, SAYS_CHARS),
      ];
  }
}
