// Turns new, changed and removed messages, including the app's own, and joins into events, for the channels that the app is in.

import type { Events } from "./events.ts";
import type { SlackContext } from "./slack-context.ts";
import type { Change, Channel, ChannelId, Message, PersonId } from "./model.ts";
import type { Json } from "./json-object.ts";
import { slackbot } from "./seed-workspace.ts";
import { messageJson } from "./slack-json.ts";

type Needs = Pick<SlackContext, "workspace" | "url"> & { readonly events: Events };

/** Event name and channel type for each kind of channel. */
const kinds = { public: ["channels", "channel"], private: ["groups", "group"], dm: ["im", "im"] } as const;

/** Sends an event for every change of a message and for every join (docs.slack.dev, message events). */
export const createAnnouncer =
  (needs: Needs) =>
  ({ message: change, channel: place, joined }: Change): void => {
    if (joined !== undefined && place !== undefined) void join(needs, place, joined);
    if (!change || change.now.ephemeralFor !== null || change.now.author === slackbot) return;
    const { workspace, events } = needs;
    const channel = workspace.channels.get(change.now.channel);
    if (!channel?.members.includes(workspace.app.person)) return;
    const [name, channel_type] = kinds[channel.kind];
    if (change.type === "posted") void mention(needs, change.now, channel);
    void events.send(`message.${name}`, { ...eventOf(needs, change), channel: channel.id, channel_type });
  };

/** docs.slack.dev, member_joined_channel: sent for everyone who joins, including the app itself. */
async function join({ workspace, events }: Needs, id: ChannelId, user: PersonId): Promise<void> {
  const channel = workspace.channels.get(id);
  if (!channel?.members.includes(workspace.app.person)) return;
  const name = channel.kind === "private" ? "groups:read" : "channels:read";
  const event = { type: "member_joined_channel", user, channel: id, team: workspace.team.id };
  await events.send(
    "member_joined_channel",
    { ...event, channel_type: name === "groups:read" ? "G" : "C" },
    name,
  );
}

/** docs.slack.dev, app_mention: not sent for direct messages, where every message is for the app anyway. */
async function mention(needs: Needs, message: Message, channel: Channel): Promise<void> {
  const { app } = needs.workspace;
  const named = message.text.includes(`<@${app.person}>`) && message.author !== app.person;
  if (!named || channel.kind === "dm") return;
  const event = { ...messageJson(message, needs, { metadata: false }), type: "app_mention" };
  await needs.events.send("app_mention", { ...event, channel: channel.id });
}

function eventOf(needs: Needs, { type, now, before }: NonNullable<Change["message"]>): Json {
  const json = (message: Message): Json => messageJson(message, needs, { metadata: false });
  if (type === "posted") return json(now);
  const ts = needs.workspace.nextTs();
  const hidden = { type: "message", hidden: true, ts, previous_message: json(before ?? now) };
  return type === "edited"
    ? { ...hidden, subtype: "message_changed", message: json(now) }
    : { ...hidden, subtype: "message_deleted", deleted_ts: now.ts };
}
