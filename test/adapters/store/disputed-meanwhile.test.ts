// A dispute that begins while finished runs are deleted keeps its run.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { anAuditEntry, aWatchedRun } from "../../make/run.ts";
import { spoil } from "../../make/spoil.ts";

test("a run stays whose decision is disputed after its key was found", async () => {
  const folder = mkdtempSync(join(tmpdir(), "disputed-meanwhile-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "bot.db");
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  onTestFinished(() => store.close());
  const [kept, gone] = [aWatchedRun(), aWatchedRun()];
  for (const run of [kept, gone]) {
    await store.insert(run, { audit: [anAuditEntry(run, { what: "disputed", refers: 1 })] });
    const stored = await store.load(run.key);
    if (stored === null) throw new Error("the run is not stored");
    await store.save(stored, run, { finished: true });
  }
  const disputes = await store.auditAfter(0, ["disputed"], 10);
  const closed = disputes.map(({ seq }) => anAuditEntry(kept, { what: "dispute-closed", refers: seq }));
  await store.audit(closed);
  const disputeAgain = (): boolean => {
    spoil(
      file,
      `insert into audit (seq, at, what, run, entry, link, key, signature)
       values (5, 5, 'disputed', '${kept.key}', '{"refers":1}', '', '', '')`,
    );
    return false;
  };
  expect(await store.forget(Number.MAX_SAFE_INTEGER, disputeAgain)).toBe(1);
  expect(await store.load(kept.key)).not.toBeNull();
  expect(await store.load(gone.key)).toBeNull();
});
