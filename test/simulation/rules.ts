// The rules of random histories, each the only rule of its policy.

import type { UserId } from "#src/domain/ids.ts";
import { NO_FOLLOW_UP } from "#src/domain/policy/follow-up-rule.ts";
import type { Rule } from "#src/domain/policy/policy.ts";
import { APPROVERS, LEAD } from "./cast.ts";

const named = (users: readonly UserId[]) => ({ users, groups: [], channels: [] });

const STAGES: Partial<Rule> = {
  approvers: named(APPROVERS),
  followUp: {
    ...NO_FOLLOW_UP,
    remind: { afterMs: 10_000, doubles: true, atMost: 3 },
    escalate: [{ afterMs: 20_000, to: named([LEAD]), call: null }],
    extend: { byMs: 30_000, atMostMs: 120_000 },
  },
};

export const RULES = {
  "no policy": undefined,
  "two must approve": { needs: 2 },
  "held for five seconds": { holdMs: 5_000 },
  "two must approve, held": { needs: 2, holdMs: 5_000 },
  "denied after a while": { ...STAGES, expiry: { afterMs: 40_000, outcome: "deny" } },
  "closed after a while": { expiry: { afterMs: 40_000, outcome: "nothing" } },
  staged: STAGES,
} as const satisfies { readonly [name: string]: Partial<Rule> | undefined };

export const RULE_NAMES = Object.keys(RULES) as [keyof typeof RULES, ...(keyof typeof RULES)[]];
