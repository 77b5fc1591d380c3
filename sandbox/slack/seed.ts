// The people and channels every sandbox starts with.

import type { Channel, Person, Usergroup } from "./model.ts";
import { createWorkspace } from "./workspace.ts";
import type { Workspace } from "./workspace.ts";

/** Slack's own voice: it tells a person, and only them, what went wrong. */
export const slackbot = "USLACKBOT";

/** A workspace that Slack Connect shares a channel with. */
const otherTeam = "T0PARTNER";

type Row = readonly [id: string, name: string, handle: string, kind: Person["kind"], team?: string];

const people: readonly Row[] = [
  ["U0ANA", "Ana Ruiz", "ana", "member"],
  ["U0BEN", "Ben Okafor", "ben", "member"],
  ["U0CAT", "Cat Lindqvist", "cat", "member"],
  ["U0GIL", "Gil Marsh", "gil", "guest"],
  ["U0ODA", "Oda Petersen", "oda", "outsider", otherTeam],
  ["U0DEE", "Dee Novak", "dee", "member"],
  ["U0ROTA", "Rota", "rota", "bot"],
  ["U0COUNTERSIGN", "Countersign", "countersign", "bot"],
  [slackbot, "Slackbot", "slackbot", "bot"],
];

const channels: readonly Channel[] = [
  {
    id: "C0OPSAGENTS",
    name: "ops-agents",
    kind: "public",
    members: ["U0ANA", "U0BEN", "U0CAT", "U0GIL", "U0ODA", "U0ROTA", "U0COUNTERSIGN"],
    archived: false,
  },
  {
    id: "C0RELEASES",
    name: "releases",
    kind: "public",
    members: ["U0ANA", "U0BEN", "U0CAT", "U0COUNTERSIGN"],
    archived: false,
  },
  {
    id: "C0PAYMENTS",
    name: "payments-ops",
    kind: "private",
    members: ["U0ANA", "U0BEN", "U0COUNTERSIGN"],
    archived: false,
  },
  { id: "C0RANDOM", name: "random", kind: "public", members: ["U0ANA", "U0BEN", "U0CAT"], archived: false },
];

const usergroups: readonly Usergroup[] = [
  { id: "S0APPROVERS", handle: "approvers", name: "Approvers", users: ["U0BEN", "U0CAT"], disabled: false },
  { id: "S0OLDCREW", handle: "old-crew", name: "Old crew", users: ["U0DEE"], disabled: true },
];

export const seedWorkspace = ({ now }: { now: () => number }): Workspace => {
  const workspace = createWorkspace({ now });
  for (const [id, name, handle, kind, team = workspace.team.id] of people)
    workspace.people.set(id, { id, team, name, handle, kind, deactivated: id === "U0DEE" });
  for (const channel of channels)
    workspace.channels.set(channel.id, { ...channel, members: [...channel.members] });
  for (const group of usergroups) workspace.usergroups.set(group.id, { ...group, users: [...group.users] });
  return workspace;
};
