// The state of a card, read from the id of its first block. Tests wait for it, so its title and sentences are free to change.

import { CARD_STATE_BLOCK } from "#src/adapters/slack/names.ts";
import type { CardStateName } from "#src/adapters/slack/blocks/card-state.ts";

type Drawn = { readonly blocks: readonly { readonly block_id?: unknown }[] };

/** Null: the message is not the card of an approval. */
export function cardStateOf({ blocks }: Drawn): string | null {
  const [first] = blocks;
  const id = first?.block_id;
  if (typeof id !== "string" || !id.startsWith(CARD_STATE_BLOCK)) return null;
  return id.slice(CARD_STATE_BLOCK.length).replace(/:v\d+$/, "");
}

export const isInState = (message: Drawn, ...states: readonly CardStateName[]): boolean =>
  states.some((each) => cardStateOf(message) === each);
