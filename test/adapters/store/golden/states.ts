// Runs in every state that can be stored, as this version of the program writes them.

import type { Approval, ApprovalState, Decision, PastDecision } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { ApprovalId, GroupId, MessageTs, RunId } from "#src/domain/ids.ts";
import { type Json, parseJson } from "#src/domain/json.ts";
import { BUILT_IN_RULE, keptRule } from "#src/domain/policy/policy.ts";
import type { PostedMessage, Upload } from "#src/domain/posted-message.ts";
import type { NoticeContent } from "#src/domain/notice.ts";
import type { Creation, Run, Watch } from "#src/domain/run.ts";
import { cardSlot, OPENING, OUTCOME, OUTPUT, requestSlot, UNREADABLE, MISSING } from "#src/domain/slot.ts";
import { requestChars } from "#src/domain/text/request-text.ts";
import {
  anApproval,
  APPROVER,
  aRequest,
  aRun,
  aWatchedRun,
  NOON,
  REQUESTER,
  TEAM,
} from "../../../make/run.ts";

const at = NOON + 60_000;
const ts = MessageTs("1795176000.000100");
const by = { team: TEAM, user: APPROVER };
const ID = ApprovalId("apr_1");

const up: PostedMessage = { type: "up", ts, shows: "v1 pending", sweepAt: at, notBefore: 0, tries: 0 };

const approve: Decision = {
  verdict: "approve",
  reason: "The change is planned.",
  by,
  at,
  digest: aRequest().digest,
  word: "yes",
  policy: { version: "0123456789ab", rule: "production" },
  entry: 1,
};
const deny: Decision = { verdict: "deny", reason: "Not today.", by, at, digest: aRequest().digest };
const together: Decision = { ...approve, votes: [{ ...approve, by: { team: TEAM, user: REQUESTER } }] };

const deliveries: readonly Delivery[] = [
  { type: "held", until: at + 30_000, sendAt: at + 30_000 },
  { type: "recorded" },
  { type: "sending", at, tries: 1, lost: false },
  { type: "sending", at, tries: 2, lost: true, answered: "perhaps" },
  { type: "retry", notBefore: at, tries: 1, lost: false, why: "The service is busy.", heldBack: true },
  { type: "retry", notBefore: at, tries: 2, lost: true, why: "No answer came.", answered: "queued" },
  { type: "unsure", since: at, notBefore: at, tries: 1, why: "No answer came.", answered: "maybe" },
  { type: "confirmed", at, stillListed: null },
  { type: "confirmed", at, stillListed: true },
  { type: "refused", at, words: "The approval has expired.", absent: true },
  { type: "elsewhere", at, words: "Denied in the console." },
  { type: "unconfirmed", at, cause: "no-longer-listed", answered: "ok?" },
  { type: "unconfirmed", at, cause: "request-changed" },
  { type: "unconfirmed", at, cause: "run-missing" },
  { type: "unconfirmed", at, cause: "refused-after-lost-answer" },
  { type: "unconfirmed", at, cause: "no-longer-authorised" },
  { type: "unconfirmed", at, cause: "tampered" },
];

const closings = [
  "no-longer-listed",
  "unreadable",
  "run-over",
  "run-missing",
  "unwatched",
  "expired",
  "tampered",
] as const;

const reopenings: readonly PastDecision["cause"][] = [
  "request-changed",
  "no-longer-listed",
  "unreadable",
  "run-missing",
  "refused",
  "run-over",
  "undone",
  "denied",
  "expired",
  "voter-may-not",
  "rule-changed",
  "unwatched",
  "tampered",
];

const notices: readonly NoticeContent[] = [
  { type: "cannot-post", words: "The app is not in the channel.", code: "not_in_channel" },
  { type: "decision-void", approval: ID, cause: "request-changed" },
  { type: "decision-stopped", approval: ID },
  { type: "nobody-can-approve", approval: ID, able: 0, needs: 2, grows: false },
  { type: "decision-refused", approval: ID, words: "The approval has expired." },
  { type: "decision-elsewhere", approval: ID, words: "Denied in the console." },
];

const watches: readonly Watch[] = [
  { type: "on" },
  { type: "missing", since: at, absence: { process: "one", since: at, looks: 2 } },
  { type: "missing", since: at, absence: null },
  { type: "over", at },
  { type: "given-up", at },
  { type: "tampered", at },
  { type: "dropped", at, by: REQUESTER },
  { type: "dropped", at, by: REQUESTER, missing: true },
];

const creations: readonly Creation[] = [
  { type: "planned", notBefore: at, tries: 1, why: "The service is busy." },
  { type: "sending", at, tries: 1 },
  { type: "created", id: RunId("run_reused"), at, reused: true },
  { type: "taken", id: RunId("run_taken"), at },
  { type: "refused", words: "No such profile.", at },
  { type: "unknown", words: "No answer came.", at, again: "asked" },
  { type: "unknown", words: "No answer came.", at, again: "started" },
  { type: "unknown", words: "No answer came.", at, again: "left" },
];

const uploads: readonly Upload[] = [
  { type: "planned", notBefore: at, tries: 0 },
  { type: "uploaded", file: "F1", masked: ["sk-secret"], notBefore: at, tries: 1 },
  { type: "sharing", file: "F1", at, tries: 1 },
  { type: "unsure", file: "F1", lookAt: at, tries: 1 },
  { type: "up", file: "F1", masked: [] },
  { type: "refused", words: "Files are turned off." },
];

const posts: readonly PostedMessage[] = [
  { type: "planned", notBefore: at, tries: 0 },
  { type: "sending", at, tries: 1 },
  { type: "unsure", lookAt: at, tries: 1 },
  up,
  { type: "refused", words: "The channel is archived.", retryAt: at, tries: 3 },
];

const strictRule = keptRule({
  ...BUILT_IN_RULE,
  name: "production",
  selfApproval: true,
  reason: { approve: 10, deny: 10 },
  needs: 2,
  holdMs: 30_000,
  expiry: { afterMs: 3_600_000, outcome: "deny" },
  friction: { readFirst: true, word: "yes" },
  mention: { users: [APPROVER], groups: [GroupId("S0ONCALL")] },
});

/** Everything that JSON.parse alone would lose or misread. */
const odd = parseJson(
  '{"action":"pay","amount":1234567890123456789,"limit":1e400,"rate":1.0,"__proto__":{"a":[]},"none":null}',
);

function asking(content: Json, facts: Partial<Approval> = {}): Approval {
  const request = aRequest(content);
  return { ...anApproval(ID), request: { ...request, chars: requestChars(request) }, ...facts };
}

function withApproval(approval: Approval, facts: Partial<Run> = {}): Run {
  return {
    ...aWatchedRun(),
    seen: { status: "awaiting_approval", since: at, ended: null, lists: true, askedAt: at },
    approvals: [approval],
    posts: { [OPENING]: up, [cardSlot(approval.id)]: up },
    ...facts,
  };
}

const inState = (state: ApprovalState): Run =>
  withApproval({ ...anApproval(ID), state, audited: { seq: 1, link: "a".repeat(64) } });

function quorum(): Run {
  const approval: Approval = {
    ...anApproval(ID),
    votes: [approve],
    readers: [APPROVER],
    approverCount: { of: "0123456789ab production v1", at, able: 1, grows: true },
    precedents: {
      of: "0123456789ab production v1",
      denied: { times: 20, more: true, entry: 1, by: APPROVER, at, reason: "Not today." },
      approved: { times: 1, more: false, entry: 2, by: APPROVER, at },
    },
    appliedRule: { version: "0123456789ab", rule: strictRule },
  };
  return withApproval(approval);
}

function withContext(): Run {
  const context = {
    fields: { plan: odd, owner: "team" },
    volatile: ["owner"],
    digest: "c".repeat(64),
    chars: 90,
  };
  const base = asking(odd);
  const request = { ...base.request, volatile: ["none"], context: context.digest, contextChars: 90 };
  const seen = { status: "odd_state", since: at, ended: null, lists: false, askedAt: at };
  return withApproval({ ...base, request, unlisted: "in-doubt" }, { context, seen });
}

/** Returns runs whose request is attached as a file. Only the uploaded one really has the length that it states. */
function attached(): Run[] {
  return uploads.map((upload) => {
    const plan = "a line of the plan\n".repeat(upload.type === "up" ? 3_000 : 1);
    const base = asking({ action: "deploy", plan });
    const approval = { ...base, request: { ...base.request, chars: Math.max(base.request.chars, 60_000) } };
    return withApproval(approval, { uploads: { [requestSlot(approval)]: upload } });
  });
}

function ended(): Run[] {
  return (["succeeded", "failed", "canceled"] as const).map((how) => {
    const done = { how, completedAt: "2026-11-20T12:01:00Z", outputChars: 5, extra: { detail: odd } };
    const result = { ...done, output: "*All* done", asFile: how === "failed" };
    const seen = { status: how, since: at, ended: result, lists: true, askedAt: at };
    const closed = { ...anApproval(ID), state: { type: "closed", cause: "run-over", at } } as const;
    const there = { [OPENING]: up, [OUTCOME]: up, [cardSlot(ID)]: up };
    const files = { [OUTPUT]: { type: "planned", notBefore: 0, tries: 0 } } as const;
    return withApproval(closed, { watch: { type: "over", at }, seen, posts: there, uploads: files });
  });
}

function unreadable(): Run[] {
  const item = { ids: [ID], code: "no-id", why: "it has no id", source: '{"x":1}', hidden: 3 };
  return (["answer", "list", "items"] as const).map((what) => ({
    ...aWatchedRun(),
    unreadable: { since: at, what, count: 1, items: [item] },
    posts: { [OPENING]: up, [UNREADABLE]: up },
  }));
}

function reopened(): Run {
  const past = reopenings.map((cause) => ({ decision: deny, cause, words: "The service said no." }));
  const absent = { process: "one", since: at, looks: 1 };
  return withApproval({ ...anApproval(ID), past, version: 3, requestVersion: 2, unlisted: absent });
}

export function everyState(): readonly Run[] {
  return [
    withApproval(anApproval(ID)),
    quorum(),
    withContext(),
    reopened(),
    ...attached(),
    withApproval(anApproval(ID), { input: "Long task. ".repeat(1_600) }),
    ...deliveries.map((delivery) => inState({ type: "decided", decision: together, delivery })),
    inState({ type: "decided", decision: { ...deny, by: null }, delivery: { type: "recorded" } }),
    ...closings.map((cause) => inState({ type: "closed", cause, at })),
    ...watches.map((watch) =>
      withApproval(anApproval(ID), { watch, posts: { [OPENING]: up, [MISSING]: up } }),
    ),
    ...creations.map((creation) => ({
      ...aRun(),
      creation,
      answer: { url: "https://hooks.slack.com/x", until: at },
    })),
    ...posts.map((post) => withApproval(anApproval(ID), { posts: { [OPENING]: up, [cardSlot(ID)]: post } })),
    ...ended(),
    ...unreadable(),
    ...[null, at].map((until) => ({
      ...aWatchedRun(),
      outage: { since: NOON, why: "It does not answer.", until },
      untouched: { since: at, told: { [ID]: 2, ["__proto__"]: 1 }, chars: 10, omitted: 1 },
    })),
    withApproval(anApproval(ID), {
      notices: notices.map((says, index) => ({
        id: `n${index}`,
        to: REQUESTER,
        says,
        state: index === 0 ? "sending" : "planned",
        notBefore: at,
      })),
    }),
  ];
}
