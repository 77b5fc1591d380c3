// The hold of an approval stands still while no one can press Undo.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Click } from "#src/usecases/open-form.ts";
import { SHARED } from "#src/engine/lease-keeper.ts";
import { breakStore } from "../make/bench-store.ts";
import { type Bench, createBench } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { APPROVER, TEAM } from "../make/run.ts";

const MIN = 60_000;

function aFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "countersign-hold-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return join(folder, "bot.db");
}

/** A bench with an approval that was given a minute ago and is held for ten. */
async function holding(): Promise<{ bench: Bench; click: Click }> {
  const bench = await createBench({}, 0.5, aFile());
  bench.policy = aPolicy({ holdMs: 10 * MIN });
  const { click } = await bench.withCard();
  const opened = await bench.flow.openForm.open({ ...click, user: APPROVER }, "approve");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, opened.value.ticket.nonce, "go");
  await bench.clock.pass(MIN);
  return { bench, click };
}

const AWAY: Record<string, (bench: Bench) => Promise<void>> = {
  "Slack is lost": async (bench) => {
    bench.connection = "lost";
    await bench.clock.pass(11 * MIN);
    bench.connection = "connected";
  },
  "nothing runs": (bench) => bench.restart(11 * MIN),
  "the store is away": async (bench) => {
    const repair = breakStore(bench);
    await bench.clock.pass(11 * MIN);
    repair();
  },
  "the process is suspended": ({ clock }) => {
    clock.continueAfter(clock.monotonic() + 11 * MIN);
    return Promise.resolve();
  },
};

test("an approval that a replica gets right after its machine was suspended is held for its whole hold", async () => {
  const bench = await createBench({}, 0.5, ":memory:", SHARED);
  const { clock, store } = bench;
  store.askTime = () => {
    clock.continueAfter(clock.now());
    return Promise.resolve();
  };
  bench.policy = aPolicy({ holdMs: 10 * MIN });
  const { id, click } = await bench.withCard();
  clock.step(11 * MIN);
  const opened = await bench.flow.openForm.open({ ...click, user: APPROVER }, "approve");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, opened.value.ticket.nonce, "go");
  const [approval] = (await bench.run(id)).approvals;
  const until = clock.now() + 10 * MIN;
  expect(approval?.state).toMatchObject({
    type: "decided",
    delivery: { type: "held", until, sendAt: until },
  });
});

const verdicts = ({ agents }: Bench) => agents.resolved.map(({ verdict }) => verdict);

test.each(Object.keys(AWAY))("a hold that would have ended while %s goes on after that", async (away) => {
  const { bench } = await holding();
  await AWAY[away]?.(bench);
  await bench.clock.pass(8.5 * MIN);
  expect(verdicts(bench)).toEqual([]);
  await bench.clock.pass(MIN);
  expect(verdicts(bench)).toEqual(["approve"]);
});

test.each(Object.keys(AWAY))("an approval can be undone for the rest of its hold after %s", async (away) => {
  const { bench, click } = await holding();
  await AWAY[away]?.(bench);
  await bench.clock.pass(MIN);
  expect(await bench.flow.undoDecision.onCard(click)).toMatchObject({ ok: true });
  await bench.clock.pass(20 * MIN);
  expect(verdicts(bench)).toEqual([]);
});
