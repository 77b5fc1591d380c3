// How faithfully the sandbox imitates each method of the Web API.

import { proofs } from "./row.ts";
import type { Faith, Proof, Row } from "./row.ts";
import { methods } from "#sandbox/slack/methods.ts";

/** The row of a method, and the tests for what a single call does not show. */
type MethodRow = readonly [how: Faith, what: string, ...also: readonly Proof[]];

const [listings, updates] = ["listings.test.ts", "updates.test.ts"];
const [refusals, reading, surprises] = ["refusals.test.ts", "reading-back.test.ts", "surprises.test.ts"];

const paged: Proof = [reading, "is listed in pages: a channel from the newest message, a thread from its beginning"];
const bounded: Proof = [
  listings,
  "a history is bounded by oldest and latest, and includes the bounds only if requested",
];
const onRequest: Proof = [reading, "has metadata only if requested"];
const said: Proof = [refusals, "need content, an existing thread, and a recipient who is in the channel"];
const ids: Proof = [surprises, "two views cannot have the same external_id, and a view can be found by it"];
const uploaded: Proof = [refusals, "files must be announced, uploaded in full and posted where the app is"];

const rowsByMethod: Record<string, MethodRow> = {
  "auth.test": ["close", "who the token belongs to; no expiry, no organization"],
  "bots.info": ["simplified", "the app's own bot only; no icons"],
  "apps.connections.open": [
    "exact",
    "a ticket that admits one socket; POST only",
    ["sockets.test.ts", "a socket gets a greeting, and its ticket works only once"],
    [
      "address.test.ts",
      "a foreign Host and a foreign page cannot open a socket, and the ticket stays valid",
    ],
  ],
  "chat.postMessage": [
    "close",
    "channels by id or #name, people by id; threads, broadcasts, metadata, truncation; client_msg_id does not prevent duplicates",
    said,
    [listings, "a message can be posted to a channel by its #name, too"],
    [reading, "a person's id as a channel means their direct messages with the app"],
    [reading, "has a broadcast reply as one message in thread and channel, updated in both"],
    onRequest,
  ],
  "chat.postEphemeral": [
    "close",
    "only to members; not shown in a thread without replies",
    said,
    [surprises, "that is ephemeral is not shown in a thread without replies"],
  ],
  "chat.update": [
    "close",
    "a text without blocks removes the blocks; blocks without a text keep the text, which is a guess; metadata stays; the app can always change its own messages",
    [updates, "an update with only text removes the blocks and keeps the metadata"],
    [updates, "an update with only blocks keeps the text, and one with an empty list removes the blocks"],
    [updates, "an update without content is refused, and does not change the message"],
    [updates, "a changed message names its bot and the second of the change"],
    [refusals, "of other authors, and deleted ones, cannot be changed"],
  ],
  "chat.delete": [
    "simplified",
    "the message disappears; Slack leaves a tombstone if it has replies",
    [refusals, "of other authors, and deleted ones, cannot be changed"],
  ],
  "chat.getPermalink": [
    "close",
    "links lead to the sandbox's page; the link to a reply names its thread",
    [listings, "a link to a reply contains its thread"],
    [refusals, "of other authors, and deleted ones, cannot be changed"],
  ],
  "views.open": [
    "close",
    "replaces everything that the person has open, even from inside a modal",
    [refusals, "need a new trigger, which works once"],
  ],
  "views.push": [
    "exact",
    "up to three views on a stack; only from inside a modal",
    [refusals, "can be stacked three high, and only on a modal"],
  ],
  "views.update": [
    "exact",
    "by view_id or external_id, with hash; input stays",
    [refusals, "can be updated only while they are open and unchanged"],
    [refusals, "keep the typed text when they are updated"],
    ids,
  ],
  "views.publish": [
    "close",
    "refused if the manifest does not enable the Home tab; hash and external_id are checked; that bots are refused is a guess",
    ids,
    ["direct-messages.test.ts", "a Home tab can be published to people, not to bots"],
  ],
  "conversations.info": [
    "close",
    "kind, members, Slack Connect sharing; no topic, no purpose",
    [reading, "includes a channel's members, and whether it is shared with strangers"],
  ],
  "conversations.members": [
    "exact",
    "with paging",
    [
      listings,
      "the members of a channel are listed in pages, each once, and the last page says that it is the last",
    ],
  ],
  "conversations.open": [
    "simplified",
    "one person at a time; bots and group messages are refused",
    [surprises, "are opened once and resumed after that"],
    [
      "direct-messages.test.ts",
      "bots have none with bots or with themselves, and only the person sees theirs",
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
    [listings, "an app sees a person's public channels, and their private channels only if it is a member, too"],
  ],
  "users.info": [
    "close",
    "members, guests, outsiders, bots, deactivated people; no e-mail, no time zone",
    [surprises, "guests, outsiders, bots and deactivated people are distinguished, and Slackbot is not a bot"],
  ],
  "users.list": [
    "close",
    "everyone, including deactivated people; paging if a limit is given",
    [surprises, "are all listed, including deactivated ones, and in pages if a limit is given"],
  ],
  "usergroups.list": [
    "close",
    "count, people and disabled groups on request",
    [surprises, "in a user group are listed on request, and those in a disabled group only if requested"],
  ],
  "usergroups.users.list": [
    "exact",
    "disabled groups only on request",
    [listings, "the members of a disabled user group are listed only if disabled groups are requested"],
  ],
  "reactions.add": ["close", "any well-formed name counts as an emoji", [refusals, "a reaction counts once"]],
  "reactions.remove": [
    "exact",
    "only the app's own reactions",
    [listings, "a reaction is removed by the person who added it, and others stay"],
  ],
  "files.getUploadURLExternal": [
    "close",
    "lengths and descriptions are checked; snippet types are not",
    uploaded,
  ],
  "files.completeUploadExternal": [
    "close",
    "only files that were uploaded in full, once; their message appears after the answer, as in Slack",
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
