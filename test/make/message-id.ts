// Recognizes a message or view by the id of its first block. Tests wait for ids, so titles and sentences can change freely.

import type { CardStateName } from "#src/adapters/slack/blocks/card-state.ts";
import type { MessageId, PartId } from "#src/adapters/slack/blocks/message-id.ts";
import {
  commandRefusalPlain,
  commandRefusalWords,
} from "#src/adapters/slack/blocks/command-refusal-words.ts";
import { refusalPlain } from "#src/adapters/slack/blocks/refusal-words.ts";
import { CARD_STATE_BLOCK, type TASK_BLOCK, type WORD_BLOCK } from "#src/adapters/slack/names.ts";
import { FIELD_ERRORS } from "#src/adapters/slack/form-answers.ts";
import type { Refusal } from "#src/domain/authorization.ts";
import type { CommandRefusal } from "#src/domain/command-refusal.ts";

type Drawn = { readonly blocks: readonly { readonly block_id?: unknown }[] };
type FieldError = keyof typeof FIELD_ERRORS;

/** `v2` is the version of a card. `error:…` is an error at a field of a form that stays open. The last two are fields of a form. */
export type Saying =
  | MessageId
  | PartId
  | CardStateName
  | `v${number}`
  | `error:${FieldError}`
  | typeof TASK_BLOCK
  | typeof WORD_BLOCK;

/** The id of the message or, for the card of an approval, the name of its state. Null if it has no id of ours. */
export function idOf({ blocks }: Drawn): string | null {
  return cardStateOf({ blocks }) ?? firstId({ blocks });
}

/** The state of a card. Null if the message is not the card of an approval. */
export function cardStateOf({ blocks }: Drawn): string | null {
  const id = firstId({ blocks });
  if (id === null || !id.startsWith(CARD_STATE_BLOCK)) return null;
  return id.slice(CARD_STATE_BLOCK.length).replace(/:v\d+$/, "");
}

export const isInState = (message: Drawn, ...states: readonly CardStateName[]): boolean =>
  states.some((each) => cardStateOf(message) === each);

/** Whether the message or view has this id. `errors` are the errors at the fields of a form. */
export const says = (id: Saying, drawn: Drawn, errors: readonly string[] = []): boolean =>
  idOf(drawn) === id ||
  drawn.blocks.some(({ block_id }) => block_id === id) ||
  versionOf(drawn) === id ||
  errors.some((each) => fieldErrors(id).includes(each));

/** The same for the JSON of an answer to a submit. */
export const saysInJson = (id: Saying, json: string): boolean =>
  [id, ...fieldErrors(id)].some((each) => json.includes(JSON.stringify(each)));

/** Refusals that may appear at a field, except those that contain a number or a word of the rule. */
const BESIDE_FIELD = ["unverified", "reason-needed"];

/** Errors at a field have no id in Slack, so they are compared with the app's current texts. */
function fieldErrors(id: Saying): readonly string[] {
  const [kind, type = ""] = id.split(":");
  if (kind === "error") return [FIELD_ERRORS[type as FieldError]];
  if (
    kind === "command-refusal" &&
    type !== "already-watched" &&
    type !== "id-used-again" &&
    type !== "tampered"
  ) {
    const refusal = { type } as CommandRefusal;
    // Some refusals are messages of their own, and have no words here.
    const words: string | undefined = commandRefusalWords(refusal, "/agent");
    return words === undefined ? [] : [words, commandRefusalPlain(refusal, "/agent")];
  }
  if (kind !== "refusal" || !BESIDE_FIELD.includes(type)) return [];
  return (["approve", "deny"] as const).map((verdict) => refusalPlain({ type, verdict } as Refusal));
}

const versionOf = (drawn: Drawn): string | null =>
  cardStateOf(drawn) === null ? null : (/v\d+$/.exec(firstId(drawn) ?? "")?.[0] ?? null);

function firstId({ blocks }: Drawn): string | null {
  const id = blocks[0]?.block_id;
  return typeof id === "string" ? id : null;
}
