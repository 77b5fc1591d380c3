// A decision whose end the service did not confirm, and a request that the service lists nevertheless.

import { describe, expect, test } from "vitest";
import { STILL_LISTED_AFTER_MS } from "#src/domain/apply-snapshot.ts";
import { withDelivery } from "#src/domain/approval-transitions.ts";
import type { Approval, Decision } from "#src/domain/approval.ts";
import { type Delivery, isFinal } from "#src/domain/delivery-state.ts";
import { observe } from "#src/domain/observe.ts";
import { reconcile } from "#src/domain/reconcile.ts";
import { cardRenderKey } from "#src/domain/render-key.ts";
import { replaceApproval, type Run } from "#src/domain/run.ts";
import { ABSENT_AFTER_MS } from "#src/domain/snapshot.ts";
import { aSnapshot, contextAt, deliveredRun } from "../make/history.ts";
import { APPROVER, NOON, REQUESTER } from "../make/run.ts";

const LATER = STILL_LISTED_AFTER_MS;

/** The clocks differ: the wall clock is a day ahead. */
function after(run: Run, pending: readonly string[], ms: number): Run {
  const ctx = { ...contextAt(ms), now: NOON + ms + 24 * 60 * 60_000 };
  return observe(run, aSnapshot(run, pending, { askedAt: NOON + ms }), ctx);
}

function only({ approvals }: Run): Approval {
  const [approval, ...others] = approvals;
  if (approval === undefined || others.length > 0) throw new Error("not one approval");
  return approval;
}

function isListed(run: Run): boolean | null {
  const { state } = only(run);
  if (state.type !== "decided" || !isFinal(state.delivery)) throw new Error("the decision is not final");
  return state.delivery.stillListed ?? null;
}

describe.for<Delivery>([
  { type: "elsewhere", at: NOON, words: "409" },
  { type: "unconfirmed", at: NOON, cause: "no-longer-listed" },
  { type: "unconfirmed", at: NOON, cause: "refused-after-lost-answer" },
])("a decision that ended as %o", (delivery) => {
  const run = deliveredRun(delivery);
  const shows = (of: Run): string | null => cardRenderKey(of, only(of));

  test("is not marked because a replica lags behind", () => {
    expect(after(run, ["apr_1"], LATER - 1).approvals).toBe(run.approvals);
  });

  test("is marked a minute later when the service lists the request, and so is its card", () => {
    const marked = after(run, ["apr_1"], LATER);
    expect(isListed(marked)).toBe(true);
    expect(shows(marked)).not.toBe(shows(run));
    expect(only(marked).state).toMatchObject({ delivery });
    expect(after(marked, ["apr_1"], LATER + 1)).toBe(marked);
    const gone = after(marked, [], LATER + 2);
    expect(isListed(gone)).toBe(false);
    expect(shows(gone)).toBe(shows(run));
    expect(isListed(after(gone, ["apr_1"], LATER + 3))).toBe(true);
  });

  test("is looked at once more, and no decision is sent for it", () => {
    expect(reconcile(run, NOON).fetchAt).toBe(NOON + LATER);
    const marked = after(run, ["apr_1"], LATER);
    const { fetchAt, effects } = reconcile(marked, NOON + LATER);
    expect(fetchAt).toBeNull();
    expect(effects.map(({ type }) => type)).not.toContain("send-decision");
  });
});

test("a request that the service drops after a lost answer, and then lists again, is marked as listed", () => {
  const lost = deliveredRun({ type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: "cut off" });
  const looks = [1, 1 + ABSENT_AFTER_MS / 2, 1 + ABSENT_AFTER_MS];
  const gone = looks.reduce((run, ms) => after(run, [], ms), lost);
  expect(only(gone).state).toMatchObject({ delivery: { type: "unconfirmed", cause: "no-longer-listed" } });
  const returned = after(gone, ["apr_1"], ABSENT_AFTER_MS + 2 + LATER);
  expect(isListed(returned)).toBe(true);
});

describe.for<Delivery>([
  { type: "confirmed", at: NOON, stillListed: null },
  { type: "elsewhere", at: NOON, words: "409" },
  { type: "unconfirmed", at: NOON, cause: "no-longer-listed" },
])("the person who gave a decision that ended as %o", (delivery) => {
  const run = deliveredRun(delivery);

  test("is told once that the service still lists the request", () => {
    expect(after(run, ["apr_1"], LATER - 1).notices).toEqual([]);
    const late = after(after(run, [], LATER), ["apr_1"], LATER + 1);
    for (const marked of [after(run, ["apr_1"], LATER), late]) {
      const says = { type: "decision-still-listed", approval: "apr_1" };
      expect(marked.notices).toMatchObject([{ to: APPROVER, says, state: "planned" }]);
      // Replicas of the service may disagree for long.
      const dropped = after(marked, [], LATER + 2);
      const again = after(dropped, ["apr_1"], LATER + 3);
      expect(isListed(again)).toBe(true);
      expect(again.notices).toEqual(marked.notices);
    }
  });
});

test.each<[string, Partial<Decision>]>([
  ["the policy", {}],
  ["a stop", { stoppedBy: APPROVER }],
])("the requester is told once that the service still lists a request that %s denied", (_who, by) => {
  const delivery: Delivery = { type: "confirmed", at: NOON, stillListed: null };
  const given = deliveredRun(delivery, "deny");
  const { state } = only(given);
  if (state.type !== "decided") throw new Error("not decided");
  const decision: Decision = { ...state.decision, by: null, ...by };
  const run = replaceApproval(given, withDelivery(only(given), decision, delivery));
  const second = JSON.parse(JSON.stringify(only(run)).replaceAll("apr_1", "apr_2")) as Approval;
  const two = { ...run, approvals: [only(run), second] };
  expect(after(two, ["apr_1", "apr_2"], LATER).notices).toHaveLength(1);
  const marked = after(run, ["apr_1"], LATER);
  const says = { type: "decision-still-listed", approval: "apr_1" };
  expect(marked.notices).toMatchObject([{ to: REQUESTER, says, state: "planned" }]);
  expect(after(after(marked, [], LATER + 1), ["apr_1"], LATER + 2).notices).toEqual(marked.notices);
});
