// The policies that the bot can be switched to. Each is a file, but for the bot's built-in one.

import { fileURLToPath } from "node:url";

export type BotPolicy = {
  readonly name: string;
  readonly title: string;
  readonly what: string;
  /** Null: the bot is started without a policy file. */
  readonly file: string | null;
};

const fileOf = (name: string): string => fileURLToPath(new URL(`../policies/${name}.yaml`, import.meta.url));

/** People and groups are those of `world/seed.ts`. */
const OURS: readonly BotPolicy[] = [
  {
    name: "built-in",
    title: "Built-in",
    what: "Without a file: any one member decides, but not the requester.",
    file: null,
  },
  {
    name: "strict",
    title: "Strict",
    what: "Only Ben and Cat decide, with a reason of ten characters. To approve, they read the request first and type a word (sandbox/policies/strict.yaml).",
    file: fileOf("strict"),
  },
  {
    name: "quorum-and-hold",
    title: "Quorum + hold",
    what: "Two members approve, but not the requester. The approval is held for 30 s and can be undone until then (sandbox/policies/quorum-and-hold.yaml).",
    file: fileOf("quorum-and-hold"),
  },
];

/** The first is the one that the sandbox starts with: the operator's own if there is one. */
export function policiesWith(own: string | null): readonly BotPolicy[] {
  if (own === null) return OURS;
  return [{ name: "own", title: "Your own", what: `The file of POLICY_FILE, ${own}.`, file: own }, ...OURS];
}
