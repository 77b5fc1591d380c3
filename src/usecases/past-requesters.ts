// Finds the people who asked for a run, or may have asked for it, before another person watched it. They may not approve it.

import type { KeptEntry } from "../audit/entry.ts";
import type { ChannelId, RunId, RunKey, UserId } from "../domain/ids.ts";
import type { Run } from "../domain/run.ts";
import { readProven } from "../engine/proven-entries.ts";
import type { Finding } from "../ports/audit-store.ts";
import type { Asker, UseCaseDeps } from "./access.ts";

/** The run may have been followed before and deleted since, or it may be the result of a start that was not answered. */
export async function othersWhoMayHaveAsked(
  deps: UseCaseDeps,
  by: Asker,
  id: string,
): Promise<readonly UserId[]> {
  const all = [...(await requestersOf(deps, id)), ...(await peopleWhoseStartItMayBe(deps, by, id))];
  return [...new Set(all)].filter((user) => user !== by.user);
}

/**
 * How long after a start without an answer a run of unknown origin may be its result (ms). Our choice: a run hardly ever asks for the first
 * time after three months, and the people of a small team must be able to approve what was started elsewhere.
 */
const UNANSWERED_START_MS = 90 * 24 * 60 * 60_000;

/**
 * The people whose start had no answer, or was answered with this id while another person watched it. The store has the starts that are under
 * way, and those from before they had an audit entry. The audit has those that are deleted; one that was answered is found by `requestersOf`.
 */
async function peopleWhoseStartItMayBe(
  deps: UseCaseDeps,
  { team }: Pick<Asker, "team">,
  id: string,
): Promise<readonly UserId[]> {
  const { store } = deps;
  const found: UserId[] = [];
  const since = deps.context().now - UNANSWERED_START_MS;
  const mayBeTheirs = ({ creation, askedAt }: Run): boolean =>
    creation.type === "sending" ||
    (creation.type === "unknown" && askedAt >= since) ||
    (creation.type === "taken" && creation.id === id);
  const add = (run: Pick<Run, "team" | "requester">): void => {
    if (run.team === team) found.push(run.requester);
  };
  const addIfTheirs = (run: Run): void => {
    if (mayBeTheirs(run)) add(run);
  };
  // During a rollout, a start that a newer release has stored cannot be read here. It counts, because it may be under way.
  await store.eachRun("without-id", addIfTheirs, add);
  for (const seq of await unconfirmedSince(store, since)) {
    const entry = await provenOf(deps, seq);
    if (entry?.what !== "start-unconfirmed" || entry.runId !== null || entry.at < since) continue;
    // An entry with a person is their answer. The time counts from the start.
    if (entry.by === null && entry.requester?.team === team) found.push(entry.requester.user);
  }
  return found;
}

/** The rows that are read at once. */
const BATCH = 500;

/** Resolves to entry numbers. Leaves older entries out first, because proving one can take long after a change of the key. */
async function unconfirmedSince(
  store: Pick<UseCaseDeps["store"], "numbersAfter">,
  since: number,
): Promise<readonly number[]> {
  const found: number[] = [];
  for (let after = 0; ;) {
    const rows = await store.numbersAfter(after, ["start-unconfirmed"], BATCH);
    found.push(...rows.filter(({ at }) => at >= since).map(({ seq }) => seq));
    const last = rows.at(-1);
    if (last === undefined || rows.length < BATCH) return found;
    after = last.seq;
  }
}

/** The kinds of entries that name a person who asked for a run or watched it, and the run's channel. */
const NAME_REQUESTERS = new Set<KeptEntry["entry"]["what"]>(["started", "start-confirmed", "watched"]);

/**
 * `id`: our key or the service's id. Resolves to those who asked for the run or watched it after it was forgotten, earliest first. Unsigned
 * columns say which entries are found, so only proven entries that themselves name the run count.
 */
export async function requestersOf(deps: UseCaseDeps, id: string): Promise<readonly UserId[]> {
  const entries = await deps.store.auditOfRun(id);
  const found = new Set<UserId>();
  for (const kept of entries) {
    if (!NAME_REQUESTERS.has(kept.entry.what)) continue;
    const { run, requester } = (await provenOf(deps, kept.seq)) ?? NO_RUN;
    if (run === null || requester === null || found.has(requester.user)) continue;
    if (run === id || (await isOneRun(deps, entries, { run, id }))) found.add(requester.user);
  }
  return [...found];
}

/** `forged`: the findings about the entries that were read. The caller reports them once the person may know about the run. */
type ChannelRead = { readonly channel: ChannelId | null; readonly forged: readonly Finding[] };

/**
 * Resolves to the run's channel by its newest proven entry. It is null if no proven entry names both ids: the key may then be that of a run in
 * another channel. That no entry contradicts proves nothing, because unsigned columns say which entries are found.
 */
export async function channelInAudit(
  { store }: Pick<UseCaseDeps, "store">,
  { key, id }: { readonly key: RunKey; readonly id: RunId },
): Promise<ChannelRead> {
  const forged: Finding[] = [];
  const deps = { store, integrity: { found: (finding: Finding) => void forged.push(finding) } };
  const ofKey: KeptEntry["entry"][] = [];
  for (const { seq, entry } of await store.auditOfRun(key)) {
    // Other entries repeat what the record said, and someone may have changed the record before.
    if (!NAME_REQUESTERS.has(entry.what)) continue;
    const proven = await provenOf(deps, seq);
    if (proven?.run === key) ofKey.push(proven);
  }
  const isOne = ofKey.some(({ runId }) => runId === id);
  const named = ofKey.findLast(({ channel }) => channel !== null);
  return { channel: isOne ? (named?.channel ?? null) : null, forged };
}

/** The entry that asks for a start does not have the service's id. A later entry of the run has both. */
async function isOneRun(
  deps: UseCaseDeps,
  entries: readonly KeptEntry[],
  { run, id }: { readonly run: RunKey; readonly id: string },
): Promise<boolean> {
  for (const kept of entries) {
    if (kept.entry.run !== run || kept.entry.runId !== id) continue;
    const proven = await provenOf(deps, kept.seq);
    if (proven?.run === run && proven.runId === id) return true;
  }
  return false;
}

const NO_RUN = { run: null, requester: null };

type ProofDeps = Pick<UseCaseDeps, "store" | "integrity">;

/** Resolves to null if the entry is not proven, or has a form that this release does not know. One that is forged is reported. */
async function provenOf({ store, integrity }: ProofDeps, seq: number): Promise<KeptEntry["entry"] | null> {
  const reading = await readProven(store, seq);
  if (reading?.type === "forged") integrity.found(reading.finding);
  return reading?.type === "proven" ? reading.kept.entry : null;
}
