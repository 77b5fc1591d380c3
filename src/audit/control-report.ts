// The audit's figures for a period, for an auditor of the control. Each number comes with what was counted, and with the entries behind it.

import type { KeptEntry } from "./entry.ts";
import {
  countRow,
  grouped,
  ofKind,
  outcomes,
  PERSON,
  population,
  type ReportRow,
  type ReportSection,
  spread,
  unusedRules,
} from "./report-population.ts";
import { noLongerCounted } from "./report-void.ts";
import { MAX_ENTRIES_PER_APPROVAL, MAX_ENTRIES_PER_RUN } from "./run-diff.ts";

export type { ReportSection } from "./report-population.ts";

export type Period = { readonly from: number; readonly to: number };

/** A rule of a policy that was in force in the period. */
export type RuleInForce = { readonly name: string; readonly version: string };

/** The gaps of the report. */
export type Lacks = {
  /** The number of policies of the period that can no longer be read. */
  readonly unread: number;
  /** The number of the last archived entry that is not read, or 0. */
  readonly archived: number;
};

export type ReportReader = {
  /** Takes all entries of the audit, in order. */
  add(kept: KeptEntry): void;
  /** Returns the digests of the policies in force in the period. Null stands for the built-in policy. */
  policies(): readonly (string | null)[];
  /** `rules`: the rules of those policies. */
  report(rules: readonly RuleInForce[], lacks: Lacks): readonly ReportSection[];
};

export function readForReport({ from, to }: Period): ReportReader {
  const found: KeptEntry[] = [];
  const policies = new Set<string | null>();
  let before: string | null | undefined;
  return {
    add(kept) {
      const { at, what, digest } = kept.entry;
      const isIn = at >= from && at <= to;
      if (what === "policy-loaded" && at < from) before = digest;
      if (what === "policy-loaded" && isIn) policies.add(digest);
      // Reasons are not counted, and would fill the memory.
      if (isIn) found.push({ ...kept, entry: { ...kept.entry, reason: null } });
    },
    policies: () => [...new Set([...(before === undefined ? [] : [before]), ...policies])],
    report: (rules, { unread, archived }) => [
      population(found, archived),
      outcomes(found),
      separation(found),
      times(found),
      refusedAttempts(found),
      exceptions(found),
      rulesUsed(found, rules, unlisted({ unread, isFirstArchived: before === undefined && archived > 0 })),
      deciders(found),
    ],
  };
}

/** Separation of approver and requester, and the number of people on whom a decision rests. */
function separation(all: readonly KeptEntry[]): ReportSection {
  const sent = sentOnce(all).filter(({ entry }) => entry.verdict === "approve" && entry.by !== null);
  const usersOf = ({ entry: { by, votes = [] } }: KeptEntry): Set<string | undefined> =>
    new Set([by?.user, ...votes.map((vote) => vote.by?.user)]);
  const own = sent.filter((each) => usersOf(each).has(each.entry.requester?.user));
  const several = sent.filter((each) => usersOf(each).size > 1);
  const unnamed = sent.filter(({ entry }) => entry.requester === null);
  return {
    title: "Separation of duties",
    rows: [
      countRow(
        "Approvals sent",
        sent,
        `sent: an approval ${PERSON} was about to leave; each once, however often it was sent again`,
      ),
      countRow(
        "of these by the requester",
        own,
        "the requester is among the people whose approval it rests on (the rule must allow it: self-approval)",
      ),
      countRow("of these without a known requester", unnamed, "the entry names no requester"),
      countRow(
        "of these by several people",
        several,
        "they rest on the approvals of at least two different people",
      ),
    ],
  };
}

/** Keeps only the newest entry of each decision. While the service gives no clear answer, the same decision is sent several times. */
const sentOnce = (all: readonly KeptEntry[]): KeptEntry[] => [
  ...new Map(ofKind(all, "sent").map((kept) => [kept.entry.refers ?? kept.seq, kept])).values(),
];

function times(all: readonly KeptEntry[]): ReportSection {
  const decided = ofKind(all, "decided").filter(({ entry }) => entry.by !== null);
  const confirmed = ofKind(all, "settled").filter(({ entry }) => entry.outcome === "confirmed");
  return {
    title: "Times",
    rows: [
      ...spread(
        "From request to decision",
        decided,
        ({ moments, at }) => [moments?.asked, at],
        `decided ${PERSON}: first seen, to submitted`,
      ),
      ...spread(
        "From decision to confirmation",
        confirmed,
        ({ moments }) => [moments?.submitted, moments?.confirmed],
        "settled as confirmed: submitted, to confirmed by the service (holds included)",
      ),
    ],
  };
}

function refusedAttempts(all: readonly KeptEntry[]): ReportSection {
  const refused = ofKind(all, "refused");
  return {
    title: "Refused or failed attempts",
    rows: [
      countRow(
        "All",
        refused,
        "refused: a person tried in vain: not allowed, overtaken, a mistake in the input, or a service that did not answer",
      ),
      ...grouped(refused, ({ step, refusal }) => `${refusal ?? "?"} (${step ?? "attempt"})`).map(
        ([kind, entries]) => {
          const people = new Set(entries.map(({ entry }) => entry.by?.user)).size;
          return countRow(
            kind,
            entries,
            `reason and step; by ${people === 1 ? "1 person" : `${people} people`}`,
          );
        },
      ),
    ],
  };
}

const EXCEPTIONS = [
  ["Disputed decisions", "disputed", '"This was not me"'],
  ["Disputes closed", "dispute-closed", "an admin said what they found"],
  ["Tampering found", "tampering-found", "the database was changed outside Countersign"],
  ["Tampering acknowledged", "tampering-acknowledged", "an admin let approvals be sent again"],
  ["Runs stopped", "stopped", "everything the run asked for was denied from there on"],
  ["Stops lifted", "stop-lifted", "its requests could be decided again"],
  ["Freezes", "frozen", "no run started and no approval was sent"],
  ["Freezes lifted", "freeze-lifted", "by another person"],
  [
    "Escalations",
    "escalated",
    "a request reached a stage of its rule; people of a stage may decide, or only deny, as the rule says",
  ],
  [
    "Reminders",
    "reminded",
    `a message called people to a request that waited; further ones than ${MAX_ENTRIES_PER_APPROVAL} an hour for an approval, or ${MAX_ENTRIES_PER_RUN} for a run, have no entry and are not counted`,
  ],
  ["Time extended", "extended", "a person gave a request more time, as far as its rule allows"],
  ["Questions asked", "asked", "to the requester; the clocks of the request stood still meanwhile"],
  ["Hand-overs", "handed-over", "a person asked another to look at a request instead"],
  ["Texts erased", "redacted", "a stored text was erased on request"],
  [
    "Restores from a back-up",
    "restored",
    "what was recorded between the copy and the restore is not in the audit, so this report does not count it",
  ],
  ["Archives made", "archived", "the oldest entries were moved into a file"],
  ["Keys exchanged", "key-changed", "another key signs from there on"],
  [
    "Evidence read",
    "audit-read",
    "the evidence of a run, or the figures of a week, was about to be sent to a person",
  ],
  ["Policies put into force", "policy-loaded", "at a start or a reload; also the same policy again"],
  ["Starts of the program", "program-started", "with its version and configuration"],
] as const;

function exceptions(all: readonly KeptEntry[]): ReportSection {
  const refused = ofKind(all, "settled").filter(({ entry }) => entry.outcome === "refused");
  return {
    title: "Exceptions and changes",
    rows: [
      ...EXCEPTIONS.map(([measure, what, says]) => countRow(measure, ofKind(all, what), `${what}: ${says}`)),
      ...noLongerCounted(all),
      countRow("Decisions that the service refused", refused, "settled as refused"),
    ],
  };
}

type Unlisted = { readonly unread: number; readonly isFirstArchived: boolean };

/** Returns the rows about policies whose rules the report cannot list. */
function unlisted({ unread, isFirstArchived }: Unlisted): ReportRow[] {
  const first = {
    measure: "Policy in force at the beginning",
    value: "archived",
    counted: "no entry before the period names it, so its rules are not listed; give --archive FILE",
    entries: [],
  };
  const others = {
    measure: "Policies that cannot be read",
    value: String(unread),
    counted: "their text was erased, or this program does not know it; their rules are not listed",
    entries: [],
  };
  return [...(isFirstArchived ? [first] : []), ...(unread > 0 ? [others] : [])];
}

function rulesUsed(
  all: readonly KeptEntry[],
  rules: readonly RuleInForce[],
  further: readonly ReportRow[],
): ReportSection {
  const ruled = ofKind(all, "decided", "voted").filter(({ entry }) => entry.by !== null);
  const used = grouped(ruled, ({ policy }) =>
    policy === null ? "built-in policy" : `${policy.rule} (policy ${policy.version})`,
  );
  const named = all.flatMap(({ entry }) => (entry.policy === null ? [] : [entry.policy]));
  const never = [...Map.groupBy(rules, ({ version }) => version)].flatMap(([version, inForce]) => {
    const applied = new Set(named.flatMap((each) => (each.version === version ? [each.rule] : [])));
    const names = inForce.map(({ name }) => name);
    return unusedRules(names, [...applied]).map((name) => ({ name, version }));
  });
  const counted = "a rule of a policy in force in the period that no entry of the period names";
  return {
    title: "Rules",
    rows: [
      ...used.map(([rule, entries]) =>
        countRow(rule, entries, `decided and voted ${PERSON} under this rule`),
      ),
      ...never.map(({ name, version }): ReportRow => ({
        measure: `Never used: ${name} (policy ${version})`,
        value: "0",
        counted,
        entries: [],
      })),
      ...further,
    ],
  };
}

function deciders(all: readonly KeptEntry[]): ReportSection {
  const given = ofKind(all, "decided", "voted").filter(({ entry }) => entry.by !== null);
  const rows = grouped(
    given,
    ({ by, verdict }) => `${by?.team}:${by?.user} ${verdict === "approve" ? "approved" : "denied"}`,
  );
  return {
    title: "Who decided",
    rows: rows.map(([who, entries]) =>
      countRow(who, entries, "decided and voted by this person, also what no longer counted later"),
    ),
  };
}
