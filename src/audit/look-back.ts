// The figures of a week of decisions, from the audit. They name rules, but no people. Only `weekByPerson` names people, and only for
// admins.

import type { UserId } from "../domain/ids.ts";
import { daysIn, type Week } from "../domain/policy/hours.ts";
import type { AuditEntry, KeptEntry } from "./entry.ts";
import { grouped, newestOfEach, ofKind, onlyCounted, quantile, unusedRules } from "./report-population.ts";

/** The kinds of entries from which the figures are counted, and every other kind that names a rule. */
export const COUNTED_KINDS: readonly AuditEntry["what"][] = [
  "opened",
  "voted",
  "decided",
  "refused",
  "sent",
  "settled",
  "closed",
  "coalesced",
  "disputed",
  "too-few-approvers",
  "escalated",
  "reminded",
  "claimed",
  "claim-ended",
  "snoozed",
  "handed-over",
  "asked",
  "answered",
  "extended",
];

export type RuleFigures = { readonly rule: string; readonly approved: number; readonly denied: number };

export type LookBack = {
  readonly week: Week;
  /** The decisions of people that the service confirmed, by the rule that let them decide. The rule with the most decisions comes first. */
  readonly rules: readonly RuleFigures[];
  readonly approved: number;
  readonly denied: number;
  /**
   * The median and the 90th percentile of the time from the first sight of a request to a person's decision (ms). Null without decisions.
   */
  readonly medianMs: number | null;
  readonly p90Ms: number | null;
  /** The requests that no person decided in time: they were closed, or denied by the policy. */
  readonly expired: number;
  readonly escalated: number;
  readonly refused: number;
  /** The decisions that were sent and never confirmed by the service. */
  readonly unconfirmed: number;
  readonly disputed: number;
  /** The requests for which Slack named too few people who can approve. */
  readonly tooFew: number;
  /**
   * The approvals that closed undecided, opened again or had too few approvers, without an entry of their own. They are in none of the other
   * figures, and one approval may count several times.
   */
  readonly onlyCounted: number;
  /** The rules of the policy in force that no entry of the week names. */
  readonly unused: readonly string[];
  /** The calendar days of the week, the first one first. */
  readonly days: readonly DayFigures[];
  /** True if older entries of the week are archived and not counted. */
  readonly incomplete: boolean;
};

type DayFigures = {
  /** When it begins, or the week (wall time). */
  readonly from: number;
  readonly approved: number;
  readonly denied: number;
  readonly expired: number;
};

const EXPIRED = "expired";

type Known = {
  readonly week: Week;
  /** The names in the policy in force. */
  readonly rules: readonly string[];
  /** In which days begin. */
  readonly tz: string;
  readonly incomplete: boolean;
};

export function lookBackAt(all: readonly KeptEntry[], { week, rules, tz, incomplete }: Known): LookBack {
  const confirmed = confirmedByPeople(all);
  const expired = firstOfEach(all.filter(isExpiry));
  const waits = ofKind(all, "decided")
    .flatMap(({ entry: { by, moments, at } }) =>
      by === null || moments?.asked === undefined ? [] : [Math.max(at - moments.asked, 0)],
    )
    .toSorted((a, b) => a - b);
  const named = [...new Set(all.flatMap(({ entry }) => entry.policy?.rule ?? []))];
  return {
    week,
    rules: grouped(confirmed, ({ policy }) => policy?.rule ?? "built-in policy").map(([rule, of]) => ({
      rule,
      ...verdictsIn(of),
    })),
    ...verdictsIn(confirmed),
    medianMs: quantile(waits, 0.5),
    p90Ms: quantile(waits, 0.9),
    expired: expired.length,
    escalated: approvalsIn(ofKind(all, "escalated")),
    refused: ofKind(all, "refused").length,
    unconfirmed: newestOfEach(all).filter(({ entry }) => entry.outcome === "unconfirmed").length,
    disputed: ofKind(all, "disputed").length,
    tooFew: approvalsIn(ofKind(all, "too-few-approvers")),
    onlyCounted: onlyCounted(all),
    unused: unusedRules(rules, named),
    days: dayFigures([...daysIn(week, tz), week.to], confirmed, expired),
    incomplete,
  };
}

const confirmedByPeople = (all: readonly KeptEntry[]): KeptEntry[] =>
  ofKind(all, "settled").filter(({ entry }) => entry.outcome === "confirmed" && entry.by !== null);

/** The policy denies requests that no person decided in time. A denial by a stop does not count as expired. */
function isExpiry({ entry: { what, outcome, by } }: KeptEntry): boolean {
  if (what === "closed") return outcome === EXPIRED;
  return what === "decided" && by === null && outcome === "no decision in time";
}

/** The service may refuse the denial of an expired request, which then closes: two entries about one request. */
function firstOfEach(entries: readonly KeptEntry[]): readonly KeptEntry[] {
  const byRequest = Map.groupBy(entries, ({ entry: { run, approval, digest } }) =>
    JSON.stringify([run, approval, digest]),
  );
  return [...byRequest.values()].flatMap(([first]) => first ?? []);
}

function verdictsIn(entries: readonly KeptEntry[]): { approved: number; denied: number } {
  const denied = entries.filter(({ entry }) => entry.verdict === "deny").length;
  return { approved: entries.length - denied, denied };
}

/** Counts each approval once. */
const approvalsIn = (entries: readonly KeptEntry[]): number =>
  new Set(entries.map(({ entry }) => JSON.stringify([entry.run, entry.approval]))).size;

/** `bounds`: the beginning of each day, and the end of the last day. */
function dayFigures(
  bounds: readonly number[],
  confirmed: readonly KeptEntry[],
  expired: readonly KeptEntry[],
): DayFigures[] {
  return bounds.slice(0, -1).map((from, index) => {
    const to = bounds[index + 1] ?? from;
    const inDay = ({ entry: { at } }: KeptEntry): boolean => at >= from && at < to;
    return { from, ...verdictsIn(confirmed.filter(inDay)), expired: expired.filter(inDay).length };
  });
}

export type PersonFigures = {
  readonly user: UserId;
  readonly approved: number;
  readonly denied: number;
  readonly refused: number;
};

/** Returns who decided and who was refused, the most active first. A person may have given one of several approvals that a rule needs. */
export function weekByPerson(all: readonly KeptEntry[]): readonly PersonFigures[] {
  const acted = ofKind(all, "voted", "decided", "refused").filter(({ entry }) => entry.by !== null);
  return grouped(acted, ({ by }) => by?.user ?? "").flatMap(([, of]) => {
    const user = of[0]?.entry.by?.user;
    const refused = ofKind(of, "refused").length;
    return user === undefined ? [] : [{ user, ...verdictsIn(ofKind(of, "voted", "decided")), refused }];
  });
}

// The picture of a week in words: the name of each day, and its figures.

/** Returns a name such as "Mon 16". A week that ends in the morning contains parts of two Mondays, so the date is needed. */
export function dayName({ from }: Pick<DayFigures, "from">, tz: string): string {
  return new Intl.DateTimeFormat("en-GB", { timeZone: tz, weekday: "short", day: "numeric" })
    .format(from)
    .replace(",", "");
}

/** Returns the text alternative of the picture. */
export function lookBackWords({ days }: Pick<LookBack, "days">, tz: string): string {
  const told = days.map(
    (day) =>
      `${dayName(day, tz)}: ${day.approved} approved, ${day.denied} denied, ${day.expired} not decided in time`,
  );
  return `Bar chart of the decisions of each day. ${told.join("; ")}.`;
}
