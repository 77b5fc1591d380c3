// Forms, windows and the Home tab.

import { changedModal, formView, readModal } from "#src/adapters/slack/blocks/decision-modal.ts";
import { homeView } from "#src/adapters/slack/blocks/home-view.ts";
import { runForm } from "#src/adapters/slack/blocks/home-view.ts";
import type { MessageId } from "#src/adapters/slack/blocks/message-id.ts";
import { BUILT_IN_RULE, type KeptRule, keptRule } from "#src/domain/policy/policy.ts";
import type { Run } from "#src/domain/run.ts";
import { aNonce, NOON } from "../../../../make/run.ts";
import { requestOf } from "../../observed.ts";
import {
  CREATED,
  decided,
  DEPLOYMENT,
  type Example,
  LINK,
  one,
  PENDING,
  REQUEST,
  seenAs,
} from "./example.ts";

const RUN: Run = { ...CREATED, approvals: [PENDING] };
const strict = (facts: Partial<KeptRule>): Run => ({
  ...RUN,
  approvals: [
    { ...PENDING, appliedRule: { version: "0123456789ab", rule: { ...keptRule(BUILT_IN_RULE), ...facts } } },
  ],
});

const form = (when: string, run: Run, verdict: "approve" | "deny" = "approve"): Example => ({
  when,
  drawn: formView({ run, ticket: { saw: REQUEST, verdict, nonce: aNonce() } }, DEPLOYMENT),
});

const CHANGED = requestOf(REQUEST.action, { risk: "critical", environment: "production", replicas: 8 });

export const FORMS: Record<Extract<MessageId, `form:${string}`>, readonly Example[]> = {
  "form:approve": [
    form("", RUN),
    form("two people must approve", strict({ needs: 2 })),
    form(
      "held for a while, with a reason and a word",
      strict({
        holdMs: 60_000,
        reason: { approve: 20, deny: 20 },
        friction: { readFirst: true, word: "production" },
      }),
    ),
  ],
  "form:deny": [form("", RUN, "deny")],
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
  ],
  "form:read-first": one(
    formView(
      { run: RUN, ticket: { saw: REQUEST, verdict: "approve", nonce: aNonce(), reading: true } },
      DEPLOYMENT,
    ),
  ),
  "form:changed": one(changedModal(RUN, REQUEST, CHANGED)),
};

/** Its blocks are fields, so it has no id. */
export const RUN_FORMS: readonly Example[] = [
  { when: "from the command", drawn: runForm("nonce C0OPS", false) },
  { when: "from the Home tab", drawn: runForm("nonce C0OPS", true) },
];

const waiting = {
  run: { ...seenAs("awaiting_approval"), approvals: [PENDING] },
  link: LINK,
  linkWords: "open the card",
};
const none = { waiting: [], own: [], moreWaiting: false, moreOwn: false };

export const HOME: Record<Extract<MessageId, `home:${string}`>, readonly Example[]> = {
  "home:runs": [
    {
      when: "",
      drawn: homeView(
        { waiting: [waiting], own: [{ run: CREATED, link: LINK }], moreWaiting: true, moreOwn: true },
        "/agent",
        NOON,
      ),
    },
    { when: "nothing there", drawn: homeView(none, "/agent", NOON) },
  ],
  "home:unknown": one(homeView(null, "/agent", NOON)),
};
