// One seed, one history: what people, the service and the machines do, in what order, and how each call goes.

import type { Chance } from "../make/chance.ts";
import { REQUESTER } from "../make/run.ts";
import { ACTS } from "./acts.ts";
import { ADMIN, CHANNELS, LEAD } from "./cast.ts";
import type { ActName, FocusName } from "./focus.ts";
import { focusOf, type Seeded, seededFortune } from "./fortune.ts";
import { auditIsWhole, comeToRest } from "./judge-at-rest.ts";
import type { Playing } from "./playing.ts";
import { RULE_NAMES, RULES } from "./rules.ts";
import { inWorld, type SimulatedWorld, type WorldOptions } from "./world.ts";

/** How many of a thousand calls go wrong. */
const FAULTS = [0, 15, 40, 100] as const;
const FAULTS_IN_FOCUS = [15, 40] as const;
const WAITS = [0, 0, 20, 200, 200, 1_000, 1_000, 3_000, 6_000, 12_000] as const;
const LONG_WAIT_MS = 35_000;
const [FEWEST, MORE] = [10, 16];

/** Checking every signature is slow. */
const WHOLE_AUDIT_EVERY = 20;

/** `focus`: if given, it replaces the focus that the seed chooses. */
export function playSeed(
  seed: number,
  {
    focus = focusOf(seed),
    ...given
  }: Pick<WorldOptions, "distrustful"> & { readonly focus?: FocusName } = {},
): Promise<SimulatedWorld> {
  const fortune = seededFortune(seed, 0, focus);
  const { chance } = fortune;
  const rule = RULES[chance.of(RULE_NAMES)];
  const replicas = chance.of([1, 1, 1, 2, 2, 3] as const);
  const options: WorldOptions = { replicas, ...given, ...(rule !== undefined && { rule }) };
  return inWorld(fortune, options, async (world) => {
    world.service.repeats = chance.of(["conflict", "record"]);
    await live(world, fortune);
    await heal(world, fortune);
    await comeToRest(world);
    if (seed % WHOLE_AUDIT_EVERY === 0) await auditIsWhole(world);
  });
}

/** Plays some acts while calls go wrong. Runs and starts of earlier days are left alone. */
export async function live(world: SimulatedWorld, fortune: Seeded): Promise<void> {
  const { chance } = fortune;
  const old = { runs: world.service.runs.size, starts: world.records.starts.length };
  await begin(world);
  fortune.perMille = chance.of(fortune.focus.often === undefined ? FAULTS : FAULTS_IN_FOCUS);
  world.isShaky = chance.below(3) > 0 && fortune.perMille > 0;
  const playing: Playing = { world, chance, old, contents: old.runs };
  const names = Object.keys(ACTS) as ActName[];
  const acts = names.flatMap((name) => Array.from({ length: fortune.focus.weights[name] }, () => ACTS[name]));
  for (let left = FEWEST + chance.below(MORE); left > 0; left -= 1) {
    const act = acts[chance.below(acts.length)];
    // Several acts may be under way at once.
    act?.(playing);
    await world.pass(waitOf(chance));
  }
}

const waitOf = (chance: Chance): number => (chance.below(30) === 0 ? LONG_WAIT_MS : chance.of(WAITS));

/** Starts a run with a request that has its card, where the interesting part begins. */
async function begin(world: SimulatedWorld): Promise<void> {
  const [process] = world.ready;
  if (process === undefined) throw new Error("no process is ready");
  await world.finish(world.people.start(process, REQUESTER, CHANNELS[0]));
  await world.pass(1_500);
  const run = [...world.service.runs.values()].at(-1);
  if (run !== undefined)
    world.service.raise(run, "apr_1" as never, { action: "delete it", version: 0 }, world.timeline.now);
  await world.pass(2_500);
}

/** The longest time until a process tries again to extend its lease. Until then, it receives answers but may store nothing. */
const LEASE_RETRY_MS = 16_000;

/** Ends all faults. */
export async function heal(world: SimulatedWorld, fortune: Seeded): Promise<void> {
  world.note("there are no faults from here on");
  fortune.perMille = 0;
  world.isShaky = false;
  world.slack.gone.clear();
  for (const process of world.processes) process.cutOff = false;
  for (const run of world.service.runs.values()) run.known = true;
  const stalledUntil = Math.max(...world.processes.map((each) => (each.alive ? each.stalledUntil : 0)));
  await world.pass(Math.max(0, stalledUntil - world.timeline.now));
  await world.pass(LEASE_RETRY_MS);
  world.healedAt = world.timeline.now;
  await world.pass(3_000);
  for (const channel of CHANNELS) await unfreeze(world, channel);
}

async function unfreeze(world: SimulatedWorld, channel: (typeof CHANNELS)[number]): Promise<void> {
  for (let tries = 0; tries < 40; tries += 1) {
    const [process] = world.ready;
    if (process !== undefined)
      for (const by of [LEAD, ADMIN])
        if (await world.finish(world.people.unfreeze(process, by, channel))) return;
    await world.pass(2_000);
  }
  world.judge.must("quiet", false, `the freeze of ${channel} cannot be lifted`);
}
