// Approvals whose time is over, and denials by a person while others have approved.

import { describe, expect, test } from "vitest";
import type { Approval } from "#src/domain/approval.ts";
import { expire } from "#src/domain/decide.ts";
import type { Call } from "#src/domain/follow-up.ts";
import { replaceApproval, type Run } from "#src/domain/run.ts";
import { APPROVER } from "../make/run.ts";
import { approvalOf, done, member, SECOND, under } from "../make/voting.ts";

const AFTER_MS = 60_000;
const HOLD_MS = 10_000;

describe("an approval whose time is over", () => {
  const denying = under({ needs: 2, expiry: { afterMs: AFTER_MS, outcome: "deny" } });
  const over = denying.at(2 * AFTER_MS);
  const one = done(denying.submit(denying.run));

  test("is denied in the policy's name, and its votes end as expired", () => {
    const { state, past } = approvalOf(expire(one, over));
    expect(state).toMatchObject({ type: "decided", decision: { verdict: "deny", by: null } });
    expect(past.map(({ cause, decision }) => [cause, decision.by?.user])).toEqual([["expired", APPROVER]]);
  });

  /** A stop has reopened the expired request, and the service has refused the stop's denial. */
  function refusedAfterStop(change: (approval: Approval) => Partial<Approval>): Run {
    const expired = approvalOf(expire(one, over));
    const [given] = expired.past;
    if (given === undefined) throw new Error("no vote has ended");
    const past = [...expired.past, { ...given, decision: { ...given.decision, stoppedBy: SECOND } }];
    const again = { ...expired, past, state: { type: "pending" } } as const;
    return replaceApproval(one, { ...again, ...change(again) });
  }
  const calls = (run: Run) => approvalOf(run).calls?.length ?? 0;

  test("is announced once, also if a stop reopened it meanwhile", () => {
    const again = refusedAfterStop(() => ({}));
    expect(calls(again)).toBe(1);
    expect(calls(expire(again, over))).toBe(1);
  });

  test.each<readonly [string, (approval: Approval) => Partial<Approval>]>([
    ["nobody was told yet", () => ({ calls: [] })],
    [
      "people were told of another request under its id",
      (old) => ({ requestVersion: old.requestVersion + 1 }),
    ],
    ["people were reminded since", ({ calls = [] }) => ({ calls: [...calls, ...calls.map(asReminder)] })],
    ["no stop reopened it", ({ past }) => ({ past: past.slice(0, 1) })],
  ])("is announced again if %s", (_, change) => {
    const again = refusedAfterStop(change);
    expect(calls(expire(again, over))).toBe(calls(again) + 1);
  });
});

const asReminder = (call: Call): Call => ({ ...call, says: "last" });

describe("a denial while others have approved", () => {
  const voters = [member(APPROVER)];
  const told = (run: Run) => run.notices.map(({ to, says }) => [to, "cause" in says && says.cause]);

  test("tells those whose approvals waited nothing, because the card shows it", () => {
    const { submit, run } = under({ needs: 2 });
    const denied = done(submit(done(submit(run)), { verdict: "deny", reason: "no", by: member(SECOND) }));
    expect(approvalOf(denied).past.map(({ cause }) => cause)).toEqual(["denied"]);
    expect(told(denied)).toEqual([]);
  });

  test("tells the others whose approval was held, and not the person who denies", () => {
    const { submit, run } = under({ needs: 2, holdMs: HOLD_MS });
    const held = done(submit(done(submit(run)), { by: member(SECOND), voters }));
    const denied = done(submit(held, { verdict: "deny", reason: "no", by: member(SECOND), voters }));
    expect(told(denied)).toEqual([[APPROVER, "denied"]]);
  });
});
