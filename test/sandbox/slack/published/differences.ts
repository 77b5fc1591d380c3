// Where the sandbox's Slack, or the bot, differs from Slack's own packages, and why. A listed difference that no longer exists fails the
// test.

type Difference = { readonly at: readonly string[]; readonly why: string };

const under = (places: readonly string[], fields: readonly string[]): string[] =>
  places.flatMap((place) => fields.map((field) => `${place}.${field}`));

/** Keys that the sandbox sends and the types do not have. */
export const SENT: readonly Difference[] = [
  {
    at: ["block_actions", "message_action", "shortcut", "view_closed", "view_submission"].map(
      (name) => `${name}.enterprise is null`,
    ),
    why: "Bolt's type is for organisations. In recorded payloads of a single workspace it is null.",
  },
  {
    at: under(
      ["views.open.view", "views.publish.view", "views.push.view", "views.update.view"],
      ["close is null", "submit is null"],
    ),
    why: "The types are made from recorded answers and leave null out. docs.slack.dev, views.open: null where the view has no such button.",
  },
  {
    at: under(["views.open.view", "views.publish.view", "views.update.view"], ["previous_view_id is null"]),
    why: "As above: null for the first view of a stack.",
  },
  {
    at: ["view_closed.user.username", "view_submission.user.username"],
    why: "Bolt's type is written by hand. docs.slack.dev, view_submission: the person comes with username and name.",
  },
  {
    at: ["block_actions.actions[].style"],
    why: "Bolt's type is written by hand. Third party: in recorded clicks a button's style comes along.",
  },
  {
    at: ["block_actions.container.* is open"],
    why: "Bolt's type allows any field here and names none. The fields are those of docs.slack.dev, block_actions; the bot reads none.",
  },
  {
    at: under(
      ["message.event", "message.event.message", "message.event.previous_message"],
      ["app_id", "bot_id", "parent_user_id", "team"],
    ),
    why: "@slack/types writes message events by hand, without what replies and bots' messages have. ConversationsHistoryResponse, which is recorded, has these fields for the same messages.",
  },
  {
    at: under(
      ["message.event.message", "message.event.previous_message"],
      ["edited", "latest_reply", "reply_count", "reply_users", "reply_users_count"],
    ),
    why: "As above: what a message in a thread has once it is answered or edited.",
  },
  {
    at: ["app_mention.event.parent_user_id"],
    why: "As above: @slack/types has no replies among mentions.",
  },
  {
    at: ["conversations.info.channel.user"],
    why: "No direct message was among the recorded answers. docs.slack.dev, conversations.info: it names the other person.",
  },
  {
    at: ["usergroups.list.usergroups[].auto_type", "usergroups.list.usergroups[].deleted_by is null"],
    why: "The types leave null out. docs.slack.dev, usergroups.list: null in a group that people made and nobody has deleted.",
  },
];

/** Keys that the bot reads and the types do not have. */
export const READ: readonly Difference[] = [
  {
    at: ["userAnswer from users.list: members.[].is_connector_bot"],
    why: "One shape reads both answers, and UsersInfoResponse has the flag. Where Slack leaves it out it is false.",
  },
];
