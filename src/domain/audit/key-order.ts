// Which key may sign which entry. A key hands over to the next one in an entry that it signs itself, and signs nothing after that.
// So a retired key that is stolen cannot sign later entries.

import type { ChainedEntry } from "./hash-chain.ts";
import { isRecord, type Json } from "../json.ts";

type Entry = { readonly [field: string]: Json };

export type NamedKey = {
  /** The id, as in ChainedEntry.key. */
  readonly id: string;
  /** Base64, 32 bytes; the id is a hash of it. */
  readonly publicKey: string;
};

export type KeyChange = { readonly from: NamedKey; readonly to: NamedKey };

/** Null: the entry is about something else, or cannot be read. */
export function keyChangeIn(entry: Entry): KeyChange | null {
  const keys = entry["keys"];
  if (entry["what"] !== "key-changed" || keys === undefined || !isRecord(keys)) return null;
  const [from, to] = [named(keys["from"]), named(keys["to"])];
  return from === null || to === null ? null : { from, to };
}

function named(key: Json | undefined): NamedKey | null {
  if (key === undefined || !isRecord(key)) return null;
  const { id, publicKey } = key;
  return typeof id === "string" && typeof publicKey === "string" ? { id, publicKey } : null;
}

export type KeyOrder = {
  /** Takes entries in their order. False: this entry is signed by a key out of turn, or hands over a key that did not sign it. */
  next(row: Pick<ChainedEntry, "key">, entry: Entry): boolean;
  /** The keys that have signed so far. */
  readonly seen: ReadonlySet<string>;
};

export function createKeyOrder(): KeyOrder {
  const seen = new Set<string>();
  let due: string | null = null;
  return {
    seen,
    next({ key }, entry) {
      const inTurn = due === null || key === due;
      const handsOver = entry["what"] === "key-changed";
      const change = handsOver ? keyChangeIn(entry) : null;
      seen.add(key);
      due = change?.to.id ?? key;
      return inTurn && (!handsOver || change?.from.id === key);
    },
  };
}
