// Laws of claims, questions, hand-overs and extensions: nothing that people do there changes the decision.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { endsUnder } from "#src/domain/applied-rule.ts";
import { type Person, refusalToOpen } from "#src/domain/authorization.ts";
import { claimOf } from "#src/domain/handling.ts";
import { ageAt, extendedMs } from "#src/domain/follow-up.ts";
import {
  hasQuestionOfChangedRequest,
  MAX_QUESTIONS,
  openQuestions,
  questionSlot,
  questionsOf,
} from "#src/domain/question.ts";

import { deeds, lived, PEOPLE, RULE, waiting } from "../make/handling.ts";
import { aNonce, aWatchedRun, NOON, REQUESTER, TEAM, withApprovals } from "../make/run.ts";

const CAP = RULE.followUp.extend?.atMostMs ?? 0;
const HOUR = 60 * 60_000;

const member = (user: Person["user"]): Person => ({ team: TEAM, user, kind: "member", seesChannel: true });

describe("after any handling of a request", () => {
  test("its content, its card version and its votes stay the same", () => {
    const first = waiting();
    fc.assert(
      fc.property(deeds, (all) => {
        for (const { followUp: _done, ...rest } of lived(first, all)) expect(rest).toEqual(first);
      }),
    );
  });

  test("the same people may decide it", () => {
    const first = waiting();
    const run = withApprovals(aWatchedRun(), first);
    fc.assert(
      fc.property(deeds, fc.constantFrom(...PEOPLE, REQUESTER), (all, user) => {
        const tried = { run, rule: { ...RULE, expiry: null }, by: member(user), monotonic: NOON } as const;
        const seen = { version: first.version, was: first.request };
        for (const verdict of ["approve", "deny"] as const) {
          const now = lived(first, all).at(-1) ?? first;
          expect(refusalToOpen(now, { ...tried, verdict }, seen)).toEqual(
            refusalToOpen(first, { ...tried, verdict }, seen),
          );
        }
      }),
    );
  });

  test("its time grows by no more than the rule's cap and its questions", () => {
    const first = waiting();
    fc.assert(
      fc.property(deeds, (all) => {
        for (const state of lived(first, all)) {
          expect(extendedMs(state)).toBeLessThanOrEqual(CAP);
          const questions = questionsOf(state).length;
          expect(questions).toBeLessThanOrEqual(MAX_QUESTIONS);
          const latest = first.waitsSince + HOUR + CAP + questions * RULE.followUp.questionMs;
          expect(endsUnder(state, RULE)).toBeLessThanOrEqual(latest);
        }
      }),
    );
  });

  test("its clock runs once no question is open, and it reaches its end", () => {
    const first = waiting();
    fc.assert(
      fc.property(deeds, (all) => {
        const last = lived(first, all).at(-1) ?? first;
        const now = NOON + all.reduce((sum, { passes }) => sum + passes, 0);
        const from = openQuestions(last).length === 0 ? now : now + RULE.followUp.questionMs;
        expect(ageAt(last, from + 1_000) - ageAt(last, from)).toBe(1_000);
      }),
    );
  });

  test("a person who was handed the request cannot hand it on", () => {
    const first = waiting();
    fc.assert(
      fc.property(deeds, (all) => {
        const states = lived(first, all);
        const handed = states.flatMap((state, at) => {
          const before = claimOf(states[at - 1] ?? first);
          const after = claimOf(state);
          return after?.from !== undefined && after.from === before?.by ? [before] : [];
        });
        expect(handed.filter(({ from }) => from !== undefined)).toEqual([]);
      }),
    );
  });
});

test.for([
  ["up", true],
  ["unsure", true],
  ["sending", true],
  ["refused", false],
] as const)("a question that the run no longer has is outdated if Slack may have it (%s)", ([type, is]) => {
  const posts = { [questionSlot(aNonce())]: { type } } as never;
  expect(hasQuestionOfChangedRequest({ ...withApprovals(aWatchedRun(), waiting()), posts })).toBe(is);
});
