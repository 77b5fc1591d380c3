// Which of two rules is stricter, and what both together require.

import type { Principals, Rule } from "./policy.ts";

/** Everything that satisfies `a` satisfies `b`, judged by the rules alone: who is in a group is unknown here. */
export function isAsStrict(a: Rule, b: Rule): boolean {
  const { friction } = a;
  return (
    isNobody(a.approvers) ||
    (isWithin(a.approvers, b.approvers) &&
      (!a.selfApproval || b.selfApproval) &&
      a.needs >= b.needs &&
      a.holdMs >= b.holdMs &&
      a.reason.approve >= b.reason.approve &&
      (friction.readFirst || !b.friction.readFirst) &&
      (friction.word !== null || b.friction.word === null))
  );
}

export const isStricter = (a: Rule, b: Rule): boolean => isAsStrict(a, b) && !isAsStrict(b, a);

/** In words, for the linter: what `b` requires and `a` does not. Empty where `a` is as strict. */
export function laxerFields(a: Rule, b: Rule): readonly string[] {
  const ways: readonly (readonly [boolean, string])[] = [
    [!isWithin(a.approvers, b.approvers), "who may approve"],
    [a.selfApproval && !b.selfApproval, "the requester may approve"],
    [a.needs < b.needs, "how many must approve"],
    [a.holdMs < b.holdMs, "the hold"],
    [a.reason.approve < b.reason.approve, "the reason"],
    [b.friction.readFirst && !a.friction.readFirst, "reading first"],
    [b.friction.word !== null && a.friction.word === null, "the typed word"],
  ];
  return isAsStrict(a, b) ? [] : ways.flatMap(([is, says]) => (is ? [says] : []));
}

/**
 * One rule that requires everything that these rules require: only people whom all of them allow may decide. A rule that another one
 * of them covers is left out, so the result is usually one of them.
 */
export function combineStrictly(rules: readonly [Rule, ...Rule[]]): Rule {
  const [first, ...others] = rules.filter(
    (rule, at) =>
      !rules.some((other, index) => isStricter(other, rule) || (index < at && isAsStrict(other, rule))),
  );
  return others.reduce(both, first ?? rules[0]);
}

function both(a: Rule, b: Rule): Rule {
  const most = (of: (rule: Rule) => number): number => Math.max(of(a), of(b));
  return {
    name: `${a.name} and ${b.name}`,
    when: a.when,
    approvers: shared(a.approvers, b.approvers),
    selfApproval: a.selfApproval && b.selfApproval,
    reason: { approve: most(({ reason }) => reason.approve), deny: most(({ reason }) => reason.deny) },
    needs: most(({ needs }) => needs),
    holdMs: most(({ holdMs }) => holdMs),
    expiry: sooner(a.expiry, b.expiry),
    friction: {
      readFirst: a.friction.readFirst || b.friction.readFirst,
      word: a.friction.word ?? b.friction.word,
    },
    mention: {
      users: [...new Set([...a.mention.users, ...b.mention.users])],
      groups: [...new Set([...a.mention.groups, ...b.mention.groups])],
    },
  };
}

function sooner(a: Rule["expiry"], b: Rule["expiry"]): Rule["expiry"] {
  if (a === null || b === null) return a ?? b;
  return b.afterMs < a.afterMs ? b : a;
}

/** The people in both. Somebody who is in one list by id and in the other by a group may be missed, but is never let in by mistake. */
function shared(a: Principals, b: Principals): Principals {
  if (a === "anyone" || b === "anyone") return a === "anyone" ? b : a;
  return {
    users: a.users.filter((each) => b.users.includes(each)),
    groups: a.groups.filter((each) => b.groups.includes(each)),
    channels: a.channels.filter((each) => b.channels.includes(each)),
  };
}

function isWithin(a: Principals, b: Principals): boolean {
  if (a === "anyone" || b === "anyone") return b === "anyone";
  return (
    a.users.every((each) => b.users.includes(each)) &&
    a.groups.every((each) => b.groups.includes(each)) &&
    a.channels.every((each) => b.channels.includes(each))
  );
}

function isNobody(principals: Principals): boolean {
  return (
    principals !== "anyone" &&
    principals.users.length + principals.groups.length + principals.channels.length === 0
  );
}
