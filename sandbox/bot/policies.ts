// The policies that the bot can be switched to. Each is a file, but for the bot's built-in one.

import { rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export type BotPolicy = {
  readonly name: string;
  readonly title: string;
  readonly what: string;
  /** Null: the bot is started without a policy file. */
  readonly file: string | null;
  /** Called before the bot is switched to it. */
  readonly write?: (now: number) => void;
};

const fileOf = (name: string): string => fileURLToPath(new URL(`../policies/${name}.yaml`, import.meta.url));

/** One for each sandbox. */
const WEEK_ENDS = join(tmpdir(), `countersign-week-ends-${process.pid}.yaml`);
const MINUTE_MS = 60_000;
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;

/** The bot has no clock to advance, so the week's end comes to it. */
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
  {
    name: "week-ends",
    title: "Week ends",
    what: "Any one member decides, and the week ends at the next full minute: #releases then gets its look back. Needs a bot that has run for a minute.",
    file: WEEK_ENDS,
    write: writeWeekEnds,
  },
];

/** The first is the one that the sandbox starts with: the operator's own if there is one. */
export function policiesWith(own: string | null): readonly BotPolicy[] {
  if (own === null) return OURS;
  return [{ name: "own", title: "Your own", what: `The file of POLICY_FILE, ${own}.`, file: own }, ...OURS];
}
