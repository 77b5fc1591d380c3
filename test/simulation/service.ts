// The agent service as the outside sees it, and the recorder of everything that reached it. It knows nothing of our tables.

import type { Verdict } from "#src/domain/approval.ts";
import { type ApprovalId, RunId, type RunKey } from "#src/domain/ids.ts";
import { isRecord, isSameJson, type Json } from "#src/domain/json.ts";
import type { Ending, PendingApproval, Snapshot } from "#src/domain/snapshot.ts";

type Said = Omit<Snapshot, "askedAt">;

export type Item = {
  readonly id: ApprovalId;
  content: Json;
  listed: boolean;
  resolved: { readonly verdict: Verdict; readonly reason: string; readonly by: "us" | "others" } | null;
};

/** How the service answers a decision on an approval that is no longer pending. */
export type Repeats = "conflict" | "record";

export class ServiceRun {
  readonly id: RunId;
  readonly input: string;
  readonly items = new Map<ApprovalId, Item>();
  status = "queued";
  /** If false, every request for it is answered with 404. */
  known = true;
  #past: { readonly at: number; readonly said: Said }[] = [];

  constructor(id: RunId, input: string) {
    this.id = id;
    this.input = input;
  }

  get ended(): boolean {
    return ["succeeded", "failed", "canceled"].includes(this.status);
  }

  /** Records the state after a change. A stale read gets an earlier state for a while. */
  changed(at: number): void {
    this.#past.push({ at, said: this.#says() });
  }

  says(at: number): Said {
    return (this.#past.findLast((each) => each.at <= at) ?? this.#past[0])?.said ?? this.#says();
  }

  #says(): Said {
    const pending = [...this.items.values()].flatMap(({ id, content, listed }): PendingApproval[] =>
      listed && !this.ended ? [{ id, action: actionOf(content), requestedAt: null, content }] : [],
    );
    const waits = pending.length > 0 && !this.ended;
    return {
      id: this.id,
      status: waits ? "awaiting_approval" : this.status,
      input: this.input,
      output: this.status === "succeeded" ? "done" : null,
      completedAt: null,
      pending,
      unreadable: [],
      extra: {},
    };
  }
}

export type Created = { readonly key: string; readonly input: string; readonly run: RunId };
export type Resolved = {
  readonly run: RunId;
  readonly approval: ApprovalId;
  readonly content: Json;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly at: number;
};

export class SimulatedService {
  readonly runs = new Map<RunId, ServiceRun>();
  readonly created: Created[] = [];
  /** Our decisions that took effect. */
  readonly resolved: Resolved[] = [];
  repeats: Repeats = "conflict";
  /** What others decide right before our next decision arrives. Null if they do not. */
  overtakenBy: Verdict | null = null;
  readonly #note: (words: string) => void;

  constructor(note: (words: string) => void) {
    this.#note = note;
  }

  create(key: RunKey | string, input: string, at: number): ServiceRun {
    const id = RunId(`run_${this.runs.size + 1}`);
    const run = new ServiceRun(id, input);
    this.runs.set(id, run);
    this.created.push({ key, input, run: id });
    run.changed(at);
    return run;
  }

  raise(run: ServiceRun, id: ApprovalId, content: Json, at: number): boolean {
    const known = run.items.get(id);
    if (run.ended || known?.resolved) return false;
    if (known !== undefined && isSameJson(known.content, content) && known.listed) return false;
    run.items.set(id, { id, content, listed: true, resolved: null });
    this.#note(`${run.id} asks for ${id} ${JSON.stringify(content)}`);
    run.changed(at);
    return true;
  }

  list(run: ServiceRun, id: ApprovalId, listed: boolean, at: number): void {
    const item = run.items.get(id);
    if (item === undefined || run.ended || item.resolved !== null) return;
    item.listed = listed;
    this.#note(`${run.id} ${listed ? "lists" : "hides"} ${id}`);
    run.changed(at);
  }

  resolveElsewhere(run: ServiceRun, id: ApprovalId, verdict: Verdict, at: number): boolean {
    const item = run.items.get(id);
    if (item === undefined || item.resolved !== null || !item.listed || run.ended) return false;
    Object.assign(item, { listed: false, resolved: { verdict, reason: "", by: "others" } });
    this.#note(`others resolve ${id} of ${run.id}: ${verdict}`);
    run.changed(at);
    return true;
  }

  end(run: ServiceRun, how: Ending, at: number): void {
    if (run.ended) return;
    run.status = how;
    this.#note(`${run.id} ends: ${how}`);
    run.changed(at);
  }

  /** Applies a decision that arrives, and returns what came of it. */
  decide(decision: Omit<Resolved, "content">): "applied" | "same" | "contrary" | "not-pending" {
    const { run: id, approval, verdict, reason, at } = decision;
    const run = this.runs.get(id);
    const item = run?.items.get(approval);
    if (run === undefined || item === undefined || !run.known || run.ended) return "not-pending";
    this.#overtake(run, approval, at);
    if (item.resolved !== null) {
      if (this.repeats === "conflict") return "not-pending";
      return item.resolved.verdict === verdict ? "same" : "contrary";
    }
    if (!item.listed) return "not-pending";
    Object.assign(item, { listed: false, resolved: { verdict, reason, by: "us" } });
    this.resolved.push({ ...decision, content: item.content });
    run.changed(at);
    return "applied";
  }

  #overtake(run: ServiceRun, id: ApprovalId, at: number): void {
    if (this.overtakenBy !== null && this.resolveElsewhere(run, id, this.overtakenBy, at))
      this.overtakenBy = null;
  }
}

const actionOf = (content: Json): string =>
  isRecord(content) && typeof content["action"] === "string" ? content["action"] : "?";
