// The agent service as a value that can be asked, changed and made to lag. It has no I/O and no clock.

import type { Decision } from "#src/domain/approval.ts";
import type { Outcome } from "#src/domain/effect.ts";
import type { ApprovalId, RunId } from "#src/domain/ids.ts";
import type { Json } from "#src/domain/json.ts";
import type { Ending, Snapshot } from "#src/domain/snapshot.ts";

/** One request. Its id may have belonged to an earlier request. */
type Item = { content: Json; listed: boolean; resolved: boolean; readonly reused: boolean };
type Said = Omit<Snapshot, "askedAt">;
export type Look =
  | { readonly type: "snapshot"; readonly snapshot: Snapshot }
  | { readonly type: "missing"; readonly askedAt: number };

/**
 * How a look may be answered. "stale": by a replica that lags behind. "missing": 404, though the run exists.
 * "untold": approval is awaited, but the list is missing. "spoiled": the first item of the list cannot be read, not
 * even its id. "named": only its id can be read.
 */
export type Answer = "fresh" | "stale" | "missing" | "untold" | "spoiled" | "named";

const SPOILED = { ids: [], code: "no-id", why: "it has no id", source: "{}", hidden: 0 };

export class SimulatedService {
  /** If false, every question about the run is answered 404. */
  known = true;
  readonly created: RunId[] = [];
  readonly items = new Map<ApprovalId, Item>();
  /** Decisions that took effect here, in order. */
  readonly applied: { readonly item: Item; readonly decision: Decision }[] = [];
  /** When an id was last given to another request. */
  readonly #reusedAt = new Map<ApprovalId, number>();
  #status = "queued";
  #output: string | null = null;
  #past: { readonly at: number; readonly said: Said }[] = [];

  create(id: RunId, now: number): Snapshot {
    this.created.push(id);
    this.note(now);
    return { ...this.#says(), askedAt: now };
  }

  /** To be called after each change: keeps the earlier state, which a lagging reader sees for a while. */
  note(now: number): void {
    this.#past.push({ at: now, said: this.#says() });
  }

  /** Makes a request pending: a new one, changed content, or a new one under the id of a resolved request. */
  raise(id: ApprovalId, content: Json, now: number): void {
    if (this.ended) return;
    const before = this.items.get(id);
    if (before?.resolved === true && JSON.stringify(before.content) === JSON.stringify(content)) return;
    if (this.isUsed(id)) this.#reusedAt.set(id, now);
    this.items.set(id, { content, listed: true, resolved: false, reused: this.isUsed(id) });
    this.#status = "awaiting_approval";
    this.note(now);
  }

  /** Whether a request under this id was resolved before. */
  isUsed(id: ApprovalId): boolean {
    const item = this.items.get(id);
    return item !== undefined && (item.resolved || item.reused);
  }

  /**
   * A look that a replica answers, but not one from before the id was given to another request. A decision that leaves again after that
   * look would count for the other request, because the interface lets no POST say which request it means.
   */
  lookBefore(id: ApprovalId, how: Answer, now: number, lagMs: number): Look {
    const since = now - (this.#reusedAt.get(id) ?? Number.NEGATIVE_INFINITY);
    return this.answer(how === "stale" && since < lagMs ? "fresh" : how, now, lagMs);
  }

  /** Hides a request from the list though nobody resolved it, or lists it again. */
  list(id: ApprovalId, listed: boolean, now: number): void {
    const item = this.items.get(id);
    if (item === undefined || this.ended) return;
    item.listed = listed;
    this.note(now);
  }

  resolveElsewhere(id: ApprovalId, now: number): void {
    const item = this.items.get(id);
    if (item === undefined) return;
    Object.assign(item, { listed: false, resolved: true });
    this.note(now);
  }

  say(status: string, now: number): void {
    if (this.ended) return;
    this.#status = status;
    this.note(now);
  }

  end(how: Ending, output: string | null, now: number): void {
    if (this.ended) return;
    this.#status = how;
    this.#output = output;
    this.note(now);
  }

  get ended(): boolean {
    return ["succeeded", "failed", "canceled"].includes(this.#status);
  }

  answer(how: Answer, now: number, lagMs: number): Look {
    if (how === "missing") return { type: "missing", askedAt: now };
    const fetched = this.fetchRun(now, how === "stale" ? lagMs : 0);
    if (fetched.type === "missing") return fetched;
    const { status, pending } = fetched.snapshot;
    if (how === "untold" && status === "awaiting_approval")
      return { type: "snapshot", snapshot: { ...fetched.snapshot, pending: null } };
    const [first, ...rest] = pending ?? [];
    if ((how !== "spoiled" && how !== "named") || first === undefined) return fetched;
    const item = { ...SPOILED, ids: how === "named" ? [first.id] : [] };
    return { type: "snapshot", snapshot: { ...fetched.snapshot, pending: rest, unreadable: [item] } };
  }

  fetchRun(now: number, lagMs: number): Look {
    if (!this.known) return { type: "missing", askedAt: now };
    const seen = this.#past.findLast(({ at }) => at <= now - lagMs) ?? this.#past[0];
    return { type: "snapshot", snapshot: { ...(seen?.said ?? this.#says()), askedAt: now } };
  }

  resolve(approval: ApprovalId, decision: Decision, now: number): Outcome {
    const item = this.items.get(approval);
    if (!this.known || this.ended || item === undefined || item.resolved || !item.listed)
      return { type: "refused", words: "409: not pending" };
    Object.assign(item, { listed: false, resolved: true });
    this.applied.push({ item, decision });
    this.note(now);
    return { type: "confirmed" };
  }

  #says(): Said {
    const pending = [...this.items].flatMap(([id, { content, listed }]) =>
      listed && !this.ended ? [{ id, action: "delete the old certificate", requestedAt: null, content }] : [],
    );
    const [id] = this.created;
    if (id === undefined) throw new Error("no run was created");
    return {
      id,
      status: this.#status,
      input: "task",
      output: this.#output,
      completedAt: null,
      pending,
      unreadable: [],
      extra: {},
    };
  }
}
