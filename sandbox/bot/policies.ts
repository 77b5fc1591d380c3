// The policies that the bot can be switched to. Each is a file, except for the bot's built-in policy.

import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export type BotPolicy = {
  readonly name: string;
  readonly title: string;
  readonly what: string;
  /** Null to start the bot without a policy file. */
  readonly file: string | null;
  /** Writes the file. Called before the bot is switched to the policy. */
  readonly write?: (now: number) => void;
};

const fileOf = (name: string): string => fileURLToPath(new URL(`../policies/${name}.yaml`, import.meta.url));

/** Each sandbox process has its own file. */
const WEEK_ENDS = join(tmpdir(), `countersign-week-ends-${process.pid}.yaml`);
const MINUTE_MS = 60_000;
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;

/** Writes a policy whose week ends at the next full minute, so that no one has to wait for the real end of the week. */
function writeWeekEnds(now: number): void {
  const end = new Date(Math.ceil((now + 1) / MINUTE_MS) * MINUTE_MS);
  const time = end.toISOString().slice(11, 16);
  const text = `look-back: { tz: UTC, day: ${DAYS[end.getUTCDay()]}, at: "${time}" }
rules:
  - name: everything
    approvers: anyone
`;
  writeFileSync(WEEK_ENDS, text);
  process.once("exit", () => rmSync(WEEK_ENDS, { force: true }));
}

/** Their people and groups are those of `world/seed.ts`. */
const OURS: readonly BotPolicy[] = [
  {
    name: "built-in",
    title: "Built-in",
    what: "No policy file: any one member except the requester can decide.",
    file: null,
  },
  {
    name: "strict",
    title: "Strict",
    what: "Only Ben and Cat can decide, with a reason of at least ten characters. To approve, they must read the request first and type a word (sandbox/policies/strict.yaml).",
    file: fileOf("strict"),
  },
  {
    name: "quorum-and-hold",
    title: "Quorum + hold",
    what: "Two members other than the requester must approve. The approval is held for 30 s, and can be undone until then (sandbox/policies/quorum-and-hold.yaml).",
    file: fileOf("quorum-and-hold"),
  },
  {
    name: "week-ends",
    title: "Week ends",
    what: "Any one member can decide, and the week ends at the next full minute: #releases then gets its look back. The bot must have run for a minute.",
    file: WEEK_ENDS,
    write: writeWeekEnds,
  },
];

/** Returns all policies. The sandbox starts with the first, which is the operator's own if there is one. */
export function policiesWith(own: string | null): readonly BotPolicy[] {
  if (own === null) return OURS;
  return [
    { name: "own", title: "Your own", what: `The file that POLICY_FILE names: ${own}.`, file: own },
    ...OURS,
  ];
}
