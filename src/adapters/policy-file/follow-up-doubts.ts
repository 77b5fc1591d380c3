// Finds probable mistakes in what a rule says about a waiting request: something that never happens, or that changes nothing.

import { reminderAge } from "../../domain/follow-up-due.ts";
import type { Rule } from "../../domain/policy/policy.ts";
import { rightsOfStage } from "../../domain/escalation.ts";
import { idsOf } from "../../domain/policy/named-people.ts";

/** `path` leads to the probable mistake. */
export type Doubt = { readonly path: readonly (string | number)[]; readonly says: string };

export function followUpDoubts(rule: Rule, index: number): readonly Doubt[] {
  const at = (...path: readonly (string | number)[]) => ["rules", index, ...path];
  return [
    ...lateStages(rule, at),
    ...idleStages(rule, at),
    ...denyingStages(rule, at),
    ...lateReminders(rule, at),
    ...longWarning(rule, at),
  ];
}

type At = (...path: readonly (string | number)[]) => readonly (string | number)[];

/** Includes the time that extensions may add. */
const longestMs = ({ expiry, followUp }: Rule): number =>
  expiry === null ? Number.POSITIVE_INFINITY : expiry.afterMs + (followUp.extend?.atMostMs ?? 0);

function lateStages(rule: Rule, at: At): readonly Doubt[] {
  return rule.followUp.escalate.flatMap(({ afterMs }, nth) =>
    afterMs < longestMs(rule)
      ? []
      : [
          {
            path: at("escalate", nth),
            says: `"${rule.name}" never reaches this stage: its time is up before`,
          },
        ],
  );
}

/** Does not compare groups and channels, which may share people, because only Slack knows their members. */
function idleStages({ name, approvers, followUp }: Rule, at: At): readonly Doubt[] {
  let allowed: readonly string[] = approvers === "anyone" ? [] : idsOf(approvers);
  return followUp.escalate.flatMap(({ to }, nth) => {
    const before = allowed;
    const named = to === null ? [] : idsOf(to);
    allowed = [...allowed, ...named];
    if (to === null || named.some((id) => !before.includes(id))) return [];
    return [
      {
        path: at("escalate", nth, "to"),
        says: `"${name}" lets no one in by this stage: all of them may decide before`,
      },
    ];
  });
}

/** Each approval of the rule must come from a part. */
function denyingStages(rule: Rule, at: At): readonly Doubt[] {
  return rule.followUp.escalate.flatMap(({ to }, nth) => {
    const ids = to === null ? [] : idsOf(rightsOfStage(to, rule).denyOnly);
    if (ids.length === 0) return [];
    return [
      {
        path: at("escalate", nth, "to"),
        says: `"${rule.name}" lets ${ids.join(", ")} only deny by this stage: each approval must fill a part of "all-of", and they are in none. Add them to a part, or name them in "call"`,
      },
    ];
  });
}

function lateReminders(rule: Rule, at: At): readonly Doubt[] {
  const { remind } = rule.followUp;
  if (remind === null || reminderAge(remind, 1) < longestMs(rule)) return [];
  return [{ path: at("remind"), says: `"${rule.name}" never reminds anyone: its time is up before` }];
}

function longWarning({ name, expiry, followUp: { warnMs } }: Rule, at: At): readonly Doubt[] {
  if (expiry === null || warnMs === null || warnMs < expiry.afterMs) return [];
  return [
    {
      path: at("expiry", "warn"),
      says: `"${name}" sends its last reminder at once: warn is as long as the whole time`,
    },
  ];
}
