// What a message or window says, by the ids of its blocks: the app names there what it shows, so its sentences are free to change.

import type { Block } from "../slack/model.ts";

type Drawn = { readonly blocks: readonly Block[] };

/** `id` as the app gives it; a card's, `state:approved`, may be followed by its version. */
export const says = (id: string, { blocks }: Drawn): boolean =>
  blocks.some(({ block_id = "" }) => block_id === id || block_id.startsWith(`${id}:v`));

/** The name of the card's state; empty for another message. */
export const cardState = ({ blocks }: Drawn): string =>
  /^state:(.+):v\d+$/.exec(blocks[0]?.block_id ?? "")?.[1] ?? "";
