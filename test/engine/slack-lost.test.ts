// Slack gives a click to any replica that is connected. So a replica without a connection stops its clocks only if no other one has it.

import { describe, expect, test } from "vitest";
import { ageAt } from "#src/domain/follow-up.ts";
import type { RunId } from "#src/domain/ids.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { createPauseClocks } from "#src/engine/pause-clocks.ts";
import type { SlackHealth } from "#src/ports/monitoring.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { quietLog } from "../make/quiet.ts";

const MIN = 60_000;
const TIMED = aPolicy({ followUp: NO_FOLLOW_UP, expiry: { afterMs: 20 * MIN, outcome: "deny" } });

/** Another replica on the same store, which holds no shard. A test changes what it knows of Slack. */
type Other = {
  connection: ReturnType<SlackHealth["connection"]>;
  tokenRefusal: string | null;
  readonly stop: () => Promise<void>;
};

function replicaBeside({ store, clock }: Bench): Other {
  const slackHealth = {
    connection: () => other.connection,
    tokenRefusal: () => other.tokenRefusal,
    unanswered: () => null,
  };
  const clocks = createPauseClocks({
    store,
    clock,
    slackHealth,
    engine: {
      holdsShard: () => false,
      onPlan: () => undefined,
      change: () => Promise.reject(failure("not_held")),
      changeAnywhere: () => Promise.reject(failure("not_held")),
    },
    breaker: { state: () => ({ type: "answers" }) },
    log: quietLog([], []),
    isAlone: () => false,
  });
  const other: Other = { connection: "connected", tokenRefusal: null, stop: () => clocks.stop() };
  clocks.start();
  return other;
}

async function waiting() {
  const bench = await createBench();
  bench.policy = TIMED;
  const { id } = await bench.withCard();
  const other = replicaBeside(bench);
  await bench.clock.pass(MIN);
  return { bench, id, other };
}

/** From the next renewal on, the bot knows that it shares the runs. */
function shares({ store }: Bench): void {
  const renew = store.renew.bind(store);
  store.renew = async (...args) => ({ ...(await renew(...args)), replicas: 2 });
}

const approvalOf = async (bench: Bench, id: RunId) => {
  const [approval] = (await bench.run(id)).approvals;
  if (approval === undefined) throw new Error("no approval");
  return approval;
};
const pausesOf = async (bench: Bench, id: RunId) => (await approvalOf(bench, id)).followUp?.pauses ?? [];
const minutesOld = async (bench: Bench, id: RunId) =>
  Math.round(ageAt(await approvalOf(bench, id), bench.clock.monotonic()) / MIN);

describe("while another replica is connected to Slack", () => {
  test.each(["lost", "refused", "starting"] as const)(
    "the clocks of a replica whose connection is %s go on, so its requests expire in time",
    async (connection) => {
      const { bench, id } = await waiting();
      bench.connection = connection;
      await bench.clock.pass(10 * MIN);
      expect(await pausesOf(bench, id)).toEqual([]);
      await bench.clock.pass(10 * MIN);
      expect(bench.agents.resolved.map(({ verdict }) => verdict)).toEqual(["deny"]);
    },
  );

  test("the clocks stop all the same if this replica's own calls to Slack fail, because it verifies who decided", async () => {
    const { bench, id } = await waiting();
    const first = bench.clock.monotonic();
    bench.connection = "lost";
    bench.unanswered = { first, newest: first + MIN };
    await bench.clock.pass(5 * MIN);
    expect(await pausesOf(bench, id)).toMatchObject([{ why: "slack", from: first, until: null }]);
  });
});

test("once no replica is connected, the clocks stop from the last heartbeat on, until one is connected again", async () => {
  const { bench, id, other } = await waiting();
  bench.connection = "lost";
  await bench.clock.pass(8 * MIN);
  other.connection = "lost";
  await bench.clock.pass(15 * MIN);
  expect(await pausesOf(bench, id)).toMatchObject([{ why: "slack", until: null }]);
  expect(await minutesOld(bench, id)).toBe(9);
  other.connection = "connected";
  await bench.clock.pass(6 * MIN);
  expect(await pausesOf(bench, id)).toMatchObject([{ until: expect.any(Number) as number }]);
  expect(await minutesOld(bench, id)).toBe(15);
});

test("a replica whose token Slack refuses vouches for nothing, because it can verify no one", async () => {
  const { bench, id, other } = await waiting();
  other.tokenRefusal = "token_revoked";
  bench.connection = "lost";
  await bench.clock.pass(5 * MIN);
  expect(await pausesOf(bench, id)).toMatchObject([{ why: "slack", until: null }]);
});

test("the old heartbeat of a replica that is gone ends no pause after a restart", async () => {
  const { bench, id, other } = await waiting();
  await other.stop();
  bench.connection = "lost";
  await bench.clock.pass(5 * MIN);
  bench.connection = "starting";
  await bench.restart();
  await bench.clock.pass(5 * MIN);
  expect(await pausesOf(bench, id)).toMatchObject([{ why: "slack", until: null }]);
});

test("a connected replica says so every quarter of a minute if it is not alone, and never if it is", async () => {
  const bench = await createBench();
  const written: string[] = [];
  const put = bench.store.putDocument.bind(bench.store);
  bench.store.putDocument = (name, value) => (written.push(name), put(name, value));
  const beats = () => written.splice(0).filter((name) => name === "slack connected at").length;
  await bench.clock.pass(5 * MIN);
  expect(beats()).toBe(0);
  shares(bench);
  await bench.clock.pass(MIN);
  beats();
  await bench.clock.pass(5 * MIN);
  expect(beats()).toBe(20);
  bench.connection = "lost";
  await bench.clock.pass(5 * MIN);
  expect(beats()).toBe(0);
});
