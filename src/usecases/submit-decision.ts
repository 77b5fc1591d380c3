// Handles a submitted form. A submit looks people up again, compares the request with what the form showed, and stores the
// decision. Only then is the form acknowledged.

import { aboutRequest, auditEntry, type AuditEntry, type Moments, momentsOf } from "../audit/entry.ts";
import { applyPolicy, ruleOf, ruleRefOf } from "../domain/applied-rule.ts";
import type { Approval, Verdict } from "../domain/approval.ts";
import type { Person, Refusal } from "../domain/authorization.ts";
import { decide, isRecorded } from "../domain/decide.ts";
import type { ApprovalId, Nonce, PersonId } from "../domain/ids.ts";
import type { RuleRef } from "../domain/policy/policy.ts";
import { membershipsToLookUp, withFreshRequester } from "../domain/rule-facts.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { findApproval, type Run, runId } from "../domain/run.ts";
import type { Submission } from "../domain/submission.ts";
import {
  type PersonQuery,
  lookUp,
  lookUpRequester,
  observeFetched,
  SUBMIT_AGE_MS,
} from "../engine/fresh-facts.ts";
import { type FetchedRun, PortError } from "../ports.ts";
import type { FormTicket } from "../ports/store.ts";
import { lookUpNewVoters, lookUpVoters, restsOnNewVote, type Voters } from "./earlier-voters.ts";
import { formOf } from "./form-ticket.ts";
import { type DecideDeps, refused, type RefusedAttempt } from "./refusals.ts";

/** The time limit of the best-effort fetch at a submit (ms). The submit must be answered within 2 s. */
export const SUBMIT_LOOK_MS = 1_500;

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
  const { reason } = typed;
  const form = await formOf(deps, by, nonce, null);
  if ("type" in form) return refused(deps, { refusal: form, run: null }, by, { step: "submit" });
  const ticket = form.choice === true && chosen !== null ? { ...form, verdict: chosen } : form;
  const run = (await deps.store.load(ticket.run))?.run;
  const { verdict, approval, saw, at: clicked } = ticket;
  const attempt = { step: "submit", verdict, reason, moments: { clicked } } as const;
  if (run === undefined) return refused(deps, { refusal: { type: "unknown" }, run: null }, by, attempt);
  if (form.choice === true && chosen === null) {
    const refusal = { type: "verdict-needed" } as const;
    const details = { step: "submit", reason, moments: { clicked }, approval, saw } as const;
    return refused(deps, { refusal, run }, by, details);
  }
  const sets = setsToLookUp(deps, run, ticket);
  const policy = currentRule(deps, run, ticket);
  const [person, fetched, voters, requesterGroups] = await Promise.all([
    lookUp(deps, run, { sets, maxAgeMs: SUBMIT_AGE_MS, user: by.user }),
    fetchBriefly(deps, run),
    lookUpVoters(deps, run, ticket),
    lookUpRequester(deps, run, SUBMIT_AGE_MS),
  ]);
  if ("type" in person) {
    const newest = (await deps.store.load(ticket.run))?.run ?? run;
    if (isRepeated(newest, ticket, by, reason)) return ok({ run: newest, approval });
    return refused(deps, { refusal: person, run, policy }, by, { ...attempt, approval, saw });
  }
  return commit(deps, ticket, { person, ...typed, fetched, voters, requesterGroups });
}

/** Returns whether the decision of this form is stored already. Then Slack need not say again who the person is. */
export function isRepeated(
  run: Run,
  { approval, verdict, saw }: FormTicket,
  by: Pick<Person, "team" | "user">,
  reason: string,
): boolean {
  const found = findApproval(run, approval);
  return found !== null && isRecorded(found, { verdict, reason, digest: saw.digest, by });
}

/**
 * Returns the groups and channels to ask Slack about for a decision under the current rule. If a different rule applies at the commit, its
 * facts are missing, and it refuses the decision.
 */
export function setsToLookUp(deps: DecideDeps, run: Run, { approval }: FormTicket): PersonQuery["sets"] {
  const found = findApproval(run, approval);
  return found === null ? [] : membershipsToLookUp(run, found, deps.context());
}

/** Returns the current rule. */
export function currentRule(deps: DecideDeps, run: Run, { approval }: FormTicket): RuleRef {
  const found = findApproval(run, approval);
  const ctx = deps.context();
  return found === null ? null : ruleRefOf(ctx.policy, ruleOf(ctx, run, found));
}

/**
 * Resolves to null if the fetch fails or is late. That must not keep a person from deciding: the executor fetches again before it sends.
 */
export async function fetchBriefly({ agents }: DecideDeps, run: Run): Promise<FetchedRun | null> {
  const id = runId(run);
  if (id === null) return null;
  try {
    return await agents.fetchRun(id, SUBMIT_LOOK_MS);
  } catch (error) {
    if (error instanceof PortError) return null;
    throw error;
  }
}

export type Submitted = Typed & {
  readonly person: Person;
  readonly fetched: FetchedRun | null;
  readonly voters: Voters;
  /** The requester's groups. Null if no rule depends on them. */
  readonly requesterGroups: Awaited<ReturnType<typeof lookUpRequester>>;
};

/**
 * Stores the decision. The engine then reconciles the run (see `Transact`), which sends the decision when it is due. If someone else has
 * approved since the look-up, the first try stores nothing, and the second one is the last.
 */
async function commit(
  deps: DecideDeps,
  ticket: FormTicket,
  submitted: Submitted,
  isLastTry = false,
): Promise<Result<Recorded, RefusedAttempt>> {
  const after = await deps.engine.transactAnywhere<Result<Run, Refusal> | null>(ticket.run, (stored) => {
    const ctx = deps.context();
    const run = withFreshRequester(stored, submitted.requesterGroups, ctx);
    const newest = applyPolicy(
      submitted.fetched === null ? run : observeFetched(run, submitted.fetched, ctx),
      ctx,
    );
    const value = decide(newest, submissionOf(ticket, submitted), ctx);
    if (value.ok && value.value === newest) return { run: newest, value };
    const refusal = value.ok ? null : value.error;
    if (!isLastTry && restsOnNewVote(refusal, submitted.voters)) return { run: stored, value: null };
    const policy = currentRule(deps, newest, ticket);
    const entry = entryOf(newest, ticket, { ...submitted, at: ctx.now }, value);
    const audit = [{ ...entry, policy }];
    return { run: value.ok ? value.value : newest, value, sideWrites: { audit } };
  });
  if (after === null) return noSuchRun(deps, ticket, submitted);
  if (after.value === null) {
    const voters = await lookUpNewVoters(deps, after.run, ticket, submitted.voters);
    return commit(deps, ticket, { ...submitted, voters }, true);
  }
  if (after.value.ok) return ok({ run: after.run, approval: ticket.approval });
  deps.metrics.refusal(after.value.error.type);
  return err({ refusal: after.value.error, run: after.run });
}

/** The run was deleted since it was loaded. */
function noSuchRun(
  deps: DecideDeps,
  { verdict, at: clicked }: FormTicket,
  { person, reason }: Pick<Submitted, "person" | "reason">,
): Promise<Result<never, RefusedAttempt>> {
  const attempt = { step: "submit", verdict, reason, moments: { clicked } } as const;
  return refused(deps, { refusal: { type: "unknown" }, run: null }, person, attempt);
}

export function submissionOf(
  { approval, version, verdict, saw, promised }: FormTicket,
  { person, reason, word, voters }: Pick<Submitted, "person" | "reason" | "word" | "voters">,
): Submission {
  const seen = {
    approval,
    version,
    digest: saw.digest,
    was: saw,
    ...(promised === undefined ? {} : { promised }),
  };
  return { ...seen, verdict, reason, word, by: person, voters: voters.people };
}

type Entered = {
  readonly person: Pick<Person, "team" | "user">;
  readonly reason: string;
  readonly at: number;
};

/** Returns the audit entry of a submit. It keeps what a refused person typed, because that shows what was tried. */
export function entryOf(
  run: Run,
  ticket: FormTicket,
  { person, reason, at }: Entered,
  result: Result<Run, Refusal>,
): AuditEntry {
  const by = { team: person.team, user: person.user };
  const { approval: id, verdict, saw } = ticket;
  const approval = findApproval(run, id);
  const times = { clicked: ticket.at, submitted: at };
  const moments = approval === null ? times : momentsAsSeen(run, approval, ticket, times);
  const facts = { at, by, verdict, reason, moments, ...aboutRequest(run, id, saw) };
  if (result.ok) {
    const waits = findApproval(result.value, id)?.state.type === "pending";
    return auditEntry(run, { ...facts, what: waits ? "voted" : "decided", outcome: "recorded" });
  }
  const refusal = result.error.type;
  return auditEntry(run, { ...facts, what: "refused", outcome: "refused", step: "submit", refusal });
}

/** Leaves out when the newest request was asked if the person saw an earlier one. */
function momentsAsSeen(run: Run, approval: Approval, { version, saw }: FormTicket, times: Moments): Moments {
  const moments = momentsOf(run, approval, times);
  const { asked: _ofTheNewest, ...others } = moments;
  const isSame = saw.digest === approval.request.digest && version >= approval.requestVersion;
  return isSame ? moments : others;
}
