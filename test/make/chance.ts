// Reproducible random numbers.

export type Chance = { below(limit: number): number; of<Item>(items: readonly [Item, ...Item[]]): Item };

/** Mulberry32, a small generator that returns the same numbers for the same seed. */
export function chanceOf(seed: number): Chance {
  let state = seed >>> 0;
  const below = (limit: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  };
  return { below, of: (items) => items[below(items.length)] ?? items[0] };
}
