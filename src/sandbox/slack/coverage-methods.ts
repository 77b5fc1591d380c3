// How faithfully each method of the Web API is imitated.

import { proofs } from "./coverage-row.ts";
import type { Faith, Row } from "./coverage-row.ts";
import { methods } from "./methods.ts";

const told: Record<string, readonly [how: Faith, what: string]> = {
  "auth.test": ["close", "who the token is; no expiry, no organisation"],
  "bots.info": ["simplified", "the app's own bot only; no icons"],
  "apps.connections.open": ["exact", "a ticket that admits one socket, once; POST only"],
  "chat.postMessage": [
    "close",
    "channels by id or #name, people by id; threads, broadcasts, metadata, truncation; client_msg_id is not used against doubles",
  ],
  "chat.postEphemeral": ["close", "to members only; not shown in a thread without answers"],
  "chat.update": ["close", "what is not given stays; every own message can be changed for ever"],
  "chat.delete": ["simplified", "the message is gone; Slack leaves a tombstone when it has answers"],
  "chat.getPermalink": ["exact", "links lead to the sandbox's page"],
  "views.open": ["close", "replaces what the person had open, also from inside a modal"],
  "views.push": ["exact", "three views on a stack; only from inside a modal"],
  "views.update": ["exact", "by view_id or external_id, with hash; what was typed stays"],
  "views.publish": ["exact", "refused without the Home tab in the manifest; hash and external_id count"],
  "conversations.info": ["close", "kinds, members, what Slack Connect shares; no topic, no purpose"],
  "conversations.members": ["exact", "in pages"],
  "conversations.open": ["simplified", "one person at a time; group messages are refused"],
  "conversations.history": [
    "close",
    "pages with cursors, oldest, latest, inclusive; metadata only on request",
  ],
  "conversations.replies": ["close", "as conversations.history; the parent always comes first"],
  "users.conversations": ["close", "of what is private only what the app shares"],
  "users.info": ["close", "members, guests, outsiders, bots, deactivated people; no e-mail, no time zone"],
  "users.list": ["close", "everybody, deactivated people too; pages when a limit is given"],
  "usergroups.list": ["close", "count, people and disabled groups on request"],
  "usergroups.users.list": ["exact", "a disabled group only on request"],
  "reactions.add": ["close", "any well-formed name counts as an emoji"],
  "reactions.remove": ["exact", "only its own"],
  "files.getUploadURLExternal": ["close", "lengths and descriptions are checked; snippet types are not"],
  "files.completeUploadExternal": [
    "close",
    "only what was uploaded in full, once; shared at once, where Slack takes its time",
  ],
};

const nothingSaid = ["simplified", "nothing is said about this method yet"] as const;

export const methodRows: readonly Row[] = [...methods].map(([subject, { source }]) => {
  const [how, what] = told[subject] ?? nothingSaid;
  return { subject, what, how, source, proof: proofs.answers };
});

/** What the table says of methods that are not there. */
export const strayMethods: readonly string[] = Object.keys(told).filter((name) => !methods.has(name));
