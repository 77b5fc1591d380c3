// A person uses an element of a message, a modal or a Home tab.

import { actor, channelName, done, interaction, told } from "./acting.ts";
import type { Acting } from "./acting.ts";
import type { Acts, Block, Message, OpenView, Person } from "./model.ts";
import type { Json } from "./rules-check.ts";
import { chosenIn, elementsIn, optionsOf, stateOf } from "./state-values.ts";
import type { Found } from "./state-values.ts";
import { messageJson, viewJson } from "./wire.ts";

/** Where the element stands, and what the payload says of that place. */
type Surface = {
  readonly blocks: readonly Block[];
  readonly values: OpenView["values"];
  readonly payload: () => Json;
};

export const createClick = (acting: Acting): Acts["click"] => {
  const chosenSoFar = new WeakMap<Message, OpenView["values"]>();
  return async (personId, at, ...[blockId, actionId, chosen]) => {
    const person = actor(acting, personId);
    if (typeof person === "string") return told(person);
    if (!acting.manifest.interactive)
      return told("This app is not configured to handle interactive responses.");
    const surface =
      "view" in at ? viewSurface(acting, person, at.view) : messageSurface(acting, person, at, chosenSoFar);
    const found = surface && elementsIn(surface.blocks).find(isAt(blockId, actionId));
    if (!surface || !found) return told("This is no longer here: it has changed since you looked at it.");
    if (!offered(acting, found.element, chosen)) return told("This choice is not offered here.");
    if (found.element.type !== "button")
      surface.values[blockId] = { ...surface.values[blockId], [actionId]: chosen };
    const body = {
      type: "block_actions",
      ...interaction(acting, person),
      ...surface.payload(),
      actions: [actionOf(acting, found, chosen)],
    };
    const outcome = await acting.deliver({ kind: "interactive", body });
    return outcome.ok ? done : told(warning[outcome.why]);
  };
};

const warning = {
  timeout: "⚠ The app did not answer in time. Try again.",
  unreachable: "⚠ The app cannot be reached. Try again.",
  http_error: "⚠ The app answered with an error. Try again.",
};

const isAt =
  (blockId: string, actionId: string) =>
  ({ block, element }: Found): boolean =>
    block.block_id === blockId && element["action_id"] === actionId;

/** A choice comes from what is offered; a form made up elsewhere does not. */
const offered = ({ workspace }: Acting, element: Found["element"], chosen: unknown): boolean => {
  const each: unknown[] = Array.isArray(chosen)
    ? (chosen as unknown[])
    : chosen === undefined
      ? []
      : [chosen];
  const options = optionsOf(element).map((option) => option["value"]);
  if (options.length > 0) return each.every((one) => options.includes(one));
  if (element.type === "users_select") return each.every((one) => workspace.people.has(String(one)));
  return true;
};

const actionOf = ({ workspace }: Acting, { block, element }: Found, chosen: unknown): Json => {
  const { type, action_id, text, value, style } = element;
  const common = { type, action_id, block_id: block.block_id, action_ts: workspace.nextTs() };
  if (type !== "button") return { ...common, ...chosenIn(element, chosen) };
  return { ...common, text, ...(value !== undefined && { value }), ...(style !== undefined && { style }) };
};

const viewSurface = (acting: Acting, person: Person, id: string): Surface | null => {
  const { workspace } = acting;
  const modal = workspace.viewById(id);
  const open = modal ?? workspace.homes.get(person.id);
  if (open?.id !== id || open.person !== person.id) return null;
  return {
    blocks: open.view.blocks,
    values: modal?.values ?? {},
    payload: () => ({
      container: { type: "view", view_id: id },
      trigger_id: acting.triggers.issue(person.id, id),
      view: viewJson(open, workspace),
    }),
  };
};

type Kept = WeakMap<Message, OpenView["values"]>;

const messageSurface = (
  acting: Acting,
  person: Person,
  at: { channel: string; ts: string },
  kept: Kept,
): Surface | null => {
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
    payload: () => ({
      container: {
        type: "message",
        message_ts: message.ts,
        channel_id: channel.id,
        is_ephemeral: ephemeral,
        ...thread,
      },
      trigger_id: acting.triggers.issue(person.id),
      channel: { id: channel.id, name: channelName(channel) },
      // Of an ephemeral message Slack keeps nothing that it could send along.
      ...(!ephemeral && { message: messageJson(message, acting) }),
      state: { values: stateOf(message.blocks, values) },
      response_url: acting.responseUrls.issue({ person: person.id, channel: channel.id, message }),
    }),
  };
};
