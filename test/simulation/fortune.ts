// The choices of a history: made by a seed, or by a script that names each fault.

import { type Chance, chanceOf } from "../make/chance.ts";
import { FOCI, FOCUS_NAMES, type Focus, type FocusName } from "./focus.ts";

export type Fortune = {
  /** Chooses how something goes. The first way is the one without a fault; every other is a fault. */
  way<Way extends string>(place: string, ways: readonly [Way, ...Way[]]): Way;
  /** Chooses how long something takes (ms). */
  within(least: number, most: number): number;
  /** Stands in for `Math.random`. */
  random(): number;
  /** How long a late post of a message is under way (ms). Null: as long as every late call. */
  latePostMs(): number | null;
};

export type Seeded = Fortune & {
  /** Chooses what people and the service do next. */
  readonly chance: Chance;
  readonly focus: Focus;
  /** How many of a thousand calls go wrong. */
  perMille: number;
};

/** Calls around which many rare states lie. Without a focus, a seed chooses one of them, and it goes wrong more often than the others. */
const OFTEN_WRONG = [/^POST run$/, /^POST decision$/, /^POST decision answers$/] as const;
const TIMES_MORE = 6;
/** How many of a thousand calls of the focus go wrong, while any call may. */
const PER_MILLE_IN_FOCUS = 400;

/** Each kind of question has its own sequence of numbers, so that one more question of a kind changes no other kind. */
export function seededFortune(seed: number, perMille: number, named: FocusName = "none"): Seeded {
  const [chance, faults, times] = [chanceOf(seed), chanceOf(seed ^ 0x5bd1e995), chanceOf(seed ^ 0x27d4eb2f)];
  const focus: Focus = FOCI[named];
  const place = focus.often?.place ?? chanceOf(seed ^ 0x165667b1).of(OFTEN_WRONG);
  const { ways: only, perMille: inFocus = PER_MILLE_IN_FOCUS } = focus.often ?? { ways: null };
  const perMilleOften = (): number =>
    focus.often === undefined || seeded.perMille === 0 ? seeded.perMille * TIMES_MORE : inFocus;
  const seeded: Seeded = {
    chance,
    focus,
    perMille,
    way: (called, ways) => {
      const isOften = place.test(called);
      if (ways.length <= 1 || faults.below(1_000) >= (isOften ? perMilleOften() : seeded.perMille))
        return ways[0];
      const wrong = ways.slice(1).filter((way) => !isOften || (only?.includes(way) ?? true));
      return wrong[faults.below(wrong.length)] ?? ways[0];
    },
    within: (least, most) => least + times.below(most - least + 1),
    random: () => times.below(2 ** 30) / 2 ** 30,
    latePostMs: () => (focus.latePostMs === undefined ? null : seeded.within(...focus.latePostMs)),
  };
  return seeded;
}

/** Nearly half of the seeds choose a focus. */
export function focusOf(seed: number): FocusName {
  const chance = chanceOf(seed ^ 0x2c1b3c6d);
  return chance.below(2) === 0 ? "none" : chance.of(FOCUS_NAMES);
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
    latePostMs: () => null,
  };
  return scripted;
}
