import { expect, test } from "vitest";
import type { BotState } from "#sandbox/bot/bot-keeper.ts";
import { createBalancer, type Replica } from "#sandbox/bot/replicas.ts";

/** Only what a load balancer sees. */
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

test("one that is stopped or starting gets none; one that is paused gets its share, since nobody knows yet", () => {
  expect(turns(4, ["stopped", "running", "starting", "paused"])).toEqual(
    [2, 2, 4, 4].map((each) => `replica ${each}`),
  );
});

test("with none up a request goes to the first in vain", () => {
  expect(turns(2, ["stopped", "starting"])).toEqual(["replica 1", "replica 1"]);
  expect(turns(1, [])).toEqual(["none"]);
});
