// The Stop button names the newest stop, so that a late press on it can be recognized.

import { expect, test } from "vitest";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { stopShownIn } from "#src/adapters/slack/blocks/brake-blocks.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { cardRenderKey, openingRenderKey } from "#src/domain/render-key.ts";
import type { Run, Stop } from "#src/domain/run.ts";
import { OPENING } from "#src/domain/slot.ts";
import { NOON } from "../../../make/run.ts";
import { BEN, CLEO, CREATED, DEPLOYMENT, PENDING } from "./page/example.ts";

const RUN: Run = { ...CREATED, approvals: [PENDING] };
const stop: Stop = { by: BEN, at: NOON };
const LIFTED: Run = { ...RUN, stop: { ...stop, lifted: { by: CLEO, at: NOON + 1 } } };
const EARLIER: Run = { ...RUN, stop: { ...stop, ofEarlierRecord: true } };
const cases = [
  ["a run that was never stopped", RUN, null],
  ["a run whose stop was lifted", LIFTED, NOON],
  ["a run whose stop may be another run's", EARLIER, NOON],
] as const;
const messages = {
  opening: (run: Run) => ({
    message: messageIn(run, OPENING, DEPLOYMENT),
    key: openingRenderKey(run),
  }),
  card: (run: Run) => ({ message: approvalCard(run, PENDING), key: cardRenderKey(run, PENDING) }),
};

/** The id of the block with the Stop button. */
const blockOf = (run: Run, of: keyof typeof messages): string | undefined =>
  messages[of](run).message.blocks.find((block) => JSON.stringify(block).includes("run_stop"))?.block_id;

test.for(cases)("of %s leads back to the stop that was shown", ([, run, shown]) => {
  for (const of of ["opening", "card"] as const) {
    const block = blockOf(run, of);
    expect(block).toBeDefined();
    expect(stopShownIn(block)).toBe(shown);
  }
});

test("is drawn again when another stop is the newest", () => {
  const runs = [
    RUN,
    LIFTED,
    { ...RUN, stop: { ...stop, at: NOON + 2, lifted: { by: CLEO, at: NOON + 3 } } },
    EARLIER,
  ];
  for (const of of ["opening", "card"] as const)
    expect(new Set(runs.map((run) => messages[of](run).key)).size).toBe(runs.length);
});

test.each([
  undefined,
  "",
  "stop-abcdefgh",
  "decide-abcdefghabcdefgh-12",
  "stop-abcdefgh.x",
  "lift-0x1-a",
  "a b.5",
])("in a block with the id %j shows no stop", (id) => expect(stopShownIn(id)).toBeNull());
