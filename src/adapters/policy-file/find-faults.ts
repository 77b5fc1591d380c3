// Finds what can be wrong with a well-formed policy. A policy with faults is refused; `npm run policy -- lint` also reports doubts.

import type { Policy, Rule, When } from "../../domain/policy/policy.ts";
import { isExactly, type Pattern } from "../../domain/policy/pattern.ts";

export type Fault = { readonly path: readonly (string | number)[]; readonly says: string };

export function findFaults({ rules }: Policy): Fault[] {
  return rules.flatMap((rule, index) => [...sameName(rules, rule, index)]);
}

function sameName(rules: readonly Rule[], { name }: Rule, index: number): Fault[] {
  const first = rules.findIndex((each) => each.name === name);
  return first === index
    ? []
    : [
        {
          path: ["rules", index, "name"],
          says: `names a second rule "${name}": the audit could not tell them apart`,
        },
      ];
}

export function findDoubts({ rules }: Policy): Fault[] {
  return [
    ...rules.flatMap((rule, index) => [...shadowed(rules, rule, index), ...unsatisfiable(rule, index)]),
    ...noLastRule(rules),
  ];
}

function shadowed(rules: readonly Rule[], { name, when }: Rule, index: number): Fault[] {
  const by = rules.slice(0, index).find((earlier) => covers(earlier.when, when));
  if (by === undefined) return [];
  return [
    {
      path: ["rules", index],
      says: `"${name}" never applies: "${by.name}" comes before it and matches everything that it matches`,
    },
  ];
}

/** Only what can be seen without asking Slack: the members of groups and channels are not known here. */
function unsatisfiable({ name, approvers, needs, selfApproval, when }: Rule, index: number): Fault[] {
  if (approvers === "anyone" || approvers.groups.length + approvers.channels.length > 0) return [];
  const people = new Set(approvers.users);
  const requesters = when.requesters ?? [];
  const [only] = requesters;
  if (!selfApproval && requesters.length === 1 && only !== undefined) people.delete(only);
  const lack = `needs ${needs} and names ${people.size} who can approve`;
  return people.size >= needs
    ? []
    : [{ path: ["rules", index], says: `"${name}" can never be satisfied: it ${lack}` }];
}

function noLastRule(rules: readonly Rule[]): Fault[] {
  const last = rules.findIndex(({ when }) => covers(when, NOTHING_ASKED));
  return last >= 0
    ? []
    : [
        {
          path: ["rules"],
          says: 'no rule matches every request, and a request that no rule matches can be decided by nobody. Add a last rule without "when"',
        },
      ];
}

const NOTHING_ASKED: When = { channels: null, requesters: null, action: null, input: null, fields: {} };

/** True only if everything that matches `inner` matches `outer`. It may say no where yes would be right. */
function covers(outer: When, inner: When): boolean {
  const ids = (all: readonly string[] | null, some: readonly string[] | null): boolean =>
    all === null || (some !== null && some.every((each) => all.includes(each)));
  return (
    ids(outer.channels, inner.channels) &&
    ids(outer.requesters, inner.requesters) &&
    patterns(outer.action, inner.action) &&
    patterns(outer.input, inner.input) &&
    Object.entries(outer.fields).every(([path, all]) => patterns(all, inner.fields[path] ?? null))
  );
}

/** A pattern that matches another pattern's text matches everything that the other does: only a * matches its stars. */
function patterns(outer: readonly Pattern[] | null, inner: readonly Pattern[] | null): boolean {
  return (
    outer === null || (inner !== null && inner.every((each) => outer.some((all) => isExactly(all, each))))
  );
}
