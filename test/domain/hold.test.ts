// The hold of an approval runs only while people can undo it.

import { describe, expect, test } from "vitest";
import { withFollowUp, type Pause } from "#src/domain/follow-up.ts";
import { reconcile } from "#src/domain/reconcile.ts";
import { renderKey } from "#src/domain/render-key.ts";
import { replaceApproval, type Run } from "#src/domain/run.ts";
import { cardSlot } from "#src/domain/slot.ts";
import { holdEnd } from "#src/domain/hold.ts";
import { NOON } from "../make/run.ts";
import { approvalOf, done, ID, LATER, under } from "../make/voting.ts";

const HOLD = 600_000;
const BEGIN = NOON + LATER;
const { submit, run } = under({ holdMs: HOLD });
const held = done(submit(run));

const pausedBy = (...pauses: readonly Pause[]): Run =>
  replaceApproval(held, withFollowUp(approvalOf(held), { pauses }));
const isSentAt = (of: Run, at: number) =>
  reconcile(of, at).effects.some(({ type }) => type === "send-decision");
const endOf = (of: Run) => holdEnd(approvalOf(of));

describe("a hold of ten minutes", () => {
  test("ends after ten minutes if nothing pauses it", () => {
    expect(endOf(held)).toEqual({ sendAt: BEGIN + HOLD, until: BEGIN + HOLD });
  });

  test.each(["slack", "stopped"] as const)("is longer by a pause within it (%s)", (why) => {
    const paused = pausedBy({ why, from: BEGIN + 60_000, until: BEGIN + 720_000 });
    expect(endOf(paused)).toEqual({ sendAt: BEGIN + HOLD + 660_000, until: BEGIN + HOLD + 660_000 });
    expect(isSentAt(paused, BEGIN + HOLD + 659_999)).toBe(false);
    expect(isSentAt(paused, BEGIN + HOLD + 660_000)).toBe(true);
    expect(reconcile(paused, BEGIN + HOLD).wakeAt).toBe(BEGIN + HOLD + 660_000);
  });

  test("counts time in which two causes overlap once", () => {
    const paused = pausedBy(
      { why: "slack", from: BEGIN + 60_000, until: BEGIN + 180_000 },
      { why: "stopped", from: BEGIN + 120_000, until: BEGIN + 240_000 },
    );
    expect(endOf(paused)?.sendAt).toBe(BEGIN + HOLD + 180_000);
  });

  test("is not longer by the part of a pause that lies before or after it", () => {
    const paused = pausedBy(
      { why: "stopped", from: NOON, until: BEGIN + 30_000 },
      { why: "slack", from: BEGIN + 630_000, until: BEGIN + 900_000 },
    );
    expect(endOf(paused)?.sendAt).toBe(BEGIN + HOLD + 30_000);
  });

  test.each(["service", "question"] as const)(
    "goes on during a pause in which people can undo it (%s)",
    (why) => {
      expect(endOf(pausedBy({ why, from: BEGIN, until: null }))?.sendAt).toBe(BEGIN + HOLD);
    },
  );

  test("has no known end while Slack is away", () => {
    const paused = pausedBy({ why: "slack", from: BEGIN + 60_000, until: null });
    expect(endOf(paused)).toEqual({ sendAt: null, until: null });
    expect(isSentAt(paused, BEGIN + 100 * HOLD)).toBe(false);
  });

  test("is drawn again when its end moves", () => {
    const open = pausedBy({ why: "slack", from: BEGIN + 60_000, until: null });
    const over = pausedBy({ why: "slack", from: BEGIN + 60_000, until: BEGIN + 120_000 });
    const keys = [held, open, over].map((each) => renderKey(each, cardSlot(ID)));
    expect(new Set(keys).size).toBe(3);
  });
});
