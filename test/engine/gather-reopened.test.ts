// Requests that open again together share one message, and one that opens again shares the reminder of those that still wait.

import { expect, test } from "vitest";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { gatheredSlots } from "#src/domain/gathered-call.ts";
import { NO_FOLLOW_UP, type Reminders } from "#src/domain/policy/follow-up-rule.ts";
import { type RunId, UserId } from "#src/domain/ids.ts";
import { ADMIN, type Bench, createBench } from "../make/bot.ts";
import { aPolicy, these } from "../make/policy.ts";
import { APPROVER, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const MIN = 60_000;

async function waiting(many: number, remind: Reminders | null = null) {
  const bench = await createBench();
  bench.policy = aPolicy({ approvers: these([APPROVER]), followUp: { ...NO_FOLLOW_UP, remind } });
  const cards: Awaited<ReturnType<Bench["withCard"]>>[] = [];
  for (let nth = 0; nth < many; nth += 1) cards.push(await bench.withCard());
  return { bench, ids: cards.map(({ id }): RunId => id), clicks: cards.map(({ click }) => click) };
}

/** The service lists nothing for two minutes. */
async function openAgain(
  { agents, clock, ...bench }: Bench,
  ids: readonly RunId[],
  meanwhile: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  const listed = ids.map((id) => agents.pending.get(id) ?? []);
  for (const id of ids) agents.pending.set(id, []);
  await clock.pass(2 * MIN);
  for (const id of ids)
    expect((await bench.run(id)).approvals).toMatchObject([{ state: { type: "closed" } }]);
  await meanwhile();
  for (const [at, id] of ids.entries()) agents.pending.set(id, listed[at] ?? []);
}

const posted = ({ chat }: Bench): readonly string[] =>
  chat.posts.map(({ slot }) => slot.split(" ")[0] ?? "").filter((kind) => ["call", "several"].includes(kind));

async function severalOf(bench: Bench, ids: readonly RunId[]): Promise<readonly string[]> {
  const runs = await Promise.all(ids.map((id) => bench.run(id)));
  return runs.flatMap((run) => gatheredSlots(run).map((slot) => messageIn(run, slot).text));
}

test("a request that opens again is announced in its thread with a mention of its approver, without any reminder in the policy", async () => {
  const { bench, ids } = await waiting(1);
  await openAgain(bench, ids);
  await bench.clock.pass(MIN);
  expect(posted(bench)).toEqual(["call"]);
  const runs = await Promise.all(ids.map((id) => bench.run(id)));
  expect(runs.flatMap(({ approvals }) => approvals.flatMap(({ calls = [] }) => calls))).toMatchObject([
    { says: "reopened", who: { users: [APPROVER] } },
  ]);
  const entries = await bench.store.auditAfter(0, ["reminded"], 10);
  expect(entries.map(({ entry }) => [entry.outcome, entry.mentioned])).toEqual([
    ["it is open again", [APPROVER]],
  ]);
});

test("a request that opens again and closes within seconds calls no one, and its next opening is announced at once", async () => {
  const { bench, ids } = await waiting(1);
  const [id] = ids;
  if (id === undefined) throw new Error("no run");
  const listed = bench.agents.pending.get(id) ?? [];
  const stateNow = async () => (await bench.run(id)).approvals[0]?.state.type;
  await openAgain(bench, ids);
  for (let s = 0; s < 20 && (await stateNow()) !== "pending"; s += 1) await bench.clock.pass(1_000);
  expect(await stateNow()).toBe("pending");
  bench.agents.pending.set(id, []);
  await bench.clock.pass(MIN);
  expect(await stateNow()).toBe("closed");
  expect(posted(bench)).toEqual([]);
  bench.agents.pending.set(id, listed);
  await bench.clock.pass(MIN);
  expect(posted(bench)).toEqual(["call"]);
});

test("requests that open again together share one message", async () => {
  const { bench, ids } = await waiting(3);
  await openAgain(bench, ids);
  await bench.clock.pass(MIN);
  expect(posted(bench)).toEqual(["several"]);
  expect(await severalOf(bench, ids)).toEqual(["⏰ 3 requests are open again and wait for a decision here"]);
});

test("a request that opens again while a reminder of another is due shares its message", async () => {
  const { bench, ids } = await waiting(2, { afterMs: 15 * MIN, doubles: false, atMost: 1 });
  await bench.clock.pass(12 * MIN);
  await openAgain(bench, ids.slice(0, 1));
  await bench.clock.pass(2 * MIN);
  expect(posted(bench)).toEqual(["several"]);
  expect(await severalOf(bench, ids)).toEqual(["⏰ 2 requests still wait for a decision here"]);
});

const OTHER_ADMIN = UserId("U0OTHERADMIN");
const asker = (user: UserId) => ({ team: TEAM, user, channel: CHANNEL });

test("requests that open again during a freeze call people together once it is lifted, and at most once in ten minutes", async () => {
  const { bench, ids } = await waiting(2);
  expect(await bench.flow.freeze.freeze(asker(ADMIN), CHANNEL, "it loops")).toMatchObject({ ok: true });
  await openAgain(bench, ids);
  await bench.clock.pass(20 * MIN);
  expect(posted(bench)).toEqual([]);
  bench.policy = { ...bench.policy, freezers: these([OTHER_ADMIN]) };
  expect(await bench.flow.freeze.lift(asker(OTHER_ADMIN), null, "")).toMatchObject({ ok: true });
  await bench.clock.pass(MIN);
  expect(posted(bench)).toEqual(["several"]);
  await openAgain(bench, ids);
  await bench.clock.pass(5 * MIN);
  expect(posted(bench)).toEqual(["several"]);
  await bench.clock.pass(5 * MIN);
  expect(posted(bench)).toEqual(["several", "several"]);
});

test("a freeze holds a call whose people are already known", async () => {
  const { bench, ids } = await waiting(1);
  await openAgain(bench, ids);
  const called = async () =>
    (await Promise.all(ids.map((id) => bench.run(id)))).flatMap(({ approvals }) =>
      approvals.flatMap(({ calls = [] }) => calls.map(({ who }) => who?.users)),
    );
  for (let s = 0; s < 20 && (await called())[0] === undefined; s += 1) await bench.clock.pass(1_000);
  expect(await called()).toEqual([[APPROVER]]);
  expect(posted(bench)).toEqual([]);
  await bench.flow.freeze.freeze(asker(ADMIN), CHANNEL, "it loops");
  await bench.clock.pass(20 * MIN);
  expect(posted(bench)).toEqual([]);
});

test("a freeze holds a call that already waits for its turn", async () => {
  const { bench, ids } = await waiting(1);
  await openAgain(bench, ids);
  await bench.clock.pass(MIN);
  await openAgain(bench, ids);
  await bench.clock.pass(MIN);
  expect(posted(bench)).toEqual(["call"]);
  await bench.flow.freeze.freeze(asker(ADMIN), CHANNEL, "it loops");
  await bench.clock.pass(20 * MIN);
  expect(posted(bench)).toEqual(["call"]);
});

test("a request that opens again while a person looks at it calls the others when their claim is over, or at once if they release it", async () => {
  for (const [isReleased, minutes] of [
    [false, 31],
    [true, 1],
  ] as const) {
    const { bench, ids, clicks } = await waiting(1);
    for (const click of clicks)
      expect(await bench.flow.claimRequest.claim(click)).toMatchObject({ ok: true });
    await openAgain(bench, ids);
    await bench.clock.pass(5 * MIN);
    expect(posted(bench)).toEqual([]);
    const runs = await Promise.all(ids.map((id) => bench.run(id)));
    const nonces = runs.flatMap(({ approvals }) => approvals.map(({ nonce }) => nonce));
    for (const [at, click] of clicks.entries())
      if (isReleased) await bench.flow.claimRequest.release({ ...click, nonce: nonces[at] ?? null });
    await bench.clock.pass(minutes * MIN);
    expect(posted(bench)).toEqual(["call"]);
  }
});

test("a request that a stop denies calls no one, whether the stop comes before or after it opens again", async () => {
  for (const isFirst of [true, false]) {
    const { bench, ids } = await waiting(1);
    const runs = () => Promise.all(ids.map((id) => bench.run(id)));
    const states = async () =>
      (await runs()).flatMap(({ approvals }) => approvals.map(({ state }) => state.type));
    const stop = async () => {
      for (const { key: run } of await runs())
        expect(await bench.flow.stopRun.stop({ ...asker(REQUESTER), run, shown: null })).toMatchObject({
          ok: true,
        });
    };
    await openAgain(bench, ids, isFirst ? stop : undefined);
    for (let s = 0; s < 20 && (await states()).includes("closed"); s += 1) await bench.clock.pass(1_000);
    if (!isFirst) await stop();
    expect(await states()).toEqual(["decided"]);
    await bench.clock.pass(20 * MIN);
    expect(posted(bench)).toEqual([]);
  }
});
