// Finds the people who asked for a run before, or may have asked for it. They may not approve it, whoever watches it now.

import type { UserId } from "../domain/ids.ts";
import { readAfter } from "../engine/proven-entries.ts";
import type { Asker, UseCaseDeps } from "./access.ts";

/** The run may have been followed before and deleted since, or it may be the result of a start that was not answered. */
export async function othersWhoMayHaveAsked(
  deps: UseCaseDeps,
  by: Asker,
  id: string,
): Promise<readonly UserId[]> {
  const first = await firstRequester(deps, id);
  const all = [...(first === null ? [] : [first]), ...(await unansweredStarters(deps, by))];
  return [...new Set(all)].filter((user) => user !== by.user);
}

/**
 * How long after a start without an answer a run of unknown origin may be its result (ms). Our choice: a run that asks for something a year
 * later is unlikely, and without an end, the people of a small team could soon approve nothing that was started elsewhere.
 */
const MAY_BE_THEIRS_MS = 365 * 24 * 60 * 60_000;

/** The store has the starts that are under way, and those from before they had an audit entry. The audit has those that are deleted. */
async function unansweredStarters(
  { store, context }: UseCaseDeps,
  { team }: Pick<Asker, "team">,
): Promise<readonly UserId[]> {
  const found: UserId[] = [];
  await store.eachRun("without-id", (run) => {
    const isUnanswered = run.creation.type === "sending" || run.creation.type === "unknown";
    if (isUnanswered && run.team === team) found.push(run.requester);
  });
  const since = context().now - MAY_BE_THEIRS_MS;
  for (const reading of (await readAfter(store, 0, ["start-unconfirmed"])).rows) {
    if (reading.type !== "proven") continue;
    const { at, requester } = reading.kept.entry;
    if (at >= since && requester?.team === team) found.push(requester.user);
  }
  return found;
}

/** `id`: our key or the service's id. Resolves to the requester in the run's first signed entry, or to null. */
export async function firstRequester({ store }: UseCaseDeps, id: string): Promise<UserId | null> {
  for (const { seq, entry } of await store.auditOfRun(id)) {
    if (entry.what !== "started" && entry.what !== "watched") continue;
    const proven = await store.provenEntry(seq);
    if (proven.ok) return proven.kept.entry.requester?.user ?? null;
  }
  return null;
}
