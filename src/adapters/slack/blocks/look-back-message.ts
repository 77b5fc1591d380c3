// The weekly look-back, for the audit channel. It names rules but no people.

import type { Block, RichTextElement } from "@slack/types";
import type { LookBack, RuleFigures } from "../../../audit/look-back.ts";
import type { NotificationFacts } from "../../../ports/notification.ts";
import type { WeekReport } from "../../../usecases/queries.ts";
import { withId } from "./message-id.ts";
import {
  count,
  duration,
  header,
  line,
  type Message,
  moment,
  note,
  person,
  plural,
  rich,
  span,
  untrustedSpan,
} from "./rich.ts";

const ARCHIVED = "Some entries of this week are already archived, and are not counted.";
const IN_VAIN =
  "Refused or failed: not allowed, overtaken, a mistake in the input, or a service that did not answer.";
const TITLE = "The week in decisions";
/** The most rules that are listed as used, and as never used. */
const MAX_RULES = 15;
const RULE_CHARS = 80;
/** A look-back that is posted later than this (ms) after the end of its week says that it is late. */
const LATE_MS = 60 * 60_000;

export function lookBackMessage({ entry: { entry }, lookBack }: NotificationFacts, command: string): Message {
  if (lookBack === undefined) return { text: TITLE, blocks: [rich(line(span(TITLE)))] };
  const { week, approved, denied } = lookBack;
  const isLate = entry.at - week.to > LATE_MS;
  const blocks: Block[] = [
    header(TITLE),
    rich(
      line(moment(week.from), span(" to "), moment(week.to), span(isLate ? ". This report is late." : ".")),
      line(...decisionWords(lookBack)),
      ...timeLines(lookBack),
      line(span(otherWords(lookBack))),
      ...countedLines(lookBack),
      ...(lookBack.incomplete ? [line(span(ARCHIVED))] : []),
    ),
    ...ruleBlocks(lookBack),
    note(
      "Counted from the audit, by the time of each entry.",
      IN_VAIN,
      `Countersign's admins can see who decided: ${command} report`,
    ),
  ];
  return { text: `${TITLE}: ${count(approved)} approved, ${count(denied)} denied`, blocks };
}

function decisionWords({ approved, denied }: LookBack): RichTextElement[] {
  const all = approved + denied;
  if (all === 0) return [span("No decision made by a person was confirmed.", { bold: true })];
  // One of a thousand is neither none nor all of them.
  const rounded = Math.min(Math.max(Math.round((100 * approved) / all), 1), 99);
  const share = `${approved === 0 ? 0 : denied === 0 ? 100 : rounded}%`;
  return [
    span(`${count(all)} ${plural(all, "decision")}: `, { bold: true }),
    span(`${count(approved)} approved, ${count(denied)} denied (${share} approved).`),
  ];
}

function timeLines({ medianMs, p90Ms }: LookBack) {
  if (medianMs === null || p90Ms === null) return [];
  return [line(span(`Time to decide: median ${duration(medianMs)}, nine of ten within ${duration(p90Ms)}.`))];
}

function otherWords({ expired, escalated, refused, unconfirmed, disputed, tooFew }: LookBack): string {
  const all: readonly (readonly [string, number])[] = [
    ["Not decided in time", expired],
    ["escalated", escalated],
    ["attempts refused or failed", refused],
    ["not confirmed by the service", unconfirmed],
    ["disputed", disputed],
    ["too few approvers", tooFew],
  ];
  return `${all.map(([name, total]) => `${name}: ${count(total)}`).join(" · ")}.`;
}

function countedLines({ onlyCounted }: LookBack) {
  if (onlyCounted === 0) return [];
  const events = `Further events, which are only counted: ${count(onlyCounted)}.`;
  const meaning =
    "They are closings, reopenings and shortages of approvers, so more requests may not have been decided in time, or had too few approvers.";
  return [line(span(`${events} ${meaning}`))];
}

function ruleBlocks({ rules, unused }: LookBack): Block[] {
  const shown = rules.slice(0, MAX_RULES);
  const more = rules.length - shown.length;
  const used =
    shown.length === 0
      ? []
      : [
          line(span("By rule:", { bold: true })),
          ...shown.map(ruleLine),
          ...(more > 0 ? [line(span(`… and ${count(more)} more ${plural(more, "rule")}`))] : []),
        ];
  const never = unused.length === 0 ? [] : [line(...unusedWords(unused))];
  return used.length + never.length === 0 ? [] : [rich(...used, ...never)];
}

const ruleLine = ({ rule, approved, denied }: RuleFigures) =>
  line(
    span("• "),
    untrustedSpan(rule, RULE_CHARS),
    span(`: ${count(approved)} approved, ${count(denied)} denied`),
  );

function unusedWords(unused: readonly string[]): RichTextElement[] {
  const shown = unused.slice(0, MAX_RULES);
  const more = unused.length - shown.length;
  return [
    span("Rules never used: ", { bold: true }),
    ...shown.flatMap((name, at) =>
      [span(at === 0 ? "" : ", "), untrustedSpan(name, RULE_CHARS)].slice(at === 0 ? 1 : 0),
    ),
    span(more > 0 ? ` and ${count(more)} more.` : "."),
  ];
}

const attempts = (total: number): string => `${count(total)} ${plural(total, "attempt")}`;

/** The most people in a report. */
const MAX_PEOPLE = 40;

/** Who decided and who was refused, for the admin who asked. */
export function weekReport({ week, people, incomplete }: WeekReport): Message {
  const shown = people.slice(0, MAX_PEOPLE);
  const more = people.length - shown.length;
  const title = "Who decided in the last full week";
  const none =
    people.length === 0 ? [line(span("No one decided anything, and no attempt was refused or failed."))] : [];
  const blocks: Block[] = [
    rich(
      line(
        span(title, { bold: true }),
        span(", "),
        moment(week.from),
        span(" to "),
        moment(week.to),
        span(":"),
      ),
      ...none,
      ...shown.map(({ user, approved, denied, refused }) =>
        line(
          span("• "),
          person(user),
          span(
            `: ${count(approved)} approved, ${count(denied)} denied, ${attempts(refused)} refused or failed`,
          ),
        ),
      ),
      ...(more > 0 ? [line(span(`… and ${count(more)} more ${plural(more, "person", "people")}`))] : []),
      ...(incomplete ? [line(span(ARCHIVED))] : []),
    ),
    note(
      "Counts all decisions and votes, including those that did not take effect.",
      IN_VAIN,
      "The audit records that you asked.",
    ),
  ];
  return withId("answer:week-report", { text: title, blocks });
}
