// Records of what people did and were told, and of what left us. The judge relies on them; none of it is read from our store.

import type { Verdict } from "#src/domain/approval.ts";
import type { ApprovalId, ChannelId, Nonce, RunId, RunKey, UserId } from "#src/domain/ids.ts";
import type { Json } from "#src/domain/json.ts";
import type { DecisionAnswer } from "#src/ports.ts";

/** The result of an act, as its person sees it. "lost": the process died, or its store failed, so they were told nothing certain. */
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
  /** How often the form was submitted; `answers` has the result of each time. */
  asked: number;
  readonly answers: ToldType[];
  /** When the newest answer came (ms). */
  until: number;
  why: string;
  /** When the person was told that their decision or vote was taken back. Null if it was not. */
  undoneAt: number | null;
};

/** A stop or a freeze. `until` is null while it holds. */
export type Brake = {
  readonly of: RunKey | ChannelId;
  readonly from: number;
  until: number | null;
};

/** One decision that left us. */
export type Sent = {
  /** The process that sent it (setting.ts). */
  readonly from: {
    readonly name: string;
    readonly stalledUntil: number;
    readonly storing: { readonly since: number; readonly until: number };
  };
  readonly run: RunId;
  readonly approval: ApprovalId;
  readonly verdict: Verdict;
  readonly reason: string;
  readonly asked: Json | undefined;
  readonly at: number;
  /** The answer that reached us. Null if none has. */
  answer: DecisionAnswer | null;
  /** Until when the decision may still arrive (ms). */
  arrivesBy: number;
};

export type SentCreate = { readonly key: string; readonly input: string; disproved: boolean };

export class Records {
  readonly starts: Start[] = [];
  /** How often people asked for a task again after they were told that its run may have started. Each counts once. */
  readonly restarts = new Map<string, number>();
  readonly forms: Form[] = [];
  readonly submits: Submit[] = [];
  readonly brakes: Brake[] = [];
  /** Runs that may be stopped, because someone pressed Stop. */
  readonly stopped = new Set<RunKey>();
  readonly sent: Sent[] = [];
  readonly creations: SentCreate[] = [];

  /** Returns the brake that certainly holds there, or null. */
  brakeOn(of: RunKey | ChannelId): Brake | null {
    return this.brakes.find((each) => each.of === of && each.until === null) ?? null;
  }
}
