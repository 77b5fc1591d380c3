// One story (start, card, approve, outcome), played in every way in which at most two things go wrong.

import { describe, expect, test } from "vitest";
import { ApprovalId } from "#src/domain/ids.ts";
import { everySchedule, type Choose } from "./every-schedule.ts";
import type { Fate, LookFate } from "./fates.ts";
import { lawsAtRest, watchLaws } from "./laws.ts";
import { SimulatedWorld } from "./simulated-world.ts";

const APPROVAL = ApprovalId("apr_1");
const TIMES = { lateMs: 3_500, lagMs: 4_000, refusesAll: false };

/** How one effect may go: its fate, and whether the process dies before or after it takes effect. */
const WAYS: readonly { fate: Fate; dies?: "before" | "after" }[] = [
  { fate: "done" },
  { fate: "lost-before" },
  { fate: "lost-after" },
  { fate: "late" },
  { fate: "later" },
  { fate: "refused" },
  { fate: "done", dies: "before" },
  { fate: "done", dies: "after" },
];
const LOOKS: readonly LookFate[] = ["fresh", "stale", "lost", "missing", "untold", "spoiled", "named"];

/** What others may do to the approval in the meantime. */
const TWISTS: readonly ((world: SimulatedWorld) => void)[] = [
  () => undefined,
  ({ service, now }) => service.raise(APPROVAL, { action: "delete everything" }, now),
  ({ service, now }) => service.resolveElsewhere(APPROVAL, now),
  ({ service, now }) => service.list(APPROVAL, false, now),
  ({ service, now }) => service.end("canceled", null, now),
];

const one = <Way>(choose: Choose, ways: readonly Way[]): Way => {
  const way = ways[choose(ways.length)];
  if (way === undefined) throw new Error("chosen out of range");
  return way;
};

function carryAll(world: SimulatedWorld, choose: Choose): void {
  for (let step = 0; world.carried.size > 0; step += 1) {
    if (step > 200) throw new Error("effects without end");
    const [next] = world.carried.values();
    const way = next?.stage === "marked" ? one(choose, WAYS) : { fate: "done" as const };
    if (next?.stage === "waiting" && next.effect.type === "send-decision") one(choose, TWISTS)(world);
    if (way.dies === "before") world.crash();
    else world.carry(0, way.fate);
    if (way.dies === "after") world.crash();
  }
}

function story(choose: Choose): SimulatedWorld {
  const world = new SimulatedWorld(TIMES);
  watchLaws(world, 1);
  const turn = (act: () => void): void => {
    if (world.service.created.length === 0) return;
    act();
    carryAll(world, choose);
  };
  carryAll(world, choose);
  turn(() => world.service.raise(APPROVAL, { action: "delete the old certificate" }, world.now));
  turn(() => world.fetchRun(one(choose, LOOKS)));
  turn(() => world.people.open(APPROVAL, "approve", 0));
  turn(() => one(choose, TWISTS)(world));
  turn(() => world.people.submit(0, "approve", () => world.fetchRun(one(choose, LOOKS))));
  turn(() => world.wait(6_000));
  turn(() => world.fetchRun(one(choose, LOOKS)));
  turn(() => world.service.end("succeeded", "done", world.now));
  turn(() => world.fetchRun(one(choose, LOOKS)));
  world.drain();
  lawsAtRest(world);
  return world;
}

describe("start, card, approve, outcome", () => {
  test("goes through when nothing goes wrong", () => {
    const { run, service, sent } = story(() => 0);
    expect(run.approvals[0]?.state).toMatchObject({ type: "decided", delivery: { type: "confirmed" } });
    expect(service.applied).toHaveLength(1);
    expect(sent).toHaveLength(1);
    expect(run.seen?.ended).toMatchObject({ how: "succeeded", output: null });
  });

  test("keeps the laws in every schedule with at most two faults", () => {
    const played = everySchedule(2, (choose) => void story(choose));
    // A smaller number would mean that the story has become shorter.
    expect(played).toBeGreaterThan(2_500);
  });
});
