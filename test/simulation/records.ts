// What people did and were told, and what left us: the recorders' books, by which the judge judges. None of it is read from our store.

import type { Verdict } from "#src/domain/approval.ts";
import type { ApprovalId, ChannelId, Nonce, RunId, RunKey, UserId } from "#src/domain/ids.ts";
import type { Json } from "#src/domain/json.ts";
import type { DecisionAnswer } from "#src/ports.ts";

/** What an act came to for its person. "lost": the process died, or its store failed, so they were told nothing certain. */
type ToldType = "ok" | "refused" | "lost";

export type Start = {
  readonly input: string;
  readonly intention: string;
  readonly by: UserId;
  readonly channel: ChannelId;
  key: RunKey | null;
  told: ToldType;
};

export type Form = {
  readonly by: UserId;
  readonly key: RunKey;
  readonly run: RunId;
  readonly approval: ApprovalId;
  readonly verdict: Verdict;
  readonly saw: Json;
  readonly nonce: Nonce;
  readonly bundle: null;
};

export type Submit = Form & {
  readonly reason: string;
  readonly at: number;
  told: ToldType;
  /** How often the form came, and how often its person was told what. */
  asked: number;
  readonly answers: ToldType[];
  why: string;
  /** The decision or vote was taken back, and its person was told so. */
  undoneAt: number | null;
};

/** `until` null: it holds. */
export type Brake = {
  readonly of: RunKey | ChannelId;
  readonly from: number;
  until: number | null;
};

/** One decision that left us. */
export type Sent = {
  /** The process, and how long it has stood still at some time (ms). */
  readonly from: { readonly name: string; readonly stalledMs: number };
  readonly run: RunId;
  readonly approval: ApprovalId;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly asked: Json | undefined;
  readonly at: number;
  /** The answer that reached us; null: none yet. */
  answer: DecisionAnswer | null;
  /** Until when it may still arrive (ms). */
  arrivesBy: number;
};

export type SentCreate = { readonly key: string; readonly input: string; disproved: boolean };

export class Records {
  readonly starts: Start[] = [];
  /** How often people asked for a task again, after they were told that its run may have started. Their answer counts once. */
  readonly restarts = new Map<string, number>();
  readonly forms: Form[] = [];
  readonly submits: Submit[] = [];
  readonly brakes: Brake[] = [];
  /** Stops that may hold: someone pressed. */
  readonly stopped = new Set<RunKey>();
  readonly sent: Sent[] = [];
  readonly creations: SentCreate[] = [];

  /** The brake that holds there for sure; null: none does. */
  brakeOn(of: RunKey | ChannelId): Brake | null {
    return this.brakes.find((each) => each.of === of && each.until === null) ?? null;
  }
}
