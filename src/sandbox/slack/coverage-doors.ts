// How faithfully the ways between Slack and the app are imitated, and the people and files behind them.

import type { Row } from "./coverage-row.ts";

const judge = "judge-interactions.test.ts";
const sockets = "sockets.test.ts";

export const doorRows: readonly Row[] = [
  {
    subject: "response_url and respond()",
    what: "to the person or the channel, instead of the original, or deleting it; also where the app is no member",
    how: "close",
    source: "docs.slack.dev, handling user interaction",
    proof: [judge, "respond() to a click replaces the message, adds one, and deletes it"],
  },
  {
    subject: "HTTP delivery",
    what: "signed requests; a redirect counts as an error, where Slack follows two",
    how: "close",
    source: "docs.slack.dev, verifying requests",
    proof: [
      "bolt-http.test.ts",
      "a signed command and a signed click reach the app, and their acknowledgements come back",
    ],
  },
  {
    subject: "url_verification",
    what: "sent when a test asks for it, not by itself",
    how: "simplified",
    source: "docs.slack.dev, url_verification event",
    proof: [judge, "over HTTP the challenge of a new request URL is answered by Bolt"],
  },
  {
    subject: "events again",
    what: "until they are acknowledged, with number and reason, unless the app asks for no more",
    how: "exact",
    source: "docs.slack.dev, Events API",
    proof: [sockets, "an event that is not acknowledged comes again with its number and the reason"],
  },
  {
    subject: "commands and clicks never again",
    what: "the person is told instead",
    how: "exact",
    source: "docs.slack.dev, slash commands",
    proof: [sockets, "commands and clicks that are not acknowledged do not come again"],
  },
  {
    subject: "several sockets",
    what: "each payload goes to one of them; Slack does not say which, here they take turns",
    how: "close",
    source: "docs.slack.dev, Socket Mode",
    proof: [sockets, "each payload goes to exactly one of several sockets, in turn"],
  },
  {
    subject: "disconnect with a warning",
    what: "a notice, no more payloads, then the end; the SDK comes back",
    how: "close",
    source: "docs.slack.dev, Socket Mode",
    proof: [
      sockets,
      "a retiring socket gets no more payloads, is closed after the notice, and the SDK comes back",
    ],
  },
  {
    subject: "x-oauth-scopes",
    what: "what the token has and what the method takes stand in the headers",
    how: "exact",
    source: "docs.slack.dev, Web API",
    proof: ["refusals.test.ts", "scopes held and accepted stand in the headers"],
  },
  {
    subject: "file upload in three steps",
    what: "announced, sent in full as raw bytes or as a form, completed once",
    how: "close",
    source: "slack-api-ref",
    proof: ["refusals.test.ts", "files must be announced, uploaded in full and sent where the app is"],
  },
  {
    subject: "guests, Slack Connect, bots, deactivated people",
    what: "told apart by users.info as Slack tells them; payloads of outsiders carry their own team",
    how: "close",
    source: "docs.slack.dev, user object",
    proof: [
      "surprises.test.ts",
      "guests, outsiders, bots and deactivated ones are told apart, and Slackbot is no bot",
    ],
  },
  {
    subject: "a thread whose parent is gone",
    what: "the reply lands in the channel, and nothing refuses it",
    how: "close",
    source: "third party: slack-go/slack#1571",
    proof: [
      "surprises.test.ts",
      "to a message that is gone lands in the channel, and only the missing thread_ts says so",
    ],
  },
  {
    subject: "arguments the sandbox cannot show",
    what: "attachments, username, icon_emoji, icon_url, reply_broadcast and file_ids of an update: refused by name",
    how: "not imitated",
    source: "the sandbox",
    proof: ["surprises.test.ts", "that the sandbox cannot show is refused by its name, lest it seem to work"],
  },
];
