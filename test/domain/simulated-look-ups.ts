// The look-ups of a simulated world that change nothing: how many people can approve, and that the same request was
// approved twice before.

import type { Fate } from "./fates.ts";
import { countKeyOf, lookUpKeyOf } from "#src/domain/applied-rule.ts";
import type { Effect, Outcome } from "#src/domain/effect.ts";
import { findApproval, type Run } from "#src/domain/run.ts";
import { APPROVER } from "../make/run.ts";

type World = { readonly able: number | null; readonly now: number };

/** Returns null if the effect looks nothing up. */
export function lookedUp(
  run: Run,
  effect: Effect,
  ...[fate, { able, now }]: readonly [Fate, World]
): Outcome | null {
  if (effect.type === "find-people") return peopleFound(fate);
  if (effect.type !== "count-approvers" && effect.type !== "look-up-precedents") return null;
  const approval = findApproval(run, effect.approval);
  if (approval === null) return { type: "gone" };
  if (effect.type === "count-approvers")
    return { type: "counted", of: countKeyOf(run, approval), able, grows: false };
  const of = lookUpKeyOf(approval);
  const approved = { times: 2, more: false, entry: 1, by: APPROVER, at: now };
  return { type: "precedents", of, denied: null, approved };
}

const peopleFound = (fate: Fate): Outcome =>
  fate === "done"
    ? { type: "people-found", users: [APPROVER], groups: [], more: 0 }
    : { type: "later", afterMs: null, why: "Slack is silent" };
