// How faithfully delivery, people and files are imitated.

import type { Row } from "./row.ts";

const judge = "judge-interactions.test.ts";
const sockets = "sockets.test.ts";
const answers = "response-url.test.ts";
const dms = "direct-messages.test.ts";
const typing = "typing.test.ts";

export const deliveryRows: readonly Row[] = [
  {
    subject: "response_url and respond()",
    what: "to the person or the channel, instead of the original, or deleting it; also where the app is no member; JSON only, and unknown fields are refused, which is a guess",
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
    what: "loopback's own Host, no foreign Origin, and a ticket; addresses that are none are bad requests",
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
    what: "people write and command nothing in their direct messages with the app, which still writes there",
    how: "close",
    source: "docs.slack.dev, app manifests; third party: the words in place of the composer",
    proof: [
      dms,
      "where the manifest makes them read-only, people write nothing there, and the app still does",
    ],
    also: [[dms, "where the manifest turns the messages tab off, nobody writes there"]],
  },
  {
    subject: "& < > in what people write",
    what: "entities, in messages and after commands; @names of people become mentions; #names and links stay words",
    how: "close",
    source: "docs.slack.dev, formatting; after commands third party: bots that undo them",
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
    what: "in the text come back as entities unless they are marks; in blocks they come back as they were sent, where Slack writes entities too",
    how: "simplified",
    source: "third party: slackapi/bolt-python#513",
    proof: ["updates.test.ts", "bare & < > come back as entities, and Slack's own marks as they were sent"],
  },
  {
    subject: "(edited)",
    what: "shown of messages without blocks; the answers name the editor of every changed message",
    how: "close",
    source: "slack_kit, chat.update; third party: messages that bots have read back",
    proof: ["updates.test.ts", "a changed message names its bot and the second of the change"],
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
    subject: "Date of an answer",
    what: "the time of the sandbox's clock, in answers and refusals alike",
    how: "exact",
    source: "docs.slack.dev, Web API: answers of HTTP, whose Date is RFC 9110, 6.6.1",
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
