import { afterAll, describe, expect, test } from "vitest";
import { type Lane, startLane } from "./lane.ts";
import { type Life, live, newLife, receiptsOf } from "./life.ts";
import { points } from "./points.ts";
import { planStrike } from "./strike.ts";
import { watch, type Witness } from "./verdict.ts";

const all: Lane[] = [];
const free: Lane[] = [];
const lives: {
  readonly name: string;
  readonly witness: Witness;
  readonly lane: Lane;
  readonly life: Life;
}[] = [];

async function takeLane(): Promise<Lane> {
  const lane = free.pop();
  if (lane !== undefined) return lane;
  const started = await startLane();
  all.push(started);
  return started;
}

afterAll(() => Promise.all(all.map((lane) => lane.stop())));

describe(
  "kill -9 at a named point loses nothing and duplicates nothing",
  { concurrent: true, timeout: 200_000 },
  () => {
    test.for(Object.entries(points))("%s", async ([name, point]) => {
      const lane = await takeLane();
      const life = newLife(lane.world, name, point.task ?? "deploy billing", {
        verdict: point.verdict ?? "approve",
        together: point.together === true,
      });
      const witness = watch(lane.world, life);
      lives.push({ name, witness, lane, life });
      const strike = planStrike(lane, life, point);
      await Promise.all([live(lane, life, strike.before), strike.done]);
      // A lane whose test failed may be in any state, so the next test gets another one.
      free.push(lane);
      expect(witness.verdict().broken).toEqual([]);
      expect(await lane.audit()).toMatchObject({ ok: true });
    });
  },
);

test("nothing is duplicated later, either", async () => {
  await Promise.all(free.map((lane) => lane.quiet()));
  const broken = lives.flatMap(({ name, witness }) =>
    witness.verdict().broken.map((each) => `${name}: ${each}`),
  );
  expect(broken).toEqual([]);
  const silent = lives.filter(
    ({ lane, life }) => life.attempts.some(({ kept }) => kept) && receiptsOf(lane.world, life).length === 0,
  );
  expect(
    silent.map(({ name }) => name),
    "decided without a receipt",
  ).toEqual([]);
});

test("no kill makes the bot report tampering", async () => {
  const found = await Promise.all(all.map((lane) => lane.findings()));
  expect(found.flat()).toEqual([]);
});

test("more than thirty points are tried, each with a unique name", () => {
  expect(Object.keys(points).length).toBeGreaterThan(30);
});
