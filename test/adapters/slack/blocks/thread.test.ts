import { expect, test } from "vitest";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { ApprovalId } from "#src/domain/ids.ts";
import { renderKey } from "#src/domain/render-key.ts";
import { cardSlot, OPENING, OUTCOME } from "#src/domain/run.ts";
import { expectMessage } from "./oracle.ts";
import { CREATED } from "./page/example.ts";
import { ended, HALF_DONE, NOTICES_IN_THREAD, OPENINGS, OUTCOMES } from "./page/thread.ts";

const threads = Object.entries({ ...OPENINGS, ...OUTCOMES, ...NOTICES_IN_THREAD }).flatMap(([id, examples]) =>
  examples.map(({ when, drawn }) => ({ name: `${id} ${when}`, drawn })),
);

test.each(threads)("Slack takes the message: $name", ({ drawn }) => {
  expectMessage(drawn as Parameters<typeof expectMessage>[0]);
});

test("a confirmed denial gives opening and outcome another key, so that both are drawn anew", () => {
  for (const slot of [OPENING, OUTCOME])
    expect(renderKey(HALF_DONE, slot)).not.toBe(renderKey(ended("succeeded", null), slot));
});

test("nothing is drawn for a message that is none of ours", () => {
  for (const slot of ["", "opening ", "card", cardSlot(ApprovalId("gone"))])
    expect(() => messageIn(CREATED, slot)).toThrow(TypeError);
});
