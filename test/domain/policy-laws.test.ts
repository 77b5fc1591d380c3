// The law of a policy: a request that can be read in several ways is held to every rule that one of its readings
// matches. So neither additions to a request nor odd forms of it lead to a laxer rule.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ChannelId, GroupId, UserId } from "#src/domain/ids.ts";
import type { Json } from "#src/domain/json.ts";
import { ruleFor } from "#src/domain/policy/choose-rule.ts";
import { combineStrictly, isAsStrict } from "#src/domain/policy/combine-rules.ts";
import { NO_FOLLOW_UP, type Stage } from "#src/domain/policy/follow-up-rule.ts";
import type { Facts, Policy, Rule, When } from "#src/domain/policy/policy.ts";
import { isNobody, type NamedPeople, type Principals } from "#src/domain/policy/named-people.ts";
import { aPolicy, aRule } from "../make/policy.ts";
import { CHANNEL, REQUESTER } from "../make/run.ts";

const ALWAYS: When = { channels: null, requesters: null, action: null, input: null, fields: {} };
const ENVS = ["staging", "test", "prod", 5, true] as const;
const ACTIONS = ["read logs", "deploy web", "drop table"] as const;

const some = <Item>(...items: readonly Item[]) => fc.subarray([...items]);
const people: fc.Arbitrary<NamedPeople> = fc.record({
  users: some(UserId("U0ANA"), UserId("U0BEN")),
  groups: some(GroupId("S0ONE"), GroupId("S0TWO")),
  channels: some(ChannelId("C0OPS")),
});
const principals: fc.Arbitrary<Principals> = fc.oneof(fc.constant("anyone" as const), people);
const escalate: fc.Arbitrary<readonly Stage[]> = fc
  .array(fc.option(people), { maxLength: 2 })
  .map((each) => each.map((to, at) => ({ afterMs: (at + 1) * 60_000, to, call: null })));
const when: fc.Arbitrary<When> = fc
  .record({
    action: fc.option(fc.subarray([...ACTIONS, "deploy *", "*"], { minLength: 1 })),
    env: fc.option(fc.subarray([...ENVS, "s*", "*"], { minLength: 1 })),
  })
  .map(({ action, env }) => ({ ...ALWAYS, action, fields: env === null ? {} : { "target.env": env } }));
const rule: fc.Arbitrary<Rule> = fc
  .record({
    when,
    approvers: principals,
    selfApproval: fc.boolean(),
    needs: fc.integer({ min: 1, max: 3 }),
    holdMs: fc.constantFrom(0, 1_000, 60_000),
    expiry: fc.constantFrom(
      null,
      { afterMs: 60_000, outcome: "nothing" as const },
      { afterMs: 3_600_000, outcome: "deny" as const },
    ),
    approve: fc.constantFrom(0, 1, 20),
    parts: fc.array(
      fc.constantFrom(
        { users: [], groups: [GroupId("S0ONE")], channels: [] },
        { users: [UserId("U0ANA")], groups: [], channels: [] },
      ),
      { maxLength: 2 },
    ),
    except: fc.constantFrom(null, { users: [UserId("U0BEN")], groups: [GroupId("S0TWO")], channels: [] }),
    denyReasons: fc.constantFrom([], ["No"], ["No", "Not now"]),
    friction: fc.record({ readFirst: fc.boolean(), word: fc.constantFrom(null, "yes", "no", "yes please") }),
    followUp: escalate.map((stages) => ({ ...NO_FOLLOW_UP, escalate: stages })),
  })
  .map(({ approve, ...facts }) => aRule({ ...facts, reason: { approve, deny: 1 } }));
const policy: fc.Arbitrary<Policy> = fc
  .array(rule, { minLength: 1, maxLength: 5 })
  .map((rules) => aPolicy(...rules.map((each, at) => ({ ...each, name: `r${at}` }))));

type Plain = { readonly action: string; readonly env: string | number | boolean };
const plain: fc.Arbitrary<Plain> = fc.record({
  action: fc.constantFrom(...ACTIONS),
  env: fc.constantFrom(...ENVS),
});

function factsOf(content: Json, action: string | null): Facts {
  return { channel: CHANNEL, requester: REQUESTER, input: "task", action, content };
}
const plainFacts = ({ action, env }: Plain): Facts => factsOf({ action, target: { env } }, action);

/** Each builds one request that can be read in both ways. */
const MIXED: readonly ((readings: readonly [Plain, Plain]) => Facts)[] = [
  ([a, b]) =>
    factsOf({ action: a.action, target: { env: [a.env, b.env] }, action2: { action: b.action } }, a.action),
  ([a, b]) =>
    factsOf(
      { action: a.action, target: { env: a.env }, "target.env": b.env, more: { action: b.action } },
      a.action,
    ),
  ([a, b]) => factsOf({ action: [a.action, b.action], target: [{ env: a.env }, { env: b.env }] }, null),
  ([a, b]) =>
    factsOf(
      [
        { action: a.action, target: { env: a.env } },
        { action: b.action, target: { env: b.env } },
      ],
      `${a.action}\n${b.action}`,
    ),
  ([a, b]) =>
    factsOf(
      { action: a.action, target: { env: a.env }, request: { action: b.action, target: { env: b.env } } },
      a.action,
    ),
  ([a, b]) => factsOf({ action: a.action, Action: b.action, target: { env: a.env, Env: b.env } }, a.action),
  ([a, b]) =>
    factsOf({ action: a.action, ACTION: b.action, target: { env: a.env }, Target: { env: b.env } }, a.action),
  ([a, b]) =>
    factsOf(
      { action: a.action, "a\u200Bction": b.action, target: { env: a.env }, "target\u2024env": b.env },
      a.action,
    ),
  ([a, b]) =>
    factsOf(
      { action: a.action, [wide("action")]: b.action, target: { env: a.env }, target_env: b.env },
      a.action,
    ),
  ([a, b]) =>
    factsOf({ action: a.action, acTion_: b.action, target: { env: a.env }, targetEnv: b.env }, a.action),
  ([a, b]) =>
    factsOf({ action: { of: [a.action, b.action] }, target: { env: { or: [a.env, { and: b.env }] } } }, null),
];

/** Each writes the same request in another form that a reader or a careless program would take for the same. */
const DISGUISES: readonly ((plain: Plain) => Facts)[] = [
  ({ action, env }) =>
    factsOf({ action: action.toUpperCase(), target: { env: shouted(env) } }, action.toUpperCase()),
  ({ action, env }) =>
    factsOf({ action: ` ${action}\u200B`, target: { env: `${String(env)}\u00AD ` } }, ` ${action}\u200B`),
  ({ action, env }) => factsOf({ action: [[action]], target: [{ env: [[env]] }] }, null),
  ({ action, env }) => factsOf({ action, "target.env": String(env) }, action),
  ({ action, env }) => factsOf({ data: { action, target: { env } } }, action),
  ({ action, env }) => factsOf({ Action: action, TARGET: { Env: env } }, null),
  ({ action, env }) => factsOf({ action, "Target-Env": env }, action),
  ({ action, env }) => factsOf({ action, [wide("target")]: { "e\u00ADnv": env } }, action),
  ({ action, env }) => factsOf({ action: wide(action), target: { env: wide(String(env)) } }, wide(action)),
];
const shouted = (value: Plain["env"]): Json =>
  typeof value === "string" ? value.toUpperCase() : String(value);
function wide(text: string): string {
  return text.replace(/[a-z0-9]/g, (each) => String.fromCodePoint((each.codePointAt(0) ?? 0) + 0xfee0));
}

const RUNS = { numRuns: 2_000 };

describe("a request that can be read in several ways", () => {
  test("is held to a rule that is as strict as the rule of each reading", () => {
    const mixed = fc.constantFrom(...MIXED);
    fc.assert(
      fc.property(policy, plain, plain, mixed, (rules, a, b, mix) => {
        const held = ruleFor(rules, mix([a, b]));
        for (const reading of [a, b])
          expect(isAsStrict(held, ruleFor(rules, plainFacts(reading)))).toBe(true);
      }),
      RUNS,
    );
  });

  test("is not held to a laxer rule because of its form", () => {
    const disguise = fc.constantFrom(...DISGUISES);
    fc.assert(
      fc.property(policy, plain, disguise, (rules, request, disguised) => {
        const held = ruleFor(rules, disguised(request));
        expect(isAsStrict(held, ruleFor(rules, plainFacts(request)))).toBe(true);
      }),
      RUNS,
    );
  });
});

describe("combined rules", () => {
  test("are as strict as each rule, in any order and number", () => {
    fc.assert(
      fc.property(rule, rule, rule, (a, b, c) => {
        const all = combineStrictly([a, b, c]);
        for (const each of [a, b, c]) expect(isAsStrict(all, each)).toBe(true);
        const other = combineStrictly([c, a, b, a]);
        expect(isAsStrict(all, other) && isAsStrict(other, all)).toBe(true);
      }),
      RUNS,
    );
  });

  test("ask for every word that one of them asks for, and only once", () => {
    const asking = (...words: readonly string[]): string | null => {
      const [first = aRule(), ...others] = words.map((word, at) =>
        aRule({ name: `r${at}`, friction: { readFirst: false, word } }),
      );
      return combineStrictly([first, ...others]).friction.word;
    };
    expect(asking("production", "delete")).toBe("production delete");
    expect(asking("production", "production")).toBe("production");
    expect(asking("production", "delete production", "delete")).toBe("delete production");
    expect(asking("b", "a", "c", "a")).toBe("b a c");
  });

  test("expire as soon as the first of them, unless no one could approve anyway", () => {
    const afterMs = ({ expiry }: Rule): number => expiry?.afterMs ?? Infinity;
    fc.assert(
      fc.property(rule, rule, rule, (a, b, c) => {
        const all = combineStrictly([a, b, c]);
        if (isNobody(all.approvers)) return;
        expect(afterMs(all)).toBe(Math.min(...[a, b, c].map(afterMs)));
      }),
      RUNS,
    );
  });

  test("are the rule that asks for all that the others ask for, under its own name", () => {
    const lax = aRule({ name: "lax" });
    const strict = aRule({ name: "strict", needs: 2, holdMs: 5 });
    expect(combineStrictly([lax, strict])).toBe(strict);
    expect(combineStrictly([strict, lax])).toBe(strict);
  });

  test("ask for everything that each asks for if no rule asks for all, under both names", () => {
    const users = [UserId("U0ANA"), UserId("U0BEN")];
    const two = aRule({
      name: "two",
      needs: 2,
      approvers: { users, groups: [GroupId("S0ONE")], channels: [] },
    });
    const held = aRule({
      name: "held",
      holdMs: 5,
      approvers: { users: users.slice(0, 1), groups: [], channels: [] },
    });
    expect(combineStrictly([two, held])).toMatchObject({
      name: "two and held",
      needs: 2,
      holdMs: 5,
      approvers: { users: ["U0ANA"], groups: [], channels: [] },
    });
  });
});
