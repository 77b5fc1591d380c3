// A submitted form with several requests. Each is decided by itself: its own form, digest, rule, look-up and audit entry. Those of one run
// are committed in one transaction; then each decision is sent by itself, as always.

import type { AuditEntry } from "../audit/entry.ts";
import { applyPolicy, ruleOf } from "../domain/applied-rule.ts";
import type { Request, Verdict } from "../domain/approval.ts";
import type { Person, Refusal } from "../domain/authorization.ts";
import { decide, refusalOfReason } from "../domain/decide.ts";
import type { Nonce, RunKey } from "../domain/ids.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { withFreshRequester } from "../domain/rule-facts.ts";
import { findApproval, type Run } from "../domain/run.ts";
import { lookUp, lookUpRequester, observeFetched, SUBMIT_AGE_MS } from "../engine/fresh-facts.ts";
import type { FormTicket } from "../ports/store.ts";
import type { Submitter } from "./open-form.ts";
import { type DecideDeps, refused } from "./refusals.ts";
import { MAX_TOGETHER } from "./review.ts";
import {
  entryOf,
  fetchBriefly,
  formOf,
  lookUpVoters,
  standing,
  submissionOf,
  type Submitted,
} from "./submit-decision.ts";

/** What was chosen for one request of the form; null: something that the form does not offer. Requests that are left are not named. */
export type Choice = { readonly nonce: Nonce | null; readonly verdict: Verdict | null };
export type Reasons = { readonly [Each in Verdict]: string };

/** Request null: a form that is not known. */
export type RefusedLine = {
  readonly request: Request | null;
  readonly run: Run | null;
  readonly refusal: Refusal;
};

export type Reviewed = {
  /** Recorded, or known to be recorded before. */
  readonly recorded: { readonly [Each in Verdict]: number };
  readonly refused: readonly RefusedLine[];
};

/** A reason is missing or of another length than the rules ask for. Then nothing is recorded, so that it can be mended in the form. */
export type ReasonFault = { readonly verdict: Verdict; readonly refusal: Refusal };

/**
 * What it says is recorded is stored when this resolves. Rejects with PortError when a part could not be stored; submitting the same form
 * again is safe, because the same decision counts once.
 */
export type SubmitReview = (
  by: Submitter,
  bundle: Nonce | null,
  choices: readonly Choice[],
  reasons: Reasons,
) => Promise<Result<Reviewed, ReasonFault>>;

/** A form that is this person's, and what they chose in it. */
type Chosen = { readonly ticket: FormTicket; readonly reason: string };
type Line = { readonly chosen: Chosen; readonly run: Run | null; readonly refusal: Refusal | null };

export function createSubmitReview(deps: DecideDeps): SubmitReview {
  return async (by, bundle, choices, reasons) => {
    const read = await Promise.all(
      choices.map(async (choice, at) =>
        at < MAX_TOGETHER ? chosenIn(deps, by, choice, { bundle, reasons }) : UNKNOWN,
      ),
    );
    const strange = read.flatMap((each) => ("type" in each ? [each] : []));
    const byRun = [
      ...Map.groupBy(
        read.flatMap((each) => ("type" in each ? [] : [each])),
        ({ ticket }) => ticket.run,
      ),
    ];
    const fault = await reasonFault(deps, by, byRun);
    if (fault !== null) return err(fault);
    for (const refusal of strange) await refused(deps, { refusal, run: null }, by, { step: "submit" });
    const settled = await Promise.allSettled(byRun.map(([key, chosen]) => commitRun(deps, by, key, chosen)));
    const failed = settled.find((each) => each.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    const lines = settled.flatMap((each) => (each.status === "fulfilled" ? each.value : []));
    return ok(reviewedOf(strange, lines));
  };
}

const UNKNOWN = { type: "unknown" } as const;

async function chosenIn(
  deps: DecideDeps,
  by: Submitter,
  { nonce, verdict }: Choice,
  { bundle, reasons }: { readonly bundle: Nonce | null; readonly reasons: Reasons },
): Promise<Chosen | Extract<Refusal, { type: "unknown" | "form-changed" }>> {
  if (bundle === null || verdict === null) return UNKNOWN;
  const ticket = await formOf(deps, by, nonce, bundle);
  return "type" in ticket ? ticket : { ticket: { ...ticket, verdict }, reason: reasons[verdict] };
}

function reviewedOf(strange: readonly Refusal[], lines: readonly Line[]): Reviewed {
  const recorded = (verdict: Verdict): number =>
    lines.filter(({ refusal, chosen }) => refusal === null && chosen.ticket.verdict === verdict).length;
  return {
    recorded: { approve: recorded("approve"), deny: recorded("deny") },
    refused: [
      ...strange.map((refusal) => ({ request: null, run: null, refusal })),
      ...lines.flatMap(({ chosen, run, refusal }) =>
        refusal === null ? [] : [{ request: chosen.ticket.saw, run, refusal }],
      ),
    ],
  };
}

type ByRun = readonly (readonly [RunKey, readonly Chosen[]])[];

/** The first, of a denial before that of an approval. Each request that lacks a reason has an audit entry. */
async function reasonFault(deps: DecideDeps, by: Submitter, byRun: ByRun): Promise<ReasonFault | null> {
  const faults: ReasonFault[] = [];
  for (const [key, chosen] of byRun) {
    const run = (await deps.store.load(key))?.run;
    for (const { ticket, reason } of run === undefined ? [] : chosen) {
      const { verdict, approval: id, saw, at: clicked } = ticket;
      const approval = run === undefined ? null : findApproval(run, id);
      if (run === undefined || approval === null) continue;
      const refusal = refusalOfReason(reason, verdict, ruleOf(deps.context(), run, approval));
      if (refusal === null) continue;
      faults.push({ verdict, refusal });
      const tried = { step: "submit", verdict, reason, moments: { clicked }, approval: id, saw } as const;
      await refused(deps, { refusal, run, policy: standing(deps, run, ticket).policy }, by, tried);
    }
  }
  return faults.find(({ verdict }) => verdict === "deny") ?? faults[0] ?? null;
}

type Facts = {
  readonly chosen: Chosen;
  readonly person: Person | Refusal;
  readonly voters: readonly Person[];
};

/** One transaction for all requests of the run. */
async function commitRun(
  deps: DecideDeps,
  by: Submitter,
  key: RunKey,
  chosen: readonly Chosen[],
): Promise<readonly Line[]> {
  const run = (await deps.store.load(key))?.run;
  if (run === undefined) return noSuchRun(deps, by, chosen);
  const [fetched, requesterIn, ...facts] = await Promise.all([
    fetchBriefly(deps, run),
    lookUpRequester(deps, run, SUBMIT_AGE_MS),
    ...chosen.map((each) => factsFor(deps, by, run, each)),
  ]);
  const after = await deps.engine.transact(
    key,
    (newest) => judged(deps, by, newest, { fetched, requesterIn, facts }),
    {
      mustHold: false,
    },
  );
  if (after === null) return noSuchRun(deps, by, chosen);
  for (const { refusal } of after.value) if (refusal !== null) deps.metrics.refusal(refusal.type);
  return after.value;
}

async function noSuchRun(
  deps: DecideDeps,
  by: Submitter,
  chosen: readonly Chosen[],
): Promise<readonly Line[]> {
  for (const { ticket, reason } of chosen) {
    const tried = {
      step: "submit",
      verdict: ticket.verdict,
      reason,
      moments: { clicked: ticket.at },
    } as const;
    await refused(deps, { refusal: UNKNOWN, run: null }, by, tried);
  }
  return chosen.map((each) => ({ chosen: each, run: null, refusal: UNKNOWN }));
}

async function factsFor(deps: DecideDeps, by: Submitter, run: Run, chosen: Chosen): Promise<Facts> {
  const { sets } = standing(deps, run, chosen.ticket);
  const asked = { sets, maxAgeMs: SUBMIT_AGE_MS };
  const [person, voters] = await Promise.all([
    lookUp(deps, run, { ...asked, user: by.user }),
    lookUpVoters(deps, run, chosen.ticket, asked),
  ]);
  return { chosen, person, voters };
}

type Known = Pick<Submitted, "fetched" | "requesterIn"> & { readonly facts: readonly Facts[] };

/** One after the other, each on what the one before has left. */
function judged(deps: DecideDeps, by: Submitter, stored: Run, { fetched, requesterIn, facts }: Known) {
  const ctx = deps.context();
  const run = withFreshRequester(stored, requesterIn, ctx);
  let newest = applyPolicy(fetched === null ? run : observeFetched(run, fetched, ctx), ctx);
  const audit: AuditEntry[] = [];
  const lines = facts.map(({ chosen, person, voters }): Line => {
    const { ticket, reason } = chosen;
    const result: Result<Run, Refusal> =
      "type" in person
        ? err(person)
        : decide(newest, submissionOf(ticket, { person, reason, word: "", voters }), ctx);
    const isNews = !result.ok || result.value !== newest;
    const { policy } = standing(deps, newest, ticket);
    if (isNews)
      audit.push({ ...entryOf(newest, ticket, { person: by, reason, at: ctx.now }, result), policy });
    if (result.ok) newest = result.value;
    return { chosen, run: newest, refusal: result.ok ? null : result.error };
  });
  return { run: newest, value: lines, sideWrites: { audit } };
}
