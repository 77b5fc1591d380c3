// Handles a submitted form with several requests.

import { ruleOf } from "../domain/applied-rule.ts";
import type { Request, Verdict } from "../domain/approval.ts";
import type { Refusal } from "../domain/authorization.ts";
import type { ApprovalId, Nonce, RunKey, PersonId } from "../domain/ids.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { findApproval, type Run } from "../domain/run.ts";
import { refusalOfReason } from "../domain/submission.ts";
import { formToDecide, type NoForm } from "./form-ticket.ts";
import {
  attemptOf,
  currentRule,
  type FilledForm,
  isRepeated,
  lookUpFacts,
  recordDecisions,
} from "./record-decisions.ts";
import { type DecideDeps, refused } from "./refusals.ts";
import { MAX_TOGETHER } from "./review.ts";

/** The choice for one request of the form. Null stands for a value that the form does not offer. Requests without a choice are left out. */
export type Choice = { readonly nonce: Nonce | null; readonly verdict: Verdict | null };
export type Reasons = { readonly [Each in Verdict]: string };

/** `request` and `approval` are null if the form is unknown. */
export type RefusedLine = {
  readonly request: Request | null;
  readonly run: Run | null;
  readonly approval: ApprovalId | null;
  readonly refusal: Refusal;
};

export type Reviewed = {
  /** The number of decisions that are recorded now or were recorded before. */
  readonly recorded: { readonly [Each in Verdict]: number };
  readonly refused: readonly RefusedLine[];
};

/** A reason is missing, or does not have the length that a rule requires. Nothing new is recorded, so the person can correct it in the form. */
export type ReasonFault = { readonly verdict: Verdict; readonly refusal: Refusal };

/**
 * All decisions that are reported as recorded are stored when this resolves. Rejects with PortError if some of them could not be stored.
 * Submitting the same form again is safe, because the same decision counts once.
 */
export type SubmitReview = (
  by: PersonId,
  bundle: Nonce | null,
  choices: readonly Choice[],
  reasons: Reasons,
) => Promise<Result<Reviewed, ReasonFault>>;

type Line = { readonly form: FilledForm; readonly run: Run | null; readonly refusal: Refusal | null };

export function createSubmitReview(deps: DecideDeps): SubmitReview {
  return async (by, bundle, choices, reasons) => {
    const results = await Promise.all(
      choices.map(async (choice, at) =>
        at < MAX_TOGETHER ? filledIn(deps, by, choice, { bundle, reasons }) : UNKNOWN,
      ),
    );
    const unknown = results.flatMap((result) => ("type" in result ? [result] : []));
    const byRun = [
      ...Map.groupBy(
        results.flatMap((result) => ("type" in result ? [] : [result])),
        ({ ticket }) => ticket.run,
      ),
    ];
    const fault = await refuseFaultyReasons(deps, by, byRun);
    if (fault !== null) return err(fault);
    for (const refusal of unknown) await refused(deps, { refusal, run: null }, by, { step: "submit" });
    const settled = await Promise.allSettled(byRun.map(([key, forms]) => recordForRun(deps, by, key, forms)));
    const failed = settled.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
    const lines = settled.flatMap((commit) => (commit.status === "fulfilled" ? commit.value : []));
    return ok(reviewedOf(unknown, lines));
  };
}

const UNKNOWN = { type: "unknown" } as const;

async function filledIn(
  deps: DecideDeps,
  by: PersonId,
  { nonce, verdict }: Choice,
  { bundle, reasons }: { readonly bundle: Nonce | null; readonly reasons: Reasons },
): Promise<FilledForm | NoForm> {
  if (bundle === null || verdict === null) return UNKNOWN;
  const ticket = await formToDecide(deps, by, nonce, bundle);
  return "type" in ticket ? ticket : { ticket: { ...ticket, verdict }, reason: reasons[verdict], word: "" };
}

function reviewedOf(unknown: readonly Refusal[], lines: readonly Line[]): Reviewed {
  const recorded = (verdict: Verdict): number =>
    lines.filter(({ refusal, form }) => refusal === null && form.ticket.verdict === verdict).length;
  return {
    recorded: { approve: recorded("approve"), deny: recorded("deny") },
    refused: [
      ...unknown.map((refusal) => ({ request: null, run: null, approval: null, refusal })),
      ...lines.flatMap(({ form: { ticket }, run, refusal }) =>
        refusal === null ? [] : [{ request: ticket.saw, run, approval: ticket.approval, refusal }],
      ),
    ],
  };
}

type ByRun = readonly (readonly [RunKey, readonly FilledForm[]])[];

/** Resolves to the first fault; denials come before approvals. Writes an audit entry for each request with a fault. */
async function refuseFaultyReasons(
  deps: DecideDeps,
  by: PersonId,
  byRun: ByRun,
): Promise<ReasonFault | null> {
  const faults: ReasonFault[] = [];
  for (const [key, forms] of byRun) {
    const run = (await deps.store.load(key))?.run;
    if (run === undefined) continue;
    for (const form of forms) {
      const { ticket, reason } = form;
      const { verdict, approval: id, saw } = ticket;
      const approval = findApproval(run, id);
      if (approval === null || isRepeated(run, by, form)) continue;
      const refusal = refusalOfReason(reason, verdict, ruleOf(deps.context(), run, approval));
      if (refusal === null) continue;
      faults.push({ verdict, refusal });
      const tried = { ...attemptOf(form), approval: id, saw };
      await refused(deps, { refusal, run, policy: currentRule(deps, run, ticket) }, by, tried);
    }
  }
  return faults.find(({ verdict }) => verdict === "deny") ?? faults[0] ?? null;
}

async function recordForRun(
  deps: DecideDeps,
  by: PersonId,
  key: RunKey,
  forms: readonly FilledForm[],
): Promise<readonly Line[]> {
  const run = (await deps.store.load(key))?.run;
  const recorded =
    run === undefined ? null : await recordDecisions(deps, by, await lookUpFacts(deps, by, run, forms));
  if (recorded !== null)
    return forms.map((form, at) => ({ form, run: recorded.run, refusal: recorded.refusals[at] ?? null }));
  for (const form of forms) await refused(deps, { refusal: UNKNOWN, run: null }, by, attemptOf(form));
  return forms.map((form) => ({ form, run: null, refusal: UNKNOWN }));
}
