// Recognizes a message or window by its block ids, which name what the app shows. The app's sentences can then change freely.

import type { Block } from "../slack/model.ts";

type Drawn = { readonly blocks: readonly Block[] };

/** Whether a block has this id. The id of a card, such as `state:approved`, may be followed by the card's version. */
export const says = (id: string, { blocks }: Drawn): boolean =>
  blocks.some(({ block_id = "" }) => block_id === id || block_id.startsWith(`${id}:v`));

/** The name of the card's state. Empty if the message is no card. */
export const cardState = ({ blocks }: Drawn): string =>
  /^state:(.+):v\d+$/.exec(blocks[0]?.block_id ?? "")?.[1] ?? "";

/** The service has confirmed a decision only in these states. In the others, such as on hold or not delivered, it may still change. */
const DECIDED: readonly string[] = ["approved", "denied"];

/** Whether the card waits for a decision or is decided for good. Null if it is neither. */
export function requestState(drawn: Drawn): "waits" | "decided" | null {
  const state = cardState(drawn);
  if (state === "pending") return "waits";
  return DECIDED.includes(state) ? "decided" : null;
}
