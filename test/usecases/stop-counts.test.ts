// What the message about a stop counts, after the stop's denial did not take effect, and which approvals it could not stop.

import { describe, expect, test } from "vitest";
import { MAX_AUTOMATIC_DENIALS } from "#src/domain/applied-rule.ts";
import { deniedByStop, notStopped } from "#src/domain/stop-report.ts";
import { renderKey } from "#src/domain/render-key.ts";
import { STOPPED } from "#src/domain/slot.ts";
import type { RunId } from "#src/domain/ids.ts";
import { type Bench, clickOn, createBench } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { APPROVER, CHANNEL, TEAM } from "../make/run.ts";

const NONE = { denied: 0, confirmed: 0, notConfirmed: 0, refused: 0, expired: 0 };
const BY = { team: TEAM, user: APPROVER };

async function stopped(answer: Bench["agents"]["answer"], prepare = (_bench: Bench, _id: RunId): void => {}) {
  const bench = await createBench();
  const { id } = await bench.withCard();
  prepare(bench, id);
  bench.agents.answer = answer;
  await bench.flow.stopRun.stop(await pressOn(bench, id));
  await bench.clock.pass(20_000);
  return { bench, id };
}

const pressOn = async (bench: Bench, id: RunId) => {
  const { key: run, stop } = await bench.run(id);
  return { ...BY, channel: CHANNEL, run, shown: stop?.at ?? null };
};

/** The service counts in the request how long it has waited. */
function changingRequest({ agents }: Bench, id: RunId): void {
  let waiting = 0;
  agents.beforeLook = () => {
    waiting += 1;
    agents.pending.set(id, [{ id: "apr_1", content: { action: "delete it", waiting } }]);
    return Promise.resolve();
  };
}

/** The denial never leaves, the stop is lifted, and the request changes, so it waits again. */
async function takenBack() {
  const busy = { type: "later", afterMs: null, why: "busy", code: "http_503" } as const;
  const { bench, id } = await stopped(() => Promise.resolve(busy));
  await bench.flow.stopRun.lift(await pressOn(bench, id));
  bench.agents.pending.set(id, [{ id: "apr_1", content: { action: "something else" } }]);
  await bench.clock.pass(20_000);
  return { bench, id };
}

test("a request that a person decides after the service refused its denial is not counted", async () => {
  const { bench, id } = await stopped(() => Promise.resolve({ type: "refused", words: "no" }));
  bench.agents.answer = () => Promise.resolve({ type: "confirmed" });
  const opened = await bench.flow.openForm.open(clickOn(await bench.run(id)).click, "deny");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  await bench.flow.submitDecision(BY, opened.value.ticket.nonce, "no");
  await bench.clock.pass(20_000);
  const run = await bench.run(id);
  const delivery = { type: "confirmed" };
  expect(run.approvals[0]?.state).toMatchObject({ decision: { by: BY }, delivery });
  expect(deniedByStop(run)).toEqual(NONE);
});

test("a request whose denial the service refused waits for people, even if it changes with each look", async () => {
  const { bench, id } = await stopped(
    () => Promise.resolve({ type: "refused", words: "no" }),
    changingRequest,
  );
  const run = await bench.run(id);
  expect(bench.agents.resolved.map(({ verdict }) => verdict)).toEqual(["deny"]);
  expect(run.approvals).toMatchObject([{ state: { type: "pending" } }]);
  expect(deniedByStop(run)).toEqual({ ...NONE, refused: 1 });
});

test("a request that changes with each look waits for people once many denials could not be sent", async () => {
  const busy = { type: "later", afterMs: null, why: "busy", code: "http_429" } as const;
  const { bench, id } = await stopped(() => Promise.resolve(busy), changingRequest);
  await bench.clock.pass(600_000);
  const run = await bench.run(id);
  const [{ state, past } = {}] = run.approvals;
  expect([state?.type, past?.length]).toEqual(["pending", MAX_AUTOMATIC_DENIALS]);
  expect(deniedByStop(run)).toEqual({ ...NONE, refused: 1 });
});

test("a request that changes after the stop is lifted, and so waits again, is not counted", async () => {
  const { bench, id } = await takenBack();
  const run = await bench.run(id);
  expect(run.approvals[0]?.state.type).toBe("pending");
  expect(deniedByStop(run)).toEqual(NONE);
});

test("a denial that was taken back is not counted when its request ends later", async () => {
  const { bench, id } = await takenBack();
  bench.agents.pending.set(id, []);
  bench.agents.statuses.set(id, "succeeded");
  await bench.clock.pass(60_000);
  const run = await bench.run(id);
  expect(run.approvals[0]?.state.type).toBe("closed");
  expect(deniedByStop(run)).toEqual(NONE);
});

test("a denial that the service refused is not counted as unconfirmed when the run ends", async () => {
  const { bench, id } = await stopped(() => Promise.resolve({ type: "refused", words: "no" }));
  bench.agents.pending.set(id, []);
  bench.agents.statuses.set(id, "succeeded");
  await bench.clock.pass(60_000);
  expect(deniedByStop(await bench.run(id))).toEqual(NONE);
});

test("an approval without an answer is named as not stopped, and so is what becomes of it", async () => {
  const bench = await createBench();
  const { id, click } = await bench.withCard();
  const lost = { type: "unsure", why: "no answer", code: "timeout" } as const;
  bench.agents.answer = () => Promise.resolve(lost);
  const opened = await bench.flow.openForm.open(click, "approve");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  await bench.flow.submitDecision(BY, opened.value.ticket.nonce, "yes");
  await bench.clock.pass(500);
  await bench.flow.stopRun.stop(await pressOn(bench, id));
  const fates = async () => notStopped(await bench.run(id)).named.map(({ fate }) => fate);
  expect(await fates()).toEqual(["sent"]);
  await bench.clock.pass(60_000);
  expect(await fates()).toEqual(["sent-unconfirmed"]);
  const run = await bench.run(id);
  expect(run.posts[STOPPED]).toMatchObject({ type: "up", shows: renderKey(run, STOPPED) });
  expect(bench.agents.resolved.map(({ verdict }) => verdict)).toEqual(["approve"]);
});

/** The request expires here while nobody decides it, and then the run is stopped. */
async function stoppedAfterExpiry(listed: readonly string[], answer?: Bench["agents"]["answer"]) {
  const bench = await createBench();
  bench.policy = aPolicy({ expiry: { afterMs: 60_000, outcome: "nothing" } });
  const { id } = await bench.withCard();
  await bench.clock.pass(90_000);
  const expired = (await bench.run(id)).approvals.map(({ state }) => state);
  expect(expired).toMatchObject([{ type: "closed", cause: "expired" }]);
  bench.agents.answer = answer ?? bench.agents.answer;
  bench.agents.pending.set(id, listed);
  await bench.flow.stopRun.stop(await pressOn(bench, id));
  await bench.clock.pass(60_000);
  const run = await bench.run(id);
  return {
    verdicts: bench.agents.resolved.map(({ verdict }) => verdict),
    run,
    state: run.approvals[0]?.state,
  };
}

describe("a request that expired here", () => {
  test("is denied by a stop while the service still lists it", async () => {
    const { verdicts, run, state } = await stoppedAfterExpiry(["apr_1"]);
    expect(verdicts).toEqual(["deny"]);
    expect(state).toMatchObject({
      decision: { by: null, stoppedBy: APPROVER },
      delivery: { type: "confirmed" },
    });
    expect(deniedByStop(run)).toEqual({ ...NONE, denied: 1, confirmed: 1 });
  });

  test("is denied once, and expires again, if the service refuses that", async () => {
    const refuses = () => Promise.resolve({ type: "refused", words: "no" } as const);
    const { verdicts, run, state } = await stoppedAfterExpiry(["apr_1"], refuses);
    expect(verdicts).toEqual(["deny"]);
    expect(state).toMatchObject({ type: "closed", cause: "expired" });
    expect(run.approvals[0]?.past).toMatchObject([{ cause: "refused" }]);
    expect(deniedByStop(run)).toEqual({ ...NONE, expired: 1 });
    expect(run.posts[STOPPED]).toMatchObject({ type: "up", shows: renderKey(run, STOPPED) });
    expect(renderKey(run, STOPPED)).toContain("expired 1");
  });

  test("calls people once, although it expires again after the service refused the stop's denial", async () => {
    const refuses = () => Promise.resolve({ type: "refused", words: "no" } as const);
    const { run } = await stoppedAfterExpiry(["apr_1"], refuses);
    expect(run.approvals[0]?.calls).toMatchObject([{ says: "last" }, { says: "over" }]);
    expect(
      Object.keys(run.posts)
        .filter((slot) => slot.startsWith("call "))
        .toSorted(),
    ).toEqual(["call 1 apr_1", "call 2 apr_1"]);
    expect(run.posts["call 2 apr_1"]).toMatchObject({ shows: "over of 1 closed" });
  });

  test("is not counted by a later stop if the service refused the denial of the policy", async () => {
    const bench = await createBench();
    bench.policy = aPolicy({ expiry: { afterMs: 60_000, outcome: "deny" } });
    bench.agents.answer = () => Promise.resolve({ type: "refused", words: "no" } as const);
    const { id } = await bench.withCard();
    await bench.clock.pass(90_000);
    expect((await bench.run(id)).approvals).toMatchObject([{ state: { type: "closed", cause: "expired" } }]);
    bench.agents.pending.set(id, []);
    await bench.flow.stopRun.stop(await pressOn(bench, id));
    await bench.clock.pass(60_000);
    expect(deniedByStop(await bench.run(id))).toEqual(NONE);
  });

  test("stays as it is if the service no longer lists it", async () => {
    const { verdicts, state } = await stoppedAfterExpiry([]);
    expect(verdicts).toEqual([]);
    expect(state).toMatchObject({ type: "closed", cause: "expired" });
  });
});
