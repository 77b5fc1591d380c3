// Many days in one world: by day, acts and faults as in a random history; at night everything obeys, comes to rest, and is counted.

import type { Rule } from "#src/domain/policy/policy.ts";
import { seededFortune } from "./fortune.ts";
import { auditIsWhole, comeToRest } from "./judge-at-rest.ts";
import { heal, live, RULES } from "./random-history.ts";
import { inWorld, type SimulatedWorld } from "./world.ts";

/** What is there at the end of a day, by name: the rows of each table, and the alarms that are set. */
export type Night = ReadonlyMap<string, number>;

const DAY_MS = 24 * 60 * 60_000;
/** Short enough that most days of a month forget some runs. */
const KEEP_FINISHED_DAYS = 7;

/** One process, as several look for news so often that a month takes hours. */
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
      await world.pass(morning + DAY_MS - world.timeline.now);
    }
    await auditIsWhole(world);
  });
}

/** The newest is followed through the night. */
function endAllButTheNewest({ service, timeline }: SimulatedWorld): void {
  for (const run of [...service.runs.values()].slice(0, -1)) service.end(run, "succeeded", timeline.now);
}

async function counted({ database, timeline }: SimulatedWorld): Promise<Night> {
  const rows = await timeline.during(() => database.rows());
  return new Map([...rows, ["alarms", timeline.waiting]]);
}

/** Kept for ever: the audit (docs/deploy.md says how to archive it), and notifications, whose buttons stay valid. */
const KEPT: ReadonlySet<string> = new Set(["audit", "audit_texts", "notifications"]);
/** Chance makes one night fuller than another. */
const BY_CHANCE = { share: 1.2, rows: 5 };

/** What is usually more in the last third of the nights than in the second, though nothing keeps it. The first third fills what is kept for days. */
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
