// What people do with a waiting request, in any order, for properties that must always hold.

import * as fc from "fast-check";
import type { Approval } from "#src/domain/approval.ts";
import {
  claim,
  extendTime,
  handOver,
  lapseClaims,
  release,
  snooze,
  SNOOZES,
  timesExtended,
} from "#src/domain/handling.ts";
import { type Nonce, type UserId, UserId as toUser } from "#src/domain/ids.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import { keptRule, type Rule } from "#src/domain/policy/policy.ts";
import { answer, ask, questionsOf } from "#src/domain/question.ts";
import type { Result } from "#src/domain/result.ts";
import { aRule } from "./policy.ts";
import { aNonce, anApproval, aWatchedRun, NOON, REQUESTER, withApprovals } from "./run.ts";

const MINUTE = 60_000;
export const PEOPLE: readonly UserId[] = ["U0BEN", "U0CLEO", "U0DAN"].map((id) => toUser(id));

export const RULE: Rule = aRule({
  expiry: { afterMs: 60 * MINUTE, outcome: "nothing" },
  followUp: { ...NO_FOLLOW_UP, extend: { byMs: 30 * MINUTE, atMostMs: 80 * MINUTE } },
});

const FORMS: readonly Nonce[] = Array.from({ length: 20 }, () => aNonce());
const person = fc.constantFrom(...PEOPLE);
const form = fc.constantFrom(...FORMS);
const text = fc.constantFrom("Why?", "Is it safe?", " ", "x".repeat(3_001));

/** `passes` is the time since the previous act (ms). */
export type Deed = {
  readonly passes: number;
  readonly what: "claim" | "release" | "snooze" | "hand-over" | "ask" | "answer" | "extend";
  readonly by: UserId;
  readonly to: UserId;
  readonly form: Nonce;
  readonly text: string;
  readonly ms: number;
  readonly times: number;
};

export const deeds = fc.array(
  fc.record<Deed>({
    passes: fc.constantFrom(0, 1_000, 5 * MINUTE, 31 * MINUTE),
    what: fc.constantFrom("claim", "release", "snooze", "hand-over", "ask", "answer", "extend"),
    by: person,
    to: person,
    form,
    text,
    ms: fc.constantFrom(...SNOOZES),
    times: fc.constantFrom(-1, -1, -1, 0, 1),
  }),
  { maxLength: 40 },
);

export const waiting = (): Approval => ({
  ...anApproval("apr_1"),
  appliedRule: { version: "0123456789ab", rule: keptRule(RULE) },
});

/** Returns each state in order, including the first. */
export function lived(first: Approval, all: readonly Deed[]): readonly Approval[] {
  const states = [first];
  let now = NOON;
  for (const deed of all) {
    now += deed.passes;
    const ctx = { now, monotonic: now };
    const before = states.at(-1) ?? first;
    const [lapsed = before] = lapseClaims(withApprovals(aWatchedRun(), before), ctx).approvals;
    const done = doneBy(lapsed, deed, ctx);
    states.push(lapsed, done.ok ? done.value : lapsed);
  }
  return states;
}

type Done = Result<Approval, unknown>;

function doneBy(approval: Approval, deed: Deed, ctx: { now: number; monotonic: number }): Done {
  const { what, by, to, form: id, text: said, ms, times } = deed;
  switch (what) {
    case "claim":
      return { ok: true, value: claim(approval, by, RULE, ctx) };
    case "release":
      return release(approval, by);
    case "snooze":
      return snooze(approval, by, { ms, form: id, rule: RULE }, ctx);
    case "hand-over":
      return handOver(approval, { from: by, to, form: id, rule: RULE }, ctx);
    case "ask":
      return ask(approval, { id, by, text: said, rule: RULE }, ctx);
    case "answer": {
      const question = questionsOf(approval).find((each) => each.id === id);
      if (question === undefined || question.answer !== undefined) return { ok: true, value: approval };
      return answer({ approval, question }, { by: REQUESTER, text: said }, ctx);
    }
    case "extend":
      return extendTime(
        approval,
        { by, times: times < 0 ? timesExtended(approval) : times, rule: RULE },
        ctx,
      );
  }
}
