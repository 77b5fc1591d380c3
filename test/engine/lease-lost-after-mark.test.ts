// A process may lose its lease after it has marked a decision and before it calls the service. It knows that it sent nothing in this try.

import { describe, expect, test } from "vitest";
import { applyOutcome, markSending } from "#src/domain/apply-outcome.ts";
import { withDelivery } from "#src/domain/approval-transitions.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { ApprovalId } from "#src/domain/ids.ts";
import { LOST } from "#src/domain/message-transitions.ts";
import { findApproval, replaceApproval, type Run } from "#src/domain/run.ts";
import { AFTER_FAILURE_MS } from "#src/engine/effect-executor.ts";
import { createEffectStage } from "../make/effect-stage.ts";
import { contextAt, decidedRun } from "../make/history.ts";
import { NOON } from "../make/run.ts";

const APR = ApprovalId("apr_1");
const SEND = { type: "send-decision", approval: APR } as const;

function stateOf(run: Run) {
  const approval = findApproval(run, APR);
  if (approval?.state.type !== "decided") throw new Error("nothing is decided");
  return { approval, ...approval.state };
}

/** Decided by a person, as the audit says. */
function decision(delivery: Delivery = { type: "recorded" }): Run {
  const run = decidedRun();
  const { approval, decision } = stateOf(run);
  return replaceApproval(run, withDelivery(approval, { ...decision, entry: 1 }, delivery));
}

/** Sends the decision on a stage that loses its lease after the mark. `meanwhile`: what the next owner of the run does then. */
async function lostAfterMark(run: Run, meanwhile = (marked: Run): Run => marked) {
  const stage = createEffectStage(run);
  let looks = 0;
  stage.holds = () => {
    looks += 1;
    if (looks === 2) stage.run = meanwhile(stage.run);
    return looks === 1;
  };
  await stage.act(SEND);
  expect(looks).toBe(2);
  expect(stage.performed).toEqual([]);
  return stage;
}

describe("a decision whose process loses its lease between the mark and the call", () => {
  test("is recorded as not sent, and is tried again", async () => {
    const stage = await lostAfterMark(decision());
    expect(stage.logged).toMatchObject([{ type: "later", code: "lease_lost", notSent: true }]);
    const { delivery } = stateOf(stage.run);
    expect(delivery).toMatchObject({ type: "retry", tries: 1, lost: false, notSent: true });
    expect("why" in delivery ? delivery.why : null).toMatch(/^Countersign .* could be sent\.$/);
  });

  test("is still unconfirmed if an earlier try got no answer", async () => {
    const before = { type: "retry", notBefore: NOON, tries: 1, lost: true, why: "cut off" } as const;
    const { run } = await lostAfterMark(decision(before));
    expect(stateOf(run).delivery).toMatchObject({ type: "retry", tries: 2, lost: true, notSent: true });
  });

  test("stays as unclear as the next owner of the run has recorded it", async () => {
    const settled = (marked: Run): Run => applyOutcome(marked, SEND, LOST, contextAt());
    const { run } = await lostAfterMark(decision(), settled);
    expect(stateOf(run).delivery).toMatchObject({ type: "unsure", tries: 1 });
  });

  test("keeps the mark of the next owner for the same try, if a standby took over without the first mark", async () => {
    const anew = (marked: Run): Run => {
      const { approval, decision } = stateOf(marked);
      const unmarked = replaceApproval(marked, withDelivery(approval, decision, { type: "recorded" }));
      return markSending(unmarked, SEND, NOON + 5_000);
    };
    const { run } = await lostAfterMark(decision(), anew);
    expect(stateOf(run).delivery).toMatchObject({ type: "sending", tries: 1, at: NOON + 5_000 });
  });

  test("keeps the mark under which the next owner sends it again, or sends another decision", async () => {
    const again = { type: "retry", notBefore: NOON, tries: 1, lost: true, why: "cut off" } as const;
    for (const entry of [1, 2]) {
      const sentByNext = (marked: Run): Run => {
        const { approval, decision } = stateOf(marked);
        const delivery = entry === 1 ? again : ({ type: "recorded" } as const);
        const settled = withDelivery(approval, { ...decision, entry }, delivery);
        return markSending(replaceApproval(marked, settled), SEND, NOON);
      };
      const { run, told } = await lostAfterMark(decision(), sentByNext);
      expect(stateOf(run).delivery).toMatchObject({ type: "sending", tries: entry === 1 ? 2 : 1 });
      // The next change of the run settles the mark, if its owner has died.
      expect(told).toContain(`again ${AFTER_FAILURE_MS}`);
    }
  });
});
