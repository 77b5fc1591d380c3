// Reads Slack's answers. We rely only on fields that are named here.

import { z } from "zod";
import { MessageTs, parsed, TeamId, UserId } from "../../domain/ids.ts";
import { PortError } from "../../ports.ts";

const flag = z.boolean().optional().default(false);

const someName = z.string().optional().catch(undefined);

export const userAnswer = z.object({
  user: z.object({
    id: z.string(),
    real_name: someName,
    profile: z.object({ display_name: someName, real_name: someName }).optional().catch(undefined),
    team_id: z.string(),
    deleted: flag,
    is_bot: flag,
    is_workflow_bot: flag,
    is_connector_bot: flag,
    is_restricted: flag,
    is_ultra_restricted: flag,
    enterprise_user: z
      .object({ enterprise_id: z.string().optional(), teams: z.array(z.string()).optional() })
      .optional(),
  }),
});

export type SlackUser = {
  readonly id: string;
  readonly team: string;
  readonly enterprise: string | null;
  /** All workspaces of the person on Enterprise Grid. Empty elsewhere. */
  readonly teams: readonly string[];
  readonly deleted: boolean;
  readonly isBot: boolean;
  readonly isGuest: boolean;
  /** For people to read. It does not prove who a person is, because they choose it. Null if Slack gives none. */
  readonly name: string | null;
};

/** The id of Slackbot, whose record does not say that it is a bot. */
const SLACKBOT = "USLACKBOT";

export function slackUser(answer: unknown): SlackUser {
  const { user } = read(userAnswer, answer);
  return {
    id: user.id,
    team: user.team_id,
    enterprise: user.enterprise_user?.enterprise_id ?? null,
    teams: user.enterprise_user?.teams ?? [],
    deleted: user.deleted,
    isBot: user.is_bot || user.is_workflow_bot || user.is_connector_bot || user.id === SLACKBOT,
    isGuest: user.is_restricted || user.is_ultra_restricted,
    name: user.profile?.real_name || user.real_name || user.profile?.display_name || null,
  };
}

const nextCursor = z.object({ next_cursor: z.string().optional() }).optional();
export const listAnswer = z.object({ members: z.array(z.unknown()), response_metadata: nextCursor });

/** Leaves out people whose record cannot be read, because nothing is known about them. */
export function slackUsers(answer: unknown): {
  readonly users: readonly SlackUser[];
  readonly next: string;
} {
  const { members, response_metadata } = read(listAnswer, answer);
  const users = members.flatMap((user) => {
    try {
      return [slackUser({ user })];
    } catch {
      return [];
    }
  });
  return { users, next: response_metadata?.next_cursor ?? "" };
}

const channelFlags = { is_private: flag, is_im: flag, is_mpim: flag };
export const channelAnswer = z.object({
  channel: z.object({ id: z.string(), is_member: z.boolean().optional(), ...channelFlags }),
});

/** `isMember` says whether the app is in the channel. Null if Slack does not say. */
export function slackChannel(answer: unknown): {
  readonly isPublic: boolean;
  readonly isMember: boolean | null;
} {
  const { channel } = read(channelAnswer, answer);
  const isPublic = !channel.is_private && !channel.is_im && !channel.is_mpim;
  return { isPublic, isMember: channel.is_member ?? null };
}

export const channelsAnswer = z.object({
  channels: z.array(z.object({ id: z.string() })),
  response_metadata: nextCursor,
});

export function slackChannels(answer: unknown): { readonly ids: readonly string[]; readonly next: string } {
  const { channels, response_metadata } = read(channelsAnswer, answer);
  return { ids: channels.map(({ id }) => id), next: response_metadata?.next_cursor ?? "" };
}

export const groupAnswer = z.object({ users: z.array(z.string()) });

export const membersAnswer = z.object({ members: z.array(z.string()), response_metadata: nextCursor });

export function slackMembers(answer: unknown): { readonly ids: readonly string[]; readonly next: string } {
  const { members, response_metadata } = read(membersAnswer, answer);
  return { ids: members, next: response_metadata?.next_cursor ?? "" };
}

export function slackGroup(answer: unknown): readonly string[] {
  return read(groupAnswer, answer).users;
}

export const historyAnswer = z.object({
  messages: z.array(
    z.object({
      ts: z.string(),
      // An empty field of one message must not hide the others.
      text: z
        .string()
        .nullish()
        .transform((text) => text ?? ""),
      user: z.string().nullish(),
      bot_id: z.string().nullish(),
      metadata: z
        .object({ event_type: z.string(), event_payload: z.record(z.string(), z.unknown()) })
        .nullish(),
      // Other apps send any block that Slack accepts. An unknown block must not hide the message.
      blocks: z
        .array(z.object({ type: z.string(), block_id: z.string().optional() }))
        .optional()
        .default([])
        .catch([]),
      files: z
        .array(z.object({ id: z.string() }))
        .nullish()
        .transform((files) => files ?? []),
    }),
  ),
  response_metadata: nextCursor,
});

export type SlackHistory = z.infer<typeof historyAnswer>;

export function slackHistory(answer: unknown): SlackHistory {
  return read(historyAnswer, answer);
}

export const postedAnswer = z.object({ ts: z.string() });

export function postedTs(answer: unknown): MessageTs {
  const ts = parsed(MessageTs, read(postedAnswer, answer).ts);
  if (ts !== null) return ts;
  throw new PortError("Slack did not say which message it posted", {
    applied: "maybe",
    retry: "later",
    code: "garbled",
  });
}

export const postedPlace = z.object({ channel: z.string() });

/** Returns the channel of a posted message. For a message to a person, this is the direct-message channel with them. */
export function postedChannel(answer: unknown): string {
  return read(postedPlace, answer).channel;
}

export const botAnswer = z.object({ bot: z.object({ app_id: z.string().min(1) }) });

export function appOfBot(answer: unknown): string {
  return read(botAnswer, answer).bot.app_id;
}

export const uploadAnswer = z.object({ upload_url: z.string(), file_id: z.string() });

export function uploadTarget(answer: unknown): { readonly upload_url: string; readonly file_id: string } {
  return read(uploadAnswer, answer);
}

export const authAnswer = z.object({
  team_id: z.string(),
  user_id: z.string(),
  bot_id: z.string(),
  enterprise_id: z.string().optional(),
  team: z.string().optional(),
});

export type SlackSelf = {
  team: TeamId;
  user: UserId;
  bot: string;
  enterprise: string | null;
  teamName: string;
};

export function slackSelf(answer: unknown): SlackSelf {
  const { team_id, user_id, bot_id, enterprise_id, team } = read(authAnswer, answer);
  return {
    team: TeamId(team_id),
    user: UserId(user_id),
    bot: bot_id,
    enterprise: enterprise_id ?? null,
    teamName: team ?? team_id,
  };
}

/** Slack's packages copy the header `x-oauth-scopes` of each answer into `response_metadata`. */
export const scopedAnswer = z.object({ response_metadata: z.object({ scopes: z.array(z.string()) }) });

/** Returns the scopes of the token, if the answer names them. */
export const scopesHeld = (answer: unknown): readonly string[] =>
  scopedAnswer.safeParse(answer).data?.response_metadata.scopes ?? [];

export const scopeRefusal = z.object({ needed: z.string() });

/** Returns the scopes that Slack names in its answer `missing_scope`. */
export const scopesNeeded = (answer: unknown): readonly string[] =>
  scopeRefusal.safeParse(answer).data?.needed.split(",") ?? [];

function read<Shape extends z.ZodType>(shape: Shape, answer: unknown): z.infer<Shape> {
  const result = shape.safeParse(answer);
  if (result.success) return result.data;
  throw new PortError("Slack's answer does not have the expected fields", {
    applied: "maybe",
    retry: "later",
    code: "garbled",
    cause: result.error,
  });
}
