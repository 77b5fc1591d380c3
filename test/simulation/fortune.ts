// Where a history has a choice. A seed decides, or a script that names each fault.

import { type Chance, chanceOf } from "../make/chance.ts";

export type Fortune = {
  /** How one thing goes. The first way is how it goes when all is well; every other is a fault. */
  way<Way extends string>(place: string, ways: readonly [Way, ...Way[]]): Way;
  /** How long one thing takes (ms), between the two. */
  within(least: number, most: number): number;
  /** As `Math.random`. */
  random(): number;
};

export type Seeded = Fortune & {
  /** What people and the service do next. */
  readonly chance: Chance;
  /** Of a thousand calls, so many go wrong. */
  perMille: number;
};

/** Each kind of question has its own row of numbers, so that a further question of one kind changes no other. */
export function seededFortune(seed: number, perMille: number): Seeded {
  const [chance, faults, times] = [chanceOf(seed), chanceOf(seed ^ 0x5bd1e995), chanceOf(seed ^ 0x27d4eb2f)];
  const seeded: Seeded = {
    chance,
    perMille,
    way: (_place, ways) =>
      ways.length > 1 && faults.below(1_000) < seeded.perMille
        ? (ways[1 + faults.below(ways.length - 1)] ?? ways[0])
        : ways[0],
    within: (least, most) => least + times.below(most - least + 1),
    random: () => times.below(2 ** 30) / 2 ** 30,
  };
  return seeded;
}

/** Asked wherever the world has a choice, for the number of a way: 0 is how it goes when all is well, every other one is a fault. */
export type Choose = (ways: readonly string[], place: string) => number;

export type Scripted = Fortune & {
  /** Whether anything may go wrong now. */
  isOpen: boolean;
  /** How the next call at a place goes in any case. */
  readonly fixed: Map<string, string>;
};

/** Times are always the shortest, and intervals have no jitter. */
export function scriptedFortune(choose: Choose): Scripted {
  const scripted: Scripted = {
    isOpen: false,
    fixed: new Map(),
    way: (place, ways) => {
      const fixed = ways.find((way) => way === scripted.fixed.get(place));
      if (fixed !== undefined && scripted.fixed.delete(place)) return fixed;
      return scripted.isOpen ? (ways[choose(ways, place)] ?? ways[0]) : ways[0];
    },
    within: (least) => least,
    random: () => 0,
  };
  return scripted;
}
