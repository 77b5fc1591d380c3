// Forms, windows and the Home tab.

import { changedModal, formView, heldModal, readModal } from "#src/adapters/slack/blocks/decision-modal.ts";
import { reviewSeveralModal, reviewView } from "#src/adapters/slack/blocks/review-modal.ts";
import { reviewedModal } from "#src/adapters/slack/blocks/reviewed-modal.ts";
import { withTypedText } from "#src/adapters/slack/blocks/typed-text.ts";
import type { OpenedReview } from "#src/usecases/review.ts";
import { homeView } from "#src/adapters/slack/blocks/home-view.ts";
import { runForm, savedTaskForm, taskMenu } from "#src/adapters/slack/blocks/run-form.ts";
import type { MessageId } from "#src/adapters/slack/blocks/message-id.ts";
import { BUILT_IN_RULE, type KeptRule, keptRule } from "#src/domain/policy/policy.ts";
import type { Approval } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import type { Run } from "#src/domain/run.ts";
import { MODAL_HOLDS_CHARS } from "#src/domain/text/request-text.ts";
import { SHOW_MINE } from "#src/adapters/slack/queue-choice.ts";
import type { Person } from "#src/domain/authorization.ts";
import { ApprovalId, GroupId } from "#src/domain/ids.ts";
import { aPolicy } from "../../../../make/policy.ts";
import { SAVED_TASK } from "../../../../make/saved-task.ts";
import { aQueue, aQueuePage, MEMBER } from "../../../../make/queue.ts";
import { aNonce, aRunKey, CHANNEL, NOON } from "../../../../make/run.ts";
import { requestOf } from "../../observed.ts";
import {
  ANA,
  BEN,
  CLEO,
  CREATED,
  decided,
  DEPLOYMENT,
  decisionOf,
  type Example,
  HELD,
  LINK,
  one,
  PAUSED,
  PENDING,
  REQUEST,
  seenAs,
} from "./example.ts";
import { DENIED_BEFORE } from "./cards.ts";
import { FOLLOW_UP_FORMS } from "./follow-up.ts";

const RUN: Run = { ...CREATED, approvals: [PENDING] };
const strict = (facts: Partial<KeptRule>): Run => ({
  ...RUN,
  approvals: [
    { ...PENDING, appliedRule: { version: "0123456789ab", rule: { ...keptRule(BUILT_IN_RULE), ...facts } } },
  ],
});

const APPROVED_TWICE: Run = {
  ...RUN,
  approvals: strict({ needs: 3 }).approvals.map((approval) => ({
    ...approval,
    votes: [BEN, CLEO].map((user) => decisionOf("approve", "The plan is fine", user)),
  })),
};

const form = (when: string, run: Run, verdict: "approve" | "deny" = "approve"): Example => ({
  when,
  drawn: formView({ run, ticket: { saw: REQUEST, verdict, nonce: aNonce() } }, DEPLOYMENT),
});

const CHANGED = requestOf(REQUEST.action, { risk: "critical", environment: "production", replicas: 8 });

const review = (when: string, run: Run): Example => ({
  when,
  drawn: reviewView({ run, ticket: { saw: REQUEST, verdict: "approve", nonce: aNonce(), choice: true } }),
});

const UNCLEAR: Delivery = {
  type: "unconfirmed",
  at: NOON,
  cause: "no-longer-listed",
  answered: "Queued for later",
};
const TOO_LATE: Approval = {
  ...PENDING,
  request: requestOf("x".repeat(MODAL_HOLDS_CHARS + 1), {}),
  state: { type: "closed", cause: "run-over", at: NOON },
};
const HELD_RUN: Run = { ...RUN, approvals: [HELD] };
const SECOND: Run = {
  ...RUN,
  approvals: [PENDING, { ...PENDING, id: ApprovalId("apr_2"), nonce: aNonce() }],
};
const DECIDED_BEFORE = {
  request: REQUEST,
  run: RUN,
  approval: PENDING.id,
  link: LINK,
  refusal: { type: "already-decided", decision: decisionOf("deny", ""), settled: true },
} as const;

const OPENED: OpenedReview = {
  bundle: aNonce(),
  forms: aQueue([SECOND]).yours.map((item) => ({ item, nonce: aNonce() })),
  apart: aQueue([RUN], { policy: aPolicy({ friction: { readFirst: true, word: null } }) }).yours,
  later: aQueue([RUN]).yours,
  kind: "run",
  value: "value",
  last: null,
};
const [APART = never()] = OPENED.apart;
const DISCUSSED_RUN: Run = {
  ...strict({ needs: 3 }),
  approvals: strict({ needs: 3 }).approvals.map((approval) => ({
    ...approval,
    votes: [decisionOf("approve", "The plan is fine", CLEO)],
    followUp: {
      questions: [
        {
          id: aNonce(),
          by: CLEO,
          at: NOON,
          text: "Is there a back-up?",
          answer: { by: ANA, at: NOON + 60_000, text: "Yes, from this morning." },
        },
      ],
    },
  })),
};
const [DISCUSSED = never()] = aQueue([DISCUSSED_RUN]).yours.map((item) => ({
  item: { ...item, run: DISCUSSED_RUN },
  nonce: aNonce(),
}));
function never(): never {
  throw new Error("nothing waits");
}

export const FORMS: Record<Extract<MessageId, `form:${string}`>, readonly Example[]> = {
  ...FOLLOW_UP_FORMS,
  "form:approve": [
    form("", RUN),
    form("it has a deadline", strict({ expiry: { afterMs: 3_600_000, outcome: "deny" } })),
    form("two people must approve", strict({ needs: 2 })),
    form(
      "two parts must approve",
      strict({
        needs: 2,
        parts: [
          { name: "Operations", users: [], groups: [GroupId("S0SRE")], channels: [] },
          { name: "Security", users: [], groups: [GroupId("S0SECURITY")], channels: [] },
        ],
      }),
    ),
    form(
      "held for a while, with a reason and a word",
      strict({
        holdMs: 60_000,
        reason: { approve: 20, deny: 20 },
        friction: { readFirst: true, word: "production" },
      }),
    ),
  ],
  "form:deny": [
    form("", RUN, "deny"),
    form("two have approved", APPROVED_TWICE, "deny"),
    form(
      "the rule offers reasons",
      strict({ denyReasons: ["Not during the freeze", "Tests are missing"] }),
      "deny",
    ),
  ],
  "form:review": [
    review("", RUN),
    review(
      "with reasons and a word",
      strict({
        needs: 2,
        reason: { approve: 10, deny: 1 },
        friction: { readFirst: false, word: "production" },
      }),
    ),
  ],
  "form:review-several": [
    { when: "", drawn: reviewSeveralModal(OPENED, [{ item: APART, link: LINK }]) },
    {
      when: "the rule offers reasons, and one request is frozen",
      drawn: reviewSeveralModal(
        {
          ...OPENED,
          forms: OPENED.forms.map(({ item, nonce }) => ({
            item: { ...item, rule: { ...item.rule, denyReasons: ["Not during the freeze"] } },
            nonce,
          })),
        },
        [
          {
            item: {
              ...APART,
              refusal: {
                type: "frozen",
                freeze: {
                  entry: 7,
                  channel: CHANNEL,
                  by: decisionOf("deny", "").by?.user ?? never(),
                  at: NOON,
                  why: "",
                },
              },
            },
            link: LINK,
          },
        ],
      ),
    },
    {
      when: "the same was denied before",
      drawn: reviewSeveralModal(
        {
          ...OPENED,
          forms: aQueue([{ ...RUN, approvals: [DENIED_BEFORE] }]).yours.map((item) => ({
            item,
            nonce: aNonce(),
          })),
          later: [],
        },
        [],
      ),
    },
    {
      when: "others have said something, and another must approve too",
      drawn: reviewSeveralModal({ ...OPENED, forms: [DISCUSSED], later: [] }, []),
    },
    {
      when: "none can be decided together",
      drawn: reviewSeveralModal({ ...OPENED, forms: [], later: [] }, [{ item: APART, link: null }]),
    },
  ],
  "form:reviewed": [
    {
      when: "some were refused",
      drawn: reviewedModal(
        {
          recorded: { approve: 2, deny: 1 },
          refused: [
            DECIDED_BEFORE,
            {
              request: REQUEST,
              run: RUN,
              approval: null,
              refusal: { type: "changed", was: REQUEST, now: CHANGED },
            },
            { request: null, run: null, approval: null, refusal: { type: "unknown" } },
          ],
        },
        null,
        ["Checked the plan", "Not during the freeze"],
      ),
    },
    {
      when: "more wait",
      drawn: reviewedModal(
        { recorded: { approve: 20, deny: 0 }, refused: [] },
        { metadata: "", waiting: 80 },
      ),
    },
    {
      when: "no request was decided",
      drawn: reviewedModal({ recorded: { approve: 0, deny: 0 }, refused: [] }, { metadata: "", waiting: 40 }),
    },
    {
      when: "nothing was recorded",
      drawn: reviewedModal(
        {
          recorded: { approve: 0, deny: 0 },
          refused: [{ request: REQUEST, run: RUN, approval: null, refusal: { type: "unverified" } }],
        },
        null,
      ),
    },
    {
      when: "an earlier press was recorded",
      drawn: reviewedModal(
        { recorded: { approve: 0, deny: 0 }, refused: [DECIDED_BEFORE], asker: BEN },
        null,
      ),
    },
  ],
  "form:read": [
    { when: "pending", drawn: readModal(RUN, REQUEST, DEPLOYMENT) },
    {
      when: "approved",
      drawn: readModal(
        { ...CREATED, approvals: [decided({ type: "confirmed", at: NOON, stillListed: null })] },
        REQUEST,
        DEPLOYMENT,
      ),
    },
    {
      when: "sent, and the answer says neither yes nor no",
      drawn: readModal({ ...CREATED, approvals: [decided(UNCLEAR)] }, REQUEST, DEPLOYMENT),
    },
    {
      when: "closed before its file was attached",
      drawn: readModal({ ...CREATED, approvals: [TOO_LATE] }, TOO_LATE.request, DEPLOYMENT),
    },
  ],
  "form:read-first": one(
    formView(
      { run: RUN, ticket: { saw: REQUEST, verdict: "approve", nonce: aNonce(), reading: true } },
      DEPLOYMENT,
    ),
  ),
  "form:held": [
    { when: "", drawn: heldModal(HELD_RUN, HELD, aNonce(), DEPLOYMENT) ?? never() },
    { when: "paused: Slack is away", drawn: heldModal(HELD_RUN, PAUSED, aNonce(), DEPLOYMENT) ?? never() },
  ],
  "form:changed": [
    { when: "no reason was typed", drawn: changedModal(RUN, REQUEST, CHANGED) },
    {
      when: "a reason was typed",
      drawn: withTypedText(changedModal(RUN, REQUEST, CHANGED), "Checked the plan"),
    },
  ],
};

/** Its blocks are fields, so it has no id. */
export const RUN_FORMS: readonly Example[] = [
  { when: "from the command", drawn: runForm("nonce C0OPS", false) },
  { when: "from a message", drawn: runForm("nonce C0OPS", false, "Please deploy billing-api to production") },
  { when: "from the Home tab", drawn: runForm("nonce C0OPS", true) },
  {
    when: "the policy has saved tasks",
    drawn: runForm("nonce C0OPS", false, "", taskMenu([SAVED_TASK], null)),
  },
  {
    when: "a saved task, with what was typed of it",
    drawn: savedTaskForm("nonce C0OPS deploy 0123456789ab", taskMenu([SAVED_TASK], SAVED_TASK), SAVED_TASK, {
      env: "staging",
    }),
  },
];

const WAITING: Run = { ...seenAs("awaiting_approval"), approvals: [PENDING] };
const MORE: Run = {
  ...WAITING,
  key: aRunKey(),
  approvals: [
    { ...PENDING, id: ApprovalId("apr_2"), waitsSince: NOON - 12 * 60_000, nonce: aNonce() },
    {
      ...PENDING,
      id: ApprovalId("apr_3"),
      waitsSince: NOON - 3 * 3_600_000,
      votes: [decisionOf("approve", "")],
    },
  ],
};
const UNSURE: Delivery = { type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: "timeout" };
const UNDELIVERED: Run = { ...seenAs("awaiting_approval"), approvals: [decided(UNSURE, "deny")] };
const TWO = aPolicy({ name: "production", needs: 2, expiry: { afterMs: 4 * 3_600_000, outcome: "deny" } });
const GUEST: Person = { ...MEMBER, kind: "guest" };
const none = { page: aQueuePage([]), own: [], moreOwn: false };

export const HOME: Record<Extract<MessageId, `home:${string}`>, readonly Example[]> = {
  "home:runs": [
    {
      when: "",
      drawn: homeView(
        {
          page: aQueuePage([WAITING, MORE], { link: LINK, policy: TWO }),
          own: [{ run: CREATED, link: LINK }],
          moreOwn: true,
        },
        NOON,
      ),
    },
    {
      when: "the second page of a filter",
      drawn: homeView(
        {
          ...none,
          page: aQueuePage(
            [MORE],
            { link: LINK },
            {
              page: 1,
              pages: 3,
              more: true,
              choice: { show: SHOW_MINE, channel: CHANNEL, page: 1, menuName: "" },
            },
          ),
        },
        NOON,
      ),
    },
    {
      when: "a decision is on its way",
      drawn: homeView({ ...none, page: aQueuePage([UNDELIVERED], { link: LINK }) }, NOON),
    },
    { when: "nothing there", drawn: homeView(none, NOON) },
    { when: "for a guest", drawn: homeView({ ...none, page: aQueuePage([WAITING], { by: GUEST }) }, NOON) },
  ],
  "home:unknown": one(homeView(null, NOON)),
};
