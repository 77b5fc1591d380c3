// A run, its approvals, and all their transitions. Every change of a run is made here.

type Verdict = "approve" | "deny";

type ApprovalState =
  | { readonly type: "pending" }
  | {
      readonly type: "decided";
      readonly verdict: Verdict;
      readonly reason: string | null;
      readonly at: number;
    }
  | { readonly type: "withdrawn"; readonly at: number };

/** An action for which a run needs approval. `details` are fields that the interface document does not name. */
export type Ask = { readonly action: string; readonly details: Readonly<Record<string, unknown>> };

export type Approval = Ask & {
  readonly id: string;
  readonly requestedAt: number;
  readonly state: ApprovalState;
};

export type Ending =
  | { readonly type: "succeeded"; readonly output: string }
  | { readonly type: "failed"; readonly code: string; readonly message: string }
  | { readonly type: "canceled"; readonly reason: string };

export type Run = {
  readonly id: string;
  readonly input: string;
  readonly createdAt: number;
  readonly phase: "queued" | "working" | "awaiting_approval" | Ending["type"];
  /** Whether the run has waited for approvals before and has continued. */
  readonly resumed: boolean;
  readonly approvals: readonly Approval[];
  readonly ending: Ending | null;
  readonly completedAt: number | null;
  /** The current step of the script; -1 before the first. */
  readonly step: number;
  /** When the script continues by itself. Null if it waits. */
  readonly wakeAt: number | null;
};

type Impossible = "unknown approval" | "not pending" | "over" | "approval pending" | "nothing asked";
export type Moved =
  | { readonly ok: true; readonly run: Run }
  | { readonly ok: false; readonly because: Impossible };

export const isOver = (run: Run): boolean => run.ending !== null;
const isPending = (approval: Approval): boolean => approval.state.type === "pending";
export const pendingOf = (run: Run): Approval[] => run.approvals.filter(isPending);

const moved = (run: Run): Moved => ({ ok: true, run });
const impossible = (because: Impossible): Moved => ({ ok: false, because });

export function newRun(id: string, input: string, at: number): Run {
  return {
    id,
    input,
    createdAt: at,
    phase: "queued",
    resumed: false,
    approvals: [],
    ending: null,
    completedAt: null,
    step: -1,
    wakeAt: at,
  };
}

export function begin(run: Run): Moved {
  return run.phase === "queued" ? moved({ ...run, phase: "working" }) : impossible("over");
}

export function ask(run: Run, asks: readonly (Ask & { readonly id: string })[], at: number): Moved {
  if (isOver(run)) return impossible("over");
  if (asks.length === 0) return impossible("nothing asked");
  // Keep what the script has planned for the existing requests.
  const wakeAt = run.phase === "awaiting_approval" ? run.wakeAt : null;
  const added = asks.map((one): Approval => ({ ...one, requestedAt: at, state: { type: "pending" } }));
  return moved({ ...run, phase: "awaiting_approval", approvals: [...run.approvals, ...added], wakeAt });
}

export type Decision = { readonly verdict: Verdict; readonly reason: string | null };

export function decide(run: Run, approvalId: string, decision: Decision, at: number): Moved {
  return resolve(run, approvalId, { type: "decided", ...decision, at });
}

export function withdraw(run: Run, approvalId: string, at: number): Moved {
  return resolve(run, approvalId, { type: "withdrawn", at });
}

/** Resolves an approval. The run continues only after its last approval is resolved. */
function resolve(run: Run, approvalId: string, state: Exclude<ApprovalState, { type: "pending" }>): Moved {
  const changed = changePending(run, approvalId, (approval) => ({ ...approval, state }));
  if (!changed.ok || pendingOf(changed.run).length > 0) return changed;
  return moved({ ...changed.run, phase: "working", resumed: true, wakeAt: state.at });
}

/** Changes what an approval asks for, under the same id. */
export function change(run: Run, approvalId: string, to: Partial<Ask>): Moved {
  return changePending(run, approvalId, (approval) => ({ ...approval, ...to }));
}

function changePending(run: Run, approvalId: string, to: (approval: Approval) => Approval): Moved {
  const approval = run.approvals.find(({ id }) => id === approvalId);
  if (approval === undefined) return impossible("unknown approval");
  if (isOver(run) || !isPending(approval)) return impossible("not pending");
  return moved({ ...run, approvals: run.approvals.map((one) => (one === approval ? to(one) : one)) });
}

/** Makes a resolved approval pending again, under the same id. */
export function reopen(run: Run, approvalId: string): Moved {
  if (isOver(run)) return impossible("over");
  if (!run.approvals.some(({ id }) => id === approvalId)) return impossible("unknown approval");
  const approvals = run.approvals.map((one): Approval =>
    one.id === approvalId ? { ...one, state: { type: "pending" } } : one,
  );
  return moved({ ...run, phase: "awaiting_approval", approvals, wakeAt: null });
}

/** Ends a run. If it still asks for approvals, it cannot succeed; failure and cancellation withdraw them. */
export function end(run: Run, ending: Ending, at: number): Moved {
  if (isOver(run)) return impossible("over");
  if (ending.type === "succeeded" && pendingOf(run).length > 0) return impossible("approval pending");
  const approvals = run.approvals.map((one): Approval =>
    isPending(one) ? { ...one, state: { type: "withdrawn", at } } : one,
  );
  return moved({ ...run, phase: ending.type, ending, approvals, completedAt: at, wakeAt: null });
}

export function sleep(run: Run, wakeAt: number | null): Run {
  return { ...run, wakeAt };
}
