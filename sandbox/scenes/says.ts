// Recognizes a message or window by its block ids, which name what the app shows. The app's sentences can then change freely.

import type { Block } from "../slack/model.ts";

type Drawn = { readonly blocks: readonly Block[] };

/** Whether a block has this id. The id of a card, such as `state:approved`, may be followed by the card's version. */
export const says = (id: string, { blocks }: Drawn): boolean =>
  blocks.some(({ block_id = "" }) => block_id === id || block_id.startsWith(`${id}:v`));

/** The name of the card's state. Empty if the message is no card. */
export const cardState = ({ blocks }: Drawn): string =>
  /^state:(.+):v\d+$/.exec(blocks[0]?.block_id ?? "")?.[1] ?? "";
