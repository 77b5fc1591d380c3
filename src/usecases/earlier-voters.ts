// Looks up the earlier approvers at a submit, because their votes count only while they may still decide.

import { votersOf } from "../domain/approval-transitions.ts";
import type { Person, Refusal } from "../domain/authorization.ts";
import type { UserId } from "../domain/ids.ts";
import { membershipsToLookUp } from "../domain/rule-facts.ts";
import { findApproval, type Run } from "../domain/run.ts";
import { lookUpAll, SUBMIT_AGE_MS } from "../engine/fresh-facts.ts";
import type { FormTicket } from "../ports/store.ts";
import type { DecideDeps } from "./refusals.ts";

/** The submit must be answered within this time (ms). */
const ANSWER_MS = 2_000;

/** `since`: when we first asked Slack (monotonic). `asked`: whom we asked about. `people`: those about whom Slack has answered. */
export type Voters = {
  readonly since: number;
  readonly asked: readonly UserId[];
  readonly people: readonly Person[];
};

export async function lookUpVoters(
  deps: DecideDeps,
  run: Run,
  { approval: id, verdict }: FormTicket,
  { since, asked, people }: Voters = { since: deps.clock.monotonic(), asked: [], people: [] },
): Promise<Voters> {
  const approval = verdict === "deny" ? null : findApproval(run, id);
  if (approval === null) return { since, asked, people };
  const users = votersOf(approval.votes).filter((user) => !asked.includes(user));
  const sets = membershipsToLookUp(run, approval, deps.context());
  const found = await lookUpAll(deps, run, { sets, maxAgeMs: SUBMIT_AGE_MS, users });
  return { since, asked: [...asked, ...users], people: [...people, ...found] };
}

/** Returns whether a decision is refused because someone approved after the look-up, so that Slack was not asked about them. */
export function restsOnNewVote(refusal: Refusal | null, { asked }: Voters): boolean {
  const unknown = refusal?.type === "unverified" ? (refusal.of ?? []) : [];
  return unknown.some((user) => !asked.includes(user));
}

/** Looks up those who have approved since, in the time that is left for the answer. After that, they stay unverified. */
export async function lookUpNewVoters(
  deps: DecideDeps,
  run: Run,
  ticket: FormTicket,
  before: Voters,
): Promise<Voters> {
  const { promise: late, resolve } = Promise.withResolvers<Voters>();
  const left = before.since + ANSWER_MS - deps.clock.monotonic();
  const cancel = deps.clock.after(Math.max(left, 0), () => resolve(before));
  try {
    return await Promise.race([lookUpVoters(deps, run, ticket, before), late]);
  } finally {
    cancel();
  }
}
