// How a run treats 404 answers: it believes them only after some time, says so, and gives up after a day.

import { describe, expect, test } from "vitest";
import { close } from "#src/domain/approval-transitions.ts";
import type { Approval } from "#src/domain/approval.ts";
import { applyBrake, stopRun } from "#src/domain/brake.ts";
import { deniedByStop, stoppedRenderKey } from "#src/domain/stop-report.ts";
import { GIVE_UP_AFTER_MS, observeMissing } from "#src/domain/end-run.ts";
import { observe } from "#src/domain/observe.ts";
import { reconcile } from "#src/domain/reconcile.ts";
import { deniesAll, isStopped, replaceApproval, type Run } from "#src/domain/run.ts";
import { ABSENT_AFTER_MS } from "#src/domain/snapshot.ts";
import { aSnapshot, contextAt, decidedRun, deliveredRun, listedRun } from "../make/history.ts";
import { APPROVER, NOON } from "../make/run.ts";

/** Returns the run's only approval after a look that began `ms` after noon. */
function after(run: Run, pending: Parameters<typeof aSnapshot>[1], ms = 1): Run {
  return observe(run, aSnapshot(run, pending, { askedAt: NOON + ms }), contextAt(ms));
}
function only({ approvals }: Run): Approval {
  const [approval, ...others] = approvals;
  if (approval === undefined || others.length > 0) throw new Error("not one approval");
  return approval;
}
/** Times of looks, five seconds apart. The third of them confirms an absence. */
const looksFrom = (first: number, count = 3): number[] =>
  Array.from({ length: count }, (_, at) => first + (at * ABSENT_AFTER_MS) / 2);

function missed(run: Run, times: readonly number[]): Run {
  return times.reduce((next, ms) => observeMissing(next, NOON + ms, contextAt(ms)), run);
}

describe("a run that the service no longer knows", () => {
  const GONE = looksFrom(1);

  test.for<[string, readonly number[]]>([
    ["three 404s within a second", [1, 300, 600]],
    ["two, however far apart", [1, 60_000]],
    ["many within ten seconds", [1, 1_000, 2_000, 9_000, 10_000]],
  ])("is not considered missing after %s, and is looked up again soon", ([, times]) => {
    const run = missed(listedRun("apr_1"), times);
    expect(only(run).state.type).toBe("pending");
    expect(reconcile(run, NOON).fetchAt).toBeLessThanOrEqual(NOON + 1 + ABSENT_AFTER_MS);
  });

  test("is considered missing after several 404s over ten seconds, and its open cards close", () => {
    const missingRun = missed(listedRun("apr_1"), GONE);
    expect(missingRun.watch).toEqual({ type: "missing", since: NOON + 1, absence: null });
    expect(only(missingRun).state).toMatchObject({ type: "closed", cause: "run-missing" });
    expect(missed(missingRun, [11_000])).toBe(missingRun);
  });

  test("voids a recorded decision when it is considered missing, with a cause of its own", () => {
    const missingRun = missed(decidedRun(), GONE);
    expect(only(missingRun)).toMatchObject({ state: { type: "closed" }, past: [{ cause: "run-missing" }] });
    expect(missingRun.notices).toMatchObject([{ says: { type: "decision-void", cause: "run-missing" } }]);
  });

  test("recovers when it is found again, and its approvals open under a new version", () => {
    const back = after(missed(listedRun("apr_1"), GONE), ["apr_1"], 11_000);
    expect(back.watch).toEqual({ type: "on" });
    expect(only(back)).toMatchObject({ state: { type: "pending" }, version: 2 });
  });

  test("is given up after a day, and a lost answer stays unconfirmed for good", () => {
    const run = deliveredRun({ type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: "" });
    const givenUp = missed(run, [...GONE, GIVE_UP_AFTER_MS + 1]);
    expect(givenUp.watch.type).toBe("given-up");
    expect(only(givenUp).state).toMatchObject({ delivery: { type: "unconfirmed", cause: "run-missing" } });
    expect(givenUp.notices).toMatchObject([{ to: APPROVER, says: { type: "decision-unconfirmed" } }]);
  });

  test("voids a decision that was certainly not applied when it is given up, and says so to who gave it", () => {
    const retry = { type: "retry", notBefore: NOON, tries: 1, lost: false, why: "429" } as const;
    const missing = missed(listedRun("apr_1"), GONE);
    const run = { ...missing, approvals: deliveredRun(retry).approvals };
    const givenUp = missed(run, [GIVE_UP_AFTER_MS + 1]);
    expect(only(givenUp)).toMatchObject({ state: { type: "closed", cause: "run-missing" } });
    expect(givenUp.notices).toMatchObject([
      { to: APPROVER, says: { type: "decision-void", approval: "apr_1", cause: "given-up" } },
    ]);
  });

  test.for([{ failedWith: 503 }, { answered: "Queued for review." }])(
    "is given up after a day, and an unclear answer is kept: %j",
    (answer) => {
      const run = deliveredRun({
        type: "unsure",
        since: NOON,
        notBefore: NOON,
        tries: 1,
        why: "",
        ...answer,
      });
      const givenUp = missed(run, [...GONE, GIVE_UP_AFTER_MS + 1]);
      expect(only(givenUp).state).toMatchObject({ delivery: { type: "unconfirmed", ...answer } });
    },
  );

  test.each([
    ["missing", missed(stoppedRun(), GONE)],
    ["stopped while missing", stopRun(missed(listedRun("apr_1"), GONE), APPROVER, contextAt(11_000))],
    ["given up, and watched again", watchedAgain(missed(stoppedRun(), [...GONE, GIVE_UP_AFTER_MS + 1]))],
  ])(
    "may be another run once the service knows its id again, so its stop denies nothing more (%s)",
    (_what, run) => {
      const at = GIVE_UP_AFTER_MS + 2;
      const known = after(run, ["apr_2"], at);
      const braked = applyBrake(known, contextAt(at));
      expect(braked.approvals.at(-1)).toMatchObject({ serviceId: "apr_2", state: { type: "pending" } });
      expect(isStopped(braked)).toBe(true);
      expect(stoppedRenderKey(braked)).not.toBe(stoppedRenderKey(run));
      const again = stopRun(braked, APPROVER, contextAt(at)).approvals.at(-1);
      expect(again).toMatchObject({ state: { type: "decided", decision: { verdict: "deny" } } });
    },
  );

  test("has another message about its stop than a run that the service knows", () => {
    expect(stoppedRenderKey(missed(stoppedRun(), GONE))).not.toBe(stoppedRenderKey(stoppedRun()));
  });

  test("keeps its stop if the absence was never believed", () => {
    const known = after(missed(stoppedRun(), looksFrom(1, 2)), ["apr_2"], ABSENT_AFTER_MS);
    expect(deniesAll(known)).toBe(true);
  });

  test("keeps a closed approval", () => {
    const run = listedRun("apr_1");
    const closed = replaceApproval(run, close(only(run), "no-longer-listed", NOON));
    expect(only(missed(closed, GONE)).state).toMatchObject({ cause: "no-longer-listed" });
  });
});

describe("a request that is no longer listed after the service refused its denial", () => {
  const ABSENT = { delivery: { type: "refused", absent: true } };
  const gone = withStoppedDenial(
    deliveredRun({ type: "refused", at: NOON, words: "409", absent: true }, "deny"),
  );

  test.each([
    ["ends", observe(gone, aSnapshot(gone, [], { status: "succeeded", askedAt: NOON + 1 }), contextAt(1))],
    ["is missing", missed(gone, looksFrom(1))],
  ])("stays so when its run %s, and the stop's message never calls it pending", (_what, run) => {
    expect(only(run).state).toMatchObject(ABSENT);
    expect(deniedByStop(run)).toMatchObject({ denied: 1, notConfirmed: 1 });
  });
});

function stoppedRun(): Run {
  return { ...listedRun("apr_1"), stop: { by: APPROVER, at: NOON } };
}

function watchedAgain(run: Run): Run {
  return { ...run, watch: { type: "missing", since: GIVE_UP_AFTER_MS + NOON, absence: null } };
}

/** The run's decision is the denial by a stop. */
function withStoppedDenial(run: Run): Run {
  const approval = only(run);
  const { state } = approval;
  if (state.type !== "decided") throw new Error("the approval is not decided");
  const decision = { ...state.decision, by: null, stoppedBy: APPROVER };
  const stopped = { ...run, stop: { by: APPROVER, at: NOON } };
  return replaceApproval(stopped, { ...approval, state: { ...state, decision } });
}
