// Runs that were started elsewhere: taken into a channel, and let go again.

import { type RunId, RunKey, type UserId } from "../core/ids.ts";
import { observe } from "../core/observe.ts";
import { underPolicy } from "../core/ruling.ts";
import { err, ok, type Result } from "../core/result.ts";
import { adoptedRun, boundBy, drop, isWatched, type Run } from "../core/run.ts";
import { ending } from "../core/snapshot.ts";
import { answered, type Asker, entry, keep, mayKnow, mayStart, mayUse, type UseDeps } from "./may-use.ts";
import type { NoRun } from "./no-run.ts";
import { type Look, PortError } from "./ports.ts";

export type AdoptRun = {
  /** Who adopts a run counts as its requester. */
  adopt(by: Asker, id: RunId): Promise<Result<Run, NoRun>>;
  /** Refused while a decision is under way, or one that the policy makes itself is still to come. */
  unwatch(by: Asker, id: RunId): Promise<Result<Run, NoRun>>;
};

export function createAdoptRun(deps: UseDeps): AdoptRun {
  return {
    adopt: async (by, id) => answered(deps, by, await adopt(deps, by, id), { step: "watch", runId: id }),
    unwatch: async (by, id) =>
      answered(deps, by, await unwatch(deps, by, id), { step: "unwatch", runId: id }),
  };
}

async function adopt(deps: UseDeps, by: Asker, id: RunId): Promise<Result<Run, NoRun>> {
  const no = await mayStart(deps, by);
  if (no !== null) return err(no);
  const known = await deps.store.byRunId(id);
  if (known !== null) return watchAgain(deps, by, { key: known, id });
  const look = await lookAt(deps, id);
  if (!look.ok) return look;
  if (look.value.is === "missing") return err({ because: "unknown-run" });
  const ctx = deps.context();
  const fresh = freshRun(by, RunKey(deps.newKey()), id, ctx.now);
  const run = observe(fresh, look.value.snapshot, ctx);
  const kept = await keep(deps, run, { audit: [entry(run, by, "watched", ctx)] });
  // Somebody else was quicker with the same run.
  return kept === run.key ? ok(run) : watchAgain(deps, by, { key: kept, id });
}

function freshRun({ team, channel, user }: Asker, key: RunKey, id: RunId, now: number): Run {
  return adoptedRun(id, { key, team, channel, requester: user, input: "", askedAt: now, answer: null });
}

async function lookAt({ agents }: UseDeps, id: RunId): Promise<Result<Look, NoRun>> {
  try {
    return ok(await agents.look(id));
  } catch (error) {
    if (error instanceof PortError) return err({ because: "service-silent", words: error.message });
    throw error;
  }
}

type Known = { readonly key: RunKey; readonly id: RunId };

/** Watching again changes neither the requester nor the channel. */
async function watchAgain(deps: UseDeps, by: Asker, { key, id }: Known): Promise<Result<Run, NoRun>> {
  const run = (await deps.store.load(key))?.run;
  if (run === undefined) return err({ because: "unknown-run" });
  if (run.watch.is === "tampered") return beginAnew(deps, by, { key, id });
  const no = await mayKnow(deps, by, run);
  if (no !== null) return err(no);
  if (run.watch.is !== "dropped" && run.watch.is !== "given-up")
    return err({ because: (await isUsedAgain(deps, run, id)) ? "id-used-again" : "already-watched", run });
  const again = await deps.rounds.change(
    key,
    (newest) => ({
      run: { ...newest, watch: watchedAgain(newest, deps.context().monotonic) },
      alongside: { audit: [entry(newest, by, "watched", deps.context())] },
    }),
    { mustHold: false },
  );
  return again === null ? err({ because: "unknown-run" }) : ok(again);
}

/** A replica that lags behind may call a run unfinished for so long (ms) after its end. */
const END_LINGER_MS = 60_000;

/**
 * What has ended does not go on: the service tells of another run under the same id. Nobody knows who asked for that one, and so who
 * must not decide on it.
 */
async function isUsedAgain(deps: UseDeps, { watch }: Run, id: RunId): Promise<boolean> {
  if (watch.is !== "over" || deps.context().monotonic < watch.at + END_LINGER_MS) return false;
  const look = await lookAt(deps, id);
  return look.ok && look.value.is === "snapshot" && ending(look.value.snapshot.status) === null;
}

/**
 * Of a record that somebody changed nothing is kept, its channel included: it begins anew where it is watched. Who asked for the
 * run is still who may not decide on it, and the audit knows who that was.
 */
async function beginAnew(deps: UseDeps, by: Asker, { key, id }: Known): Promise<Result<Run, NoRun>> {
  const user = (await firstRequester(deps, key)) ?? (await firstRequester(deps, id)) ?? by.user;
  const { now } = deps.context();
  const fresh = freshRun({ ...by, user }, key, id, now);
  const alongside = { audit: [entry(fresh, by, "watched", deps.context())] };
  const begun = await deps.rounds.change(key, () => ({ run: fresh, alongside }), { mustHold: false });
  return begun === null ? err({ because: "unknown-run" }) : ok(begun);
}

/** By our key of it or by the service's id. */
async function firstRequester({ store }: UseDeps, id: string): Promise<UserId | null> {
  for (const { seq, entry: told } of await store.auditOfRun(id)) {
    if (told.what !== "started" && told.what !== "watched") continue;
    const proven = await store.provenEntry(seq);
    if (proven.ok) return proven.kept.entry.requester?.user ?? null;
  }
  return null;
}

/** A run that the service had forgotten stays missing until the service knows it again. */
function watchedAgain({ watch }: Run, now: number): Run["watch"] {
  return watch.is === "given-up" ? { is: "missing", since: now, absence: null } : { is: "on" };
}

async function unwatch(deps: UseDeps, by: Asker, id: RunId): Promise<Result<Run, NoRun>> {
  const key = await deps.store.byRunId(id);
  const before = key === null ? null : await deps.store.load(key);
  if (key === null || before === null) return err({ because: "unknown-run" });
  const no =
    (await mayKnow(deps, by, before.run)) ?? (await mayUse(deps, { ...by, channel: before.run.channel }));
  if (no !== null) return err(no);
  let refusal: NoRun | null = null;
  const after = await deps.rounds.change(key, (run) => {
    const bound = boundBy(underPolicy(run, deps.context()));
    const because = bound ?? (isWatched(run) ? null : "not-watched");
    refusal = because === null ? null : { because, run };
    if (because !== null) return run;
    return {
      run: drop(run, by.user, deps.context()),
      alongside: { audit: [entry(run, by, "unwatched", deps.context())] },
    };
  });
  if (refusal !== null) return err(refusal);
  return after === null ? err({ because: "unknown-run" }) : ok(after);
}
