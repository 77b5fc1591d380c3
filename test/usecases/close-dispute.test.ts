// How an admin closes a dispute.

import { describe, expect, test } from "vitest";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { type RunId, UserId } from "#src/domain/ids.ts";
import { OPENING } from "#src/domain/slot.ts";
import { printedMessage } from "../adapters/slack/blocks/printed.ts";
import { ADMIN, type Bench, createBench } from "../make/bot.ts";
import { changeRecord } from "../make/changed-record.ts";
import { cardOf, disputed, withReceipt } from "../make/dispute.ts";
import { BY, disputes } from "../make/receipts.ts";
import { CHANNEL, TEAM } from "../make/run.ts";

const ADMIN_HERE = { team: TEAM, user: ADMIN, channel: CHANNEL };

const closings = ({ store }: Bench) => store.auditAfter(0, ["dispute-closed"], 100);

async function end({ agents, clock }: Bench, id: RunId): Promise<void> {
  agents.statuses.set(id, "succeeded");
  agents.pending.delete(id);
  await clock.pass(120_000);
}

describe("an admin", () => {
  test("closes a dispute in their own words, which the card shows, once", async () => {
    const bench = await createBench();
    const { id } = await disputed(bench);
    const key = (await cardOf(bench, id)).key;
    expect(await bench.flow.closeDispute(ADMIN_HERE, id, " A mis-tap, Ben confirmed it. ")).toEqual({
      ok: true,
      value: { disputes: 1, isCardKept: true },
    });
    await bench.clock.pass(3_000);
    const [entry, ...more] = await closings(bench);
    const [dispute] = await disputes(bench);
    expect(more).toEqual([]);
    expect(entry?.entry).toMatchObject({
      by: { team: TEAM, user: ADMIN },
      runId: id,
      refers: dispute?.seq,
      reason: "A mis-tap, Ben confirmed it.",
    });
    const { shown, run, key: after } = await cardOf(bench, id);
    expect(shown).toContain(`Dispute closed by @${ADMIN}: A mis-tap, Ben confirmed it.`);
    expect(shown).not.toContain("⚠️");
    expect(after).not.toBe(key);
    expect(printedMessage(messageIn(run, OPENING))).not.toContain("disputed");
    expect(await bench.flow.closeDispute(ADMIN_HERE, id, "once more")).toMatchObject({
      error: { type: "nothing-disputed" },
    });
    expect(await closings(bench)).toHaveLength(1);
  });

  test("closes a dispute of a finished run after the retention time on its card, and the run is deleted after that", async () => {
    const bench = await createBench();
    const { id } = await disputed(bench);
    await end(bench, id);
    expect(await bench.store.forget(Number.MAX_SAFE_INTEGER)).toBe(0);
    expect(await bench.flow.closeDispute(ADMIN_HERE, id, "all well")).toEqual({
      ok: true,
      value: { disputes: 1, isCardKept: true },
    });
    await bench.clock.pass(3_000);
    expect((await cardOf(bench, id)).shown).toContain(`Dispute closed by @${ADMIN}: all well`);
    expect(await bench.store.forget(Number.MAX_SAFE_INTEGER)).toBe(1);
  });

  test("closes a dispute about a run whose record was deleted before, which no card can show", async () => {
    const bench = await createBench();
    const { id, receipt } = await withReceipt(bench);
    await end(bench, id);
    expect(await bench.store.forget(Number.MAX_SAFE_INTEGER)).toBe(1);
    await bench.flow.dispute(BY, receipt.id);
    expect(await bench.flow.closeDispute(ADMIN_HERE, id, "all well")).toEqual({
      ok: true,
      value: { disputes: 1, isCardKept: false },
    });
    expect(await closings(bench)).toHaveLength(1);
  });

  test("closes a dispute about a run that began again after its record was changed, whose card shows nothing of it", async () => {
    const bench = await createBench();
    const { id } = await disputed(bench);
    await changeRecord(bench, id);
    expect(await bench.flow.adoptRun.adopt({ ...BY, channel: CHANNEL }, id)).toMatchObject({ ok: true });
    await bench.clock.pass(3_000);
    expect(await bench.flow.closeDispute(ADMIN_HERE, id, "all well")).toEqual({
      ok: true,
      value: { disputes: 1, isCardKept: false },
    });
  });

  test("must say what they found", async () => {
    const bench = await createBench();
    const { id } = await disputed(bench);
    expect(await bench.flow.closeDispute(ADMIN_HERE, id, " \n")).toMatchObject({
      error: { type: "close-why" },
    });
    expect(await closings(bench)).toEqual([]);
  });

  test.for([
    ["the person who reported it", { ...BY, channel: CHANNEL }],
    ["someone else", { ...ADMIN_HERE, user: UserId("U0SECOND") }],
    ["an admin's id in another workspace", { ...ADMIN_HERE, team: "T0OTHER" as typeof TEAM }],
  ] as const)("is required: %s is refused, and the attempt is recorded", async ([, by]) => {
    const bench = await createBench();
    const { id } = await disputed(bench);
    expect(await bench.flow.closeDispute(by, id, "all well")).toMatchObject({
      error: { type: "not-admin", asked: "close" },
    });
    const [last] = (await bench.store.auditAfter(0, ["refused"], 100)).slice(-1);
    expect(last?.entry).toMatchObject({ step: "close", refusal: "not-admin" });
    expect((await cardOf(bench, id)).shown).toContain("⚠️ Disputed by");
  });
});
