// A click may reach any replica. Here it reaches one that does not follow the run.

import { expect, test } from "vitest";
import { auditEntry, type AuditEntry } from "#src/audit/entry.ts";
import { UserId } from "#src/domain/ids.ts";
import { ADMIN, type Bench, createBench, failure } from "../make/bot.ts";
import { CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const BY = { team: TEAM, user: REQUESTER, channel: CHANNEL };

/** From now on every save finds that another replica follows the run. */
function followedByOtherReplica({ store }: Bench): void {
  const save = store.save.bind(store);
  store.save = async (stored, next, facts) =>
    facts?.mustHold === true ? "not-held" : save(stored, next, facts);
}

test.for(["left", "started"] as const)(
  "the answer %s about a start that may have been lost is stored",
  async (again) => {
    const bench = await createBench();
    bench.agents.create = () => Promise.reject(failure("timeout", { applied: "maybe" }));
    const started = await bench.flow.startRun.start(BY, { input: "a", intention: "a", answerUrl: null });
    if (!started.ok) throw new Error(started.error.type);
    await bench.clock.pass(5_000);
    followedByOtherReplica(bench);
    expect(await bench.flow.startRun.answerUnknownStart(BY, started.value, again)).toMatchObject({
      ok: true,
    });
    const stored = await bench.store.load(started.value);
    expect(stored?.run.creation).toMatchObject({ type: "unknown", again });
  },
);

test("a run can be unwatched on a replica that does not follow it", async () => {
  const bench = await createBench();
  const { id } = await bench.withCard();
  const by = { ...BY, user: UserId("U0SECOND") };
  followedByOtherReplica(bench);
  expect(await bench.flow.adoptRun.unwatch(by, id)).toMatchObject({ ok: true });
  expect((await bench.run(id)).watch).toMatchObject({ type: "dropped", by: by.user });
});

const SECOND_ADMIN = { team: TEAM, user: UserId("U0SECONDADMIN") };
const BY_ADMIN = { team: TEAM, user: ADMIN, channel: CHANNEL };

/** A bench that knows of another replica, and asks every second for what that replica wrote. */
async function oneOfTwo(): Promise<Bench> {
  const bench = await createBench();
  const renew = bench.store.renew.bind(bench.store);
  bench.store.renew = async (...given) => ({ ...(await renew(...given)), replicas: 2 });
  await bench.clock.pass(16_000);
  return bench;
}

/** The other replica writes this, and the bench has not asked since. */
const writtenByOtherReplica = (
  { store, clock }: Bench,
  facts: Pick<AuditEntry, "what" | "refers">,
): Promise<void> =>
  store.audit([
    auditEntry(null, { at: clock.now(), outcome: facts.what, channel: CHANNEL, by: SECOND_ADMIN, ...facts }),
  ]);

test.for(["before the command", "right before the start is marked"])(
  "a run does not start once a freeze is written %s",
  async (when) => {
    const bench = await oneOfTwo();
    const save = bench.store.save.bind(bench.store);
    bench.store.save = async (run, next, facts) => {
      const marked = next.creation.type === "sending";
      if (when !== "before the command" && marked && bench.agents.created.length === 0)
        await writtenByOtherReplica(bench, { what: "frozen" });
      return save(run, next, facts);
    };
    if (when === "before the command") await writtenByOtherReplica(bench, { what: "frozen" });
    const started = await bench.flow.startRun.start(BY, { input: "a", intention: "a", answerUrl: null });
    if (!started.ok) throw new Error(started.error.type);
    await bench.clock.pass(5_000);
    expect(bench.agents.created).toEqual([]);
    const stored = await bench.store.load(started.value);
    expect(stored?.run.creation).toMatchObject({ type: "refused" });
  },
);

test("a written freeze is known, and a lifted one can be made again", async () => {
  const bench = await oneOfTwo();
  await writtenByOtherReplica(bench, { what: "frozen" });
  const seen = await bench.flow.freeze.look(BY_ADMIN);
  if (!seen.ok) throw new Error(seen.error.type);
  expect(seen.value).toMatchObject([{ by: SECOND_ADMIN.user }]);
  await writtenByOtherReplica(bench, { what: "freeze-lifted", refers: seen.value[0]?.entry ?? 0 });
  expect(await bench.flow.freeze.lift(BY_ADMIN, null, "")).toMatchObject({ error: { type: "not-frozen" } });
  expect(await bench.flow.freeze.freeze(BY_ADMIN, CHANNEL, "again")).toMatchObject({ ok: true });
});
