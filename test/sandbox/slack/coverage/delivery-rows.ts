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
        "an answer is for the person alone unless it is meant for the channel, also where the app is no member",
      ],
      [answers, "with fields: unknown ones and those that the sandbox cannot show are refused by name"],
      [answers, "with bodies: only JSON is read, as the documentation shows it"],
    ],
  },
  {
    subject: "who may open a socket",
    what: "a loopback Host, no foreign Origin, and a ticket; invalid addresses are bad requests",
    how: "simplified",
    source: "the sandbox",
    proof: [
      "address.test.ts",
      "a socket is opened for no foreign Host and for no foreign page, and its ticket stays good",
    ],
    also: [
      [
        "address.test.ts",
        "an address that is none is a bad request, whether it asks for an answer or for a socket",
      ],
      ["address.test.ts", "whoever hangs up on a refused upgrade harms nobody, and keeps nothing open"],
    ],
  },
  {
    subject: "messages_tab_read_only_enabled",
    what: "people cannot write or use commands in their direct messages with the app, but the app can still write there",
    how: "close",
    source: "docs.slack.dev, app manifests; third party: the message in place of the composer",
    proof: [
      dms,
      "where the manifest makes them read-only, people write nothing there, and the app still does",
    ],
    also: [[dms, "where the manifest turns the messages tab off, nobody writes there"]],
  },
  {
    subject: "& < > in what people write",
    what: "entities, in messages and after commands; @names of people become mentions; #names and links stay text",
    how: "close",
    source: "docs.slack.dev, formatting; after commands third party: bots that decode them",
    proof: [typing, "a person's & < > are entities, and so no mark that they type comes alive"],
    also: [
      [typing, "a person's @name is a mention of whoever has that name, and of nobody otherwise"],
      [
        typing,
        "what follows a command arrives with entities for & < >, and with ids for names only where it is asked for",
      ],
    ],
  },
  {
    subject: "& < > in what apps write",
    what: "in the text, they come back as entities unless they are markup; in blocks, they come back as sent, whereas Slack returns entities there, too",
    how: "simplified",
    source: "third party: slackapi/bolt-python#513",
    proof: ["updates.test.ts", "bare & < > come back as entities, and Slack's own marks as they were sent"],
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
      "a signed command and a signed click reach the app, and their acknowledgements come back",
    ],
  },
  {
    subject: "url_verification",
    what: "sent only when a test asks for it",
    how: "simplified",
    source: "docs.slack.dev, url_verification event",
    proof: [judge, "over HTTP the challenge of a new request URL is answered by Bolt"],
  },
  {
    subject: "redelivery of events",
    what: "until the app acknowledges or asks for no more, with number and reason",
    how: "exact",
    source: "docs.slack.dev, Events API",
    proof: [sockets, "an event that is not acknowledged comes again with its number and the reason"],
  },
  {
    subject: "no redelivery of commands and clicks",
    what: "the person gets an error instead",
    how: "exact",
    source: "docs.slack.dev, slash commands",
    proof: [sockets, "commands and clicks that are not acknowledged do not come again"],
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
      "a retiring socket gets no more payloads, is closed after the notice, and the SDK comes back",
    ],
  },
  {
    subject: "x-oauth-scopes",
    what: "the headers list the scopes of the token and of the method",
    how: "exact",
    source: "docs.slack.dev, Web API",
    proof: ["refusals.test.ts", "scopes held and accepted stand in the headers"],
  },
  {
    subject: "file upload in three steps",
    what: "announced, uploaded in full as raw bytes or as a form, and completed once",
    how: "close",
    source: "slack-api-ref",
    proof: ["refusals.test.ts", "files must be announced, uploaded in full and sent where the app is"],
  },
  {
    subject: "guests, Slack Connect, bots, deactivated people",
    what: "distinguished by users.info as in Slack; payloads of outsiders contain their own team",
    how: "close",
    source: "docs.slack.dev, user object",
    proof: [
      "surprises.test.ts",
      "guests, outsiders, bots and deactivated ones are told apart, and Slackbot is no bot",
    ],
  },
  {
    subject: "a thread whose parent was deleted",
    what: "the reply is posted to the channel without an error",
    how: "close",
    source: "third party: slack-go/slack#1571",
    proof: [
      "surprises.test.ts",
      "to a message that is gone lands in the channel, and only the missing thread_ts says so",
    ],
  },
  {
    subject: "Date of an answer",
    what: "the time of the sandbox's clock, in all answers including errors",
    how: "exact",
    source: "docs.slack.dev, Web API: HTTP answers, whose Date follows RFC 9110, 6.6.1",
    proof: ["surprises.test.ts", "has Slack's time, also when it is a refusal"],
  },
  {
    subject: "arguments the sandbox cannot show",
    what: "attachments, username, icon_emoji, icon_url, reply_broadcast and file_ids of an update: refused by name",
    how: "not imitated",
    source: "the sandbox",
    proof: ["surprises.test.ts", "that the sandbox cannot show is refused by its name, lest it seem to work"],
  },
];
