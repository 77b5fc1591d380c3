// Requests that open again together share one message, and one that opens again shares the reminder of those that still wait.

import { expect, test } from "vitest";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { gatheredSlots } from "#src/domain/gathered-call.ts";
import { NO_FOLLOW_UP, type Reminders } from "#src/domain/policy/follow-up-rule.ts";
import type { RunId } from "#src/domain/ids.ts";
import { type Bench, createBench } from "../make/bot.ts";
import { aPolicy, these } from "../make/policy.ts";
import { APPROVER } from "../make/run.ts";

const MIN = 60_000;

async function waiting(many: number, remind: Reminders | null = null) {
  const bench = await createBench();
  bench.policy = aPolicy({ approvers: these([APPROVER]), followUp: { ...NO_FOLLOW_UP, remind } });
  const ids: RunId[] = [];
  for (let nth = 0; nth < many; nth += 1) ids.push((await bench.withCard()).id);
  return { bench, ids };
}

/** The service lists nothing for two minutes. */
async function openAgain({ agents, clock, ...bench }: Bench, ids: readonly RunId[]): Promise<void> {
  const listed = ids.map((id) => agents.pending.get(id) ?? []);
  for (const id of ids) agents.pending.set(id, []);
  await clock.pass(2 * MIN);
  for (const id of ids)
    expect((await bench.run(id)).approvals).toMatchObject([{ state: { type: "closed" } }]);
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
