// Remembers what was drawn for one tab, so that only the changed ones of five hundred messages are drawn again.
import type { Html } from "./html.ts";
import type { Item } from "./regions.ts";

/** All values that a piece is drawn from. The piece is drawn again if one of them changes. */
export type Stamp = readonly unknown[];

export type Memory = {
  /** Starts the next drawing. Items that a drawing does not ask for are forgotten when the next one starts. */
  readonly look: () => void;
  readonly item: (
    at: { readonly list: string; readonly key: string },
    stamp: Stamp,
    draw: () => Html,
  ) => Item;
};

type Kept = { readonly stamp: Stamp; readonly item: Item };

export function createMemory(): Memory {
  let before = new Map<string, Kept>();
  let now = new Map<string, Kept>();
  return {
    look() {
      before = now;
      now = new Map();
    },
    item({ list, key }, stamp, draw) {
      const place = `${list} ${key}`;
      const kept = before.get(place);
      const fits =
        kept !== undefined && same(kept.stamp, stamp) ? kept : { stamp, item: { key, inner: draw() } };
      now.set(place, fits);
      return fits.item;
    },
  };
}

function same(a: Stamp, b: Stamp): boolean {
  return a.length === b.length && a.every((one, i) => one === b[i]);
}
