// Handles a submitted form. A submit looks people up again, compares the request with what the form showed, and stores the
// decision. Only then is the form acknowledged.

import type { Verdict } from "../domain/approval.ts";
import type { ApprovalId, Nonce, PersonId } from "../domain/ids.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { Run } from "../domain/run.ts";
import { formToDecide } from "./form-ticket.ts";
import { attemptOf, currentRule, isRepeated, lookUpFacts, recordDecisions } from "./record-decisions.ts";
import { type DecideDeps, refused, type RefusedAttempt } from "./refusals.ts";

/** The run as it was stored, and the decided approval. */
export type Recorded = { readonly run: Run; readonly approval: ApprovalId };

/** The decision is stored when this resolves to ok. Rejects with PortError if the decision could not be stored. */
export type SubmitDecision = (
  by: PersonId,
  /** Null if the form carried no valid nonce. */
  nonce: Nonce | null,
  reason: string,
  /**
   * `word`: the word that a rule may require; left out if the form did not ask for it. `chosen`: the verdict, in a form that asks for it;
   * ignored for every other form.
   */
  extras?: { readonly word?: string; readonly chosen?: Verdict | null },
) => Promise<Result<Recorded, RefusedAttempt>>;

type Typed = { readonly reason: string; readonly word: string };

export function createSubmitDecision(deps: DecideDeps): SubmitDecision {
  return (by, nonce, reason, { word = "", chosen = null } = {}) =>
    submit(deps, by, nonce, { reason, word, chosen });
}

async function submit(
  deps: DecideDeps,
  by: PersonId,
  nonce: Nonce | null,
  { chosen, ...typed }: Typed & { readonly chosen: Verdict | null },
): Promise<Result<Recorded, RefusedAttempt>> {
  const form = await formToDecide(deps, by, nonce, null);
  if ("type" in form) return refused(deps, { refusal: form, run: null }, by, { step: "submit" });
  const ticket = form.choice === true && chosen !== null ? { ...form, verdict: chosen } : form;
  const run = (await deps.store.load(ticket.run))?.run;
  const { approval, saw } = ticket;
  const filled = { ticket, ...typed };
  const attempt = attemptOf(filled);
  if (run === undefined) return refused(deps, GONE, by, attempt);
  if (form.choice === true && chosen === null) {
    const { verdict: _notChosen, ...details } = attempt;
    return refused(deps, { refusal: { type: "verdict-needed" }, run }, by, { ...details, approval, saw });
  }
  const policy = currentRule(deps, run, ticket);
  const facts = await lookUpFacts(deps, by, run, [filled]);
  const unverified = facts.ofForms.map(({ person }) => person).find((person) => "type" in person);
  if (unverified !== undefined) {
    const newest = (await deps.store.load(ticket.run))?.run ?? run;
    if (isRepeated(newest, by, filled)) return ok({ run: newest, approval });
    return refused(deps, { refusal: unverified, run, policy }, by, { ...attempt, approval, saw });
  }
  const recorded = await recordDecisions(deps, by, facts);
  if (recorded === null) return refused(deps, GONE, by, attempt);
  const [refusal = null] = recorded.refusals;
  return refusal === null ? ok({ run: recorded.run, approval }) : err({ refusal, run: recorded.run });
}

const GONE: RefusedAttempt = { refusal: { type: "unknown" }, run: null };
