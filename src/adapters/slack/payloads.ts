// Reads the payloads of slash commands, clicks, submitted modals and events. Ids are checked for their shape only; whether they are
// true, we ask Slack and our store. We do not act on an incomplete payload.

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
  actions: z.tuple([z.object({ action_id: z.string(), value: z.string() })]),
  trigger_id: z.string().min(1),
  response_url: z.string(),
});
export type ClickPayload = z.infer<typeof clickPayload>;

/** A choice in a menu of a message. */
export const menuPayload = clickPayload.extend({
  actions: z.tuple([z.object({ action_id: z.string(), selected_option: z.object({ value: z.string() }) })]),
});
export type MenuPayload = z.infer<typeof menuPayload>;

/** Slack keeps no private message, so a click in one comes without the message. */
export const privateClickPayload = clickPayload.omit({ message: true });
export type PrivateClickPayload = z.infer<typeof privateClickPayload>;

/** A click in a window of ours. */
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

/** A click in the queue: on the Home tab, or in a private answer, of which Slack sends no message along. */
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

/** The only message event that the app reads: it ignores everything people say in its channels. */
export const messageDeletedEvent = z.object({
  subtype: z.literal("message_deleted"),
  channel: id(ChannelId),
  deleted_ts: id(MessageTs),
});

/** A message that names us. Slack sends it for an edit, too, and for messages of other apps. */
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
/** A reply that is also sent to the channel, and a message with files. People write both. */
const written = z.enum(["thread_broadcast", "file_share"]).optional();
export const personsOwn = z.object({ bot_id: none, edited: none, subtype: written });
/** A person wrote it, and it is as they sent it. */
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

/** A choice in a menu of a form. */
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

/** The reason field has another block whenever a preset was put into it: Slack fills a field only when its block is new. */
export function reasonBlockOf(
  { view }: Pick<SubmitPayload, "view">,
  name: typeof REASON_BLOCK | typeof DENY_REASON_BLOCK = REASON_BLOCK,
): string | null {
  return Object.keys(view.state.values).find((each) => REASON_BLOCKS[name].test(each)) ?? null;
}

const REASON_BLOCKS = {
  [REASON_BLOCK]: new RegExp(`^${REASON_BLOCK}(?::\\d{1,6})?$`),
  [DENY_REASON_BLOCK]: new RegExp(`^${DENY_REASON_BLOCK}(?::\\d{1,6})?$`),
};

/** The text that was typed into an input, or the id of the channel that was chosen there. Empty when there is neither. */
export function typedInto(payload: Pick<SubmitPayload, "view">, block: string, input: string): string {
  const field = payload.view.state.values[block]?.[input];
  return field?.value ?? field?.selected_conversation ?? "";
}

/** The value of the option that was chosen there; empty: none was. */
export function chosenIn(payload: SubmitPayload, block: string, input: string): string {
  return payload.view.state.values[block]?.[input]?.selected_option?.value ?? "";
}

export type Shape<Payload> = z.ZodType<Payload>;

/** Null for a payload of another shape than Slack documents. The log gets the paths that are wrong, never their contents. */
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

/** The fields of any payload that say where it comes from. Commands have them flat, interactions and events in records. */
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
  /** A message's shortcut: Slack's payload of it has no field for the app. */
  readonly unnamed: boolean;
  /** Each workspace that the payload is said to be for. */
  readonly teams: readonly string[];
  /** Null unless the payload is for an installation of a whole organisation. */
  readonly organisation: string | null;
  readonly user: string | null;
};

/** A field of any value, null too, claims an app. */
const hasApp = (body: unknown): boolean =>
  typeof body === "object" && body !== null && "api_app_id" in body && body.api_app_id !== undefined;

export function originOf(body: unknown): Origin {
  const read = payloadOrigin.safeParse(body);
  if (!read.success) return { app: null, unnamed: false, teams: [], organisation: null, user: null };
  const { type, api_app_id, view, team, team_id, authorizations, ...rest } = read.data;
  // In a shared channel `team` may be the workspace of the person who acts, so the installation's own field goes first.
  const installed = view?.app_installed_team_id ?? team?.id ?? team_id ?? null;
  const granted = (authorizations ?? []).flatMap((each) => each.team_id ?? []);
  const organisation = rest.is_enterprise_install
    ? (rest.enterprise?.id ?? rest.enterprise_id ?? null)
    : null;
  return {
    app: api_app_id ?? null,
    unnamed: type === "message_action" && !hasApp(body),
    teams: granted.length > 0 ? granted : installed === null ? [] : [installed],
    organisation,
    user: rest.user?.id ?? rest.user_id ?? null,
  };
}
