// How faithfully each method of the Web API is imitated.

import { proofs } from "./row.ts";
import type { Faith, Proof, Row } from "./row.ts";
import { methods } from "#sandbox/slack/methods.ts";

/** What is said of a method, and the tests that show what calling it once does not. */
type Told = readonly [how: Faith, what: string, ...also: readonly Proof[]];

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

const told: Record<string, Told> = {
  "auth.test": ["close", "who the token is; no expiry, no organisation"],
  "bots.info": ["simplified", "the app's own bot only; no icons"],
  "apps.connections.open": [
    "exact",
    "a ticket that admits one socket, once; POST only",
    ["sockets.test.ts", "a socket is greeted, and its ticket admits nobody else"],
    [
      "address.test.ts",
      "a socket is opened for no foreign Host and for no foreign page, and its ticket stays good",
    ],
  ],
  "chat.postMessage": [
    "close",
    "channels by id or #name, people by id; threads, broadcasts, metadata, truncation; client_msg_id is not used against doubles",
    said,
    [listings, "a channel is posted to by its #name too"],
    [reading, "a person's id as channel means their direct messages with the app"],
    [reading, "shows a broadcast reply in thread and channel as one message, updated in both"],
    onRequest,
  ],
  "chat.postEphemeral": [
    "close",
    "to members only; not shown in a thread without answers",
    said,
    [surprises, "that only one person sees is not shown in a thread that nobody has answered in"],
  ],
  "chat.update": [
    "close",
    "a text without blocks takes the blocks away, blocks without a text keep it, which is a guess; metadata stays; every own message can be changed for ever",
    [updates, "an update with text alone takes the blocks away and keeps the metadata"],
    [updates, "an update with blocks alone keeps the text, and one with none of them removes them"],
    [updates, "an update that says nothing is refused, and leaves the message as it was"],
    [updates, "a changed message names its bot and the second of the change"],
    [refusals, "of others and gone ones cannot be changed"],
  ],
  "chat.delete": [
    "simplified",
    "the message is gone; Slack leaves a tombstone when it has answers",
    [refusals, "of others and gone ones cannot be changed"],
  ],
  "chat.getPermalink": [
    "close",
    "links lead to the sandbox's page; of a reply with its thread",
    [listings, "a link to a reply names its thread"],
    [refusals, "of others and gone ones cannot be changed"],
  ],
  "views.open": [
    "close",
    "replaces what the person had open, also from inside a modal",
    [refusals, "need a fresh trigger, once"],
  ],
  "views.push": [
    "exact",
    "three views on a stack; only from inside a modal",
    [refusals, "stack three high, upon a modal only"],
  ],
  "views.update": [
    "exact",
    "by view_id or external_id, with hash; what was typed stays",
    [refusals, "are updated only while open and unchanged"],
    [refusals, "keep what was typed when they are updated"],
    ids,
  ],
  "views.publish": [
    "close",
    "refused without the Home tab in the manifest; hash and external_id count; that bots are refused is a guess",
    ids,
    ["direct-messages.test.ts", "a Home tab is published to people, not to bots"],
  ],
  "conversations.info": [
    "close",
    "kinds, members, what Slack Connect shares; no topic, no purpose",
    [reading, "tells who is in a channel and whether strangers share it"],
  ],
  "conversations.members": [
    "exact",
    "in pages",
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
  "conversations.replies": ["close", "as conversations.history; the parent always comes first", paged],
  "users.conversations": [
    "close",
    "of what is private only what the app shares",
    [listings, "of a person's channels an app is told the public ones and those that it is in too"],
  ],
  "users.info": [
    "close",
    "members, guests, outsiders, bots, deactivated people; no e-mail, no time zone",
    [surprises, "guests, outsiders, bots and deactivated ones are told apart, and Slackbot is no bot"],
  ],
  "users.list": [
    "close",
    "everyone, deactivated people too; pages when a limit is given",
    [surprises, "are all listed, deactivated ones too, and in pages when a limit is given"],
  ],
  "usergroups.list": [
    "close",
    "count, people and disabled groups on request",
    [surprises, "in a user group are listed on request, and a disabled group only when it is asked for"],
  ],
  "usergroups.users.list": [
    "exact",
    "a disabled group only on request",
    [listings, "a disabled user group has its people listed for whoever asks for disabled ones"],
  ],
  "reactions.add": ["close", "any well-formed name counts as an emoji", [refusals, "a reaction counts once"]],
  "reactions.remove": [
    "exact",
    "only its own",
    [listings, "a reaction is taken away by whoever gave it, and stays another's"],
  ],
  "files.getUploadURLExternal": [
    "close",
    "lengths and descriptions are checked; snippet types are not",
    uploaded,
  ],
  "files.completeUploadExternal": [
    "close",
    "only what was uploaded in full, once; shared at once, where Slack takes its time",
    uploaded,
  ],
};

const nothingSaid: Told = ["simplified", "nothing is said about this method yet"];

export const methodRows: readonly Row[] = [...methods].map(([subject, { source }]) => {
  const [how, what, ...also] = told[subject] ?? nothingSaid;
  return { subject, what, how, source, proof: proofs.answers, also };
});

/** What the table says of methods that are not there. */
export const strayMethods: readonly string[] = Object.keys(told).filter((name) => !methods.has(name));
