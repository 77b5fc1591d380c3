import * as fc from "fast-check";
import { expect, test } from "vitest";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { cardRenderKey, renderKey } from "#src/domain/render-key.ts";
import { questionSlot, questionsOf } from "#src/domain/question.ts";
import { deeds, lived, waiting } from "../../../make/handling.ts";
import { aWatchedRun, withApprovals } from "../../../make/run.ts";

test("a card and a question get another key whenever they are drawn differently", () => {
  const run = aWatchedRun();
  fc.assert(
    fc.property(deeds, (all) => {
      const cards = new Map<string, string>();
      const asked = new Map<string, string>();
      for (const state of lived(waiting(), all)) {
        const now = withApprovals(run, state);
        expectSame(cards, cardRenderKey(now, state), JSON.stringify(approvalCard(now, state)));
        for (const { id } of questionsOf(state)) {
          const key = `${id} ${renderKey(now, questionSlot(id))}`;
          expectSame(asked, key, JSON.stringify(messageIn(now, questionSlot(id))));
        }
      }
    }),
    { numRuns: 60 },
  );
});

function expectSame(known: Map<string, string>, key: string | null, drawn: string): void {
  const before = known.get(key ?? "") ?? drawn;
  expect(drawn).toBe(before);
  known.set(key ?? "", drawn);
}
