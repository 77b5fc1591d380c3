// The choices of a history: made by a seed, or by a script that names each fault.

import { type Chance, chanceOf } from "../make/chance.ts";

export type Fortune = {
  /** Chooses how something goes. The first way is the one without a fault; every other is a fault. */
  way<Way extends string>(place: string, ways: readonly [Way, ...Way[]]): Way;
  /** Chooses how long something takes (ms). */
  within(least: number, most: number): number;
  /** Stands in for `Math.random`. */
  random(): number;
};

export type Seeded = Fortune & {
  /** Chooses what people and the service do next. */
  readonly chance: Chance;
  /** How many of a thousand calls go wrong. */
  perMille: number;
};

/** Calls around which most rare states lie. A seed chooses one of them, and it goes wrong more often than the others. */
const OFTEN_WRONG = ["POST run", "POST decision", "POST decision answers"] as const;
const TIMES_MORE = 6;

/** Each kind of question has its own sequence of numbers, so that one more question of a kind changes no other kind. */
export function seededFortune(seed: number, perMille: number): Seeded {
  const [chance, faults, times] = [chanceOf(seed), chanceOf(seed ^ 0x5bd1e995), chanceOf(seed ^ 0x27d4eb2f)];
  const often = chanceOf(seed ^ 0x165667b1).of(OFTEN_WRONG);
  const seeded: Seeded = {
    chance,
    perMille,
    way: (place, ways) =>
      ways.length > 1 && faults.below(1_000) < seeded.perMille * (place === often ? TIMES_MORE : 1)
        ? (ways[1 + faults.below(ways.length - 1)] ?? ways[0])
        : ways[0],
    within: (least, most) => least + times.below(most - least + 1),
    random: () => times.below(2 ** 30) / 2 ** 30,
  };
  return seeded;
}

/** Called at each choice. Returns the index of a way: 0 is the one without a fault, every other is a fault. */
export type Choose = (ways: readonly string[], place: string) => number;

export type Scripted = Fortune & {
  /** Whether anything may go wrong now. */
  isOpen: boolean;
  /** Overrides how the next call at a place goes. */
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
