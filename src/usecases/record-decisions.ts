// Records what a person decided in a form about the requests of one run, in one transaction. Each request is decided separately, with its
// own ticket, digest, rule, look-up and audit entry, and each decision is then sent separately.

import { aboutRequest, auditEntry, type AuditEntry, type Moments, momentsOf } from "../audit/entry.ts";
import { ruleOf, ruleRefOf } from "../domain/applied-rule.ts";
import type { Approval } from "../domain/approval.ts";
import type { Person, Refusal } from "../domain/authorization.ts";
import { asOfNow } from "../domain/bring-up-to-date.ts";
import { decide, isRecorded } from "../domain/decide.ts";
import type { PersonId, RunKey } from "../domain/ids.ts";
import type { RuleRef } from "../domain/policy/policy.ts";
import { err, type Result } from "../domain/result.ts";
import { membershipsToLookUp } from "../domain/rule-facts.ts";
import { findApproval, type Run, runId } from "../domain/run.ts";
import type { Submission } from "../domain/submission.ts";
import { lookUp, lookUpRequester, observeFetched, SUBMIT_AGE_MS } from "../engine/fresh-facts.ts";
import { type FetchedRun, PortError } from "../ports.ts";
import type { FormTicket } from "../ports/store.ts";
import { lookUpNewVoters, lookUpVoters, restsOnNewVote, type Voters } from "./earlier-voters.ts";
import type { Attempt, DecideDeps } from "./refusals.ts";

/** The time limit of the best-effort fetch at a submit (ms). The submit must be answered within 2 s. */
export const SUBMIT_LOOK_MS = 1_500;

/** The form for one request as the person submits it: its ticket with the verdict that they chose, and what they typed. */
export type FilledForm = { readonly ticket: FormTicket; readonly reason: string; readonly word: string };

/** What is known about the attempt, even if its run is gone. */
export const attemptOf = ({ ticket, reason }: FilledForm) =>
  ({
    step: "submit",
    verdict: ticket.verdict,
    reason,
    moments: { clicked: ticket.at },
  }) satisfies Attempt;

type FormFacts = {
  readonly form: FilledForm;
  readonly person: Person | Refusal;
  readonly voters: Voters;
};

type SubmitFacts = {
  readonly run: RunKey;
  readonly fetched: FetchedRun | null;
  /** The requester's groups. Null if no rule depends on them. */
  readonly requesterGroups: Awaited<ReturnType<typeof lookUpRequester>>;
  readonly ofForms: readonly FormFacts[];
};

/** Looks up what the decisions depend on. All forms are about requests of this run. */
export async function lookUpFacts(
  deps: DecideDeps,
  by: PersonId,
  run: Run,
  forms: readonly FilledForm[],
): Promise<SubmitFacts> {
  const [fetched, requesterGroups, ...ofForms] = await Promise.all([
    fetchBriefly(deps, run),
    lookUpRequester(deps, run, SUBMIT_AGE_MS),
    ...forms.map((form) => factsOf(deps, by, run, form)),
  ]);
  return { run: run.key, fetched, requesterGroups, ofForms };
}

/**
 * Resolves to null if the fetch fails or is late. That must not keep a person from deciding: the executor fetches again before it sends.
 */
async function fetchBriefly({ agents }: DecideDeps, run: Run): Promise<FetchedRun | null> {
  const id = runId(run);
  if (id === null) return null;
  try {
    return await agents.fetchRun(id, SUBMIT_LOOK_MS);
  } catch (error) {
    if (error instanceof PortError) return null;
    throw error;
  }
}

async function factsOf(deps: DecideDeps, by: PersonId, run: Run, form: FilledForm): Promise<FormFacts> {
  const approval = findApproval(run, form.ticket.approval);
  // If a different rule applies at the commit, its facts are missing, and it refuses the decision.
  const sets = approval === null ? [] : membershipsToLookUp(run, approval, deps.context());
  const [person, voters] = await Promise.all([
    lookUp(deps, run, { sets, maxAgeMs: SUBMIT_AGE_MS, user: by.user }),
    lookUpVoters(deps, run, form.ticket),
  ]);
  return { form, person, voters };
}

/** `refusals`: why each form is refused, or null if its decision is recorded. In the order of the forms. */
type Recorded = { readonly run: Run; readonly refusals: readonly (Refusal | null)[] };

/**
 * Stores the decisions. The engine then reconciles the run (see `Transact`), which sends them when they are due. If someone else has
 * approved since the look-up, the first try stores nothing, and the second one is the last. Resolves to null if the run was deleted since
 * it was loaded.
 */
export async function recordDecisions(
  deps: DecideDeps,
  by: PersonId,
  facts: SubmitFacts,
  isLastTry = false,
): Promise<Recorded | null> {
  const { ofForms } = facts;
  const after = await deps.engine.transactAnywhere<Recorded["refusals"] | null>(facts.run, (stored) => {
    const applied = decideForms(deps, by, stored, facts);
    const rests = ({ voters }: FormFacts, at: number) => restsOnNewVote(applied.value[at] ?? null, voters);
    return !isLastTry && ofForms.some(rests) ? { run: stored, value: null } : applied;
  });
  if (after === null) return null;
  const { run, value: refusals } = after;
  if (refusals === null) {
    const again = ofForms.map(async (each) => {
      return { ...each, voters: await lookUpNewVoters(deps, run, each.form.ticket, each.voters) };
    });
    return recordDecisions(deps, by, { ...facts, ofForms: await Promise.all(again) }, true);
  }
  for (const refusal of refusals) if (refusal !== null) deps.metrics.refusal(refusal.type);
  return { run, refusals };
}

/** Applies the decisions one after the other, each to the result of the previous one. */
function decideForms(
  deps: DecideDeps,
  by: PersonId,
  stored: Run,
  { fetched, requesterGroups, ofForms }: SubmitFacts,
) {
  const ctx = deps.context();
  const seen = fetched === null ? stored : observeFetched(stored, fetched, ctx);
  let newest = asOfNow(seen, requesterGroups, ctx);
  const audit: AuditEntry[] = [];
  const refusals = ofForms.map(({ form, person, voters }): Refusal | null => {
    if ("type" in person && isRepeated(newest, by, form)) return null;
    const result = "type" in person ? err(person) : decide(newest, submissionOf(form, person, voters), ctx);
    if (result.ok && result.value === newest) return null;
    const policy = currentRule(deps, newest, form.ticket);
    audit.push({ ...entryOf(newest, form, { by, at: ctx.now }, result), policy });
    if (!result.ok) return result.error;
    newest = result.value;
    return null;
  });
  return { run: newest, value: refusals, sideWrites: { audit } };
}

/** Returns whether this decision is stored already. Then Slack need not say again who the person is. */
export function isRepeated(run: Run, by: PersonId, { ticket, reason }: FilledForm): boolean {
  const { approval, verdict, saw } = ticket;
  const found = findApproval(run, approval);
  return found !== null && isRecorded(found, { verdict, reason, digest: saw.digest, by });
}

/** Returns the current rule. */
export function currentRule(deps: DecideDeps, run: Run, { approval }: FormTicket): RuleRef {
  const found = findApproval(run, approval);
  const ctx = deps.context();
  return found === null ? null : ruleRefOf(ctx.policy, ruleOf(ctx, run, found));
}

function submissionOf(
  { ticket, reason, word }: FilledForm,
  by: Person,
  { people: voters }: Voters,
): Submission {
  const { approval, version, verdict, saw, promised } = ticket;
  const seen = { approval, version, digest: saw.digest, was: saw };
  return { ...seen, ...(promised === undefined ? {} : { promised }), verdict, reason, word, by, voters };
}

/** Returns the audit entry of a submit. It keeps what a refused person typed, because that shows what was tried. */
function entryOf(
  run: Run,
  { ticket, reason }: FilledForm,
  { by: { team, user }, at }: { readonly by: PersonId; readonly at: number },
  result: Result<Run, Refusal>,
): AuditEntry {
  const by = { team, user };
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
