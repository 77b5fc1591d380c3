// One run, read from a copy of the database: the bot may be using the file itself.

import { parsed, RunId, RunKey } from "../core/ids.ts";
import type { Run } from "../core/run.ts";
import { createFindRuns } from "./find-runs.ts";
import { createLongTexts } from "./long-texts.ts";
import type { Reading } from "./run-row.ts";
import { takeSnapshot } from "./snapshot.ts";
import { openCopy } from "./sqlite.ts";

const READING: Omit<Reading, "texts"> = { seals: null, now: Date.now, findings: { report: () => undefined } };

/** By the service's id or by ours; null when there is no such run. Throws when the file can't be read. */
export async function readRun(database: string, id: string): Promise<Run | null> {
  const copy = await takeSnapshot(database);
  const db = openCopy(copy.file);
  try {
    const runs = createFindRuns({
      db,
      reading: { ...READING, texts: createLongTexts() },
      onCorrupt: () => undefined,
    });
    const asService = parsed(RunId, id);
    const key = (asService === null ? null : await runs.byRunId(asService)) ?? parsed(RunKey, id);
    return key === null ? null : ((await runs.load(key))?.run ?? null);
  } finally {
    await db.destroy();
    copy.remove();
  }
}
