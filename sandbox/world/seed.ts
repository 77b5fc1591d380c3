// The app, the people and the channels that every sandbox starts with.

import type { Person } from "../slack/model.ts";
import type { Seed } from "../slack/seed-workspace.ts";

/** A workspace that shares a channel through Slack Connect. */
const OTHER_TEAM = "T0PARTNER";

type Row = readonly [id: string, name: string, handle: string, kind: Person["kind"], team?: string];

const PEOPLE: readonly Row[] = [
  ["U0ANA", "Ana Ruiz", "ana", "member"],
  ["U0BEN", "Ben Okafor", "ben", "member"],
  ["U0CAT", "Cat Lindqvist", "cat", "member"],
  ["U0GIL", "Gil Marsh", "gil", "guest"],
  ["U0ODA", "Oda Petersen", "oda", "outsider", OTHER_TEAM],
  ["U0DEE", "Dee Novak", "dee", "member"],
  ["U0ROTA", "Rota", "rota", "bot"],
  ["U0COUNTERSIGN", "Countersign", "countersign", "bot"],
];

export const SEED: Seed = {
  app: { id: "A0COUNTERSIGN", botId: "B0COUNTERSIGN", person: "U0COUNTERSIGN" },
  people: PEOPLE.map(([id, name, handle, kind, team]) => ({
    id,
    name,
    handle,
    kind,
    ...(team === undefined ? {} : { team }),
    deactivated: id === "U0DEE",
  })),
  channels: [
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
  ],
  usergroups: [
    { id: "S0APPROVERS", handle: "approvers", name: "Approvers", users: ["U0BEN", "U0CAT"], disabled: false },
    { id: "S0OLDCREW", handle: "old-crew", name: "Old crew", users: ["U0DEE"], disabled: true },
  ],
};
