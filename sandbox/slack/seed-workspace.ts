// Creates a workspace with the app, people and channels that it starts with.

import type { Channel, Person, Usergroup } from "./model.ts";
import { createWorkspace } from "./workspace.ts";
import type { InstalledApp, Workspace } from "./workspace.ts";

/** The person as whom Slack itself writes, for example to tell someone privately what went wrong. */
export const slackbot = "USLACKBOT";

export type Seed = {
  readonly app: Omit<InstalledApp, "takesMessages">;
  /** The people, who belong to this workspace unless they have a team. They include the app's own user. */
  readonly people: readonly (Omit<Person, "team"> & Partial<Pick<Person, "team">>)[];
  readonly channels: readonly Channel[];
  readonly usergroups: readonly Usergroup[];
};

const SLACKBOT = {
  id: slackbot,
  name: "Slackbot",
  handle: "slackbot",
  kind: "bot",
  deactivated: false,
} as const;

export function seedWorkspace({ now, seed }: { now: () => number; seed: Seed }): Workspace {
  const workspace = createWorkspace({ now, app: seed.app });
  for (const person of [...seed.people, SLACKBOT])
    workspace.people.set(person.id, { team: workspace.team.id, ...person });
  for (const channel of seed.channels)
    workspace.channels.set(channel.id, { ...channel, members: [...channel.members] });
  for (const group of seed.usergroups)
    workspace.usergroups.set(group.id, { ...group, users: [...group.users] });
  return workspace;
}
