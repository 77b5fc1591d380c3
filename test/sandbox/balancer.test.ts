import { expect, test } from "vitest";
import type { BotState } from "#sandbox/bot/bot-keeper.ts";
import { createBalancer, type Replica } from "#sandbox/bot/replicas.ts";

/** Returns replicas with only the fields that a load balancer uses. */
function replicasIn(states: readonly BotState[]): readonly Replica[] {
  return states.map((state, i) => ({ name: `replica ${i + 1}`, state: () => state }) as Replica);
}

function turns(count: number, states: readonly BotState[]): string[] {
  const next = createBalancer(() => replicasIn(states));
  return Array.from({ length: count }, () => next()?.name ?? "none").toSorted();
}

test("requests go to all replicas in turn", () => {
  expect(turns(6, ["running", "running", "running"])).toEqual(
    [1, 1, 2, 2, 3, 3].map((each) => `replica ${each}`),
  );
});

test("a stopped or starting replica gets no requests, and a paused one gets its share, because the pause is not known", () => {
  expect(turns(4, ["stopped", "running", "starting", "paused"])).toEqual(
    [2, 2, 4, 4].map((each) => `replica ${each}`),
  );
});

test("if no replica is up, a request goes to the first one and fails", () => {
  expect(turns(2, ["stopped", "starting"])).toEqual(["replica 1", "replica 1"]);
  expect(turns(1, [])).toEqual(["none"]);
});
