// The workspace's data in Slack's JSON formats.

import type { SlackContext } from "./slack-context.ts";
import type { Channel, File, HomeView, Message, OpenView, Person, Usergroup } from "./model.ts";
import type { Json } from "./json-object.ts";
import { slackbot } from "./seed-workspace.ts";
import { stateOf } from "./state-values.ts";
import type { Workspace } from "./workspace.ts";

type Place = Pick<SlackContext, "workspace" | "url">;

export const personJson = (person: Person): Json => ({
  id: person.id,
  team_id: person.team,
  name: person.handle,
  real_name: person.name,
  deleted: person.deactivated,
  tz: "Etc/UTC",
  is_bot: person.kind === "bot" && person.id !== slackbot, // false for the real Slackbot, too
  is_app_user: false,
  is_restricted: person.kind === "guest",
  is_ultra_restricted: false,
  is_stranger: false, // false for outsiders who share a channel, too
  is_admin: false,
  is_owner: false,
  is_primary_owner: false,
  updated: 0,
  profile: { real_name: person.name, display_name: person.handle, team: person.team },
});

export function channelJson(channel: Channel, workspace: Workspace): Json {
  const { app, people, team } = workspace;
  const outside = channel.members.map((id) => people.get(id)?.team).filter((one) => one && one !== team.id);
  const common = { id: channel.id, created: 0, is_archived: channel.archived, context_team_id: team.id };
  if (channel.kind === "dm")
    return { ...common, is_im: true, user: channel.members.find((id) => id !== app.person) };
  return {
    ...common,
    name: channel.name,
    name_normalized: channel.name,
    is_channel: channel.kind === "public",
    is_group: false,
    is_im: false,
    is_mpim: false,
    is_private: channel.kind === "private",
    is_member: channel.members.includes(app.person),
    is_shared: outside.length > 0,
    is_ext_shared: outside.length > 0,
    is_org_shared: false,
    connected_team_ids: [...new Set(outside)],
    creator: channel.members[0] ?? "",
  };
}

/** slack_kit, usergroups.list: count and people are returned only on request. In today's answers, the count is a number. */
export const usergroupJson = (
  { id, handle, name, users, disabled }: Usergroup,
  { team }: Workspace,
  { counted, listed }: { counted: boolean; listed: boolean },
): Json => ({
  id,
  team_id: team.id,
  is_usergroup: true,
  is_external: false,
  handle,
  name,
  description: "",
  date_create: 0,
  date_update: 0,
  date_delete: disabled ? 1 : 0,
  auto_type: null,
  created_by: users[0] ?? "",
  updated_by: users[0] ?? "",
  deleted_by: null,
  prefs: { channels: [], groups: [] },
  ...(counted && { user_count: users.length }),
  ...(listed && { users: [...users] }),
});

export const fileJson = (file: File, { url }: Pick<SlackContext, "url">): Json => ({
  id: file.id,
  name: file.name,
  title: file.title,
  ...(file.description !== "" && { alt_txt: file.description }),
  user: file.owner,
  size: file.bytes.byteLength,
  mode: "hosted",
  is_external: false,
  url_private: `${url()}files/${file.id}/${encodeURIComponent(file.name)}`,
  permalink: `${url()}files/${file.id}/${encodeURIComponent(file.name)}`,
});

export function permalink(message: Message, { url }: Pick<SlackContext, "url">): string {
  const plain = `${url()}archives/${message.channel}/p${message.ts.replace(".", "")}`;
  return message.thread === null ? plain : `${plain}?thread_ts=${message.thread}&cid=${message.channel}`;
}

export function messageJson(message: Message, place: Place, { metadata = true } = {}): Json {
  const { workspace } = place;
  const files = message.files.flatMap((id) => workspace.files.get(id) ?? []);
  return {
    type: "message",
    ...authorJson(message, workspace),
    ts: message.ts,
    text: message.text,
    ...(message.blocks.length > 0 && { blocks: message.blocks }),
    ...threadJson(message, workspace),
    ...(message.edited && { edited: message.edited }),
    ...(files.length > 0 && { files: files.map((file) => fileJson(file, place)) }),
    ...(metadata && message.metadata && { metadata: message.metadata }),
    ...(message.reactions && { reactions: reactionsJson(message.reactions) }),
  };
}

const reactionsJson = (reactions: NonNullable<Message["reactions"]>): Json[] =>
  Object.entries(reactions).map(([name, users]) => ({ name, users, count: users.length }));

function authorJson(message: Message, { app, people, team }: Workspace): Json {
  const author = people.get(message.author);
  const own = message.author === app.person;
  return {
    user: message.author,
    team: author?.team ?? team.id,
    ...(author?.kind === "bot" && { bot_id: own ? app.botId : `B${author.id.slice(1)}` }),
    ...(own && { app_id: app.id }),
  };
}

function threadJson(message: Message, workspace: Workspace): Json {
  if (message.thread !== null) {
    const parent = workspace.messageAt(message.channel, message.thread);
    const broadcast = message.broadcast && { subtype: "thread_broadcast" };
    return { thread_ts: message.thread, parent_user_id: parent?.author, ...broadcast };
  }
  const replies = workspace.messages.filter(
    (one) => one.channel === message.channel && one.thread === message.ts && one.ephemeralFor === null,
  );
  if (replies.length === 0) return {};
  const users = [...new Set(replies.map((reply) => reply.author))];
  return {
    thread_ts: message.ts,
    reply_count: replies.length,
    reply_users: users,
    reply_users_count: users.length,
    latest_reply: replies.at(-1)?.ts,
  };
}

export function viewJson(open: OpenView | HomeView, { app, team, viewsOf }: Workspace): Json {
  const stack = viewsOf(open.person);
  const index = stack.findIndex((one) => one.id === open.id);
  return {
    id: open.id,
    team_id: team.id,
    close: null,
    submit: null,
    private_metadata: "",
    callback_id: "",
    external_id: "",
    clear_on_close: false,
    notify_on_close: false,
    ...open.view,
    state: { values: stateOf(open.view.blocks, open.values) },
    hash: open.hash,
    root_view_id: stack[0]?.id ?? open.id,
    previous_view_id: stack[index - 1]?.id ?? null,
    app_id: app.id,
    app_installed_team_id: team.id,
    bot_id: app.botId,
  };
}
