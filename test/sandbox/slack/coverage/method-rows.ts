// How faithfully the sandbox imitates each method of the Web API.

import { proofs } from "./row.ts";
import type { Faith, Proof, Row } from "./row.ts";
import { methods } from "#sandbox/slack/methods.ts";

/** The row of a method, and the tests for what a single call does not show. */
type MethodRow = readonly [how: Faith, what: string, ...also: readonly Proof[]];

const [listings, updates] = ["listings.test.ts", "updates.test.ts"];
const [refusals, reading, surprises] = ["refusals.test.ts", "reading-back.test.ts", "surprises.test.ts"];

const paged: Proof = [reading, "comes in pages: a channel newest first, a thread from its beginning"];
const bounded: Proof = [
  listings,
  "a history is bounded by oldest and latest, and holds the bounds only when it is asked for them",
];
const onRequest: Proof = [reading, "has metadata only when it asks for it"];
const said: Proof = [refusals, "say something, in threads that exist, and to people who are there"];
const ids: Proof = [surprises, "two views cannot have one external_id, and a view is found by it"];
const uploaded: Proof = [refusals, "files must be announced, uploaded in full and sent where the app is"];

const rowsByMethod: Record<string, MethodRow> = {
  "auth.test": ["close", "who the token belongs to; no expiry, no organization"],
  "bots.info": ["simplified", "the app's own bot only; no icons"],
  "apps.connections.open": [
    "exact",
    "a ticket that admits one socket; POST only",
    ["sockets.test.ts", "a socket is greeted, and its ticket admits nobody else"],
    [
      "address.test.ts",
      "a socket is opened for no foreign Host and for no foreign page, and its ticket stays good",
    ],
  ],
  "chat.postMessage": [
    "close",
    "channels by id or #name, people by id; threads, broadcasts, metadata, truncation; client_msg_id does not prevent duplicates",
    said,
    [listings, "a channel is posted to by its #name too"],
    [reading, "a person's id as channel means their direct messages with the app"],
    [reading, "shows a broadcast reply in thread and channel as one message, updated in both"],
    onRequest,
  ],
  "chat.postEphemeral": [
    "close",
    "only to members; not shown in a thread without replies",
    said,
    [surprises, "that only one person sees is not shown in a thread that nobody has answered in"],
  ],
  "chat.update": [
    "close",
    "a text without blocks removes the blocks; blocks without a text keep the text, which is a guess; metadata stays; the app can always change its own messages",
    [updates, "an update with text alone takes the blocks away and keeps the metadata"],
    [updates, "an update with blocks alone keeps the text, and one with none of them removes them"],
    [updates, "an update that says nothing is refused, and leaves the message as it was"],
    [updates, "a changed message names its bot and the second of the change"],
    [refusals, "of others and gone ones cannot be changed"],
  ],
  "chat.delete": [
    "simplified",
    "the message disappears; Slack leaves a tombstone if it has replies",
    [refusals, "of others and gone ones cannot be changed"],
  ],
  "chat.getPermalink": [
    "close",
    "links lead to the sandbox's page; the link to a reply names its thread",
    [listings, "a link to a reply names its thread"],
    [refusals, "of others and gone ones cannot be changed"],
  ],
  "views.open": [
    "close",
    "replaces everything that the person has open, even from inside a modal",
    [refusals, "need a fresh trigger, once"],
  ],
  "views.push": [
    "exact",
    "up to three views on a stack; only from inside a modal",
    [refusals, "stack three high, upon a modal only"],
  ],
  "views.update": [
    "exact",
    "by view_id or external_id, with hash; input stays",
    [refusals, "are updated only while open and unchanged"],
    [refusals, "keep what was typed when they are updated"],
    ids,
  ],
  "views.publish": [
    "close",
    "refused if the manifest does not enable the Home tab; hash and external_id are checked; that bots are refused is a guess",
    ids,
    ["direct-messages.test.ts", "a Home tab is published to people, not to bots"],
  ],
  "conversations.info": [
    "close",
    "kind, members, Slack Connect sharing; no topic, no purpose",
    [reading, "tells who is in a channel and whether strangers share it"],
  ],
  "conversations.members": [
    "exact",
    "with paging",
    [
      listings,
      "the members of a channel come in pages, each once, and the last page says that it is the last",
    ],
  ],
  "conversations.open": [
    "simplified",
    "one person at a time; bots and group messages are refused",
    [surprises, "are opened once and resumed after that"],
    [
      "direct-messages.test.ts",
      "a bot has none with a bot, nor with itself, and one with a person is theirs alone",
    ],
  ],
  "conversations.history": [
    "close",
    "pages with cursors, oldest, latest, inclusive; metadata only on request",
    paged,
    bounded,
    onRequest,
  ],
  "conversations.replies": ["close", "like conversations.history; the parent always comes first", paged],
  "users.conversations": [
    "close",
    "of private channels, only those that the app is in, too",
    [listings, "of a person's channels an app is told the public ones and those that it is in too"],
  ],
  "users.info": [
    "close",
    "members, guests, outsiders, bots, deactivated people; no e-mail, no time zone",
    [surprises, "guests, outsiders, bots and deactivated ones are told apart, and Slackbot is no bot"],
  ],
  "users.list": [
    "close",
    "everyone, including deactivated people; paging if a limit is given",
    [surprises, "are all listed, deactivated ones too, and in pages when a limit is given"],
  ],
  "usergroups.list": [
    "close",
    "count, people and disabled groups on request",
    [surprises, "in a user group are listed on request, and a disabled group only when it is asked for"],
  ],
  "usergroups.users.list": [
    "exact",
    "disabled groups only on request",
    [listings, "a disabled user group has its people listed for whoever asks for disabled ones"],
  ],
  "reactions.add": ["close", "any well-formed name counts as an emoji", [refusals, "a reaction counts once"]],
  "reactions.remove": [
    "exact",
    "only the app's own reactions",
    [listings, "a reaction is taken away by whoever gave it, and stays another's"],
  ],
  "files.getUploadURLExternal": [
    "close",
    "lengths and descriptions are checked; snippet types are not",
    uploaded,
  ],
  "files.completeUploadExternal": [
    "close",
    "only files that were uploaded in full, once; shared immediately, whereas Slack takes some time",
    uploaded,
  ],
};

const nothingSaid: MethodRow = ["simplified", "this method is not described yet"];

export const methodRows: readonly Row[] = [...methods].map(([subject, { source }]) => {
  const [how, what, ...also] = rowsByMethod[subject] ?? nothingSaid;
  return { subject, what, how, source, proof: proofs.answers, also };
});

/** Rows for methods that do not exist. */
export const strayMethods: readonly string[] = Object.keys(rowsByMethod).filter((name) => !methods.has(name));
