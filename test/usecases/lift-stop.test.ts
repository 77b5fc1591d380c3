// A press on Stop or on "Lift the stop" that comes late or twice, after the stop that its button showed.

import { expect, test } from "vitest";
import { PRESS_REPEATS_MS } from "#src/domain/brake.ts";
import { type Bench, createBench } from "../make/bot.ts";
import { APPROVER, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

/** A run that is stopped a second time. `late`: the press that would lift the first stop. */
async function stoppedAgain() {
  const bench = await createBench();
  const { id } = await bench.withCard();
  const { key: run } = await bench.run(id);
  const press = { team: TEAM, user: APPROVER, channel: CHANNEL, run, shown: null };
  await bench.flow.stopRun.stop(press);
  const late = { ...press, shown: (await bench.run(id)).stop?.at ?? null };
  expect(await bench.flow.stopRun.lift(late)).toMatchObject({ ok: true });
  await bench.clock.pass(1_000);
  await bench.flow.stopRun.stop({ ...late, user: REQUESTER });
  return { bench, late, stopNow: async () => (await bench.run(id)).stop };
}

const lifts = ({ store }: Bench) => store.auditAfter(0, ["stop-lifted"], 100);

test.for([
  ["an earlier stop", {}],
  ["no stop", { shown: null }],
] as const)("the button of %s does not lift the stop that holds", async ([, change]) => {
  const { bench, late, stopNow } = await stoppedAgain();
  const stop = await stopNow();
  expect(await bench.flow.stopRun.lift({ ...late, ...change })).toMatchObject({
    error: { refusal: { type: "other-stop", stop } },
  });
  expect(await stopNow()).toEqual(stop);
  expect(await lifts(bench)).toHaveLength(1);
  const [refused] = await bench.store.auditAfter(0, ["refused"], 100);
  expect(refused?.entry).toMatchObject({ step: "lift", refusal: "other-stop", by: { user: APPROVER } });
});

test("the button of the stop that holds lifts it, and a second press on it changes nothing", async () => {
  const { bench, late, stopNow } = await stoppedAgain();
  const now = { ...late, shown: (await stopNow())?.at ?? null };
  expect(await bench.flow.stopRun.lift(now)).toMatchObject({ ok: true });
  expect(await bench.flow.stopRun.lift(now)).toMatchObject({ ok: true });
  expect(await stopNow()).toHaveProperty("lifted");
  expect(await lifts(bench)).toHaveLength(2);
});

test("a press on Stop that arrives again after the stop was lifted does not stop the run again", async () => {
  const bench = await createBench();
  const { id } = await bench.withCard();
  const press = { team: TEAM, user: APPROVER, channel: CHANNEL, run: (await bench.run(id)).key, shown: null };
  expect(await bench.flow.stopRun.stop(press)).toMatchObject({ ok: true });
  const { stop } = await bench.run(id);
  const next = { ...press, shown: stop?.at ?? null };
  await bench.flow.stopRun.lift(next);
  const lifted = (await bench.run(id)).stop;
  expect(await bench.flow.stopRun.stop(press)).toMatchObject({
    error: { refusal: { type: "other-stop", stop: lifted } },
  });
  expect((await bench.run(id)).stop).toEqual(lifted);
  expect(await bench.flow.stopRun.stop(next)).toMatchObject({ ok: true });
  expect(await bench.store.auditAfter(0, ["stopped"], 100)).toHaveLength(2);
});

/** A stop that was lifted, and a press on Stop from before it. */
async function lifted() {
  const bench = await createBench();
  const { id } = await bench.withCard();
  const press = { team: TEAM, user: APPROVER, channel: CHANNEL, run: (await bench.run(id)).key, shown: null };
  await bench.flow.stopRun.stop(press);
  await bench.flow.stopRun.lift({ ...press, shown: (await bench.run(id)).stop?.at ?? null });
  return { bench, id, press };
}

test("a press on Stop works on a message that still shows no stop, once the lift is older than a repeated delivery", async () => {
  const { bench, id, press } = await lifted();
  await bench.clock.pass(PRESS_REPEATS_MS);
  expect(await bench.flow.stopRun.stop(press)).toMatchObject({ error: { refusal: { type: "other-stop" } } });
  await bench.clock.pass(1);
  expect(await bench.flow.stopRun.stop(press)).toMatchObject({ ok: true });
  expect((await bench.run(id)).stop).not.toHaveProperty("lifted");
  expect(await bench.store.auditAfter(0, ["stopped"], 100)).toHaveLength(2);
});

test("a press on Stop works on such a message although the clock was set back behind the lift", async () => {
  const { bench, press } = await lifted();
  bench.clock.step(-60 * 60_000);
  expect(await bench.flow.stopRun.stop(press)).toMatchObject({ ok: true });
});

test("a press on Stop works on such a message once the stop that holds denies nothing more, because its run may be another one", async () => {
  const bench = await createBench();
  const { id } = await bench.withCard();
  const press = { team: TEAM, user: APPROVER, channel: CHANNEL, run: (await bench.run(id)).key, shown: null };
  await bench.flow.stopRun.stop(press);
  bench.agents.statuses.set(id, "missing");
  await bench.clock.pass(PRESS_REPEATS_MS);
  bench.agents.statuses.set(id, "awaiting_approval");
  bench.agents.pending.set(id, ["apr_2"]);
  await bench.clock.pass(20_000);
  expect(await bench.flow.stopRun.stop(press)).toMatchObject({ ok: true });
  expect((await bench.run(id)).approvals).toMatchObject([
    {},
    { state: { decision: { verdict: "deny", stoppedBy: APPROVER } } },
  ]);
});
