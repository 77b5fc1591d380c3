// Watches and unwatches, in a channel, runs that were started outside Countersign.

import { applyPolicy } from "../domain/applied-rule.ts";
import type { CommandRefusal } from "../domain/command-refusal.ts";
import { type ChannelId, type RunId, RunKey, UNKNOWN_PERSON } from "../domain/ids.ts";
import { reasonToKeepWatching, stopWatching, wasMissing } from "../domain/end-run.ts";
import { observe } from "../domain/observe.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { addPossibleRequester, adoptedRun, isWatched, type Run, type Stop } from "../domain/run.ts";
import { ending } from "../domain/snapshot.ts";
import { type FetchedRun, PortError } from "../ports.ts";
import {
  type Asker,
  noteIfRefused,
  refusalToKnow,
  refusalToStart,
  refusalToUse,
  type UseCaseDeps,
} from "./access.ts";
import { channelInAudit, othersWhoMayHaveAsked, requestersOf } from "./past-requesters.ts";
import { runEntry, storeRun } from "./store-run.ts";

export type AdoptRun = {
  /** The person who adopts a run counts as its requester. */
  adopt(by: Asker, id: RunId): Promise<Result<Run, CommandRefusal>>;
  /** Refused while a decision is in progress, or while the policy may still deny a request. */
  unwatch(by: Asker, id: RunId): Promise<Result<Run, CommandRefusal>>;
};

export function createAdoptRun(deps: UseCaseDeps): AdoptRun {
  return {
    adopt: async (by, id) => noteIfRefused(deps, by, await adopt(deps, by, id), { step: "watch", runId: id }),
    unwatch: async (by, id) =>
      noteIfRefused(deps, by, await unwatch(deps, by, id), { step: "unwatch", runId: id }),
  };
}

async function adopt(deps: UseCaseDeps, by: Asker, id: RunId): Promise<Result<Run, CommandRefusal>> {
  const refusal = await refusalToStart(deps, by, "adopted");
  if (refusal !== null) return err(refusal);
  const followed = await deps.store.byRunId(id);
  if (followed !== null) return watchAgain(deps, by, { key: followed, id });
  const fetched = await fetchOrRefuse(deps, id);
  if (!fetched.ok) return fetched;
  if (fetched.value.type === "missing") return err({ type: "unknown-run" });
  const ctx = deps.context();
  const fresh = await freshRun(deps, by, { key: RunKey(deps.newKey()), id });
  const run = observe(fresh, fetched.value.snapshot, ctx);
  const key = await storeRun(deps, run, { audit: [runEntry(run, by, "watched", ctx)] });
  // If the keys differ, another person adopted the same run at the same time.
  return key === run.key ? ok(run) : watchAgain(deps, by, { key, id });
}

async function freshRun(deps: UseCaseDeps, by: Asker, { key, id }: RunIds): Promise<Run> {
  const { team, channel, user: requester } = by;
  const askedAt = deps.context().now;
  const run = adoptedRun(id, { key, team, channel, requester, input: "", askedAt, answer: null });
  const mayHaveAsked = await othersWhoMayHaveAsked(deps, by, id);
  const stop = await stopInForce(deps, { key, id });
  return { ...run, ...(mayHaveAsked.length > 0 && { mayHaveAsked }), ...(stop !== null && { stop }) };
}

async function fetchOrRefuse(
  { agents }: UseCaseDeps,
  id: RunId,
): Promise<Result<FetchedRun, CommandRefusal>> {
  try {
    return ok(await agents.fetchRun(id));
  } catch (error) {
    if (error instanceof PortError) return err({ type: "service-silent", words: error.publicMessage });
    throw error;
  }
}

type RunIds = { readonly key: RunKey; readonly id: RunId };

/** Watching again changes neither the requester nor the channel. */
async function watchAgain(
  deps: UseCaseDeps,
  by: Asker,
  { key, id }: RunIds,
): Promise<Result<Run, CommandRefusal>> {
  const run = (await deps.store.load(key))?.run;
  if (run === undefined) return err({ type: "unknown-run" });
  if (run.watch.type === "tampered") return startOver(deps, by, { key, id, recorded: run.channel });
  const refusal = await refusalToKnow(deps, by, run);
  if (refusal !== null) return err(refusal);
  if (!isUnwatched(run))
    return err({ type: (await isUsedAgain(deps, run, id)) ? "id-used-again" : "already-watched", run });
  const again = await deps.engine.transactAnywhere(key, (newest) => {
    // Meanwhile the run may be watched again, or be found tampered with. A record that we do not believe must not be sealed again.
    if (!isUnwatched(newest)) return { run: newest, value: false };
    const sideWrites = { audit: [runEntry(newest, by, "watched", deps.context())] };
    const watch = watchedAgain(newest, deps.context().monotonic);
    return { run: { ...newest, watch }, value: true, sideWrites };
  });
  if (again === null) return err({ type: "unknown-run" });
  return again.value ? ok(again.run) : watchAgain(deps, by, { key, id });
}

/** Returns whether the run is no longer watched, and can be watched again as it is. */
const isUnwatched = ({ watch }: Run): boolean => watch.type === "dropped" || watch.type === "given-up";

/** How long after a run's end a lagging replica of the service may still call the run unfinished (ms). */
const END_LINGER_MS = 60_000;

/**
 * A run that has ended does not continue. If the service calls it unfinished, it has reused the id for another run. The requester of that
 * run is unknown, so we do not know who must not decide on it.
 */
async function isUsedAgain(deps: UseCaseDeps, { watch }: Run, id: RunId): Promise<boolean> {
  if (watch.type !== "over" || deps.context().monotonic < watch.at + END_LINGER_MS) return false;
  const fetched = await fetchOrRefuse(deps, id);
  return fetched.ok && fetched.value.type === "snapshot" && ending(fetched.value.snapshot.status) === null;
}

/**
 * Nothing of a tampered record is kept. The audit shows the run's channel, those who asked for it and so may not decide on it, and its stop.
 * If the audit does not prove the channel, the run stays closed: in another channel, other people could decide, under a laxer rule. The
 * channel that the record names then says only who may know of this.
 */
async function startOver(
  deps: UseCaseDeps,
  by: Asker,
  { key, id, recorded }: RunIds & { readonly recorded: ChannelId },
): Promise<Result<Run, CommandRefusal>> {
  const { channel, forged } = await channelInAudit(deps, { key, id });
  const refusal = await refusalToKnow(deps, by, { channel: channel ?? recorded });
  if (refusal !== null) return err(refusal);
  for (const finding of forged) deps.integrity.found(finding);
  if (channel === null) return err({ type: "channel-unproven" });
  const asked = [...(await requestersOf(deps, key)), ...(await requestersOf(deps, id))];
  const [user = by.user] = asked;
  const blank = await freshRun(deps, { ...by, user, channel }, { key, id });
  const fresh = asked.reduce((run, each) => addPossibleRequester(run, each), blank);
  const sideWrites = { audit: [runEntry(fresh, by, "watched", deps.context())] };
  const begun = await deps.engine.transactAnywhere(
    key,
    // Another person may have started over meanwhile.
    (newest) =>
      newest.watch.type === "tampered"
        ? { run: fresh, value: true, sideWrites }
        : { run: newest, value: false },
  );
  if (begun === null) return err({ type: "unknown-run" });
  return begun.value ? ok(begun.run) : watchAgain(deps, by, { key, id });
}

/**
 * Resolves to the stop of the run in the audit, unless it was lifted. An entry that is not proven also stops the run, and lifts no stop:
 * otherwise, people could lift a stop by spoiling its entry. Unsigned columns say which entries are found, so a lift must also name the
 * run. The audit shows neither that a run has ended nor that the service had forgotten it, so the stop may be of another run.
 */
async function stopInForce({ store, context }: UseCaseDeps, { key, id }: RunIds): Promise<Stop | null> {
  const found = (await Promise.all([store.auditOfRun(key), store.auditOfRun(id)])).flat();
  let stop: Stop | null = null;
  for (const { seq, entry } of found.toSorted((a, b) => a.seq - b.seq)) {
    if (entry.what !== "stopped" && entry.what !== "stop-lifted") continue;
    const proven = await store.provenEntry(seq);
    const { what, run, runId, by, at } = proven.ok ? proven.kept.entry : entry;
    if (what === "stop-lifted") {
      if (proven.ok && (run === key || runId === id)) stop = null;
    } else {
      const order =
        proven.ok && by !== null ? { by: by.user, at } : { by: UNKNOWN_PERSON, at: context().now };
      stop = { ...order, ofEarlierRecord: true };
    }
  }
  return stop;
}

/** A run that was missing stays missing until the service knows it again. */
function watchedAgain(run: Run, monotonic: number): Run["watch"] {
  return wasMissing(run) ? { type: "missing", since: monotonic, absence: null } : { type: "on" };
}

async function unwatch(deps: UseCaseDeps, by: Asker, id: RunId): Promise<Result<Run, CommandRefusal>> {
  const key = await deps.store.byRunId(id);
  const before = key === null ? null : await deps.store.load(key);
  if (key === null || before === null) return err({ type: "unknown-run" });
  const refusal =
    (await refusalToKnow(deps, by, before.run)) ??
    (await refusalToUse(deps, { ...by, channel: before.run.channel }));
  if (refusal !== null) return err(refusal);
  const after = await deps.engine.transactAnywhere<CommandRefusal | null>(key, (run) => {
    // Only the rule, because it says what the deadline will do. What a freeze is about to take back still counts as being decided.
    const bound = reasonToKeepWatching(applyPolicy(run, deps.context()));
    const cause = bound ?? (isWatched(run) ? null : "not-watched");
    if (cause !== null) return { run, value: { type: cause, run } };
    return {
      run: stopWatching(run, by.user, deps.context()),
      value: null,
      sideWrites: { audit: [runEntry(run, by, "unwatched", deps.context())] },
    };
  });
  if (after === null) return err({ type: "unknown-run" });
  return after.value === null ? ok(after.run) : err(after.value);
}
