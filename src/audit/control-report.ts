// What the audit says about a period, for an auditor of the control: each number with what was counted, and the entries behind it.

import type { KeptEntry } from "./entry.ts";
import {
  countRow,
  grouped,
  numbersOf,
  ofKind,
  type ReportRow,
  type ReportSection,
  spread,
} from "./report-rows.ts";

export type { ReportSection } from "./report-rows.ts";

export type Period = { readonly from: number; readonly to: number };

/** A rule of a policy that was in force in the period. */
export type RuleInForce = { readonly name: string; readonly version: string };

export type ReportReader = {
  /** Takes all entries of the audit, in their order. */
  add(kept: KeptEntry): void;
  /** The digests of the policies in force in the period; null: the built-in one. */
  policies(): readonly (string | null)[];
  /** `rules`: of those policies. `unread`: how many of them cannot be read any more. */
  report(rules: readonly RuleInForce[], unread: number): readonly ReportSection[];
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
    report: (rules, unread) => [
      population(found),
      outcomes(found),
      separation(found),
      times(found),
      refusedAttempts(found),
      exceptions(found),
      rulesUsed(found, rules, unread),
      deciders(found),
    ],
  };
}

/** The newest entry of each approval. */
function newestOfEach(all: readonly KeptEntry[]): KeptEntry[] {
  const about = ofKind(all, "opened", "voted", "decided", "sent", "settled", "closed");
  const newest = new Map<string, KeptEntry>();
  for (const kept of about) newest.set(JSON.stringify([kept.entry.run, kept.entry.approval]), kept);
  return [...newest.values()];
}

function population(all: readonly KeptEntry[]): ReportSection {
  const asked = newestOfEach(all);
  const coalesced = ofKind(all, "coalesced");
  const more = coalesced.reduce((sum, { entry }) => sum + (entry.times ?? 0), 0);
  const edge = [all.at(0), all.at(-1)].flatMap((each) => (each === undefined ? [] : [each.seq]));
  const [first = 0, last = first] = edge;
  return {
    title: "Population",
    rows: [
      {
        measure: "Entries",
        value: String(all.length),
        counted:
          all.length === 0
            ? "none in the period"
            : `all entries whose moment lies in the period, ${first} to ${last}`,
        entries: [],
      },
      countRow(
        "Approvals",
        asked,
        "approvals that were opened, voted on, decided, sent, settled or closed in the period, each once, by its newest entry. One that waits untouched has none",
      ),
      {
        measure: "Further approvals, counted only",
        value: String(more),
        counted: "approvals that closed undecided beyond the limit for entries that no person caused",
        entries: numbersOf(coalesced),
      },
      countRow("Runs asked for", ofKind(all, "started"), "started: somebody asked for a run"),
      countRow("Runs watched", ofKind(all, "watched"), "watched: a run that was started elsewhere"),
    ],
  };
}

const PERSON = "by a person";

const [CONFIRMED, ELSEWHERE, UNKNOWN] = ["confirmed", "elsewhere", "unconfirmed"];

function outcomes(all: readonly KeptEntry[]): ReportSection {
  const asked = newestOfEach(all);
  const settled = (outcome: string): KeptEntry[] =>
    ofKind(asked, "settled").filter(({ entry }) => entry.outcome === outcome);
  const [elsewhere, unknown, closed] = [settled(ELSEWHERE), settled(UNKNOWN), ofKind(asked, "closed")];
  const ended = new Set([...settled(CONFIRMED), ...elsewhere, ...unknown, ...closed]);
  const byPeople = settled(CONFIRMED).filter(({ entry }) => entry.by !== null);
  const alone = settled(CONFIRMED).filter(({ entry }) => entry.by === null);
  const approved = byPeople.filter(({ entry }) => entry.verdict === "approve");
  const denied = byPeople.filter(({ entry }) => entry.verdict === "deny");
  const open = asked.filter((each) => !ended.has(each));
  return {
    title: "What became of the approvals",
    rows: [
      countRow("Approved", approved, `the service confirmed an approval ${PERSON}`),
      countRow("Denied", denied, `the service confirmed a denial ${PERSON}`),
      countRow("Denied by the policy or a stop", alone, "the service confirmed a denial that no person gave"),
      shareRow(approved, denied),
      countRow("Decided elsewhere", elsewhere, "the service had another decision already"),
      countRow("Result unknown", unknown, "the decision was sent, and the service never confirmed it"),
      countRow("Closed undecided", closed, "withdrawn, expired, or their run ended or is no longer watched"),
      countRow(
        "Open at the end of the period",
        open,
        "waiting, being sent, refused by the service, or opened again",
      ),
    ],
  };
}

function shareRow(approved: readonly KeptEntry[], denied: readonly KeptEntry[]): ReportRow {
  const all = approved.length + denied.length;
  const value = all === 0 ? "none" : `${((100 * approved.length) / all).toFixed(1)} %`;
  const counted = `approved / (approved + denied), confirmed and ${PERSON}: ${approved.length} / ${all}`;
  return { measure: "Share approved", value, counted, entries: [] };
}

/** Approver and requester, and how many people a decision rests on. */
function separation(all: readonly KeptEntry[]): ReportSection {
  const sent = ofKind(all, "sent").filter(({ entry }) => entry.verdict === "approve" && entry.by !== null);
  const usersOf = ({ entry: { by, votes = [] } }: KeptEntry): Set<string | undefined> =>
    new Set([by?.user, ...votes.map((vote) => vote.by?.user)]);
  const own = sent.filter((each) => usersOf(each).has(each.entry.requester?.user));
  const several = sent.filter((each) => usersOf(each).size > 1);
  const nobody = sent.filter(({ entry }) => entry.requester === null);
  return {
    title: "Separation of duties",
    rows: [
      countRow("Approvals sent", sent, `sent: an approval ${PERSON} was about to leave`),
      countRow(
        "of these by the requester",
        own,
        "the requester is among the people whose approval it rests on (the rule must allow it: self-approval)",
      ),
      countRow("of these without a known requester", nobody, "the entry names no requester"),
      countRow(
        "of these by several people",
        several,
        "they rest on the approvals of at least two different people",
      ),
    ],
  };
}

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
    title: "Refused attempts",
    rows: [
      countRow("All", refused, "refused: somebody tried and was not allowed to"),
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
  ["Tampering acknowledged", "tampering-acknowledged", "an admin let approvals leave again"],
  ["Runs stopped", "stopped", "everything the run asked for was denied from there on"],
  ["Stops lifted", "stop-lifted", "its requests could be decided again"],
  ["Freezes", "frozen", "no run started and no approval was sent"],
  ["Freezes lifted", "freeze-lifted", "by another person"],
  ["Texts erased", "redacted", "a stored text was erased on request"],
  ["Keys exchanged", "key-changed", "another key signs from there on"],
  ["Evidence read", "audit-read", "somebody got the evidence of a run"],
  ["Policies put into force", "policy-loaded", "at a start or a reload; also the same policy again"],
  ["Starts of the program", "program-started", "with its version and configuration"],
] as const;

function exceptions(all: readonly KeptEntry[]): ReportSection {
  const settled = ofKind(all, "settled");
  const gone = settled.filter(({ entry }) => entry.outcome.startsWith("void"));
  const refused = settled.filter(({ entry }) => entry.outcome === "refused");
  return {
    title: "Exceptions and changes",
    rows: [
      ...EXCEPTIONS.map(([measure, what, says]) => countRow(measure, ofKind(all, what), `${what}: ${says}`)),
      countRow(
        "Decisions that no longer counted",
        gone,
        "settled as void: undone, or the request, the rule or the person's right changed before it left",
      ),
      countRow("Decisions that the service refused", refused, "settled as refused"),
    ],
  };
}

function rulesUsed(all: readonly KeptEntry[], rules: readonly RuleInForce[], unread: number): ReportSection {
  const ruled = ofKind(all, "decided", "voted").filter(({ entry }) => entry.by !== null);
  const used = grouped(ruled, ({ policy }) =>
    policy === null ? "built-in policy" : `${policy.rule} (policy ${policy.version})`,
  );
  const named = all.flatMap(({ entry }) => (entry.policy === null ? [] : [entry.policy]));
  const never = rules.filter(
    ({ name, version }) => !named.some((each) => each.version === version && namesRule(each.rule, name)),
  );
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
      ...(unread === 0
        ? []
        : [
            {
              measure: "Policies that cannot be read",
              value: String(unread),
              counted: "their text was erased, or this program does not know it; their rules are not listed",
              entries: [],
            },
          ]),
    ],
  };
}

/** A request may stand under several rules; the name of the applied rule joins theirs with "and". */
const namesRule = (applied: string, name: string): boolean =>
  ` and ${applied} and `.includes(` and ${name} and `);

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
