// The freezes in force, with a store that fails for a moment.

import { expect, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { auditEntry } from "#src/audit/entry.ts";
import { createFreezes } from "#src/engine/freezes.ts";
import { failure } from "../make/bot.ts";
import { quietLog } from "../make/quiet.ts";
import { APPROVER, CHANNEL, NOON, TEAM } from "../make/run.ts";

const BY = { team: TEAM, user: APPROVER };
const frozen = auditEntry(null, { at: NOON, what: "frozen", outcome: "frozen", channel: CHANNEL, by: BY });

test("a freeze that is written is in force, even if reading it back fails at first", async () => {
  const store = await openStore({ url: "sqlite::memory:", owner: "test", now: () => NOON });
  let fails = 2;
  const freezes = createFreezes(
    {
      audit: (entries) => store.audit(entries),
      auditProof: (seq) => store.auditProof(seq),
      provenEntry: (seq) => store.provenEntry(seq),
      numbersAfter: async (seq, kinds, limit) => {
        fails -= 1;
        if (fails >= 0) throw failure("sqlite_busy");
        return store.numbersAfter(seq, kinds, limit);
      },
    },
    quietLog([], []),
  );
  await freezes.write(frozen);
  expect(freezes.now()).toMatchObject([{ channel: CHANNEL, by: APPROVER }]);
  await store.close();
});

test("a freeze that was lifted stays lifted, however often the entries are read", async () => {
  const store = await openStore({ url: "sqlite::memory:", owner: "test", now: () => NOON });
  const freezes = createFreezes(store, quietLog([], []));
  await freezes.write(frozen);
  const [made] = freezes.now();
  await freezes.write({ ...frozen, what: "freeze-lifted", refers: made?.entry ?? 0 });
  await Promise.all([freezes.refresh(), freezes.refresh()]);
  expect(freezes.now()).toEqual([]);
  await store.close();
});

test("a listener hears of each freeze and of its end, once it counts, and of nothing else", async () => {
  const store = await openStore({ url: "sqlite::memory:", owner: "test", now: () => NOON });
  const freezes = createFreezes(store, quietLog([], []));
  const heard: (readonly [freezes: number, knownTo: number])[] = [];
  freezes.onChange(() => heard.push([freezes.now().length, freezes.knownTo().seq]));
  await freezes.refresh();
  await freezes.write(frozen);
  const [made] = freezes.now();
  await freezes.refresh();
  await freezes.write({ ...frozen, what: "freeze-lifted", refers: made?.entry ?? 0 });
  expect(heard).toEqual([
    [1, 1],
    [0, 2],
  ]);
  await store.close();
});
