// Many days in one world. By day there are acts and faults, as in a random history. At night there are no faults, everything comes to rest,
// and rows and alarms are counted.

import type { Rule } from "#src/domain/policy/policy.ts";
import { seededFortune } from "./fortune.ts";
import { auditIsWhole, comeToRest } from "./judge-at-rest.ts";
import { heal, live } from "./random-history.ts";
import { RULES } from "./rules.ts";
import { inWorld, type SimulatedWorld } from "./world.ts";

/** Counts at the end of a day, by name: the rows of each table, and the alarms that are set. */
export type Night = ReadonlyMap<string, number>;

const DAY_MS = 24 * 60 * 60_000;
/** Short enough that some runs are deleted on most days of a month. */
const KEEP_FINISHED_DAYS = 7;

/** Plays many days with one process. Several processes look for changes so often that a month would take hours. */
export async function playDays(
  seed: number,
  days: number,
  onNight: (night: Night) => void,
): Promise<SimulatedWorld> {
  const fortune = seededFortune(seed, 0);
  const rule: Partial<Rule> = RULES["held for five seconds"];
  const keepFinishedMs = KEEP_FINISHED_DAYS * DAY_MS;
  return inWorld(fortune, { replicas: 1, rule, keepFinishedMs }, async (world) => {
    for (let day = 0; day < days; day += 1) {
      const morning = world.timeline.now;
      world.healedAt = null;
      await live(world, fortune);
      endAllButTheNewest(world);
      await heal(world, fortune);
      await comeToRest(world);
      onNight(await counted(world));
      // Nothing is counted after the last night, so it is not played to its end.
      if (day < days - 1) await world.pass(morning + DAY_MS - world.timeline.now);
    }
    await auditIsWhole(world);
  });
}

/** The newest run is followed through the night. */
function endAllButTheNewest({ service, timeline }: SimulatedWorld): void {
  for (const run of [...service.runs.values()].slice(0, -1)) service.end(run, "succeeded", timeline.now);
}

async function counted({ database, timeline }: SimulatedWorld): Promise<Night> {
  const rows = await timeline.during(() => database.rows());
  return new Map([...rows, ["alarms", timeline.waiting]]);
}

/** Kept forever: the audit (docs/audit.md says how to archive it), and notifications, whose buttons stay valid. */
const KEPT: ReadonlySet<string> = new Set(["audit", "audit_texts", "notifications"]);
/** Chance makes one night fuller than another. */
const BY_CHANCE = { share: 1.2, rows: 5 };

/**
 * Returns which counts grew from the second to the last third of the nights, by their medians. The first third is left out, because it
 * fills what is kept for days.
 */
export function grownIn(nights: readonly Night[]): readonly string[] {
  const third = Math.floor(nights.length / 3);
  const usual = (from: number, name: string): number => {
    const sorted = nights
      .slice(from, from + third)
      .map((night) => night.get(name) ?? 0)
      .toSorted((one, other) => one - other);
    return sorted[Math.floor(third / 2)] ?? 0;
  };
  const names = [...(nights.at(-1)?.keys() ?? [])].filter((name) => !KEPT.has(name));
  return names.flatMap((name) => {
    const [middle, last] = [usual(third, name), usual(nights.length - third, name)];
    return last <= middle * BY_CHANCE.share + BY_CHANCE.rows
      ? []
      : [`${name} grew from ${middle} to ${last}`];
  });
}
