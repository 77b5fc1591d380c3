// What a slash command, a click and a submitted modal tell us. Ids are checked for their shape; whether they are true is asked of
// Slack and of our store. A payload that lacks something is nobody's act.

import { z } from "zod";
import { ChannelId, MessageTs, UserId } from "../../domain/ids.ts";
import type { EventLog } from "../../ports.ts";

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

/** A press on the Home tab: there is no channel and no message. */
export const homeClickPayload = z.object({
  user,
  view: z.object({ type: z.literal("home") }),
  trigger_id: z.string().min(1),
});
export type HomeClickPayload = z.infer<typeof homeClickPayload>;

export const homeOpenedEvent = z.object({ user: id(UserId), tab: z.enum(["home", "messages", "about"]) });

/** Of everything that is said in its channels the app reads only that a message was deleted. */
export const messageDeletedEvent = z.object({
  subtype: z.literal("message_deleted"),
  channel: id(ChannelId),
  deleted_ts: id(MessageTs),
});

export const memberJoinedEvent = z.object({ user: z.string(), channel: id(ChannelId) });

const input = z.object({ value: z.string().nullish(), selected_conversation: z.string().nullish() });
const typed = z.record(z.string(), z.record(z.string(), input));

export const submitPayload = z.object({
  user,
  view: z.object({ private_metadata: z.string(), state: z.object({ values: typed }) }),
});
export type SubmitPayload = z.infer<typeof submitPayload>;

/** What was typed into an input, or the id of the channel that was chosen there; empty where nothing was. */
export function typedInto(payload: SubmitPayload, block: string, input: string): string {
  const given = payload.view.state.values[block]?.[input];
  return given?.value ?? given?.selected_conversation ?? "";
}

/** A payload of another shape than Slack documents is logged by where it is wrong, never by what it says. */
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

/** Where a payload of any kind says that it comes from. Commands say it flat, interactions and events in records. */
const payloadOrigin = z.object({
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
  /** Each workspace that the payload is said to be for. */
  readonly teams: readonly string[];
  /** Null unless the payload is for an installation of a whole organisation. */
  readonly organisation: string | null;
  readonly user: string | null;
};

export function originOf(body: unknown): Origin {
  const read = payloadOrigin.safeParse(body);
  if (!read.success) return { app: null, teams: [], organisation: null, user: null };
  const { api_app_id, view, team, team_id, authorizations, ...rest } = read.data;
  // For what happens in a shared channel `team` may be the acting person's; the field of the installation goes first.
  const installed = view?.app_installed_team_id ?? team?.id ?? team_id ?? null;
  const granted = (authorizations ?? []).flatMap((each) => each.team_id ?? []);
  const organisation = rest.is_enterprise_install
    ? (rest.enterprise?.id ?? rest.enterprise_id ?? null)
    : null;
  return {
    app: api_app_id ?? null,
    teams: granted.length > 0 ? granted : installed === null ? [] : [installed],
    organisation,
    user: rest.user?.id ?? rest.user_id ?? null,
  };
}
