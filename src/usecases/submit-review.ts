// Handles a submitted form with several requests. Each request is decided separately, with its own ticket, digest, rule, look-up and audit
// entry. The decisions of one run are committed in one transaction, and each decision is then sent separately, as always.

import type { AuditEntry } from "../audit/entry.ts";
import { applyPolicy, ruleOf } from "../domain/applied-rule.ts";
import type { Request, Verdict } from "../domain/approval.ts";
import type { Person, Refusal } from "../domain/authorization.ts";
import { decide } from "../domain/decide.ts";
import type { ApprovalId, Nonce, RunKey, PersonId } from "../domain/ids.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { withFreshRequester } from "../domain/rule-facts.ts";
import { findApproval, type Run } from "../domain/run.ts";
import { refusalOfReason } from "../domain/submission.ts";
import { lookUp, lookUpRequester, observeFetched, SUBMIT_AGE_MS } from "../engine/fresh-facts.ts";
import type { FormTicket } from "../ports/store.ts";
import { lookUpNewVoters, lookUpVoters, restsOnNewVote, type Voters } from "./earlier-voters.ts";
import { formOf, type NoForm } from "./form-ticket.ts";
import { type DecideDeps, refused } from "./refusals.ts";
import { MAX_TOGETHER } from "./review.ts";
import {
  currentRule,
  entryOf,
  fetchBriefly,
  isRepeated,
  setsToLookUp,
  submissionOf,
  type Submitted,
} from "./submit-decision.ts";

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

/** A reason is missing, or does not have the length that a rule requires. Nothing is recorded, so the person can correct it in the form. */
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

/** A ticket of this person, with the verdict that they chose, and their reason. */
type Chosen = { readonly ticket: FormTicket; readonly reason: string };
type Line = { readonly chosen: Chosen; readonly run: Run | null; readonly refusal: Refusal | null };

export function createSubmitReview(deps: DecideDeps): SubmitReview {
  return async (by, bundle, choices, reasons) => {
    const results = await Promise.all(
      choices.map(async (choice, at) =>
        at < MAX_TOGETHER ? chosenIn(deps, by, choice, { bundle, reasons }) : UNKNOWN,
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
    const settled = await Promise.allSettled(byRun.map(([key, chosen]) => commitRun(deps, by, key, chosen)));
    const failed = settled.find(({ status }) => status === "rejected");
    if (failed?.status === "rejected") throw failed.reason;
    const lines = settled.flatMap((commit) => (commit.status === "fulfilled" ? commit.value : []));
    return ok(reviewedOf(unknown, lines));
  };
}

const UNKNOWN = { type: "unknown" } as const;

async function chosenIn(
  deps: DecideDeps,
  by: PersonId,
  { nonce, verdict }: Choice,
  { bundle, reasons }: { readonly bundle: Nonce | null; readonly reasons: Reasons },
): Promise<Chosen | NoForm> {
  if (bundle === null || verdict === null) return UNKNOWN;
  const ticket = await formOf(deps, by, nonce, bundle);
  return "type" in ticket ? ticket : { ticket: { ...ticket, verdict }, reason: reasons[verdict] };
}

function reviewedOf(unknown: readonly Refusal[], lines: readonly Line[]): Reviewed {
  const recorded = (verdict: Verdict): number =>
    lines.filter(({ refusal, chosen }) => refusal === null && chosen.ticket.verdict === verdict).length;
  return {
    recorded: { approve: recorded("approve"), deny: recorded("deny") },
    refused: [
      ...unknown.map((refusal) => ({ request: null, run: null, approval: null, refusal })),
      ...lines.flatMap(({ chosen, run, refusal }) =>
        refusal === null
          ? []
          : [{ request: chosen.ticket.saw, run, approval: chosen.ticket.approval, refusal }],
      ),
    ],
  };
}

type ByRun = readonly (readonly [RunKey, readonly Chosen[]])[];

/** Resolves to the first fault; denials come before approvals. Writes an audit entry for each request with a fault. */
async function refuseFaultyReasons(
  deps: DecideDeps,
  by: PersonId,
  byRun: ByRun,
): Promise<ReasonFault | null> {
  const faults: ReasonFault[] = [];
  for (const [key, chosen] of byRun) {
    const run = (await deps.store.load(key))?.run;
    if (run === undefined) continue;
    for (const { ticket, reason } of chosen) {
      const { verdict, approval: id, saw, at: clicked } = ticket;
      const approval = findApproval(run, id);
      if (approval === null) continue;
      const refusal = refusalOfReason(reason, verdict, ruleOf(deps.context(), run, approval));
      if (refusal === null) continue;
      faults.push({ verdict, refusal });
      const tried = { step: "submit", verdict, reason, moments: { clicked }, approval: id, saw } as const;
      await refused(deps, { refusal, run, policy: currentRule(deps, run, ticket) }, by, tried);
    }
  }
  return faults.find(({ verdict }) => verdict === "deny") ?? faults[0] ?? null;
}

type Facts = {
  readonly chosen: Chosen;
  readonly person: Person | Refusal;
  readonly voters: Voters;
};

async function commitRun(
  deps: DecideDeps,
  by: PersonId,
  key: RunKey,
  chosen: readonly Chosen[],
): Promise<readonly Line[]> {
  const run = (await deps.store.load(key))?.run;
  if (run === undefined) return noSuchRun(deps, by, chosen);
  const [fetched, requesterGroups, ...facts] = await Promise.all([
    fetchBriefly(deps, run),
    lookUpRequester(deps, run, SUBMIT_AGE_MS),
    ...chosen.map((each) => factsFor(deps, by, run, each)),
  ]);
  return commit(deps, by, { key, fetched, requesterGroups, facts });
}

/** Commits all decisions of one run in one transaction. Tries twice at most, like `commit` in submit-decision.ts. */
async function commit(
  deps: DecideDeps,
  by: PersonId,
  known: RunFacts,
  isLastTry = false,
): Promise<readonly Line[]> {
  const { key, facts } = known;
  const after = await deps.engine.transactAnywhere<readonly Line[] | null>(key, (stored) => {
    const applied = applyChoices(deps, by, stored, known);
    const refusalAt = (at: number): Refusal | null => applied.value[at]?.refusal ?? null;
    const triesAgain = !isLastTry && facts.some(({ voters }, at) => restsOnNewVote(refusalAt(at), voters));
    return triesAgain ? { run: stored, value: null } : applied;
  });
  if (after === null) {
    return noSuchRun(
      deps,
      by,
      facts.map(({ chosen }) => chosen),
    );
  }
  const { run, value: lines } = after;
  if (lines === null) {
    const again = facts.map(async (each) => {
      return { ...each, voters: await lookUpNewVoters(deps, run, each.chosen.ticket, each.voters) };
    });
    return commit(deps, by, { ...known, facts: await Promise.all(again) }, true);
  }
  for (const { refusal } of lines) if (refusal !== null) deps.metrics.refusal(refusal.type);
  return lines;
}

async function noSuchRun(
  deps: DecideDeps,
  by: PersonId,
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

async function factsFor(deps: DecideDeps, by: PersonId, run: Run, chosen: Chosen): Promise<Facts> {
  const sets = setsToLookUp(deps, run, chosen.ticket);
  const [person, voters] = await Promise.all([
    lookUp(deps, run, { sets, maxAgeMs: SUBMIT_AGE_MS, user: by.user }),
    lookUpVoters(deps, run, chosen.ticket),
  ]);
  return { chosen, person, voters };
}

type RunFacts = Pick<Submitted, "fetched" | "requesterGroups"> & {
  readonly key: RunKey;
  readonly facts: readonly Facts[];
};

/** Applies the decisions one after the other, each to the result of the previous one. */
function applyChoices(
  deps: DecideDeps,
  by: PersonId,
  stored: Run,
  { fetched, requesterGroups, facts }: RunFacts,
) {
  const ctx = deps.context();
  const run = withFreshRequester(stored, requesterGroups, ctx);
  let newest = applyPolicy(fetched === null ? run : observeFetched(run, fetched, ctx), ctx);
  const audit: AuditEntry[] = [];
  const lines = facts.map(({ chosen, person, voters }): Line => {
    const { ticket, reason } = chosen;
    const unverified = (refusal: Refusal): Result<Run, Refusal> =>
      isRepeated(newest, ticket, by, reason) ? ok(newest) : err(refusal);
    const result =
      "type" in person
        ? unverified(person)
        : decide(newest, submissionOf(ticket, { person, reason, word: "", voters }), ctx);
    const isNew = !result.ok || result.value !== newest;
    const policy = currentRule(deps, newest, ticket);
    if (isNew)
      audit.push({ ...entryOf(newest, ticket, { person: by, reason, at: ctx.now }, result), policy });
    if (result.ok) newest = result.value;
    return { chosen, run: newest, refusal: result.ok ? null : result.error };
  });
  return { run: newest, value: lines, sideWrites: { audit } };
}
