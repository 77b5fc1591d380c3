// Every field that the bot reads from Slack: the zod shapes of `src/adapters/slack`, each with the type that it reads.

import type { z } from "zod";
import * as answers from "#src/adapters/slack/answers.ts";
import * as payloads from "#src/adapters/slack/payloads.ts";
import type { PublishedName } from "./published-types.ts";

type Reads = {
  readonly shape: z.ZodType;
  /** The types that the shape reads. One match is enough if it reads several kinds of payload. */
  readonly from: readonly PublishedName[];
  /** The place in the type where the shape begins. */
  readonly at?: readonly string[];
};

const event = (shape: z.ZodType, from: PublishedName): Reads => ({ shape, from: [from], at: ["event"] });
const of = (shape: z.ZodType, ...from: PublishedName[]): Reads => ({ shape, from });

export const READS: { readonly [shape: string]: readonly Reads[] } = {
  commandPayload: [of(payloads.commandPayload, "slash_commands")],
  clickPayload: [of(payloads.clickPayload, "block_actions")],
  menuPayload: [of(payloads.menuPayload, "block_actions")],
  privateClickPayload: [of(payloads.privateClickPayload, "block_actions")],
  windowClickPayload: [of(payloads.windowClickPayload, "block_actions")],
  homeClickPayload: [of(payloads.homeClickPayload, "block_actions")],
  queueClickPayload: [of(payloads.queueClickPayload, "block_actions")],
  choicePayload: [of(payloads.choicePayload, "block_actions")],
  submitPayload: [of(payloads.submitPayload, "view_submission")],
  shortcutPayload: [of(payloads.shortcutPayload, "message_action")],
  homeOpenedEvent: [event(payloads.homeOpenedEvent, "app_home_opened")],
  messageDeletedEvent: [event(payloads.messageDeletedEvent, "message")],
  mentionEvent: [event(payloads.mentionEvent, "app_mention")],
  personsOwn: [event(payloads.personsOwn, "app_mention")],
  memberJoinedEvent: [event(payloads.memberJoinedEvent, "member_joined_channel")],
  mentionBody: [of(payloads.mentionBody, "app_mention")],
  payloadOrigin: [of(payloads.payloadOrigin, "slash_commands", "view_submission", "app_mention")],

  userAnswer: [
    of(answers.userAnswer, "users.info"),
    { shape: answers.userAnswer.shape.user, from: ["users.list"], at: ["members", "[]"] },
  ],
  listAnswer: [of(answers.listAnswer, "users.list")],
  channelAnswer: [of(answers.channelAnswer, "conversations.info")],
  channelsAnswer: [of(answers.channelsAnswer, "users.conversations")],
  groupAnswer: [of(answers.groupAnswer, "usergroups.users.list")],
  membersAnswer: [of(answers.membersAnswer, "conversations.members")],
  historyAnswer: [
    of(answers.historyAnswer, "conversations.history"),
    of(answers.historyAnswer, "conversations.replies"),
  ],
  postedAnswer: [of(answers.postedAnswer, "chat.postMessage")],
  postedPlace: [of(answers.postedPlace, "chat.postMessage")],
  botAnswer: [of(answers.botAnswer, "bots.info")],
  uploadAnswer: [of(answers.uploadAnswer, "files.getUploadURLExternal")],
  scopedAnswer: [of(answers.scopedAnswer, "auth.test")],
  scopeRefusal: [of(answers.scopeRefusal, "users.info")],
  authAnswer: [of(answers.authAnswer, "auth.test")],
};

/** Returns the names of all shapes that the two files export. */
export const exportedShapes = (): readonly string[] =>
  Object.entries({ ...answers, ...payloads }).flatMap(([name, held]) =>
    typeof held === "object" && "_zod" in held ? [name] : [],
  );

type Def = {
  readonly type: string;
  readonly shape?: { readonly [field: string]: z.ZodType };
  readonly element?: z.ZodType;
  readonly items?: readonly z.ZodType[];
  readonly valueType?: z.ZodType;
  readonly innerType?: z.ZodType;
  readonly in?: z.ZodType;
  readonly options?: readonly z.ZodType[];
};

/** Returns the paths of all fields of a shape. `[]` is an item of a list, and `*` is a value of a record. */
export function pathsIn(shape: z.ZodType): readonly (readonly string[])[] {
  const def = shape._zod.def as unknown as Def;
  const below = (name: string, inner: z.ZodType): (readonly string[])[] => {
    const deeper = pathsIn(inner);
    return deeper.length === 0 ? [[name]] : deeper.map((path) => [name, ...path]);
  };
  switch (def.type) {
    case "object":
      return Object.entries(def.shape ?? {}).flatMap(([name, inner]) => below(name, inner));
    case "array":
      return def.element === undefined ? [] : below("[]", def.element);
    case "tuple":
      return (def.items ?? []).flatMap((inner) => below("[]", inner));
    case "record":
      return def.valueType === undefined ? [] : below("*", def.valueType);
    case "union":
      return (def.options ?? []).flatMap(pathsIn);
    default: {
      const inner = def.innerType ?? def.in;
      return inner === undefined ? [] : pathsIn(inner);
    }
  }
}
