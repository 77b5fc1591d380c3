// Waiting notifications of kinds that this release does not know. A newer release in another replica adds such kinds, and sends them.

import type { KeptEntry } from "../audit/entry.ts";
import type { Nonce } from "../domain/ids.ts";
import { isFollowed, notificationsOf, reportIfForged } from "./from-audit.ts";
import { nullIfNeverReadable } from "./never-readable.ts";
import type { NotificationWriterDeps } from "./from-audit.ts";

const BATCH = 200;

/**
 * Each call handles the notifications that earlier calls have not seen. Someone may have renamed the kind of one in the database, and then
 * no release sends it. So the call adds the notifications that its entry demands, unless they exist.
 */
export function createStrangeKinds(deps: NotificationWriterDeps): () => Promise<void> {
  const { store, log } = deps;
  let known: ReadonlySet<Nonce> = new Set();
  return async () => {
    const strange = await store.strangeNotifications(BATCH);
    const entries = new Set(strange.filter(({ id }) => !known.has(id)).map(({ entry }) => entry));
    if (entries.size > 0) log.warn({ entries: [...entries] }, UNKNOWN_KIND);
    await store.addNotifications(notificationsOf(deps, await readable(deps, entries)));
    known = new Set(strange.map(({ id }) => id));
  };
}

const UNKNOWN_KIND =
  "notifications of a kind that this release does not know are waiting; a newer release in another replica sends them";

async function readable(deps: NotificationWriterDeps, numbers: ReadonlySet<number>): Promise<KeptEntry[]> {
  const entries: KeptEntry[] = [];
  for (const seq of numbers) {
    const kept = await deps.store.auditEntry(seq).catch(nullIfNeverReadable);
    if (kept === null) await reportIfForged(deps, seq);
    else if (isFollowed(kept)) entries.push(kept);
  }
  return entries;
}
