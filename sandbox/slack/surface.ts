// The surface of an element, which is a message, a modal or a Home tab, and its fields in payloads.

import { channelName } from "./acting.ts";
import type { Acting } from "./acting.ts";
import type { Acts, Block, Message, OpenView, Person } from "./model.ts";
import type { Json } from "./json-object.ts";
import { elementsIn, stateOf } from "./state-values.ts";
import type { Found } from "./state-values.ts";
import { messageJson, viewJson } from "./slack-json.ts";

type Surface = {
  readonly blocks: readonly Block[];
  readonly values: OpenView["values"];
  /** Returns the fields that every payload has about the surface. */
  readonly place: () => Json;
  /** Returns what a click also gives the app: a trigger_id and, for messages, a response_url. */
  readonly offers: () => Json;
};

export type At = Parameters<Acts["click"]>[1];

/** Returns the surface as this person sees it, or null if they cannot see it. */
export const surfaceAt = (acting: Acting, person: Person, at: At, kept: Kept): Surface | null =>
  "view" in at ? viewSurface(acting, person, at.view) : messageSurface(acting, person, at, kept);

export const elementAt = (surface: Surface, blockId: string, actionId: string): Found | undefined =>
  elementsIn(surface.blocks).find(
    ({ block, element }) => block.block_id === blockId && element["action_id"] === actionId,
  );

function viewSurface(acting: Acting, person: Person, id: string): Surface | null {
  const { workspace } = acting;
  const modal = workspace.viewById(id);
  const open = modal ?? workspace.homes.get(person.id);
  if (open?.id !== id || open.person !== person.id) return null;
  return {
    blocks: open.view.blocks,
    values: open.values,
    place: () => ({ container: { type: "view", view_id: id }, view: viewJson(open, workspace) }),
    offers: () => ({ trigger_id: acting.triggers.issue(person.id, id) }),
  };
}

export type Kept = WeakMap<Message, OpenView["values"]>;

function messageSurface(
  acting: Acting,
  person: Person,
  at: { channel: string; ts: string },
  kept: Kept,
): Surface | null {
  const { workspace } = acting;
  const channel = workspace.channels.get(at.channel);
  const message = workspace.messageAt(at.channel, at.ts);
  if (!channel || !message || channel.archived) return null;
  if (!channel.members.includes(person.id) && channel.kind !== "public") return null;
  const ephemeral = message.ephemeralFor !== null;
  if (ephemeral && message.ephemeralFor !== person.id) return null;
  const values = kept.get(message) ?? {};
  kept.set(message, values);
  const thread = message.thread === null ? {} : { thread_ts: message.thread };
  return {
    blocks: message.blocks,
    values,
    place: () => ({
      container: {
        type: "message",
        message_ts: message.ts,
        channel_id: channel.id,
        is_ephemeral: ephemeral,
        ...thread,
      },
      channel: { id: channel.id, name: channelName(channel) },
      // Slack does not store ephemeral messages, so its payloads cannot include them.
      ...(!ephemeral && { message: messageJson(message, acting) }),
    }),
    offers: () => ({
      state: { values: stateOf(message.blocks, values) },
      trigger_id: acting.triggers.issue(person.id),
      response_url: acting.responseUrls.issue({ person: person.id, channel: channel.id, message }),
    }),
  };
}
