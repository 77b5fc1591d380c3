// Handles what people do about a waiting request besides deciding it. Each act is judged like a click on Approve: its card and version are
// looked up, the person is looked up again, and the current rule decides. The act and its audit entry are one transaction.

import { aboutRequest, auditEntry, type AuditEntry } from "../audit/entry.ts";
import { judgingRules, ruleRefOf } from "../domain/applied-rule.ts";
import type { Approval, Request } from "../domain/approval.ts";
import { type Person, type Refusal, refusalToHandle } from "../domain/authorization.ts";
import { asOfNow } from "../domain/bring-up-to-date.ts";
import type { Context } from "../domain/context.ts";
import type { ApprovalId, Nonce, UserId, PersonId } from "../domain/ids.ts";
import type { Rule } from "../domain/policy/policy.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { asShown } from "../domain/run-context.ts";
import { findApproval, replaceApproval, type Run } from "../domain/run.ts";
import { membershipsToLookUp } from "../domain/rule-facts.ts";
import { lookUp, lookUpRequester, SUBMIT_AGE_MS } from "../engine/fresh-facts.ts";
import type { FormTicket } from "../ports/store.ts";
import { ownForm } from "./form-ticket.ts";
import { CLICK_AGE_MS, type Click, type ClickedCard, findCard, type OpenedForm } from "./open-form.ts";
import { type Attempt, type DecideDeps, refused, type RefusedAttempt } from "./refusals.ts";

/** The stored run, or a refusal that is in the audit. */
export type Handled = Result<Run, RefusedAttempt>;

export type Step = NonNullable<Attempt["step"]>;

/** The request that a person acts on, as they saw it. */
export type Handling = {
  readonly run: Run;
  readonly approval: ApprovalId;
  readonly version: number;
  readonly saw: Request;
  /** The request that a form showed. Null if the act did not come from a form. */
  readonly was: Request | null;
  readonly step: Step;
};

export type ActContext = {
  readonly run: Run;
  readonly rule: Rule;
  /** `rulesInDoubt` of the request. */
  readonly inDoubt: readonly Rule[];
  readonly by: Person;
  readonly ctx: Context;
};

/** Returns the changed approval, or the same object if the act was done before. */
export type Act = (
  approval: Approval,
  context: ActContext,
) => Result<{ readonly approval: Approval; readonly entry: EntryOfAct }, Refusal>;

/** `digest` and `text` belong to what the person said. If they are left out, the entry has the digest of the request. */
export type EntryOfAct = Pick<AuditEntry, "what" | "outcome"> &
  Partial<Pick<AuditEntry, "other" | "digest" | "text">>;

/** Returns null if this person may act. */
export type MayAct = (
  approval: Approval,
  context: ActContext,
  seen: Pick<Handling, "version" | "was">,
) => Refusal | null;

export const mayHandle: MayAct = (approval, { ctx: { monotonic }, ...judging }, seen) =>
  refusalToHandle(approval, { ...judging, monotonic }, seen);

/** Looks up the person, and performs and stores the act. Rejects with PortError if the act could not be stored. */
export async function handleRequest(
  deps: DecideDeps,
  submitter: PersonId,
  handling: Handling,
  { act, mayAct = mayHandle }: { readonly act: Act; readonly mayAct?: MayAct },
): Promise<Handled> {
  const { run, approval: id, saw, step } = handling;
  const { team, user } = submitter;
  const by = { team, user };
  const attempt: Attempt = { step, approval: id, saw };
  const [person, requesterGroups] = await Promise.all([
    personFor(deps, handling, user, SUBMIT_AGE_MS),
    lookUpRequester(deps, run, SUBMIT_AGE_MS),
  ]);
  if ("type" in person) return refused(deps, { refusal: person, run }, by, attempt);
  const after = await deps.engine.transactAnywhere<Refusal | null>(run.key, (newest) => {
    const ctx = deps.context();
    const done = actOn(asOfNow(newest, requesterGroups, ctx), { handling, person, ctx }, act, mayAct);
    if (!done.ok) return { run: newest, value: done.error };
    return { run: done.value.run ?? newest, value: null, sideWrites: { audit: done.value.audit } };
  });
  if (after === null) return refused(deps, { refusal: { type: "unknown" }, run }, by, attempt);
  return after.value === null ? ok(after.run) : refused(deps, { refusal: after.value, run }, by, attempt);
}

/** `run` is null if the act was done before. */
type Acted = { readonly run: Run | null; readonly audit: readonly AuditEntry[] };

function actOn(
  run: Run,
  { handling, person, ctx }: { readonly handling: Handling; readonly person: Person; readonly ctx: Context },
  act: Act,
  mayAct: MayAct,
): Result<Acted, Refusal> {
  const approval = findApproval(run, handling.approval);
  if (approval === null) return err({ type: "unknown" });
  const { request, id } = approval;
  const judging = judgingRules(ctx, run, approval);
  const context: ActContext = { ...judging, run, by: person, ctx };
  const refusal = mayAct(approval, context, handling);
  const done = refusal === null ? act(approval, context) : err(refusal);
  if (!done.ok) return done;
  if (done.value.approval === approval) return ok({ run: null, audit: [] });
  const { team, user } = person;
  const saw = asShown(run, request);
  const facts = { at: ctx.now, by: { team, user }, policy: ruleRefOf(ctx.policy, judging.rule) };
  const entry = auditEntry(run, { ...facts, ...about(run, id, saw, done.value.entry), ...done.value.entry });
  return ok({ run: replaceApproval(run, done.value.approval), audit: [entry] });
}

/** The digest of a text that the person said replaces the digest of the request. */
const about = (run: Run, id: ApprovalId, saw: Request, { digest }: EntryOfAct): Partial<AuditEntry> =>
  digest === undefined ? aboutRequest(run, id, saw) : { approval: id };

/** Looks up the person with all groups and channels that the rules for the request may depend on. */
export function personFor(
  deps: DecideDeps,
  { run, approval: id, saw }: Pick<Handling, "run" | "approval" | "saw">,
  user: UserId,
  maxAgeMs: number,
): Promise<Person | Refusal> {
  const sets = membershipsToLookUp(run, findApproval(run, id) ?? { request: saw }, deps.context());
  return lookUp(deps, run, { user, sets, maxAgeMs });
}

/** Performs the act of a press on a card at once. */
export async function handleClick(deps: DecideDeps, click: Click, step: Step, act: Act): Promise<Handled> {
  const found = await findCard(deps, click);
  if (!found.ok) return refused(deps, found.error, click, { step });
  const { run, approval, version } = found.value;
  const handling = { run, approval: approval.id, version, saw: approval.request, was: null, step };
  return handleRequest(deps, click, handling, { act });
}

/** Opens a form that asks for further input. The form decides nothing. */
export async function openFollowUpForm(
  deps: DecideDeps,
  by: PersonId,
  { run: stored, approval: clicked, version }: ClickedCard,
  { step, asks, question, refusalTo }: FollowUpForm,
): Promise<Result<OpenedForm, RefusedAttempt>> {
  const ctx = deps.context();
  const [person, requesterGroups] = await Promise.all([
    personFor(deps, { run: stored, approval: clicked.id, saw: clicked.request }, by.user, CLICK_AGE_MS),
    lookUpRequester(deps, stored, CLICK_AGE_MS),
  ]);
  const run = asOfNow(stored, requesterGroups, ctx);
  const approval = findApproval(run, clicked.id) ?? clicked;
  const { request } = approval;
  const judging = judgingRules(ctx, run, approval);
  const refusal =
    "type" in person
      ? person
      : refusalTo(approval, { ...judging, run, by: person, ctx }, { version, was: null });
  if (refusal !== null)
    return refused(deps, { refusal, run }, by, { step, approval: approval.id, saw: request });
  const { team, user } = by;
  const bound = { nonce: ctx.nonce(), team, user, approval: approval.id, version, run: run.key };
  const about = question === undefined ? {} : { question };
  // Not `asShown`: the form names the request and shows none of the run's own fields.
  const ticket: FormTicket = { ...bound, verdict: "approve", saw: request, at: ctx.now, asks, ...about };
  await deps.store.saveForm(ticket);
  return ok({ run, ticket });
}

export type FollowUpForm = {
  readonly step: Step;
  readonly asks: NonNullable<FormTicket["asks"]>;
  readonly question?: Nonce;
  readonly refusalTo: MayAct;
};

/** Resolves to the form with this nonce if it belongs to this person and asks for this. */
export async function findFollowUpForm(
  deps: DecideDeps,
  { team, user }: PersonId,
  nonce: Nonce | null,
  { step, asks }: Pick<FollowUpForm, "step" | "asks">,
): Promise<Result<Handling & { readonly ticket: FormTicket }, RefusedAttempt>> {
  const by = { team, user };
  const ticket = await ownForm(deps, by, nonce, (form) => form.asks === asks);
  if ("type" in ticket) return refused(deps, { refusal: ticket, run: null }, by, { step });
  const run = (await deps.store.load(ticket.run))?.run;
  if (run === undefined) return refused(deps, { refusal: { type: "unknown" }, run: null }, by, { step });
  const { approval, version, saw } = ticket;
  return ok({ run, approval, version, saw, was: saw, step, ticket });
}
