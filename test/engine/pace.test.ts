// Which effects go to Slack first.

import { describe, expect, test } from "vitest";
import type { Approval } from "#src/domain/approval.ts";
import { ChannelId, MessageTs } from "#src/domain/ids.ts";
import { cardRenderKey } from "#src/domain/render-key.ts";
import { STOPPED, cardSlot, OPENING } from "#src/domain/slot.ts";
import type { Run } from "#src/domain/run.ts";
import { stoppedRenderKey } from "#src/domain/stop-report.ts";
import { paceOf } from "#src/engine/pace.ts";
import { APPROVER, anApproval, aWatchedRun, TEAM, withApprovals } from "../make/run.ts";

const pending = anApproval();
const decided = (delivery: Extract<Approval["state"], { type: "decided" }>["delivery"]): Approval => ({
  ...pending,
  state: {
    type: "decided",
    decision: {
      verdict: "approve",
      reason: "fine",
      by: { team: TEAM, user: APPROVER },
      at: 1,
      digest: pending.request.digest,
    },
    delivery,
  },
});

const keyOf = (approval: Approval): string =>
  cardRenderKey(withApprovals(aWatchedRun(), approval), approval) ?? "";

const posted = (shows: string) =>
  ({ type: "up", ts: MessageTs("1.000001"), shows, sweepAt: null, notBefore: 0, tries: 0 }) as const;

function urgencyOf(approval: Approval, shows: string): number | undefined {
  const slot = cardSlot(approval.id);
  const run: Run = { ...withApprovals(aWatchedRun(), approval), posts: { [slot]: posted(shows) } };
  return paceOf(run, { type: "update", slot })?.urgency;
}

describe("the update of a card", () => {
  const held = decided({ type: "held", until: 2, sendAt: 2 });
  const recorded = decided({ type: "recorded" });
  const confirmed = decided({ type: "confirmed", at: 2, stillListed: false });

  test("is most urgent while the card may show buttons that no longer work", () => {
    for (const shows of [keyOf(pending), keyOf(held), ""]) {
      expect(urgencyOf(recorded, shows)).toBe(0);
      expect(urgencyOf(confirmed, shows)).toBe(0);
    }
  });

  test("comes after those once its buttons are off, and after all decisions while it is pending", () => {
    expect(urgencyOf(confirmed, keyOf(recorded))).toBe(1);
    expect(urgencyOf(pending, "v1 pending 0 other rule")).toBe(2);
  });
});

describe("an update of the thread's message about a stop", () => {
  const urgencyAt = (stop: NonNullable<Run["stop"]>, drawn?: Run["stop"]): number | undefined => {
    const run: Run = { ...aWatchedRun(), stop };
    const shows = drawn === undefined ? "" : (stoppedRenderKey({ ...run, stop: drawn }) ?? "");
    return paceOf({ ...run, posts: { [STOPPED]: posted(shows) } }, { type: "update", slot: STOPPED })
      ?.urgency;
  };
  const by = APPROVER;
  const stop = { by, at: 12 };

  test("is as urgent as an end once the stop is lifted, because its button no longer works", () => {
    expect(urgencyAt({ ...stop, lifted: { by, at: 13 } }, stop)).toBe(1);
  });

  test.for([
    ["another stop", { by, at: 1 }],
    ["another stop of an earlier record", { by, at: 1, ofEarlierRecord: true }],
    ["a stop that is lifted", { ...stop, lifted: { by, at: 13 } }],
    ["something unknown", undefined],
  ] as const)("is as urgent as an end while it shows %s, because no button lifts the stop", ([, drawn]) => {
    expect(urgencyAt(stop, drawn)).toBe(1);
  });

  test("comes last while it only counts", () => {
    expect(urgencyAt(stop, stop)).toBe(3);
    expect(urgencyAt(stop, { ...stop, ofEarlierRecord: true })).toBe(3);
  });
});

test("the notice of many requests goes before the cards, and an update of its number before the states of runs", () => {
  const storm = { since: 1, waiting: 9, at: 1, until: null };
  const run: Run = { ...withApprovals(aWatchedRun(), pending), storm };
  const urgency = (type: "post" | "update", slot: string) => paceOf(run, { type, slot })?.urgency ?? -1;
  expect(urgency("post", "storm 1")).toBeLessThan(urgency("post", cardSlot(pending.id)));
  expect(urgency("post", cardSlot(pending.id))).toBeLessThan(urgency("post", OPENING));
  expect(urgency("update", "storm 1")).toBeLessThan(urgency("update", OPENING));
});

test("a notice follows the rate limit of the channel or the person that it goes to", () => {
  const to = ChannelId("C0FALLBACK");
  const says = { type: "cannot-post", words: "" } as const;
  const notice = (id: string, addressee: typeof to | typeof APPROVER) =>
    ({ id, to: addressee, says, state: "planned", notBefore: 0 }) as const;
  const run: Run = { ...aWatchedRun(), notices: [notice("a", to), notice("b", APPROVER)] };
  expect(paceOf(run, { type: "send-notice", notice: "a" })).toEqual({
    channel: to,
    kind: "post",
    urgency: 2,
  });
  expect(paceOf(run, { type: "send-notice", notice: "b" })).toEqual({
    channel: APPROVER,
    kind: "post",
    urgency: 1,
  });
});
