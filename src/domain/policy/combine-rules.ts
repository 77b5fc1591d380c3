// Which of two rules is stricter, and what several rules together require.

import type { UserId } from "../ids.ts";
import { combineFollowUps, letInBy } from "./follow-up-rule.ts";
import {
  areAllIn,
  combineParts,
  coversParts,
  inBoth,
  isById,
  isNobody,
  listsOf,
  type NamedPeople,
  NO_ONE,
  type Principals,
  together,
} from "./named-people.ts";
import type { Rule } from "./policy.ts";
import { bothWords, holdsWords } from "./typed-words.ts";

/** Returns whether everything that satisfies `a` satisfies `b`. Judged by the rules alone, without knowing who is in a group. */
export const isAsStrict = (a: Rule, b: Rule): boolean =>
  isNobody(a.approvers) ||
  (demandsAsMuch(a, b) && holdsWords(a.friction.word, b.friction.word) && delaysNoMore(a, b));

/** Compares what matters even if more people must approve: the reason for a denial, what moves the end of the time, and the stages. */
const delaysNoMore = (a: Rule, b: Rule): boolean =>
  stagesWithin(a, b) &&
  a.reason.deny >= b.reason.deny &&
  a.followUp.questionMs <= b.followUp.questionMs &&
  extendsNoMore(a.followUp.extend, b.followUp.extend);

function extendsNoMore(a: Rule["followUp"]["extend"], b: Rule["followUp"]["extend"]): boolean {
  return a === null || (b !== null && a.atMostMs <= b.atMostMs);
}

/** Returns whether `a` asks for at least as much as `b`. All words that a person must type count the same. */
const demandsAsMuch = (a: Rule, b: Rule): boolean => laxerFields(a, b).length === 0;

/** For the linter, which compares how much rules ask for, not which word they ask for. */
export const isStricter = (a: Rule, b: Rule): boolean => demandsAsMuch(a, b) && !demandsAsMuch(b, a);

/** Returns, in words for the linter, what `b` requires and `a` does not. Returns an empty list if `a` is as strict. */
export function laxerFields(a: Rule, b: Rule): readonly string[] {
  if (isNobody(a.approvers)) return [];
  const checks: readonly (readonly [isLaxer: boolean, words: string])[] = [
    [!areAllIn(a.approvers, b.approvers), "who may approve"],
    [a.selfApproval && !b.selfApproval, "the requester may approve"],
    [a.needs < b.needs, "how many must approve"],
    [!coversParts(a.parts, b.parts), "from which parts approvals must come"],
    [!exceptsAll(a, b), "who may not approve"],
    [a.holdMs < b.holdMs, "the hold"],
    [!expiresAsSoon(a, b), "how soon it expires"],
    [a.reason.approve < b.reason.approve, "the reason"],
    [b.receiptAtOnce && !a.receiptAtOnce, "the receipt at once"],
    [b.friction.readFirst && !a.friction.readFirst, "reading first"],
    [b.friction.word !== null && a.friction.word === null, "the typed word"],
    [!escalatesWithin(a, b), "who may approve after an escalation"],
  ];
  return checks.flatMap(([isLaxer, words]) => (isLaxer ? [words] : []));
}

/**
 * Returns one rule that requires everything that these rules require: only people whom all of them allow may decide. A rule that another
 * rule covers is ignored, so the result is usually one of the given rules.
 */
export function combineStrictly(rules: readonly [Rule, ...Rule[]]): Rule {
  const [first, ...others] = rules.filter(
    (rule, at) =>
      !rules.some((other, index) => isAsStrict(other, rule) && (index < at || !isAsStrict(rule, other))),
  );
  return others.reduce(combineTwo, first ?? rules[0]);
}

function combineTwo(a: Rule, b: Rule): Rule {
  const most = (field: (rule: Rule) => number): number => Math.max(field(a), field(b));
  const parts = combineParts(a.parts, b.parts);
  const approvers = inBoth(a.approvers, b.approvers);
  return {
    name: `${a.name} and ${b.name}`,
    when: a.when,
    approvers,
    selfApproval: a.selfApproval && b.selfApproval,
    reason: { approve: most(({ reason }) => reason.approve), deny: most(({ reason }) => reason.deny) },
    parts,
    except: exceptedByEither(a.except, b.except),
    needs: Math.max(
      most(({ needs }) => needs),
      parts.length,
    ),
    holdMs: most(({ holdMs }) => holdMs),
    expiry: sooner(a.expiry, b.expiry),
    friction: {
      readFirst: a.friction.readFirst || b.friction.readFirst,
      word: bothWords(a.friction.word, b.friction.word),
    },
    receiptAtOnce: a.receiptAtOnce || b.receiptAtOnce,
    followUp: combineFollowUps(a.followUp, b.followUp),
    denyReasons: [...new Set([...a.denyReasons, ...b.denyReasons])],
    mention: mentionedByEither(a, b, approvers),
  };
}

const expiresAsSoon = ({ expiry: a }: Rule, { expiry: b }: Rule): boolean =>
  b === null || (a !== null && a.afterMs <= b.afterMs);

function sooner(a: Rule["expiry"], b: Rule["expiry"]): Rule["expiry"] {
  if (a === null || b === null) return a ?? b;
  return b.afterMs < a.afterMs ? b : a;
}

/** Returns whether `a` excepts every person that `b` excepts. */
function exceptsAll({ except: a }: Rule, { except: b }: Rule): boolean {
  return b === null || (a !== null && areAllIn(b, a));
}

const exceptedByEither = (a: Rule["except"], b: Rule["except"]): Rule["except"] =>
  a === null || b === null ? (a ?? b) : together([a, b]);

/**
 * Returns whom either rule mentions, without approvers of one rule who cannot be approvers under both. People whom a rule mentions but does
 * not make approvers are kept, because they are to know of the request.
 */
function mentionedByEither(a: Rule, b: Rule, approvers: Principals): Rule["mention"] {
  const lists = listsOf(approvers);
  const ofEither = (named: (rule: Rule) => NamedPeople): NamedPeople => together([named(a), named(b)]);
  const asApprovers = ofEither((rule) => (rule.approvers === "anyone" ? NO_ONE : rule.approvers));
  const { users, groups } = ofEither(({ mention }) => ({ ...mention, channels: [] }));
  const mayBeIn = (user: UserId): boolean =>
    lists.every((list) => list.users.includes(user) || !isById(list));
  const areAllMentioned = lists.some(
    (list) => isById(list) && list.users.every((user) => users.includes(user)),
  );
  return {
    users: users.filter((user) => !asApprovers.users.includes(user) || mayBeIn(user)),
    groups: groups.filter((group) => !asApprovers.groups.includes(group) || !areAllMentioned),
  };
}

/** For the linter: whether each stage of `a` lets in only people whom `b` names as approvers or lets in by that time. */
const escalatesWithin = (a: Rule, b: Rule): boolean => stagesWithin(a, b, [b.approvers]);

/**
 * Returns whether each stage of `a` lets in only people whom the stages of `b` let in by that time, or who are among `others`. The approvers
 * of `b` may decide only if they see the channel of the run. The people of a stage need not see it.
 */
function stagesWithin(a: Rule, b: Rule, others: readonly Principals[] = []): boolean {
  return a.followUp.escalate.every(({ to, afterMs }) => {
    const allowed = [...others, letInBy(b.followUp, afterMs)];
    return to === null || allowed.some((people) => areAllIn(to, people));
  });
}
