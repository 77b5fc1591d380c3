// Answers of the service, byte by byte: changes that a careless JSON parser does not see, and items that cannot be read.

import { expect } from "vitest";
import { readRun } from "#src/adapters/agents/run-record.ts";
import { RunId } from "#src/domain/ids.ts";
import { observe } from "#src/domain/observe.ts";
import type { Run } from "#src/domain/run.ts";
import { UNREADABLE } from "#src/domain/slot.ts";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { contextAt } from "../make/history.ts";
import { aWatchedRun, NOON } from "../make/run.ts";
import { idOf } from "../make/message-id.ts";
import { type Attack, attacks, type Story } from "./classes.ts";

type Meanwhile = (
  happens: (on: Story) => void,
  because: "changed" | "closed",
) => (on: Story) => Promise<void>;
type Change = readonly [what: string, before: string, after: string, shown: string];

/** Makes the service answer each read with these fields from now on. */
function answerReadsWith(on: Story, fields: string): void {
  const id = JSON.stringify(on.run);
  on.world.service.control.clearFaults();
  const body = `{"id":${id},"status":"awaiting_approval",${fields}}`;
  on.world.service.control.fault({ route: "read-run" }, { type: "answer", status: 200, body }, "all");
}

const item = (fields: string) => (on: Story) =>
  `"pending_approvals":[{"id":${JSON.stringify(on.approval)},"action":"Deploy billing-api",${fields}}]`;
const around = (fields: string) => (on: Story) => `${fields},${item('"risk":"low"')(on)}`;

const NUMBERS: readonly Change[] = [
  [
    "the last digits of a long number",
    '"user_id":1234567890123456789',
    '"user_id":1234567890123456700',
    "6789",
  ],
  ["a number of 25 digits", '"to":1000000000000000000000001', '"to":1000000000000000000099999', "000001"],
  ["a number too great for a computer's own", '"limit":1e400', '"limit":null', "1e400"],
  ["the way a number is written", '"version":1.10', '"version":1.1', "1.10"],
];
/** Shown on the card once it shows what `around` answers. */
const LOW = "low risk";
const FIELDS: readonly Change[] = [
  ["the run's plan", '"plan":"harmless"', '"plan":"destroy everything"', LOW],
  ["the run's environment", '"environment":{"name":"staging"}', '"environment":{"name":"production"}', LOW],
  ["the task that the run is said to have", '"input":"tidy up"', '"input":"drop all"', LOW],
];

export function rawStories(meanwhile: Meanwhile): readonly Attack<Story>[] {
  const changes =
    (fields: (text: string) => (on: Story) => string) =>
    async (on: Story, [, before, after, shown]: Change): Promise<void> => {
      answerReadsWith(on, fields(before)(on));
      await on.world.reads(on.card, shown);
      await meanwhile((story) => answerReadsWith(story, fields(after)(story)), "changed")(on);
      on.world.service.control.clearFaults();
    };
  return [
    ...attacks<Story, Change>(16, 6, NUMBERS, changes(item)),
    ...attacks<Story, Change>(16, 10, FIELDS, changes(around)),
    ...attacks<Story, readonly [string, string]>(
      17,
      5,
      [
        ["a second action under the same name", '"action":"drop production","x":1'],
        ["depth beyond what is read", `"x":${"[".repeat(70)}${"]".repeat(70)}`],
        ["half of a character", '"note":"\\ud83d"'],
      ],
      async (on, [, fields]) => {
        await meanwhile((story) => answerReadsWith(story, item(fields)(story)), "closed")(on);
        await on.world.saidIn(on.opening, "unreadable:items");
        on.world.service.control.clearFaults();
      },
    ),
  ];
}

/** Returns the run after the service has listed a good approval, and then this one. */
function afterALook(item: string | Buffer): Run {
  const whole = Buffer.concat([
    Buffer.from(`{"id":"run_1","status":"awaiting_approval","pending_approvals":[${GOOD},`),
    Buffer.from(item),
    Buffer.from("]}"),
  ]);
  const spoiled = typeof item === "string" ? null : whole.toString("latin1");
  const read = readRun({ body: whole.toString(), spoiled }, RunId("run_1"), { askedAt: NOON, now: NOON });
  if (!read.ok) throw new Error(read.error);
  return observe(aWatchedRun(RunId("run_1")), read.value, contextAt());
}

const GOOD = '{"id":"apr_good","action":"read logs"}';
type Hidden = readonly [what: string, item: string | Buffer];

/** Requests of an agent that tries to keep them from being seen, or to hide other requests. */
const unreadable = attacks<void, Hidden>(
  22,
  20,
  [
    ["a name twice", '{"id":"a","action":"drop production","action":"read logs"}'],
    ["bytes that are not text", Buffer.from('{"id":"a","action":"J\xe4rg"}', "latin1")],
    ["half of a character", '{"id":"a","action":"\\udc00"}'],
    ["great depth", `{"id":"a","x":${"[".repeat(65)}${"]".repeat(65)}}`],
    ["no id", '{"action":"drop production"}'],
    ["an id that leads elsewhere", '{"id":".."}'],
  ],
  (_, [, bad]) => {
    const run = afterALook(bad);
    expect(run.approvals.map(({ id }) => id)).toEqual(["apr_good"]);
    for (const each of run.approvals)
      expect(JSON.stringify(approvalCard(run, each))).toContain("card_approve");
    const card = messageIn(run, UNREADABLE);
    expect(idOf(card)).toBe("unreadable:items");
    expect(JSON.stringify(card)).not.toMatch(/"(?:button|actions)"/);
  },
);

/** Approvals that look resolved, so that they get no card while they can still be decided. */
const resolved = attacks<void, readonly [string, object]>(
  22,
  26,
  [
    ["a word of its own beside the time of its resolution", { status: "awaiting_human", resolved_at: 1 }],
    ["the word for pending with a space", { status: "PENDING ", resolved_at: "2026-01-01T00:00:00Z" }],
    ["a resolution in years to come", { resolved_at: "2099-01-01T00:00:00Z" }],
    ["the same in seconds", { resolved_at: 4_070_908_800 }],
    ["a list of words that mean resolved", { status: ["approved"], resolved_at: 1 }],
  ],
  (_, [, fields]) => {
    const run = afterALook(JSON.stringify({ id: "apr_bad", action: "drop production", ...fields }));
    expect(run.approvals.map(({ id }) => id)).toEqual(["apr_good", "apr_bad"]);
  },
);

export const rawContent: readonly Attack[] = [...unreadable, ...resolved];
