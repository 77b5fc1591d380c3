// A submitted modal: people are looked up afresh, the request is compared with what the modal showed, and the decision is
// committed. Only then is the modal acknowledged.

import { type Person, type Refusal } from "../core/decide.ts";
import { decide, type Submission } from "../core/take-decision.ts";
import type { Nonce, TeamId, UserId } from "../core/ids.ts";
import type { Circle, PolicyMark } from "../core/policy.ts";
import { err, ok, type Result } from "../core/result.ts";
import { markOf, ruleOf, underPolicy } from "../core/ruling.ts";
import { findApproval, type Run, runId } from "../core/run.ts";
import { type AuditEntry, type Look, type ModalTicket, PortError } from "./ports.ts";
import { type DecideDeps, lookUp, type No, refused } from "./refuse.ts";
import { takeIn } from "./take-in.ts";

/** A submit may share an answer this old (ms) with others of the same burst. */
export const SUBMIT_AGE_MS = 5_000;
/** The submit is answered within 2 s, so the best-effort look gets this long (ms). */
export const SUBMIT_LOOK_MS = 1_500;

/** The decision is committed when this resolves to ok. Rejects with PortError when it could not be stored. */
export type RecordDecision = (
  by: { team: TeamId; user: UserId },
  /** Null: the form carried something that is none. */
  nonce: Nonce | null,
  reason: string,
  /** What the rule may want typed; left out where the form did not ask for it. */
  word?: string,
) => Promise<Result<Run, No>>;

type Typed = { readonly reason: string; readonly word: string };

export function createRecordDecision(deps: DecideDeps): RecordDecision {
  return (by, nonce, reason, word = "") => submit(deps, by, nonce, { reason, word });
}

async function submit(
  deps: DecideDeps,
  by: { team: TeamId; user: UserId },
  nonce: Nonce | null,
  typed: Typed,
): Promise<Result<Run, No>> {
  const ticket = nonce === null ? null : await deps.store.modal(nonce);
  // The modal is bound to its person: a nonce in another hand is nobody's modal.
  if (ticket === null || ticket.team !== by.team || ticket.user !== by.user) {
    return refused(deps, { refusal: { because: "unknown" }, run: null }, by, null);
  }
  const run = (await deps.store.load(ticket.run))?.run;
  if (run === undefined)
    return refused(deps, { refusal: { because: "unknown" }, run: null }, by, ticket.verdict);
  const { circle, policy } = standing(deps, run, ticket);
  const asked = { circle, maxAgeMs: SUBMIT_AGE_MS };
  const [person, look, voters] = await Promise.all([
    lookUp(deps, run, { ...asked, user: by.user }),
    lookBriefly(deps, run),
    lookUpVoters(deps, run, ticket, asked),
  ]);
  if ("because" in person) return refused(deps, { refusal: person, run, policy }, by, ticket.verdict);
  return commit(deps, ticket, { person, ...typed, look, voters });
}

/** An earlier approval counts only while who gave it may still decide. Whom Slack says nothing of is left out. */
async function lookUpVoters(
  deps: DecideDeps,
  run: Run,
  { approval, verdict }: ModalTicket,
  asked: { circle: Circle; maxAgeMs: number },
): Promise<Person[]> {
  const votes = verdict === "deny" ? [] : (findApproval(run, approval)?.votes ?? []);
  const users = votes.flatMap(({ by }) => (by === null ? [] : [by.user]));
  const found = await Promise.all(users.map((user) => lookUp(deps, run, { ...asked, user })));
  return found.flatMap((each) => ("because" in each ? [] : [each]));
}

/** Whom the rule of now lets decide. Should it be another one at the commit, what it needs was not asked, and it says no. */
function standing(
  deps: DecideDeps,
  run: Run,
  { approval }: ModalTicket,
): { circle: Circle; policy: PolicyMark } {
  const request = findApproval(run, approval)?.request;
  if (request === undefined) return { circle: "anyone", policy: null };
  const { policy } = deps.context();
  const rule = ruleOf(policy, run, request);
  return { circle: rule.approvers, policy: markOf(policy, rule) };
}

/** Best effort: a late or failed look must not keep a person from deciding; the executor looks again before it sends. */
async function lookBriefly({ agents }: DecideDeps, run: Run): Promise<Look | null> {
  const id = runId(run);
  if (id === null) return null;
  try {
    return await agents.look(id, SUBMIT_LOOK_MS);
  } catch (error) {
    if (error instanceof PortError) return null;
    throw error;
  }
}

type Submitted = Typed & {
  readonly person: Person;
  readonly look: Look | null;
  readonly voters: readonly Person[];
};

async function commit(deps: DecideDeps, ticket: ModalTicket, submitted: Submitted): Promise<Result<Run, No>> {
  const outcome: { result: Result<Run, Refusal> } = { result: err({ because: "unknown" }) };
  const after = await deps.rounds.change(
    ticket.run,
    (run) => {
      const ctx = deps.context();
      const newest = underPolicy(submitted.look === null ? run : takeIn(run, submitted.look, ctx), ctx);
      outcome.result = decide(newest, submissionOf(ticket, submitted), ctx);
      if (outcome.result.ok && outcome.result.value === newest) return newest;
      const { policy } = standing(deps, newest, ticket);
      const audit = [{ ...entryOf(newest, ticket, submitted, outcome.result), at: ctx.now, policy }];
      return { run: outcome.result.ok ? outcome.result.value : newest, alongside: { audit } };
    },
    { mustHold: false },
  );
  const { result } = outcome;
  if (after === null) return err({ refusal: { because: "unknown" }, run: null });
  if (result.ok) return ok(after);
  deps.metrics.refusal(result.error.because);
  return err({ refusal: result.error, run: after });
}

function submissionOf(
  { approval, version, verdict, saw }: ModalTicket,
  { person, reason, word, voters }: Submitted,
): Submission {
  return { approval, version, digest: saw.digest, was: saw, verdict, reason, word, by: person, voters };
}

function entryOf(
  run: Run,
  ticket: ModalTicket,
  submitted: Submitted,
  result: Result<Run, Refusal>,
): Omit<AuditEntry, "at" | "policy"> {
  const { person, reason } = submitted;
  const by = { team: person.team, user: person.user };
  const { approval, verdict, saw } = ticket;
  const facts = { run: run.key, approval, by, verdict, digest: saw.digest, outcome: runId(run) ?? "" };
  if (result.ok) {
    const waits = findApproval(result.value, approval)?.state.is === "pending";
    return { ...facts, what: waits ? "voted" : "decided", reason };
  }
  return { ...facts, what: "refused", reason: null, refusal: result.error.because };
}
