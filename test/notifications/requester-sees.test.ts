// A requester who no longer sees the run's channel learns nothing of its decisions.

import { expect, test } from "vitest";
import type { Person } from "#src/domain/authorization.ts";
import { REFUSED_RETRY_MS } from "#src/domain/posted-message.ts";
import { type Bench, createBench, failure } from "../make/bot.ts";
import { decided, sent } from "../make/receipts.ts";
import { REQUESTER } from "../make/run.ts";

/** Makes Slack say something else about the requester than about others. */
function sayOfRequester(bench: Bench, answer: (person: Person) => Person): void {
  const lookUp = bench.people.lookUp.bind(bench.people);
  bench.people.lookUp = async (team, user, channel, maxAgeMs) => {
    const person = await lookUp(team, user, channel, maxAgeMs);
    return user === REQUESTER ? answer(person) : person;
  };
}

test("a requester who sees the channel is told how their request was decided", async () => {
  const bench = await createBench();
  await decided(bench);
  await bench.clock.pass(5_000);
  expect(sent(bench, "answered")).toHaveLength(1);
});

test("a requester who does not see the channel is not told, and nobody is alarmed", async () => {
  const bench = await createBench();
  await decided(bench);
  sayOfRequester(bench, (person) => ({ ...person, seesChannel: false }));
  await bench.clock.pass(4 * 3_600_000);
  expect(sent(bench, "answered")).toEqual([]);
  expect(sent(bench, "receipt")).toHaveLength(1);
  expect(await bench.store.notifications(100)).toEqual([]);
});

test("while Slack does not say whether the requester sees the channel, the message waits", async () => {
  const bench = await createBench();
  await decided(bench);
  let isSilent = true;
  sayOfRequester(bench, (person) => {
    if (isSilent) throw failure("timeout");
    return person;
  });
  await bench.clock.pass(60_000);
  expect(sent(bench, "answered")).toEqual([]);
  isSilent = false;
  await bench.clock.pass(300_000);
  expect(sent(bench, "answered")).toHaveLength(1);
});

test("a requester is told once Slack shows the channel to the app again, and the wait is no error", async () => {
  const bench = await createBench();
  await decided(bench);
  let isHidden = true;
  sayOfRequester(bench, (person) => {
    if (isHidden) throw failure("channel_not_found", { retry: "never" });
    return person;
  });
  await bench.clock.pass(60_000);
  expect(sent(bench, "answered")).toEqual([]);
  isHidden = false;
  await bench.clock.pass(REFUSED_RETRY_MS + 60_000);
  expect(sent(bench, "answered")).toHaveLength(1);
  expect(bench.errors).toEqual([]);
});

test.for([true, false])(
  "after the run is deleted, who sees the channel still counts: %s",
  async (seesChannel) => {
    const bench = await createBench();
    const { id } = await decided(bench);
    let isSilent = true;
    sayOfRequester(bench, (person) => {
      if (isSilent) throw failure("timeout");
      return { ...person, seesChannel };
    });
    await bench.clock.pass(60_000);
    bench.agents.pending.delete(id);
    bench.agents.statuses.set(id, "succeeded");
    await bench.clock.pass(60_000);
    await bench.store.forget(Number.MAX_SAFE_INTEGER);
    expect(await bench.store.byRunId(id)).toBeNull();
    isSilent = false;
    await bench.clock.pass(300_000);
    expect(sent(bench, "answered")).toHaveLength(seesChannel ? 1 : 0);
  },
);
