// One message or view in one case, and the people, run and request of all examples.

import type { View } from "@slack/types";
import type { Deployment } from "#src/adapters/slack/blocks/deployment.ts";
import type { Message } from "#src/adapters/slack/blocks/rich.ts";
import type { Approval, Decision, Verdict } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { STOP_REASON } from "#src/domain/brake.ts";
import { withFollowUp } from "#src/domain/follow-up.ts";
import type { Freeze } from "#src/domain/freeze.ts";
import { MessageTs, RunId, UNKNOWN_PERSON, UserId } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { anApproval, APPROVER, aRun, NOON, REQUESTER, TEAM } from "../../../../make/run.ts";
import { requestOf } from "../../observed.ts";

/** `when`: the case in a few words. Empty if there is only one. */
export type Example = { readonly when: string; readonly drawn: Message | View };

export type CardExample = { readonly when: string; readonly run: Run; readonly approval: Approval };

export const one = (drawn: Message | View): readonly Example[] => [{ when: "", drawn }];

/** The deployment that the messages name. */
export const DEPLOYMENT: Deployment = { name: "PROD", runUrl: null };

export const ANA = REQUESTER;
export const BEN = APPROVER;
export const CLEO = UserId("U0CLEO");
export const LINK = "https://acme.slack.com/archives/C0OPS/p1";

const TASK = "Deploy billing-api 2026.11.3 to production";

/** Ana has asked for the run; the service does not know it yet. */
export const ASKED: Run = aRun({ input: TASK, requester: ANA });
export const CREATED: Run = {
  ...ASKED,
  creation: { type: "created", id: RunId("run_7"), at: NOON },
};

export const seenAs = (status: string): Run => ({
  ...CREATED,
  seen: { status, since: NOON, ended: null, lists: true, askedAt: NOON },
});

export const REQUEST = requestOf(TASK, {
  id: "apr_1",
  action: TASK,
  status: "pending",
  risk: "high",
  environment: "production",
  replicas: 4,
  canary: true,
});

export const PENDING: Approval = { ...anApproval("apr_1"), request: REQUEST };

export const decisionOf = (verdict: Verdict, reason: string, by: UserId | null = BEN): Decision => ({
  verdict,
  reason,
  by: by === null ? null : { team: TEAM, user: by },
  at: NOON + 65_000,
  digest: REQUEST.digest,
});

export const decided = (
  delivery: Delivery,
  verdict: Verdict = "approve",
  reason = verdict === "approve" ? "Checked the plan" : "Not before the freeze ends",
): Approval => ({
  ...PENDING,
  state: { type: "decided", decision: decisionOf(verdict, reason), delivery },
});

export const HELD = decided({ type: "held", until: NOON + 125_000, sendAt: NOON + 125_000 });
export const PAUSED = withFollowUp(HELD, { pauses: [{ why: "slack", from: NOON, until: null }] });

/** The service's words, as the adapter passes them on. */
export const SERVICE_SAYS =
  "The agent service answered HTTP 409 (conflict): Approval apr_1 is already resolved.";

/** Someone has spoilt the entry of a freeze. */
export const UNPROVEN_FREEZE: Freeze = { entry: 7, channel: null, by: UNKNOWN_PERSON, at: 0, why: "" };

/** Cleo has frozen the channel. */
export const FROZEN: Freeze = {
  entry: 7,
  channel: CREATED.channel,
  by: CLEO,
  at: NOON,
  why: "The deploy agent loops",
};

/** Cleo stopped the run, and the service refused to have its request denied. */
export const REFUSED_DENIAL: Approval = {
  ...PENDING,
  version: 2,
  past: [
    {
      decision: { ...decisionOf("deny", STOP_REASON, null), stoppedBy: CLEO },
      cause: "refused",
      words: SERVICE_SAYS,
    },
  ],
};

/** Its deadline passed before and after that. */
export const EXPIRED_AGAIN: Approval = {
  ...REFUSED_DENIAL,
  state: { type: "closed", cause: "expired", at: NOON },
};

/** A message that Slack shows. */
export const UP = {
  type: "up",
  ts: MessageTs("1.1"),
  shows: "",
  sweepAt: null,
  notBefore: 0,
  tries: 0,
} as const;
