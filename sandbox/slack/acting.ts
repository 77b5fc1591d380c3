// What all acts of people have in common: who may act, Slack's answers, and the fields of every payload.

import type { Deliver, Outcome } from "./delivery.ts";
import type { Events } from "./events.ts";
import type { SlackContext } from "./slack-context.ts";
import type { ActResult, Channel, ChannelId, Person, PersonId } from "./model.ts";
import type { ResponseUrls } from "./response-url.ts";
import type { Json } from "./json-object.ts";
import { slackbot } from "./seed-workspace.ts";

export type Acting = SlackContext & {
  readonly deliver: Deliver;
  readonly events: Events;
  readonly responseUrls: ResponseUrls;
};

export const done: ActResult = { ok: true };

export const failed = (words: string): ActResult & { ok: false } => ({ ok: false, error: words });

/** Fails the act. Slackbot also shows the message in the channel, to this person only. */
export function failPrivately(
  acting: Acting,
  person: PersonId,
  channel: ChannelId,
  words: string,
): ActResult {
  acting.workspace.post({ channel, author: slackbot, text: words, ephemeralFor: person });
  return failed(words);
}

/** Returns the person, or a message for them if they cannot act. */
export function actor(acting: Acting, id: PersonId): Person | string {
  const person = acting.workspace.people.get(id);
  if (!person) return "There is no person with this id.";
  return person.deactivated ? "This account is deactivated." : person;
}

export function actorIn(
  acting: Acting,
  id: PersonId,
  channelId: ChannelId,
): { person: Person; channel: Channel } | string {
  const person = actor(acting, id);
  if (typeof person === "string") return person;
  const channel = acting.workspace.channels.get(channelId);
  if (!channel) return "There is no such channel.";
  if (!channel.members.includes(id)) return "You are not in this channel.";
  return channel.archived ? "This channel is archived." : { person, channel };
}

/** What Slack shows in place of the composer if the app accepts no messages. */
export const turnedOff = "Sending messages to this app has been turned off.";

/** Like `actorIn`, but also checks that the person may write there. */
export function writerIn(...where: Parameters<typeof actorIn>): ReturnType<typeof actorIn> {
  const found = actorIn(...where);
  const [{ workspace }] = where;
  const closed = typeof found !== "string" && found.channel.kind === "dm" && !workspace.app.takesMessages;
  return closed ? turnedOff : found;
}

/** docs.slack.dev: payloads do not reveal the name of a private channel. */
export const channelName = ({ kind, name }: Channel): string =>
  kind === "public" ? name : kind === "private" ? "privategroup" : "directmessage";

/** The fields of every interaction. The team is that of the acting person, so it differs for outsiders. */
export const interaction = ({ workspace }: Acting, person: Person): Json => ({
  user: { id: person.id, username: person.handle, name: person.handle, team_id: person.team },
  team: { id: person.team, domain: person.team === workspace.team.id ? workspace.team.domain : "partner" },
  api_app_id: workspace.app.id,
  token: "deprecated",
  enterprise: null,
  is_enterprise_install: false,
});

/** The code in "failed with the error …". Slack's users have reported these codes. */
export function failureCode(outcome: Outcome & { ok: false }): string {
  if (outcome.why === "http_error") return outcome.status >= 500 ? "http_service_error" : "http_client_error";
  return outcome.why === "timeout" ? "operation_timeout" : "dispatch_failed";
}
