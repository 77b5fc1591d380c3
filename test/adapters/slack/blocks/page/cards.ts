// Cards in every state, and the parts of a card that are drawn only in some cases.

import type { CardStateName } from "#src/adapters/slack/blocks/card-state.ts";
import type { PartId } from "#src/adapters/slack/blocks/message-id.ts";
import { newApproval, reopen, withSaid } from "#src/domain/approval-transitions.ts";
import { lookUpKeyOf } from "#src/domain/applied-rule.ts";
import type { Approval, ClosedCause, PastDecision } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { ApprovalId, GroupId } from "#src/domain/ids.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { type ListedPeople, listsOf, NO_ONE, together } from "#src/domain/policy/named-people.ts";
import { BUILT_IN_RULE, type KeptRule, keptRule } from "#src/domain/policy/policy.ts";
import { NO_PRECEDENTS, type Precedents } from "#src/domain/precedent.ts";
import type { Upload } from "#src/domain/posted-message.ts";
import type { Run } from "#src/domain/run.ts";
import { requestSlot } from "#src/domain/slot.ts";
import { MODAL_HOLDS_CHARS } from "#src/domain/text/request-text.ts";
import { aNonce, anApproval, NOON } from "../../../../make/run.ts";
import { requestOf } from "../../observed.ts";
import {
  ANA,
  BEN,
  type CardExample,
  CLEO,
  CREATED,
  decided,
  decisionOf,
  FROZEN,
  HELD,
  PAUSED,
  PENDING,
  REFUSED_DENIAL,
  REQUEST,
  SERVICE_SAYS,
  UNPROVEN_FREEZE,
} from "./example.ts";
import { FOLLOW_UP_PARTS } from "./follow-up.ts";

const card = (when: string, approval: Approval, run: Run = CREATED): CardExample => ({ when, run, approval });

const past = (cause: PastDecision["cause"], words = ""): PastDecision => ({
  decision: decisionOf("approve", "Looks right"),
  cause,
  words,
});

const elsewhere = { type: "elsewhere", at: NOON, words: "" } as const;
const refused = { type: "refused", at: NOON, words: SERVICE_SAYS, absent: false } as const;
const UNLISTED = { process: "this one", since: NOON, looks: 1 };
const ANSWERED = '{"ok":false} ". The service confirmed it.';
const unsure = { type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: "timeout" } as const;
const again = { type: "retry", notBefore: NOON, tries: 2, lost: true, why: "reset" } as const;
const UNVERIFIED = "Countersign could not verify with Slack that the people who approved may still do so.";
const HELD_BACK =
  "Countersign's database was changed from outside, so approvals wait until an admin of Countersign acknowledges that change.";
const limited = {
  type: "retry",
  notBefore: NOON,
  tries: 2,
  lost: false,
  why: "The agent service answered HTTP 429 (Too Many Requests).",
} as const;

type Cause = Extract<Delivery, { type: "unconfirmed" }>["cause"];
type Detail = { readonly accepted?: true; readonly said?: string };
const unconfirmed = (cause: Cause, stillListed: boolean | null = null, detail: Detail = {}): Approval =>
  decided({ type: "unconfirmed", at: NOON, cause, stillListed, ...detail });

const closed = (cause: ClosedCause): Approval => ({
  ...PENDING,
  state: { type: "closed", cause, at: NOON },
});

const CLOSED: Record<Exclude<ClosedCause, "tampered">, CardExample> = {
  "no-longer-listed": card("no longer listed", closed("no-longer-listed")),
  unreadable: card("no longer readable", closed("unreadable")),
  "run-over": card("run over", { ...closed("run-over"), past: [past("run-over")] }),
  "run-missing": card("run missing", closed("run-missing")),
  unwatched: card("unwatched", closed("unwatched")),
  expired: card("expired", closed("expired")),
};

const confirmed: Delivery = { type: "confirmed", at: NOON, stillListed: null };

export const CARDS: Record<CardStateName, readonly CardExample[]> = {
  pending: [
    card("", PENDING),
    card("again, refused before", { ...PENDING, version: 2, past: [past("refused", SERVICE_SAYS)] }),
  ],
  held: [card("", HELD), card("paused: Slack is away", PAUSED)],
  sending: [
    card("recorded", decided({ type: "recorded" })),
    card("a denial is on its way", decided({ type: "sending", at: NOON, tries: 1, lost: false }, "deny")),
    card("again, after a lost answer", decided(again)),
    card("again, after an error", decided({ ...again, failedWith: 503 })),
    card("to be sent again, after an unclear answer", decided({ ...again, answered: ANSWERED })),
    card("to be sent again, once Slack answers", decided({ ...again, notSent: true, why: UNVERIFIED })),
    card(
      "again, after an unclear answer",
      decided({ type: "sending", at: NOON, tries: 2, lost: true, answered: ANSWERED }),
    ),
  ],
  retrying: [
    card("", decided(limited)),
    card("not sent: it could not be asked", decided({ ...limited, notSent: true })),
  ],
  "held-back": [
    card("", decided({ ...limited, notSent: true, heldBack: true, why: HELD_BACK })),
    card("sent before", decided({ ...again, notSent: true, heldBack: true, why: HELD_BACK })),
  ],
  waiting: [
    card("not listed just now", { ...decided({ type: "recorded" }), unlisted: UNLISTED }),
    card("not listed just now, tried before", { ...decided(limited), unlisted: UNLISTED }),
    card("not listed just now, sent before", { ...decided(again), unlisted: UNLISTED }),
    card("not told, sent before", { ...decided(unsure), unlisted: "in-doubt" }),
    card("the run is not known just now", decided({ type: "recorded" }), {
      ...CREATED,
      watch: { type: "missing", since: NOON, absence: null },
    }),
  ],
  checking: [
    card("its answer was lost", decided(unsure, "deny")),
    card("answered with an error", decided({ ...unsure, failedWith: 503 })),
    card("answered unclearly", decided({ ...unsure, answered: ANSWERED })),
  ],
  approved: [
    card("", decided(confirmed)),
    card("without a reason", decided(confirmed, "approve", "")),
    card("still listed", decided({ ...confirmed, stillListed: true })),
    card("by two people", {
      ...PENDING,
      state: {
        type: "decided",
        decision: {
          ...decisionOf("approve", "Checked the plan"),
          votes: [decisionOf("approve", "Tests are green", CLEO)],
        },
        delivery: confirmed,
      },
    }),
  ],
  denied: [
    card("", decided(confirmed, "deny")),
    card("by the policy", {
      ...PENDING,
      state: { type: "decided", decision: decisionOf("deny", "", null), delivery: confirmed },
    }),
  ],
  refused: [
    card("", decided(refused)),
    card("no longer watched", decided(refused), {
      ...CREATED,
      watch: { type: "dropped", at: NOON, by: ANA },
    }),
    card("the run has ended", decided(refused), { ...CREATED, watch: { type: "over", at: NOON } }),
  ],
  elsewhere: [
    card("refused, and gone", decided({ ...refused, absent: true })),
    card("refused, and said to be expired", decided({ ...refused, absent: true, said: "expired" })),
    card("the service says the contrary", decided({ ...elsewhere, said: "deny" })),
    card("expired", decided({ ...elsewhere, said: "expired" })),
    card("the service refused the denial", decided({ ...elsewhere, words: SERVICE_SAYS }, "deny")),
    card("still listed", decided({ ...elsewhere, words: SERVICE_SAYS, stillListed: true })),
  ],
  unconfirmed: [
    card("gone", unconfirmed("no-longer-listed")),
    card("gone, and said to be denied", unconfirmed("no-longer-listed", null, { said: "denied" })),
    card("gone, then listed again", unconfirmed("no-longer-listed", true)),
    card("the request changed", unconfirmed("request-changed")),
    card("the request changed, then changed back", unconfirmed("request-changed", true)),
    card("the request changed before the answer", unconfirmed("request-changed", null, { accepted: true })),
    card("run missing", unconfirmed("run-missing")),
    card("run missing, then known again", unconfirmed("run-missing", false)),
    card("run missing, then the request listed again", unconfirmed("run-missing", true)),
    card("refused when sent again", unconfirmed("refused-after-lost-answer")),
    card("refused when sent again, and still listed", unconfirmed("refused-after-lost-answer", true)),
    card("no longer authorised", unconfirmed("no-longer-authorised")),
    card("tampered with", unconfirmed("tampered")),
    card(
      "a denial, after an error",
      decided({ type: "unconfirmed", at: NOON, cause: "run-missing", failedWith: 503 }, "deny"),
    ),
    card(
      "a denial, answered unclearly",
      decided({ type: "unconfirmed", at: NOON, cause: "no-longer-listed", answered: ANSWERED }, "deny"),
    ),
  ],
  closed: [
    ...Object.values(CLOSED),
    card("no longer listed, and said to be expired", withSaid(closed("no-longer-listed"), "expired")),
    card("run over, undecided", closed("run-over")),
  ],
  tampered: [card("", closed("tampered"))],
};

/** What happened to Ben's earlier approval. */
const PAST: Record<PastDecision["cause"], true> = {
  "request-changed": true,
  "no-longer-listed": true,
  unreadable: true,
  "run-missing": true,
  "run-over": true,
  refused: true,
  undone: true,
  denied: true,
  expired: true,
  "voter-may-not": true,
  "rule-changed": true,
  unwatched: true,
  stopped: true,
  frozen: true,
  restored: true,
  tampered: true,
};

type PastId = `past:1:${PastDecision["cause"]}`;

const pastParts = Object.fromEntries(
  (Object.keys(PAST) as PastDecision["cause"][]).map((cause) => [
    `past:1:${cause}`,
    [card("", { ...PENDING, version: 2, past: [past(cause, SERVICE_SAYS)] })],
  ]),
) as Record<PastId, CardExample[]>;

const byRule = (facts: Partial<KeptRule>, approval: Approval = PENDING): Approval => ({
  ...approval,
  appliedRule: {
    version: "0123456789ab",
    rule: { ...keptRule(BUILT_IN_RULE), name: "production", ...facts },
  },
});

const DENIED_LATER: KeptRule["expiry"] = { afterMs: 3_600_000, outcome: "deny" };
const byTwo = byRule({
  needs: 2,
  expiry: DENIED_LATER,
  mention: { users: [BEN, CLEO], groups: [] },
});

const PARTS: KeptRule["parts"] = [
  { name: "Operations", users: [], groups: [GroupId("S0SRE")], channels: [] },
  { name: "Security", users: [], groups: [GroupId("S0SECURITY")], channels: [] },
];
const ofParts = byRule({ needs: 2, parts: PARTS });
const fromOperations = {
  ...decisionOf("approve", "Tests are green", CLEO),
  memberOf: [GroupId("S0SRE")],
};

const NAMED = { users: [CLEO], groups: [GroupId("S0SRE")], channels: [] };

/** The approval after its first two stages were reached. */
const escalated = (approval: Approval, to: ListedPeople = NAMED): Approval => {
  const call = { users: [ANA], groups: [], channels: [] };
  const escalate = [
    { afterMs: 600_000, to, call: null },
    { afterMs: 1_200_000, to: null, call },
  ];
  const { appliedRule } = approval;
  const rule = { ...appliedRule.rule, followUp: { ...NO_FOLLOW_UP, escalate } };
  const called = [together(listsOf(to)), call];
  const stages = escalate.map(({ afterMs }, nth) => ({
    afterMs,
    at: NOON + afterMs,
    age: afterMs,
    called: called[nth] ?? NO_ONE,
  }));
  return { ...approval, appliedRule: { ...appliedRule, rule }, followUp: { stages } };
};

const counted = (approval: Approval, able: number, grows: boolean): Approval => ({
  ...approval,
  approverCount: { of: lookUpKeyOf(approval), at: NOON, able, grows },
});

const LONG = { ...PENDING, request: requestOf("x".repeat(5_000), {}) };
const TOO_LONG = { ...PENDING, request: requestOf("x".repeat(MODAL_HOLDS_CHARS + 1), {}) };
const MANY = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`field_${at}`, "y"]));
const TOO_MANY = { ...PENDING, request: requestOf("x".repeat(MODAL_HOLDS_CHARS + 1), MANY) };

const withUpload = (upload: Upload, approval: Approval): Run => ({
  ...CREATED,
  uploads: { [requestSlot(approval)]: upload },
});

const first = newApproval(ApprovalId("apr_1"), REQUEST, aNonce(), { now: NOON, monotonic: NOON });
const another = requestOf("Deploy", { owner: "Ben", region: "eu", zone: 1 });
const other = requestOf(REQUEST.action, { risk: "critical", environment: "production", replicas: 8 });

const before = (precedents: Partial<Precedents>): Approval => ({
  ...PENDING,
  precedents: { of: lookUpKeyOf(PENDING), ...NO_PRECEDENTS, ...precedents },
});
const DAY_MS = 24 * 60 * 60_000;
const DENIED = {
  times: 1,
  more: false,
  entry: 41,
  by: BEN,
  at: NOON - 2 * DAY_MS,
  reason: "change freeze",
} as const;
const APPROVED = { times: 3, more: false, entry: 40, by: CLEO, at: NOON - 5 * DAY_MS } as const;

export const DENIED_BEFORE = before({ denied: DENIED });

/** The examples by the id of the part. */
export const CARD_PARTS: Record<
  | Exclude<PartId, `${"past" | "rule" | "cause" | "home" | "queue"}:${string}`>
  | `rule:${"0-of-1:too-few" | "0-of-2" | "0-of-2:too-few" | "1-of-2"}`
  | PastId,
  readonly CardExample[]
> = {
  "request:whole": [
    card("changed", reopen(first, other, aNonce(), null)),
    card("changed in more fields than it lists", reopen(first, another, aNonce(), null)),
    card("with a field that may change", {
      ...PENDING,
      request: { ...requestOf("Deploy", { action: "Deploy", polled_at: "12:00" }), volatile: ["polled_at"] },
    }),
    card("with a secret", {
      ...PENDING,
      request: requestOf("Deploy", { action: "Deploy", token: "ghp_0123456789abcdefghijABCDEFGHIJ012345" }),
    }),
    card("without an action", { ...PENDING, request: requestOf(null, { environment: "production" }) }),
  ],
  "request:shortened": [card("", LONG)],
  "request:file-coming": [
    card("", TOO_LONG, withUpload({ type: "planned", notBefore: 0, tries: 0 }, TOO_LONG)),
    card(
      "shared, not confirmed",
      TOO_LONG,
      withUpload({ type: "unsure", file: "F0", lookAt: NOON, tries: 1 }, TOO_LONG),
    ),
  ],
  "request:file-there": [
    card("", TOO_LONG, withUpload({ type: "up", file: "F0" }, TOO_LONG)),
    card("more fields than the form holds", TOO_MANY, withUpload({ type: "up", file: "F0" }, TOO_MANY)),
  ],
  "request:file-refused": [
    card(
      "",
      TOO_LONG,
      withUpload({ type: "refused", words: "Slack refused (storage_limit_reached)" }, TOO_LONG),
    ),
  ],
  "before:denied": [
    card("once", before({ denied: DENIED })),
    card("often", before({ denied: { ...DENIED, times: 20, more: true, reason: "x".repeat(80) } })),
  ],
  "before:approved": [
    card("once", before({ approved: { ...APPROVED, times: 1 } })),
    card("several times", before({ approved: APPROVED })),
  ],
  "before:both": [card("", before({ denied: DENIED, approved: APPROVED }))],
  "before:unread": [card("", before({ unread: true }))],
  frozen: [
    card("", PENDING, { ...CREATED, frozen: FROZEN }),
    card("the entry of the freeze is spoilt", PENDING, { ...CREATED, frozen: UNPROVEN_FREEZE }),
  ],
  stopped: [
    card("the service refused its denial", byRule({ expiry: DENIED_LATER }, REFUSED_DENIAL), {
      ...CREATED,
      stop: { by: CLEO, at: NOON },
    }),
    card("and frozen", PENDING, { ...CREATED, stop: { by: CLEO, at: NOON }, frozen: FROZEN }),
  ],
  "rule:0-of-2": [
    card("", byTwo),
    card("one approval from each of two parts", ofParts),
    card("escalated", escalated(byTwo)),
    card("one approval from each of two parts, escalated", escalated(ofParts)),
    card(
      "escalated by two rules",
      escalated(byTwo, { ...NAMED, users: [], alsoIn: [{ ...NAMED, groups: [] }] }),
    ),
  ],
  "rule:1-of-2": [
    card("", { ...byTwo, votes: [decisionOf("approve", "Tests are green", CLEO)] }),
    card("one part has approved", { ...ofParts, votes: [fromOperations] }),
  ],
  "rule:0-of-1:too-few": [card("", counted(byRule({}), 0, true))],
  "rule:0-of-2:too-few": [card("", counted(byRule({ needs: 2 }), 1, false))],
  ...pastParts,
  ...FOLLOW_UP_PARTS,
  reused: [
    card(
      "",
      { ...anApproval("apr_1 (2)"), serviceId: PENDING.serviceId, request: REQUEST },
      { ...CREATED, approvals: [decided(confirmed)] },
    ),
  ],
  "context-changed": [
    card("", reopen(first, { ...REQUEST, context: "2", digest: "another" }, aNonce(), null)),
  ],
};
