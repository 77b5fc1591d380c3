// Facts about everybody whose approval a decision rests on, looked up right before it leaves.

import type { Person } from "../core/decide.ts";
import type { Effect } from "../core/effect.ts";
import { ruleOf } from "../core/ruling.ts";
import { findApproval, type Run } from "../core/run.ts";
import { voices } from "../core/vote.ts";
import { lookUp, SUBMIT_AGE_MS } from "./look-up.ts";
import type { CarryDeps, Way } from "./way.ts";

/** Whom Slack says nothing of is left out: nobody can say whether they may. Nobody is asked about for a denial. */
export async function askVoices(
  deps: CarryDeps,
  { key }: Run,
  effect: Extract<Effect, { do: "send-decision" }>,
  way: Way,
): Promise<readonly Person[]> {
  const run = await way.change(key, (stored) => stored);
  const approval = run === null ? null : findApproval(run, effect.approval);
  if (run === null || approval?.state.is !== "decided") return [];
  const { decision } = approval.state;
  if (decision.verdict === "deny") return [];
  const circle = ruleOf(deps.context().policy, run, approval.request).approvers;
  const users = voices(decision).flatMap(({ by }) => (by === null ? [] : [by.user]));
  const found = await Promise.all(
    users.map((user) => lookUp(deps, run, { user, circle, maxAgeMs: SUBMIT_AGE_MS })),
  );
  return found.flatMap((each) => ("because" in each ? [] : [each]));
}
