// What people do reaches any of several replicas. Here it reaches one that does not look after the run.

import { expect, test } from "vitest";
import { UserId } from "#src/domain/ids.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const BY = { team: TEAM, user: REQUESTER, channel: CHANNEL };

/** From now on another replica looks after every run, as the store tells a save. */
function followedElsewhere({ store }: Bench): void {
  const save = store.save.bind(store);
  store.save = async (stored, next, facts) =>
    facts?.mustHold === true ? "not-held" : save(stored, next, facts);
}

test.for(["left", "started"] as const)(
  "the answer %s about a start that may have been lost is kept",
  async (again) => {
    const bench = await createBench();
    bench.agents.create = () => Promise.reject(failure("timeout", { applied: "maybe" }));
    const started = await bench.flow.startRun.start(BY, { input: "a", intention: "a", answerUrl: null });
    if (!started.ok) throw new Error(started.error.type);
    await bench.clock.pass(5_000);
    followedElsewhere(bench);
    expect(await bench.flow.startRun.answerUnknown(BY, started.value, again)).toMatchObject({ ok: true });
    const stored = await bench.store.load(started.value);
    expect(stored?.run.creation).toMatchObject({ type: "unknown", again });
  },
);

test("a run is let go", async () => {
  const bench = await createBench();
  const { id } = await bench.withCard();
  const by = { ...BY, user: UserId("U0SECOND") };
  followedElsewhere(bench);
  expect(await bench.flow.adoptRun.unwatch(by, id)).toMatchObject({ ok: true });
  expect((await bench.run(id)).watch).toMatchObject({ type: "dropped", by: by.user });
});
