// What must hold right before a decision leaves: the service still asks for it, the audit bears it out, and no approval leaves
// while somebody has changed the database.

import type { Person } from "../core/decide.ts";
import type { Effect, Outcome } from "../core/effect.ts";
import { findApproval, type Run } from "../core/run.ts";
import { askVoices } from "./ask-voices.ts";
import { lookBefore } from "./look-before.ts";
import { decisionMark, disproof } from "./prove-decision.ts";
import type { CarryDeps, Way } from "./way.ts";

type Sending = Extract<Effect, { do: "send-decision" }>;

/** `only`: the decision that was checked; no other may be sent. `people`: facts about those who gave it, asked just now. */
export type Leaves = { readonly only: string | null; readonly people: readonly Person[] };
/** `not`: it does not leave now, and nothing of it has left. */
export type Leave = Leaves | { readonly not: Outcome };

export async function beforeSending(deps: CarryDeps, run: Run, effect: Sending, way: Way): Promise<Leave> {
  const held = heldBack(deps, run, effect);
  if (held !== null) return { not: held };
  const notNow = await lookBefore(deps, run, way);
  if (notNow !== null) return { not: notNow };
  const people = await askVoices(deps, run, effect, way);
  const newest = await way.change(run.key, (stored) => stored);
  const approval = newest === null ? null : findApproval(newest, effect.approval);
  if (newest === null || approval === null) return { only: null, people };
  const finding = await disproof(deps.store, newest, approval);
  if (finding !== null) {
    deps.integrity.found(finding);
    return { not: { is: "unproven", why: finding.words } };
  }
  const since = heldBack(deps, newest, effect);
  return since === null ? { only: decisionMark(approval), people } : { not: since };
}

/** How often a decision that is held back asks again (ms). */
const ASK_AGAIN_MS = 10_000;

const HELD_BACK =
  "somebody changed Countersign's database, so approvals wait until an admin has looked at it. Nobody needs to approve this again: it is sent then. Denials are sent at once.";

/** An approval lets the agent act; a denial can only stop it, so it is not held back. */
function heldBack({ integrity }: CarryDeps, run: Run, { approval }: Sending): Outcome | null {
  const state = findApproval(run, approval)?.state;
  if (state?.is !== "decided" || state.decision.verdict === "deny") return null;
  if (integrity.state().code === null) return null;
  return { is: "later", afterMs: ASK_AGAIN_MS, why: HELD_BACK, heldBack: true };
}
