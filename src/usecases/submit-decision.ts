// A submitted modal: people are looked up afresh, the request is compared with what the modal showed, and the decision is
// committed. Only then is the modal acknowledged.

import { type Person, type Refusal } from "../domain/authorization.ts";
import { decide, type Submission } from "../domain/decide.ts";
import type { Nonce, TeamId, UserId } from "../domain/ids.ts";
import type { Principals, RuleRef } from "../domain/policy/policy.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { ruleRefOf, ruleOf, applyPolicy } from "../domain/applied-rule.ts";
import { findApproval, type Run, runId } from "../domain/run.ts";
import { aboutRequest, auditEntry, momentsOf } from "../audit/entry.ts";
import { type AuditEntry, type FetchedRun, type FormTicket, PortError } from "../ports.ts";
import { lookUp, SUBMIT_AGE_MS } from "../engine/look-up-person.ts";
import { type DecideDeps, type RefusedAttempt, refused } from "./refusals.ts";
import { observeFetched } from "../engine/observe-fetched.ts";

/** The submit is answered within 2 s, so the best-effort look gets this long (ms). */
export const SUBMIT_LOOK_MS = 1_500;

/** The decision is committed when this resolves to ok. Rejects with PortError when it could not be stored. */
export type SubmitDecision = (
  by: { team: TeamId; user: UserId },
  /** Null: the form carried something that is none. */
  nonce: Nonce | null,
  reason: string,
  /** What the rule may want typed; left out where the form did not ask for it. */
  word?: string,
) => Promise<Result<Run, RefusedAttempt>>;

type Typed = { readonly reason: string; readonly word: string };

export function createSubmitDecision(deps: DecideDeps): SubmitDecision {
  return (by, nonce, reason, word = "") => submit(deps, by, nonce, { reason, word });
}

async function submit(
  deps: DecideDeps,
  by: { team: TeamId; user: UserId },
  nonce: Nonce | null,
  typed: Typed,
): Promise<Result<Run, RefusedAttempt>> {
  const { reason } = typed;
  const ticket = nonce === null ? null : await deps.store.form(nonce);
  if (ticket === "changed")
    return refused(deps, { refusal: { type: "form-changed" }, run: null }, by, { step: "submit" });
  // The modal is bound to its person: a nonce in another hand is nobody's modal.
  if (ticket === null || ticket.team !== by.team || ticket.user !== by.user) {
    return refused(deps, { refusal: { type: "unknown" }, run: null }, by, { step: "submit" });
  }
  const run = (await deps.store.load(ticket.run))?.run;
  const { verdict, approval, saw, at: clicked } = ticket;
  const attempt = { step: "submit", verdict, reason, moments: { clicked } } as const;
  if (run === undefined) return refused(deps, { refusal: { type: "unknown" }, run: null }, by, attempt);
  const { principals, policy } = standing(deps, run, ticket);
  const asked = { principals, maxAgeMs: SUBMIT_AGE_MS };
  const [person, fetched, voters] = await Promise.all([
    lookUp(deps, run, { ...asked, user: by.user }),
    fetchBriefly(deps, run),
    lookUpVoters(deps, run, ticket, asked),
  ]);
  if ("type" in person)
    return refused(deps, { refusal: person, run, policy }, by, { ...attempt, approval, saw });
  return commit(deps, ticket, { person, ...typed, fetched, voters });
}

/** An earlier approval counts only while who gave it may still decide. Whom Slack says nothing of is left out. */
async function lookUpVoters(
  deps: DecideDeps,
  run: Run,
  { approval, verdict }: FormTicket,
  asked: { principals: Principals; maxAgeMs: number },
): Promise<Person[]> {
  const votes = verdict === "deny" ? [] : (findApproval(run, approval)?.votes ?? []);
  const users = votes.flatMap(({ by }) => (by === null ? [] : [by.user]));
  const found = await Promise.all(users.map((user) => lookUp(deps, run, { ...asked, user })));
  return found.flatMap((each) => ("type" in each ? [] : [each]));
}

/** Whom the rule of now lets decide. Should it be another one at the commit, what it needs was not asked, and it says no. */
function standing(
  deps: DecideDeps,
  run: Run,
  { approval }: FormTicket,
): { principals: Principals; policy: RuleRef } {
  const request = findApproval(run, approval)?.request;
  if (request === undefined) return { principals: "anyone", policy: null };
  const { policy } = deps.context();
  const rule = ruleOf(policy, run, request);
  return { principals: rule.approvers, policy: ruleRefOf(policy, rule) };
}

/** Best effort: a late or failed look must not keep a person from deciding; the executor looks again before it sends. */
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

type Submitted = Typed & {
  readonly person: Person;
  readonly fetched: FetchedRun | null;
  readonly voters: readonly Person[];
};

async function commit(
  deps: DecideDeps,
  ticket: FormTicket,
  submitted: Submitted,
): Promise<Result<Run, RefusedAttempt>> {
  const outcome: { result: Result<Run, Refusal> } = { result: err({ type: "unknown" }) };
  const after = await deps.engine.change(
    ticket.run,
    (run) => {
      const ctx = deps.context();
      const newest = applyPolicy(
        submitted.fetched === null ? run : observeFetched(run, submitted.fetched, ctx),
        ctx,
      );
      outcome.result = decide(newest, submissionOf(ticket, submitted), ctx);
      if (outcome.result.ok && outcome.result.value === newest) return newest;
      const { policy } = standing(deps, newest, ticket);
      const entry = entryOf(newest, ticket, { ...submitted, at: ctx.now }, outcome.result);
      const audit = [{ ...entry, policy }];
      return { run: outcome.result.ok ? outcome.result.value : newest, sideWrites: { audit } };
    },
    { mustHold: false },
  );
  const { result } = outcome;
  if (after === null) return err({ refusal: { type: "unknown" }, run: null });
  if (result.ok) return ok(after);
  deps.metrics.refusal(result.error.type);
  return err({ refusal: result.error, run: after });
}

function submissionOf(
  { approval, version, verdict, saw }: FormTicket,
  { person, reason, word, voters }: Submitted,
): Submission {
  return { approval, version, digest: saw.digest, was: saw, verdict, reason, word, by: person, voters };
}

/** What a refused person typed is kept too: it tells what was tried. */
function entryOf(
  run: Run,
  ticket: FormTicket,
  { person, reason, at }: Submitted & { readonly at: number },
  result: Result<Run, Refusal>,
): AuditEntry {
  const by = { team: person.team, user: person.user };
  const { approval: id, verdict, saw } = ticket;
  const approval = findApproval(run, id);
  const times = { clicked: ticket.at, submitted: at };
  const moments = approval === null ? times : momentsOf(run, approval, times);
  const facts = { at, by, verdict, reason, moments, ...aboutRequest(run, id, saw) };
  if (result.ok) {
    const waits = findApproval(result.value, id)?.state.type === "pending";
    return auditEntry(run, { ...facts, what: waits ? "voted" : "decided", outcome: "recorded" });
  }
  const refusal = result.error.type;
  return auditEntry(run, { ...facts, what: "refused", outcome: "refused", step: "submit", refusal });
}
