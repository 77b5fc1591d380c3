// Finds people and channels by id or by name.

import type { Channel, Person } from "../slack/model.ts";
import type { Workspace } from "../slack/workspace.ts";

/** Finds a person by id, handle or name: "U0BEN", "ben", "@ben", "Ben Okafor". Throws, with all handles, if there is no match. */
export function personCalled({ people }: Workspace, input: string): Person {
  const wanted = plain(input, "@");
  const all = [...people.values()];
  const found =
    people.get(input) ?? all.find(({ handle, name }) => [handle, name].map(lower).includes(wanted));
  if (found === undefined)
    throw new Error(
      `There is no person "${input}". Known people: ${all.map(({ handle }) => handle).join(", ")}.`,
    );
  return found;
}

/** Finds a channel by id or name: "C0OPSAGENTS", "ops-agents", "#ops-agents". "dm:" and a person finds their messages with the app. */
export function channelCalled(workspace: Workspace, input: string): Channel {
  if (input.startsWith("dm:")) return workspace.dmOf(personCalled(workspace, input.slice(3)).id);
  const all = [...workspace.channels.values()].filter(({ kind }) => kind !== "dm");
  const found = workspace.channels.get(input) ?? all.find(({ name }) => lower(name) === plain(input, "#"));
  if (found === undefined)
    throw new Error(
      `There is no channel "${input}". Known channels: ${all.map(({ name }) => name).join(", ")}, dm:<person>.`,
    );
  return found;
}

const lower = (text: string): string => text.toLowerCase();
const plain = (input: string, mark: string): string =>
  lower(input.startsWith(mark) ? input.slice(mark.length) : input);
