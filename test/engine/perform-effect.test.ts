// One effect in Slack, and its outcome.

import { describe, expect, test } from "vitest";
import { MessageTs } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { cardSlot, OPENING, type Slot } from "#src/domain/slot.ts";
import { createPerform } from "#src/engine/perform-effect.ts";
import type { AgentService, Chat, People } from "#src/ports.ts";
import type { Store } from "#src/ports/store.ts";
import { contextAt } from "../make/history.ts";
import { anApproval, aWatchedRun, withApprovals } from "../make/run.ts";

const TS = MessageTs("1700000000.000100");

/** Slack no longer lets anyone change these messages. */
function unchangeable() {
  const removed: string[] = [];
  const chat = {
    update: () => Promise.resolve("unchangeable"),
    remove: (_run: Run, _slot: Slot, ts: MessageTs) => Promise.resolve(void removed.push(ts)),
  } as unknown as Chat;
  const nobody = {} as People & AgentService;
  const perform = createPerform({
    agents: nobody,
    people: nobody,
    chat,
    store: {} as Store,
    context: () => contextAt(),
  });
  return { perform, removed };
}

describe("a message that can no longer be changed", () => {
  const approval = anApproval();
  const card = cardSlot(approval.id);
  const up = { type: "up", ts: TS, shows: "", sweepAt: null, notBefore: 0, tries: 0 } as const;
  const run: Run = { ...withApprovals(aWatchedRun(), approval), posts: { [OPENING]: up, [card]: up } };

  test("stays when it opens the thread: a second thread would do more harm than a stale line", async () => {
    const { perform, removed } = unchangeable();
    expect(await perform(run, { type: "update", slot: OPENING })).toMatchObject({ type: "updated" });
    expect(removed).toEqual([]);
  });

  test("is replaced by a new one if it is a card, whose buttons it takes along", async () => {
    const { perform, removed } = unchangeable();
    expect(await perform(run, { type: "update", slot: card })).toEqual({ type: "gone" });
    expect(removed).toEqual([TS]);
  });
});
