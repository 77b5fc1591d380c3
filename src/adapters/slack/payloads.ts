// Reads the payloads of slash commands, clicks, submitted forms and events. Checks only the shape of ids: whether they are true is for
// Slack and our store to say. We do not act on an incomplete payload.

import { z } from "zod";
import { ChannelId, MessageTs, UserId } from "../../domain/ids.ts";
import type { EventLog } from "../../ports.ts";
import { DENY_REASON_BLOCK, MENTIONED, REASON_BLOCK } from "./names.ts";

const id = <Id extends string>(make: (text: string) => Id) =>
  z.string().transform((text, ctx): Id => {
    try {
      return make(text);
    } catch {
      ctx.addIssue({ code: "custom", message: "not of the expected shape" });
      return z.NEVER;
    }
  });

const user = z.object({ id: id(UserId) });

export const commandPayload = z.object({
  user_id: id(UserId),
  channel_id: id(ChannelId),
  text: z.string().default(""),
  trigger_id: z.string().min(1),
  response_url: z.string(),
});
export type CommandPayload = z.infer<typeof commandPayload>;

export const clickPayload = z.object({
  user,
  channel: z.object({ id: id(ChannelId) }),
  message: z.object({ ts: id(MessageTs) }),
  actions: z.tuple([z.object({ action_id: z.string(), block_id: z.string().optional(), value: z.string() })]),
  trigger_id: z.string().min(1),
  response_url: z.string(),
});
export type ClickPayload = z.infer<typeof clickPayload>;

/** A choice in the menu of a message. */
export const menuPayload = clickPayload.extend({
  actions: z.tuple([z.object({ action_id: z.string(), selected_option: z.object({ value: z.string() }) })]),
});
export type MenuPayload = z.infer<typeof menuPayload>;

/** A click in a private message. Slack does not keep private messages, so the payload lacks the message. */
export const privateClickPayload = clickPayload.omit({ message: true });
export type PrivateClickPayload = z.infer<typeof privateClickPayload>;

/** A click in one of our windows. */
export const windowClickPayload = z.object({
  user,
  view: z.object({ id: z.string().min(1) }),
  actions: z.tuple([z.object({ action_id: z.string(), value: z.string() })]),
});
export type WindowClickPayload = z.infer<typeof windowClickPayload>;

/** A click on the Home tab has no channel and no message. */
export const homeClickPayload = z.object({
  user,
  view: z.object({ type: z.literal("home") }),
  trigger_id: z.string().min(1),
});
export type HomeClickPayload = z.infer<typeof homeClickPayload>;

const choiceStates = z.record(
  z.string(),
  z.record(
    z.string(),
    z.object({
      selected_option: z.object({ value: z.string() }).nullish(),
      selected_conversation: z.string().nullish(),
    }),
  ),
);

/** A click in the queue, on the Home tab or in a private answer. For a private answer, Slack does not send the message. */
export const queueClickPayload = z.object({
  user,
  view: z.object({ type: z.literal("home"), state: z.object({ values: choiceStates }).nullish() }).optional(),
  state: z.object({ values: choiceStates }).nullish(),
  channel: z.object({ id: id(ChannelId) }).optional(),
  actions: z.tuple([z.object({ action_id: z.string(), value: z.string().optional() })]),
  trigger_id: z.string().min(1),
  response_url: z.string().optional(),
});
export type QueueClickPayload = z.infer<typeof queueClickPayload>;

export const homeOpenedEvent = z.object({ user: id(UserId), tab: z.enum(["home", "messages", "about"]) });

/** The only message event that the app reads. It ignores everything that people write in its channels. */
export const messageDeletedEvent = z.object({
  subtype: z.literal("message_deleted"),
  channel: id(ChannelId),
  deleted_ts: id(MessageTs),
});

/** A message that mentions us. Slack also sends this event for edits and for messages of other apps. */
export const mentionEvent = z.object({
  user: id(UserId),
  channel: id(ChannelId),
  ts: id(MessageTs),
  thread_ts: id(MessageTs).optional(),
  text: z.string(),
});
export type MentionEvent = z.infer<typeof mentionEvent>;

export const mentionBody = z.object({ event: z.object({ type: z.literal(MENTIONED) }) });
export const isMention = (body: unknown): boolean => mentionBody.safeParse(body).success;

const none = z.undefined().optional();
/** A reply that is also sent to the channel, or a message with files. People write both. */
const written = z.enum(["thread_broadcast", "file_share"]).optional();
export const personsOwn = z.object({ bot_id: none, edited: none, subtype: written });
/** Whether a person wrote the message and has not edited it. */
export const isPersonsOwn = (event: unknown): boolean => personsOwn.safeParse(event).success;

/** The shortcut in the menu of a message. */
export const shortcutPayload = z.object({
  user,
  channel: z.object({ id: id(ChannelId) }),
  message: z.object({ text: z.string().default("") }),
  trigger_id: z.string().min(1),
  response_url: z.string(),
});
export type ShortcutPayload = z.infer<typeof shortcutPayload>;

export const memberJoinedEvent = z.object({ user: z.string(), channel: id(ChannelId) });

const input = z.object({
  value: z.string().nullish(),
  selected_conversation: z.string().nullish(),
  selected_user: z.string().nullish(),
  selected_option: z.object({ value: z.string() }).nullish(),
});
const typed = z.record(z.string(), z.record(z.string(), input));

export const submitPayload = z.object({
  user,
  view: z.object({ private_metadata: z.string(), state: z.object({ values: typed }) }),
});
export type SubmitPayload = z.infer<typeof submitPayload>;

/** A choice in the menu of a form. */
export const choicePayload = z.object({
  user,
  view: z.object({
    id: z.string().min(1),
    hash: z.string(),
    private_metadata: z.string(),
    state: z.object({ values: typed }),
  }),
  actions: z.tuple([z.object({ action_id: z.string(), selected_option: z.object({ value: z.string() }) })]),
});
export type ChoicePayload = z.infer<typeof choicePayload>;

/** The id of the reason field's block. It changes whenever a preset is filled in, because Slack fills only fields in new blocks. */
export function reasonBlockOf(
  { view }: Pick<SubmitPayload, "view">,
  name: typeof REASON_BLOCK | typeof DENY_REASON_BLOCK = REASON_BLOCK,
): string | null {
  return Object.keys(view.state.values).find((block) => REASON_BLOCKS[name].test(block)) ?? null;
}

const REASON_BLOCKS = {
  [REASON_BLOCK]: new RegExp(`^${REASON_BLOCK}(?::\\d{1,6})?$`),
  [DENY_REASON_BLOCK]: new RegExp(`^${DENY_REASON_BLOCK}(?::\\d{1,6})?$`),
};

/** Returns the text typed into an input, or the id of the channel chosen there. Empty if there is neither. */
export function typedInto(payload: Pick<SubmitPayload, "view">, block: string, input: string): string {
  const field = payload.view.state.values[block]?.[input];
  return field?.value ?? field?.selected_conversation ?? "";
}

/** Returns the value of the option chosen in an input. Empty if none was chosen. */
export function chosenIn(payload: SubmitPayload, block: string, input: string): string {
  return payload.view.state.values[block]?.[input]?.selected_option?.value ?? "";
}

export type Shape<Payload> = z.ZodType<Payload>;

/** Returns null for a payload that does not have the documented shape. Logs the paths of the wrong fields, never their contents. */
export function readPayload<Shape extends z.ZodType>(
  shape: Shape,
  body: unknown,
  log: EventLog,
): z.infer<Shape> | null {
  const result = shape.safeParse(body);
  if (result.success) return result.data;
  log.warn(
    { wrong: result.error.issues.map(({ path }) => path.join(".")) },
    "a payload was not of the expected shape",
  );
  return null;
}

const idOf = z.object({ id: z.string() }).nullish().catch(null);
const word = z.string().nullish().catch(null);
const flag = z.union([z.boolean(), z.stringbool()]).optional().catch(false);

/** The fields of any payload that say where it comes from. Commands have flat fields; interactions and events have nested ones. */
export const payloadOrigin = z.object({
  type: word,
  api_app_id: word,
  team: idOf,
  team_id: word,
  enterprise: idOf,
  enterprise_id: word,
  is_enterprise_install: flag,
  user: idOf,
  user_id: word,
  view: z.object({ app_installed_team_id: word }).nullish().catch(null),
  authorizations: z
    .array(z.object({ team_id: word }))
    .nullish()
    .catch(null),
});

export type Origin = {
  readonly app: string | null;
  /** Whether the payload lacks a field for the app, as that of a message's shortcut always does. */
  readonly unnamed: boolean;
  /** The workspaces that the payload claims to be for. */
  readonly teams: readonly string[];
  /** Null unless the app is installed for a whole organization. */
  readonly organization: string | null;
  readonly user: string | null;
};

/** Whether the payload names an app. A field with any value, even null, counts. */
const hasApp = (body: unknown): boolean =>
  typeof body === "object" && body !== null && "api_app_id" in body && body.api_app_id !== undefined;

export function originOf(body: unknown): Origin {
  const read = payloadOrigin.safeParse(body);
  if (!read.success) return { app: null, unnamed: false, teams: [], organization: null, user: null };
  const { type, api_app_id, view, team, team_id, authorizations, ...rest } = read.data;
  // In a shared channel, `team` may be the workspace of the person who acts, so the field of the installation has priority.
  const installed = view?.app_installed_team_id ?? team?.id ?? team_id ?? null;
  const granted = (authorizations ?? []).flatMap(({ team_id: granted }) => granted ?? []);
  const organization = rest.is_enterprise_install
    ? (rest.enterprise?.id ?? rest.enterprise_id ?? null)
    : null;
  return {
    app: api_app_id ?? null,
    unnamed: type === "message_action" && !hasApp(body),
    teams: granted.length > 0 ? granted : installed === null ? [] : [installed],
    organization,
    user: rest.user?.id ?? rest.user_id ?? null,
  };
}
