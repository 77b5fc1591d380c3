import type { Channel, ChannelId, Person, PersonId } from "../../slack/model.ts";
import { hrefOf, parsePermalink } from "./place.ts";
import type { Place } from "./place.ts";
import type { PageParts } from "./parts.ts";
import { createTimes } from "./times.ts";
import type { Times } from "./times.ts";

/** The person who looks at the page: what names they see for ids, and where links lead. */
export type Reader = {
  readonly place: Place;
  readonly times: Times;
  nameOf(person: PersonId): string | undefined;
  /** Returns undefined for a channel that this person cannot see, so that the name does not leak. */
  channelName(channel: ChannelId): string | undefined;
  channelCalled(name: string): ChannelId | undefined;
  /** Returns the handle of a user group. */
  groupName(group: string): string | undefined;
  people(): readonly { id: PersonId; name: string }[];
  /** Returns where a link leads, or null if it is not a web address. A link to a message opens it as the same person. */
  linkTo(address: string): string | null;
};

/** As in Slack, members see every public channel, and guests and outsiders only the channels they are in. */
export function channelsSeenBy(workspace: PageParts["workspace"], person: PersonId): Channel[] {
  const open = workspace.people.get(person)?.kind === "member";
  return [...workspace.channels.values()].filter(
    (one) => one.members.includes(person) || (one.kind === "public" && open),
  );
}

export function createReader({ workspace, timeZone }: PageParts, place: Place): Reader {
  const visible = channelsSeenBy(workspace, place.person);
  const channels = new Map(visible.map((one) => [one.id, one]));
  return {
    place,
    times: createTimes({ timeZone, now: workspace.now }),
    nameOf: (person) => workspace.people.get(person)?.name,
    channelName: (channel) => channels.get(channel)?.name,
    channelCalled: (name) => visible.find((one) => one.name === name && one.kind !== "dm")?.id,
    groupName: (group) => workspace.usergroups.get(group)?.handle,
    people: () => [...workspace.people.values()].filter((one) => one.kind !== "bot" && !one.deactivated),
    linkTo: (address) => linkTo(address, place, channels),
  };
}

function linkTo(address: string, place: Place, channels: ReadonlyMap<ChannelId, unknown>): string | null {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url === null || !["http:", "https:", "mailto:"].includes(url.protocol)) return null;
  const message = parsePermalink(url);
  if (message === undefined || !channels.has(message.channel)) return url.href;
  return hrefOf({ ...place, where: message.channel, thread: message.thread }, message.ts);
}

export function channelTitle({ workspace }: PageParts, reader: Reader, channel: Channel): string {
  if (channel.kind !== "dm") return channel.name;
  const other = channel.members.find((id) => id !== reader.place.person);
  return workspace.people.get(other ?? "")?.name ?? channel.name;
}

/** The address of the same place for another person, or of the first channel that they can see. */
export function hrefAs(parts: PageParts, place: Place, person: Person): string {
  const seen = channelsSeenBy(parts.workspace, person.id);
  const here = place.where === "home" || seen.some((one) => one.id === place.where);
  const to = { ...place, person: person.id };
  return hrefOf(here ? to : { ...to, where: firstChannel(parts, person.id), thread: null });
}

export function playable({ workspace }: PageParts): Person[] {
  return [...workspace.people.values()].filter((one) => one.kind !== "bot");
}

export function firstChannel({ workspace }: PageParts, person: string): string {
  const seen = channelsSeenBy(workspace, person);
  return (seen.find((one) => one.members.includes(person)) ?? seen[0])?.id ?? "home";
}
