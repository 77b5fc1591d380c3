// How faithfully the sandbox imitates delivery, people and files.

import type { Row } from "./row.ts";

const judge = "judge-interactions.test.ts";
const sockets = "sockets.test.ts";
const answers = "response-url.test.ts";
const dms = "direct-messages.test.ts";
const typing = "typing.test.ts";

export const deliveryRows: readonly Row[] = [
  {
    subject: "response_url and respond()",
    what: "answers the person or the channel, or replaces or deletes the original; works where the app is not a member, too; JSON only, and unknown fields are refused, which is a guess",
    how: "close",
    source: "docs.slack.dev, handling user interaction; @slack/bolt, RespondArguments",
    proof: [judge, "respond() to a click replaces the message, adds one, and deletes it"],
    also: [
      [
        answers,
        "an answer is only for the person unless it is meant for the channel, even if the app is not a member",
      ],
      [answers, "fields: unknown ones, and those that the sandbox cannot show, are refused by name"],
      [answers, "bodies: only JSON is accepted, as in the documentation"],
    ],
  },
  {
    subject: "who may open a socket",
    what: "a loopback Host, no foreign Origin, and a ticket; invalid addresses are bad requests",
    how: "simplified",
    source: "the sandbox",
    proof: [
      "address.test.ts",
      "a foreign Host and a foreign page cannot open a socket, and the ticket stays valid",
    ],
    also: [
      [
        "address.test.ts",
        "an invalid address is a bad request, whether it requests an answer or a socket",
      ],
      ["address.test.ts", "a client that closes a refused upgrade does no harm, and leaves nothing open"],
    ],
  },
  {
    subject: "messages_tab_read_only_enabled",
    what: "people cannot write or use commands in their direct messages with the app, but the app can still write there",
    how: "close",
    source: "docs.slack.dev, app manifests; third party: the message in place of the composer",
    proof: [
      dms,
      "if the manifest makes them read-only, people cannot write there, but the app can",
    ],
    also: [[dms, "if the manifest turns the messages tab off, nobody can write there"]],
  },
  {
    subject: "& < > in what people write",
    what: "entities, in messages and after commands; @names of people become mentions; #names and links stay text",
    how: "close",
    source: "docs.slack.dev, formatting; after commands third party: bots that decode them",
    proof: [typing, "a person's & < > become entities, so typed markup has no effect"],
    also: [
      [typing, "a person's @name becomes a mention if someone has that name"],
      [
        typing,
        "the text of a command arrives with entities for & < >, and with ids for names only if requested",
      ],
    ],
  },
  {
    subject: "& < > in what apps write",
    what: "in the text, they come back as entities unless they are markup; in blocks, they come back as sent, whereas Slack returns entities there, too",
    how: "simplified",
    source: "third party: slackapi/bolt-python#513",
    proof: ["updates.test.ts", "bare & < > are returned as entities, and Slack's own markup as it was sent"],
  },
  {
    subject: "(edited)",
    what: "shown on messages without blocks; answers name the editor of every changed message",
    how: "close",
    source: "slack_kit, chat.update; third party: messages that bots have read back",
    proof: ["updates.test.ts", "a changed message names its bot and the second of the change"],
  },
  {
    subject: "HTTP delivery",
    what: "signed requests; a redirect counts as an error, whereas Slack follows two",
    how: "close",
    source: "docs.slack.dev, verifying requests",
    proof: [
      "bolt-http.test.ts",
      "a signed command and a signed click reach the app, and its acknowledgments are returned",
    ],
  },
  {
    subject: "url_verification",
    what: "sent only when a test asks for it",
    how: "simplified",
    source: "docs.slack.dev, url_verification event",
    proof: [judge, "over HTTP, Bolt answers the challenge of a new request URL"],
  },
  {
    subject: "redelivery of events",
    what: "until the app acknowledges or asks for no more, with number and reason",
    how: "exact",
    source: "docs.slack.dev, Events API",
    proof: [sockets, "an event that is not acknowledged is sent again, with its number and the reason"],
  },
  {
    subject: "no redelivery of commands and clicks",
    what: "the person gets an error instead",
    how: "exact",
    source: "docs.slack.dev, slash commands",
    proof: [sockets, "commands and clicks that are not acknowledged are not sent again"],
  },
  {
    subject: "several sockets",
    what: "each payload goes to one of them; Slack does not say which, and in the sandbox they take turns",
    how: "close",
    source: "docs.slack.dev, Socket Mode",
    proof: [sockets, "each payload goes to exactly one of several sockets, in turn"],
  },
  {
    subject: "disconnect with a warning",
    what: "a notice, no more payloads, then the socket closes; the SDK reconnects",
    how: "close",
    source: "docs.slack.dev, Socket Mode",
    proof: [
      sockets,
      "a retiring socket gets no more payloads and is closed after the notice, and the SDK reconnects",
    ],
  },
  {
    subject: "x-oauth-scopes",
    what: "the headers list the scopes of the token and of the method",
    how: "exact",
    source: "docs.slack.dev, Web API",
    proof: ["refusals.test.ts", "the held and the accepted scopes are in the headers"],
  },
  {
    subject: "file upload in three steps",
    what: "announced, uploaded in full as raw bytes or as a form, and completed once",
    how: "close",
    source: "slack-api-ref",
    proof: ["refusals.test.ts", "files must be announced, uploaded in full and posted where the app is"],
  },
  {
    subject: "guests, Slack Connect, bots, deactivated people",
    what: "distinguished by users.info as in Slack; payloads of outsiders contain their own team",
    how: "close",
    source: "docs.slack.dev, user object",
    proof: [
      "surprises.test.ts",
      "guests, outsiders, bots and deactivated people are distinguished, and Slackbot is not a bot",
    ],
  },
  {
    subject: "a thread whose parent was deleted",
    what: "the reply is posted to the channel without an error",
    how: "close",
    source: "third party: slack-go/slack#1571",
    proof: [
      "surprises.test.ts",
      "to a deleted message is posted in the channel, and only the missing thread_ts shows it",
    ],
  },
  {
    subject: "Date of an answer",
    what: "the time of the sandbox's clock, in all answers including errors",
    how: "exact",
    source: "docs.slack.dev, Web API: HTTP answers, whose Date follows RFC 9110, 6.6.1",
    proof: ["surprises.test.ts", "contains Slack's time, even if it is a refusal"],
  },
  {
    subject: "arguments the sandbox cannot show",
    what: "attachments, username, icon_emoji, icon_url, reply_broadcast and file_ids of an update: refused by name",
    how: "not imitated",
    source: "the sandbox",
    proof: ["surprises.test.ts", "that the sandbox cannot show is refused by name, so that it does not seem to work"],
  },
];
