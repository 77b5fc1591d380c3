// The messages that call people to a waiting request.

import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import type { MessageId } from "#src/adapters/slack/blocks/message-id.ts";
import { withDelivery } from "#src/domain/approval-transitions.ts";
import type { Approval } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { callSlot } from "#src/domain/call.ts";
import { type Call, type Gathered, withFollowUp } from "#src/domain/follow-up.ts";
import { ChannelId, GroupId, MessageTs } from "#src/domain/ids.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { BUILT_IN_RULE, keptRule } from "#src/domain/policy/policy.ts";
import { NOON, withApprovals } from "../../../../make/run.ts";
import {
  BEN,
  CLEO,
  CREATED,
  decided,
  decisionOf,
  DEPLOYMENT,
  type Example,
  LINK,
  PENDING,
  SERVICE_SAYS,
} from "./example.ts";

const CARD = MessageTs("1.1");
const LEADS = ChannelId("C0LEADS");
const ON_CALL = GroupId("S0ONCALL");

const call = (says: Call["says"], facts: Partial<Call> = {}): Call => ({
  n: 1,
  says,
  of: 1,
  at: NOON + 900_000,
  notBefore: 0,
  who: { users: [BEN, CLEO], groups: [], more: 0 },
  tries: 0,
  lookAt: 0,
  ...facts,
});

const timed = (approval: Approval, outcome: "deny" | "nothing" = "deny"): Approval => ({
  ...approval,
  appliedRule: {
    version: "0123456789ab",
    rule: {
      ...keptRule(BUILT_IN_RULE),
      name: "production",
      expiry: { afterMs: 3_600_000, outcome },
      followUp: {
        ...NO_FOLLOW_UP,
        escalate: [{ afterMs: 1_800_000, to: { users: [], groups: [ON_CALL], channels: [] }, call: null }],
      },
    },
  },
});

function drawn(when: string, approval: Approval, one: Call): Example {
  const called = { ...approval, calls: [one] };
  return { when, drawn: messageIn(withApprovals(CREATED, called), callSlot(called, one), DEPLOYMENT) };
}

const APPROVED_ONCE: Approval = {
  ...PENDING,
  votes: [decisionOf("approve", "The plan is fine", CLEO)],
  appliedRule: { version: "0123456789ab", rule: { ...keptRule(BUILT_IN_RULE), needs: 2 } },
};

const confirmed = { type: "confirmed", at: NOON, stillListed: null } as const;
const closed: Approval = { ...PENDING, state: { type: "closed", cause: "expired", at: NOON } };
const settled = { type: "elsewhere", at: NOON, words: SERVICE_SAYS } as const;
const WARNED = withFollowUp(PENDING, { warned: true });
const REPLACED: Approval = { ...PENDING, requestVersion: 2, version: 2 };
const stage = { stageMs: 1_800_000, who: { users: [], groups: [ON_CALL], more: 0 } };
const elsewhere = { ...stage, channel: LEADS };

function byPolicy(delivery: Delivery): Approval {
  const { digest } = PENDING.request;
  const reason = "Denied by policy: not decided within 1 h.";
  const decision = { verdict: "deny", reason, by: null, at: NOON, digest } as const;
  return withDelivery(PENDING, decision, delivery);
}

/** `decided`: how many of the requests, from the first on, no longer wait. */
function several(
  says: Gathered["says"],
  facts: Partial<Gathered> = {},
  when = "",
  decided = 0,
): readonly Example[] {
  const requests = [
    {
      asked: "Deploy billing-api 2026.11.3 to production",
      marks: { risk: { level: "high", words: "high" }, where: ["production"] },
    },
    {
      asked: "Drop index orders_by_day",
      marks: { risk: { level: "other", words: "irreversible" }, where: ["production", "eu-west-1"] },
    },
    { asked: "Restart worker-7", marks: { risk: null, where: [] } },
  ] as const;
  const of = requests.map((request, n) => ({
    run: CREATED.key,
    approval: PENDING.id,
    n,
    ...request,
    card: CARD,
    ...(n < decided && { done: true as const }),
  }));
  const who = { users: [BEN, CLEO], groups: [], more: 0 };
  const one = { since: NOON + 900_000, says, of, oldest: NOON, who, ...facts };
  const run = { ...CREATED, gathered: [one] };
  return [{ when, drawn: messageIn(run, `several ${one.since}`, DEPLOYMENT, new Map([[CARD, LINK]])) }];
}

const UNNAMED = Array.from({ length: 7 }, (_none, n) => ({ run: CREATED.key, approval: PENDING.id, n }));
const MANY = UNNAMED.map((each, at) => (at < 5 ? { ...each, asked: `Restart worker-${at}` } : each));

export const CALLS: Record<
  Extract<MessageId, `${"call" | "several" | "announcement"}:${string}`>,
  readonly Example[]
> = {
  "call:waits": [
    drawn("", PENDING, call("waits")),
    drawn("many can decide", PENDING, call("waits", { who: { users: [BEN], groups: [ON_CALL], more: 14 } })),
    drawn(
      "the claim has lapsed",
      PENDING,
      call("waits", { first: BEN, who: { users: [BEN], groups: [], more: 0 } }),
    ),
    drawn("no one to mention", PENDING, call("waits", { who: { users: [], groups: [], more: 0 } })),
    drawn("it has a deadline", timed(PENDING), call("waits")),
    drawn("one of two has approved", APPROVED_ONCE, call("waits")),
  ],
  "call:last": [
    drawn("then it is denied", timed(WARNED), call("last")),
    drawn("then it closes", timed(WARNED, "nothing"), call("last")),
  ],
  "call:reopened": [drawn("", PENDING, call("reopened"))],
  "call:stage": [drawn("", timed(PENDING), call("stage", stage))],
  "call:over": [
    drawn("the policy denied it", timed(byPolicy(confirmed)), call("over")),
    drawn("it closed", timed(closed, "nothing"), call("over")),
    drawn("the denial was not confirmed", timed(byPolicy(settled)), call("over")),
  ],
  "call:past": [
    drawn("a reminder", decided(confirmed), call("waits")),
    drawn("a request that opened again", decided(confirmed), call("reopened")),
    drawn("a stage", decided(confirmed), call("stage", stage)),
    drawn("an expiry, and the request was replaced", REPLACED, call("over")),
  ],
  "several:waits": [
    ...several("waits"),
    ...several("waits", {}, "one is decided", 1),
    ...several("waits", {}, "two are decided", 2),
    ...several("waits", { of: MANY }, "of many"),
    ...several("waits", { of: UNNAMED }, "made by an earlier version"),
  ],
  "several:last": several("last"),
  "several:reopened": [...several("reopened"), ...several("reopened", {}, "two are decided", 2)],
  "several:stage": [
    ...several("stage"),
    ...several("stage", {}, "two are decided", 2),
    ...several("stage", { channel: LEADS }, "in another channel"),
    ...several("stage", { channel: LEADS }, "in another channel, two are decided", 2),
  ],
  "several:over": [
    ...several("over"),
    ...several("over", { of: MANY }, "of many"),
    ...several("over", { of: MANY.map((each) => ({ ...each, closed: true })) }, "they closed"),
    ...several(
      "over",
      { of: MANY.map((each, at) => ({ ...each, ...(at > 2 && { closed: true as const }) })) },
      "some closed",
    ),
  ],
  "several:past": [
    ...several("waits", { over: true }, "a reminder"),
    ...several("stage", { over: true, channel: LEADS }, "a stage"),
    ...several("waits", { over: true, of: MANY }, "of many"),
    ...several("waits", { over: true, of: UNNAMED }, "made by an earlier version"),
  ],
  "announcement:stage": [drawn("", timed(PENDING), call("stage", elsewhere))],
  "announcement:past": [
    drawn("it was decided", decided(confirmed, "deny"), call("stage", elsewhere)),
    drawn("it was closed", closed, call("stage", elsewhere)),
    drawn("it was decided elsewhere", decided(settled), call("stage", elsewhere)),
    drawn("it has changed", REPLACED, call("stage", elsewhere)),
  ],
};
