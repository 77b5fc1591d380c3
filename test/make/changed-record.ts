// A run whose record someone has changed, and who may still approve its request.

import type { RunId, UserId } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { type Bench, clickOn } from "./bot.ts";

/** Stores the record as the bot keeps it once it finds that someone has changed it. */
export async function changeRecord(
  { store, clock, ...bench }: Bench,
  id: RunId,
  change: (run: Run) => Run = (run) => run,
): Promise<void> {
  const stored = await store.load((await bench.run(id)).key);
  if (stored === null) throw new Error("there is no such run");
  const watch = { type: "tampered", at: clock.now() } as const;
  await store.save(stored, { ...change(stored.run), watch }, { finished: false });
}

/** Presses Approve. Resolves to "opened" or to the type of the refusal. */
export async function opens(bench: Bench, id: RunId, user: UserId): Promise<string> {
  const { click } = clickOn(await bench.run(id));
  const opened = await bench.flow.openForm.open({ ...click, user }, "approve");
  return opened.ok ? "opened" : opened.error.refusal.type;
}
