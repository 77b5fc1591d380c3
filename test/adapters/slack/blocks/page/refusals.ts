// Every refusal: the window after a click or a submit, the error beside a field, and the answer to a command.

import { messageModal } from "#src/adapters/slack/blocks/decision-modal.ts";
import { commandRefusal, typedRunRefusal } from "#src/adapters/slack/blocks/command-refusal-words.ts";
import { refusalPlain, refusalTitle, refusalWords } from "#src/adapters/slack/blocks/refusal-words.ts";
import { brakeRefusal } from "#src/adapters/slack/blocks/brake-refusal-words.ts";
import type { Refusal } from "#src/domain/authorization.ts";
import { STOP_REASON } from "#src/domain/brake.ts";
import { GroupId, UNKNOWN_PERSON } from "#src/domain/ids.ts";
import { BUILT_IN_RULE } from "#src/domain/policy/policy.ts";
import type { CommandRefusal } from "#src/domain/command-refusal.ts";
import { aRequest, NOON } from "../../../../make/run.ts";
import { BEN, CLEO, CREATED, decisionOf, type Example, FROZEN, UNPROVEN_FREEZE } from "./example.ts";

const decision = decisionOf("deny", "Not before the freeze ends");

const partsNamed = (...names: readonly string[]) =>
  names.map((name) => ({ name, users: [], groups: [], channels: [] }));

export const REFUSALS: Record<Refusal["type"], readonly [Refusal, ...Refusal[]]> = {
  requester: [
    { type: "requester", rule: BUILT_IN_RULE },
    { type: "requester", rule: BUILT_IN_RULE, perhaps: true },
  ],
  guest: [{ type: "guest" }],
  outsider: [{ type: "outsider" }],
  bot: [{ type: "bot" }],
  deactivated: [{ type: "deactivated" }],
  "not-in-channel": [{ type: "not-in-channel" }],
  "not-approver": [
    { type: "not-approver", rule: { ...BUILT_IN_RULE, name: "production" } },
    {
      type: "not-approver",
      rule: {
        ...BUILT_IN_RULE,
        name: "production and payments",
        approvers: {
          users: [BEN, CLEO],
          groups: [],
          channels: [],
          alsoIn: [{ users: [], groups: [GroupId("S0ONCALL")], channels: [] }],
        },
      },
    },
  ],
  unverified: [
    { type: "unverified" },
    { type: "unverified", of: [CLEO] },
    { type: "unverified", requester: CLEO },
  ],
  "part-filled": [
    {
      type: "part-filled",
      missing: [{ name: "Security", users: [], groups: [GroupId("S0SECURITY")], channels: [] }],
    },
    {
      type: "part-filled",
      missing: partsNamed("Operations", "Security"),
    },
  ],
  "already-voted": [{ type: "already-voted", decision: decisionOf("approve", "Checked the plan") }],
  undone: [{ type: "undone" }],
  reopened: [{ type: "reopened" }],
  "read-first": [{ type: "read-first" }],
  "rule-changed": [
    { type: "rule-changed", was: { needs: 3, holdMs: 30_000 }, now: { needs: 1, holdMs: 0 } },
    { type: "rule-changed", was: { needs: 2, holdMs: 3_600_000 }, now: { needs: 2, holdMs: 30_000 } },
    {
      type: "rule-changed",
      was: { needs: 2, holdMs: 0, parts: partsNamed("Operations", "Security") },
      now: { needs: 2, holdMs: 0, parts: partsNamed("Operations", "Legal") },
    },
    {
      type: "rule-changed",
      was: { needs: 1, holdMs: 0, parts: partsNamed("Security") },
      now: { needs: 1, holdMs: 0, parts: partsNamed("Security").map((part) => ({ ...part, users: [BEN] })) },
    },
  ],
  "word-needed": [{ type: "word-needed", word: "production" }],
  "not-all-shown": [{ type: "not-all-shown", fields: 12 }],
  "file-not-seen": [{ type: "file-not-seen" }],
  stopped: [
    { type: "stopped", stop: { by: BEN, at: NOON } },
    { type: "stopped", stop: { by: UNKNOWN_PERSON, at: NOON } },
    { type: "stopped", stop: { by: BEN, at: NOON, ofEarlierRecord: true } },
  ],
  frozen: [
    { type: "frozen", freeze: FROZEN },
    { type: "frozen", freeze: { ...FROZEN, channel: null, why: "" } },
    { type: "frozen", freeze: UNPROVEN_FREEZE },
  ],
  "other-stop": [
    { type: "other-stop", stop: { by: BEN, at: NOON, lifted: { by: CLEO, at: NOON + 60_000 } } },
    { type: "other-stop", stop: { by: UNKNOWN_PERSON, at: NOON } },
  ],
  "too-late": [
    { type: "too-late", became: { type: "sent", at: NOON } },
    { type: "too-late", became: { type: "sent", at: null } },
    { type: "too-late", became: { type: "due" } },
    { type: "too-late", became: { type: "denied" } },
    { type: "too-late", became: { type: "counts" } },
    { type: "too-late", became: { type: "stands" } },
    { type: "too-late", became: null },
  ],
  "not-yours": [{ type: "not-yours" }],
  "already-decided": [
    { type: "already-decided", decision, settled: true },
    { type: "already-decided", decision: decisionOf("deny", "", null), settled: true },
    {
      type: "already-decided",
      decision: { ...decisionOf("deny", STOP_REASON, null), stoppedBy: CLEO },
      settled: true,
    },
  ],
  closed: [
    { type: "closed", why: "no-longer-listed" },
    { type: "closed", why: "run-over" },
    { type: "closed", why: "run-missing" },
    { type: "closed", why: "unwatched" },
  ],
  changed: [{ type: "changed", was: null, now: aRequest() }],
  unknown: [{ type: "unknown" }],
  "verdict-needed": [{ type: "verdict-needed" }],
  "form-changed": [{ type: "form-changed" }],
  "being-posted": [{ type: "being-posted" }],
  "file-refused": [
    { type: "file-refused", words: "Slack refused (storage_limit_reached)", isBraked: false },
    { type: "file-refused", words: "Slack refused (storage_limit_reached)", isBraked: true },
  ],
  "not-claimer": [
    { type: "not-claimer", by: null },
    { type: "not-claimer", by: BEN },
  ],
  "handed-over-before": [{ type: "handed-over-before", from: BEN }],
  "cannot-take-over": [
    { type: "cannot-take-over", to: null, why: "unknown" },
    { type: "cannot-take-over", to: CLEO, why: "claimer" },
    { type: "cannot-take-over", to: CLEO, why: "unverified" },
    { type: "cannot-take-over", to: CLEO, why: "requester" },
    { type: "cannot-take-over", to: CLEO, why: "not-in-channel" },
    { type: "cannot-take-over", to: CLEO, why: "already-voted" },
    { type: "cannot-take-over", to: CLEO, why: "not-approver" },
  ],
  "too-many-questions": [{ type: "too-many-questions" }],
  "answered-before": [{ type: "answered-before" }],
  "not-asked": [{ type: "not-asked", requester: CLEO }],
  "text-needed": [{ type: "text-needed" }],
  "text-too-long": [{ type: "text-too-long", chars: 3_001 }],
  "form-used": [
    { type: "form-used", did: "asked" },
    { type: "form-used", did: "snoozed" },
    { type: "form-used", did: { handedTo: CLEO } },
  ],
  "time-needed": [{ type: "time-needed" }],
  "not-extendable": [{ type: "not-extendable" }],
  "extension-cap": [{ type: "extension-cap", atMostMs: 7_200_000 }],
  "extended-meanwhile": [
    { type: "extended-meanwhile", by: BEN },
    { type: "extended-meanwhile", by: null },
  ],
  "reason-needed": [{ type: "reason-needed" }, { type: "reason-needed", verdict: "approve" }],
  "reason-too-short": [{ type: "reason-too-short", chars: 4, fewest: 20 }],
  "reason-too-long": [{ type: "reason-too-long", chars: 3_001 }],
};

export const refusalExamples = (refusals: readonly Refusal[]): Example[] => [
  ...refusals.map((each) => ({
    when: "",
    drawn: messageModal(refusalTitle(each), refusalWords(each), `refusal:${each.type}`),
  })),
  ...refusals.slice(0, 1).flatMap(brakeExamples),
];

/** The refusals that read differently after a press on Stop or on "Lift the stop". */
function brakeExamples(refusal: Refusal): Example[] {
  return (["stop", "lift"] as const).flatMap((act) => {
    // The requester may stop a run.
    if (act === "stop" && refusal.type === "requester") return [];
    const { heading, text } = brakeRefusal(refusal, BEN, act);
    const when = act === "stop" ? "of Stop" : "of Lift the stop";
    return text === refusalWords(refusal, BEN)
      ? []
      : [{ when, drawn: messageModal(heading, text, `refusal:${refusal.type}`) }];
  });
}

/** The refusal for a person who decided before, without their own name. */
export const ownDecision = (): string =>
  refusalWords({ type: "already-decided", decision, settled: true }, BEN);

/** Refusals with another text beside a field, where Slack draws no markup. */
export const besideField = (): readonly string[] =>
  Object.values(REFUSALS)
    .flat()
    .filter((each) => refusalPlain(each) !== refusalWords(each))
    .map((each) => `${each.type}: ${refusalPlain(each)}`);

export const COMMAND_REFUSALS: Record<
  CommandRefusal["type"],
  readonly [CommandRefusal, ...CommandRefusal[]]
> = {
  "empty-task": [{ type: "empty-task" }],
  frozen: [{ type: "frozen", freeze: FROZEN }],
  "own-freeze": [{ type: "own-freeze", freeze: FROZEN }],
  "several-freezes": [{ type: "several-freezes", freezes: [{ ...FROZEN, channel: null }, FROZEN] }],
  "other-freeze": [
    { type: "other-freeze", freeze: FROZEN },
    { type: "other-freeze", freeze: { ...FROZEN, channel: null } },
  ],
  "not-freezer": [{ type: "not-freezer" }],
  "already-frozen": [{ type: "already-frozen" }],
  "not-frozen": [{ type: "not-frozen" }],
  guest: [{ type: "guest" }],
  outsider: [{ type: "outsider" }],
  bot: [{ type: "bot" }],
  deactivated: [{ type: "deactivated" }],
  "not-in-channel": [{ type: "not-in-channel" }],
  unverified: [{ type: "unverified" }],
  "saved-task-gone": [{ type: "saved-task-gone" }],
  "saved-task-changed": [{ type: "saved-task-changed" }],
  "not-your-task": [{ type: "not-your-task" }],
  "saved-task-unfinished": [
    {
      type: "saved-task-unfinished",
      missing: [],
      wrong: [{ label: "Environment", choices: ["staging", "eu west"] }],
      unknown: ["sevice"],
    },
  ],
  "no-runs-here": [{ type: "no-runs-here" }],
  "not-starter": [{ type: "not-starter" }],
  "hidden-channel": [{ type: "hidden-channel" }],
  "not-a-channel": [{ type: "not-a-channel" }],
  "unknown-run": [{ type: "unknown-run" }, { type: "unknown-run", in: "audit" }],
  "service-silent": [{ type: "service-silent", words: "HTTP 503 <busy>" }],
  "already-watched": [
    { type: "already-watched", run: CREATED },
    { type: "already-watched", run: { ...CREATED, watch: { type: "over", at: NOON } } },
  ],
  "id-used-again": [{ type: "id-used-again", run: CREATED }],
  "channel-unproven": [{ type: "channel-unproven" }],
  "not-watched": [{ type: "not-watched", run: CREATED }],
  deciding: [{ type: "deciding", run: CREATED }],
  voted: [{ type: "voted", run: CREATED }],
  "denial-due": [{ type: "denial-due", run: CREATED }],
  "form-used": [{ type: "form-used", run: CREATED }],
  "running-again": [{ type: "running-again", run: { ...CREATED, requester: BEN } }],
  answered: [{ type: "answered" }],
  "not-auditor": [{ type: "not-auditor" }],
  "own-audit": [{ type: "own-audit" }],
  tampered: [{ type: "tampered", words: "entry 41 does not follow entry 40." }],
  "not-admin": [
    { type: "not-admin", asked: "report" },
    { type: "not-admin", asked: "close" },
    { type: "not-admin", asked: "acknowledge" },
  ],
  "nothing-to-acknowledge": [{ type: "nothing-to-acknowledge" }],
  "other-findings": [{ type: "other-findings" }],
  "close-why": [{ type: "close-why" }],
  "nothing-disputed": [{ type: "nothing-disputed" }],
  "acknowledge-why": [{ type: "acknowledge-why" }],
  "not-sent": [{ type: "not-sent" }],
};

export const commandRefusalExamples = (refusals: readonly CommandRefusal[]): Example[] =>
  refusals.flatMap((each) => [
    { when: "", drawn: commandRefusal(each, "/agent") },
    ...(each.type === "frozen"
      ? [{ when: "a typed run", drawn: typedRunRefusal(each, "/agent", "deploy pi to production") }]
      : []),
  ]);
