// Several replicas on one database: one dies with a decision, or is suspended and wakes up after another has taken over its run, or they
// are restarted one after the other while people work. The judge looks at what Slack and the service saw.

import { setTimeout as later } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { cardStateOf } from "../make/message-id.ts";
import { PATIENT } from "../make/patient.ts";
import { type PostgresServer, startPostgres } from "../make/postgres.ts";
import { live, messagesOf, newLife } from "./life.ts";
import { points } from "./points.ts";
import { knockThroughBalancer } from "./ready-balancer.ts";
import { type ReplicaLane, startReplicaLane, type Strikes } from "./replica-lane.ts";
import { planStrike, type Point } from "./strike.ts";
import { watch } from "./verdict.ts";

let server: PostgresServer;
beforeAll(async () => {
  server = await startPostgres();
});
afterAll(() => server.stop());

const decisionsOf = ({ world }: ReplicaLane) => world.service.requests.all({ route: "decide" });

/** Plays a life to its end. Its owner is struck at the point. */
async function lived(point: Point, strikes: Strikes, { onTestFinished }: TestContext) {
  const lane = await startReplicaLane(server, { replicas: 2, strikes });
  onTestFinished(() => lane.stop());
  const life = newLife(lane.world, "struck", "deploy billing", { verdict: point.verdict ?? "approve" });
  const witness = watch(lane.world, life);
  const strike = planStrike(lane, life, point);
  await Promise.all([live(lane, life, strike.before), strike.done]);
  return { lane, life, witness };
}

function pointCalled(name: string): Point {
  const point = points[name];
  if (point === undefined) throw new Error(`there is no point "${name}"`);
  return point;
}

/** Moments with how often the decision leaves. A decision that may have arrived is sent again only if the service still waits for it. */
const MOMENTS = [
  ["the decision is committed, the look before sending is lost", 1],
  ["the decision is sent and never arrives", 2],
  ["the decision is received, the answer is lost", 1],
  ["the confirmation on the card is lost", 1],
] as const;

describe.concurrent("after kill -9 of the replica that owns the run, another replica sends the decision, or finds that it was sent", () => {
  test.for(MOMENTS)("%s", async ([name, times], context) => {
    const { lane, life, witness } = await lived(pointCalled(name), "kill", context);
    await lane.struck().start();
    await lane.quiet();
    expect(witness.verdict().broken).toEqual([]);
    expect(decisionsOf(lane)).toHaveLength(times);
    expect(new Set(decisionsOf(lane).map(({ path, body }) => `${path} ${body}`)).size).toBe(1);
    expect(life.attempts.map(({ kept }) => kept)).toEqual([true]);
    expect(await lane.audit()).toMatchObject({ ok: true });
    expect(await lane.findings()).toEqual([]);
  });
});

test("a replica that resumes after its lease ended, just before it would have sent a decision, sends and writes nothing", async (context) => {
  const point = { before: "submit", place: { call: "read-run", nth: 2, cut: "late" } } as const;
  const { lane, life, witness } = await lived(point, "pause", context);
  expect(lane.struck().state()).toBe("paused");
  const seen = async () => ({
    decisions: decisionsOf(lane).length,
    // A click that waited in its socket is refused when the replica wakes up, because the card is decided.
    entries: (await lane.entries()).filter((what) => what !== "refused"),
    messages: messagesOf(lane.world, life).map(({ ts, blocks }) => ({ ts, blocks })),
  });
  const before = await seen();
  lane.struck().resume();
  await lane.quiet();
  expect(await seen()).toEqual(before);
  expect(before.decisions).toBe(1);
  expect(messagesOf(lane.world, life).flatMap((each) => cardStateOf(each) ?? [])).toEqual(["approved"]);
  expect(witness.verdict().broken).toEqual([]);
  expect(await lane.audit()).toMatchObject({ ok: true });
});

/** How many lives begin while the replicas are restarted, and how far apart (ms). */
const LIVES = 5;
const APART_MS = 800;

/** Plays lives to their end while the replicas of the lane are restarted one after the other. */
async function livedThroughRestarts(lane: ReplicaLane): Promise<readonly string[]> {
  const lives = Array.from({ length: LIVES }, (_, nth) => {
    const verdict = nth % 2 === 0 ? "approve" : "deny";
    const life = newLife(lane.world, `life ${nth}`, "deploy billing", { verdict });
    return { life, witness: watch(lane.world, life) };
  });
  const all = lives.map(async ({ life }, nth) => {
    await later(nth * APART_MS);
    await live(lane, life, () => Promise.resolve());
  });
  for (const replica of lane.bot.replicas) await replica.restart();
  await Promise.all(all);
  await lane.quiet();
  return lives.flatMap(({ witness }) => witness.verdict().broken);
}

async function expectAllDecidedOnce(lane: ReplicaLane): Promise<void> {
  expect(decisionsOf(lane)).toHaveLength(LIVES);
  expect(await lane.audit()).toMatchObject({ ok: true });
  expect(await lane.findings()).toEqual([]);
}

/**
 * Longer than a life may take, so that a life that does not end fails with what was seen of it. The two tests run alone: beside others, a
 * machine of two cores may answer later than the three seconds after which Bolt answers 404.
 */
const RESTARTS = { timeout: 120_000 };

describe("replicas are restarted one after the other while people work", RESTARTS, () => {
  test("over HTTP no request fails, even behind a balancer that only checks /readyz", async ({
    onTestFinished,
  }) => {
    const lane = await startReplicaLane(server, { replicas: 3, entrance: "http", timing: PATIENT });
    onTestFinished(() => lane.stop());
    const knocking = await knockThroughBalancer(lane.world);
    expect(await livedThroughRestarts(lane)).toEqual([]);
    const { asked, refused } = await knocking.stop();
    expect(refused).toEqual([]);
    expect(asked).toBeGreaterThan(50);
    expect(lane.refused).toEqual([]);
    await expectAllDecidedOnce(lane);
  });

  /** If a payload is lost because the app closes the socket, Slack tells the person, who presses again. */
  test("in Socket Mode nothing is lost or duplicated", async ({ onTestFinished }) => {
    const lane = await startReplicaLane(server, { replicas: 3 });
    onTestFinished(() => lane.stop());
    expect(await livedThroughRestarts(lane)).toEqual([]);
    await expectAllDecidedOnce(lane);
  });
});
