// Finds people and channels by the names that people type.

import type { Channel, Person } from "../slack/model.ts";
import type { Workspace } from "../slack/workspace.ts";

/** By id, handle or name: "U0BEN", "ben", "@ben", "Ben Okafor". */
export function personCalled({ people }: Workspace, given: string): Person {
  const wanted = plain(given, "@");
  const all = [...people.values()];
  const found =
    people.get(given) ?? all.find(({ handle, name }) => [handle, name].map(lower).includes(wanted));
  if (found === undefined)
    throw new Error(
      `Nobody here is called "${given}". Known: ${all.map(({ handle }) => handle).join(", ")}.`,
    );
  return found;
}

/** By id or name: "C0OPSAGENTS", "ops-agents", "#ops-agents"; a person's handle after "dm:" is their direct messages with the app. */
export function channelCalled(workspace: Workspace, given: string): Channel {
  if (given.startsWith("dm:")) return workspace.dmOf(personCalled(workspace, given.slice(3)).id);
  const all = [...workspace.channels.values()].filter(({ kind }) => kind !== "dm");
  const found = workspace.channels.get(given) ?? all.find(({ name }) => lower(name) === plain(given, "#"));
  if (found === undefined)
    throw new Error(
      `There is no channel "${given}". Known: ${all.map(({ name }) => name).join(", ")}, dm:<person>.`,
    );
  return found;
}

const lower = (text: string): string => text.toLowerCase();
const plain = (given: string, mark: string): string =>
  lower(given.startsWith(mark) ? given.slice(mark.length) : given);
