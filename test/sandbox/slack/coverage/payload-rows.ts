// How faithfully the sandbox imitates payloads and events: what the app receives, and how it acknowledges.

import type { Row } from "./row.ts";

const judge = "judge-interactions.test.ts";
const elements = "judge-elements.test.ts";

export const payloadRows: readonly Row[] = [
  {
    subject: "slash_commands",
    what: "a command of the manifest, acknowledged with nothing, a text or an answer; with entities for & < >; should_escape turns names into ids, and links stay as typed",
    how: "close",
    source: "docs.slack.dev, slash commands",
    proof: [judge, "a slash command is acknowledged with nothing, a text, or an answer for the channel"],
    also: [
      [
        "typing.test.ts",
        "the text of a command arrives with entities for & < >, and with ids for names only if requested",
      ],
    ],
  },
  {
    subject: "block_actions",
    what: "every kind of element, in messages, modals and on the Home tab; inputs only with dispatch_action",
    how: "close",
    source: "docs.slack.dev, block_actions payload; @slack/bolt's types",
    proof: [elements, "a person uses a %s, and Bolt gets what they chose"],
  },
  {
    subject: "view_submission",
    what: "acknowledged with nothing, errors, update, push or clear; response_urls stays empty",
    how: "close",
    source: "docs.slack.dev, view_submission",
    proof: [judge, "a form is acknowledged with update, push and clear"],
  },
  {
    subject: "view_closed",
    what: "only with notify_on_close; is_cleared if all views are closed at once",
    how: "exact",
    source: "docs.slack.dev, view_closed",
    proof: [judge, "the app is notified when a form is closed, if it asked for it"],
  },
  {
    subject: "shortcut",
    what: "a global shortcut of the manifest; does not name the app; the page does not offer it yet",
    how: "close",
    source: "docs.slack.dev, shortcuts",
    proof: [judge, "a global shortcut opens a form, and one on a message includes the message"],
  },
  {
    subject: "message_action",
    what: "a shortcut on a message, with the message and a response_url; does not name the app; the page has it in the menu of each message",
    how: "close",
    source: "docs.slack.dev, shortcuts",
    proof: [judge, "a global shortcut opens a form, and one on a message includes the message"],
  },
  {
    subject: "app_home_opened",
    what: 'only if the manifest has the Home tab and the subscription; tab is always "home"',
    how: "close",
    source: "docs.slack.dev, app_home_opened event",
    proof: [judge, "opening the Home tab causes an event, and the app publishes the tab"],
  },
];

const messageEvents: Row["proof"] = [judge, "messages cause events: new, changed and removed ones, and mentions"];

const ownKinds: Row["proof"] = [
  judge,
  "messages in private channels and in direct messages have their own events",
];

export const eventRows: readonly Row[] = [
  {
    subject: "app_mention",
    what: "only if subscribed, in channels that the app is in, with app_mentions:read",
    how: "close",
    source: "docs.slack.dev, app_mention event",
    proof: ["surprises.test.ts", "an app gets the events of a private channel only with the scope to read it"],
  },
  {
    subject: "message.channels",
    what: "new, changed and deleted messages, including the app's own; messages of people have no blocks",
    how: "close",
    source: "docs.slack.dev, message events",
    proof: messageEvents,
  },
  {
    subject: "member_joined_channel",
    how: "close",
    what: "everyone who joins a channel that the app is in, including the app itself; no inviter",
    source: "docs.slack.dev, member_joined_channel",
    proof: ["judge-interactions.test.ts", "joining a channel causes an event, for people and for the app itself"],
  },
  {
    subject: "message.groups",
    what: "the same in private channels",
    how: "close",
    source: "docs.slack.dev, message events",
    proof: ownKinds,
  },
  {
    subject: "message.im",
    what: "the same in direct messages with the app",
    how: "close",
    source: "docs.slack.dev, message events",
    proof: ownKinds,
  },
];
