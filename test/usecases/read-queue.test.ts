// The queue of a person who may decide because of an escalation stage, when more runs wait than are read.

import { expect, test } from "vitest";
import { withFollowUp } from "#src/domain/follow-up.ts";
import { ChannelId, UserId } from "#src/domain/ids.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import type { Run } from "#src/domain/run.ts";
import { readQueue, type QueueDeps } from "#src/usecases/read-queue.ts";
import { isEmpty, NOTHING_WAITS, queueBlocks } from "#src/adapters/slack/blocks/queue-list.ts";
import { contextAt } from "../make/history.ts";
import { aPolicy, these } from "../make/policy.ts";
import { aQueuePage } from "../make/queue.ts";
import { anApproval, APPROVER, aRunId, aWatchedRun, CHANNEL, TEAM, withApprovals } from "../make/run.ts";

const CAT = UserId("U0CAT");
const stage = { afterMs: 60_000, to: { users: [CAT], groups: [], channels: [] }, call: null };
const policy = aPolicy({ approvers: these([APPROVER]), followUp: { ...NO_FOLLOW_UP, escalate: [stage] } });
const waiting = (): Run => withApprovals(aWatchedRun(aRunId()), anApproval());
const escalated = (): Run => {
  const reached = [{ afterMs: stage.afterMs, at: 0, age: stage.afterMs, called: stage.to }];
  return withApprovals(aWatchedRun(aRunId()), withFollowUp(anApproval(), { stages: reached }));
};

/** Cat is in a different channel from the runs. */
function queueAmong(runs: readonly Run[]) {
  const deps: QueueDeps = {
    store: {
      channelsInUse: () => Promise.resolve([CHANNEL]),
      list: ({ channels, limit }) => Promise.resolve(channels.includes(CHANNEL) ? runs.slice(0, limit) : []),
    },
    people: {
      channelsOf: () => Promise.resolve(new Set([ChannelId("C0OTHER")])),
      lookUp: () => Promise.resolve({ team: TEAM, user: CAT, kind: "member", seesChannel: false }),
      memberOf: () => Promise.resolve(new Map()),
      isPublic: () => Promise.resolve(false),
    },
    context: () => contextAt(0, policy),
  };
  return readQueue(deps, { team: TEAM, user: CAT });
}

test("the queue says that more is waiting if runs of other channels were not all read", async () => {
  const queueAfterFew = await queueAmong([waiting(), escalated()]);
  expect([queueAfterFew.yours.length, queueAfterFew.more]).toEqual([1, false]);
  const queue = await queueAmong([...Array.from({ length: 301 }, waiting), escalated()]);
  expect([queue.yours.length, queue.more]).toEqual([0, true]);
});

test("a queue that was not read in full is not called empty", () => {
  const cut = aQueuePage([], {}, { more: true });
  expect([isEmpty(aQueuePage([])), isEmpty(cut)]).toEqual([true, false]);
  expect(JSON.stringify(queueBlocks(cut))).not.toContain(NOTHING_WAITS);
});
