import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Decision } from "#src/domain/approval.ts";
import { type Person, refusalToDecide } from "#src/domain/authorization.ts";
import { validityOf } from "#src/domain/quorum.ts";
import { decide } from "#src/domain/decide.ts";
import type { Submission } from "#src/domain/submission.ts";
import { ChannelId, GroupId, UserId } from "#src/domain/ids.ts";
import { type Json, parseJson } from "#src/domain/json.ts";
import { observe } from "#src/domain/observe.ts";
import { readComparison } from "#src/domain/policy/comparison.ts";
import { type Match, matcher, ruleFor } from "#src/domain/policy/choose-rule.ts";
import {
  BUILT_IN,
  type Facts,
  keptRule,
  type Policy,
  type Rule,
  type When,
} from "#src/domain/policy/policy.ts";
import type { Principals } from "#src/domain/policy/named-people.ts";
import { foldForMatching, matchesPattern } from "#src/domain/policy/pattern.ts";
import { cpuCosts } from "../make/cpu-cost.ts";
import { aSnapshot, contextAt, listedRun } from "../make/history.ts";
import { aPolicy, aRule, these } from "../make/policy.ts";
import {
  anApproval,
  APPROVER,
  aWatchedRun,
  CHANNEL,
  NOON,
  REQUESTER,
  TEAM,
  withApprovals,
} from "../make/run.ts";

const ALWAYS: When = { channels: null, requesters: null, action: null, input: null, fields: {} };
const facts: Facts = {
  channel: CHANNEL,
  requester: REQUESTER,
  input: "Release billing-api",
  action: "Deploy billing-api to Production",
  content: {
    risk: "high",
    target: { env: "prod", zones: ["a", "b"] },
    "dotted.name": 7,
    replicas: 4,
    amount: parseJson("5.0"),
    none: null,
    empty: [],
    hosts: [
      { env: "dev", name: "web" },
      { env: "dev", name: "db" },
    ],
  },
};

/** Facts with texts of about so many characters. */
const factsOf = (chars: number): Facts => ({
  ...facts,
  action: `Deploy ${"x".repeat(chars)}`,
  content: { risk: "y".repeat(chars) },
});

test("a text of more than 100,000 characters is not read: it perhaps meets every condition", () => {
  const match = matcher(factsOf(7_000_000));
  expect(match({ ...ALWAYS, action: ["Deploy *"] })).toBe("some");
  expect(match({ ...ALWAYS, action: ["drop *"] })).toBe("some");
  expect(match({ ...ALWAYS, fields: { risk: ["high"] } })).toBe("some");
  expect(match({ ...ALWAYS, action: ["*x"] })).toBe("some");
  expect(match({ ...ALWAYS, action: ["drop *", "**"] })).toBe("every");
});

test("a text that is too long to be read costs less than one that is read", () => {
  const matching = (long: Facts) => () =>
    matcher(long)({ ...ALWAYS, action: ["drop *", "*y"], fields: { risk: ["high"] } });
  const [read, unread] = cpuCosts(matching(factsOf(90_000)), matching(factsOf(7_000_000)));
  expect(unread).toBeLessThan(read);
});

test.for<[string, string, Match]>([
  ["1,000 characters is compared", `1e${"9".repeat(998)}`, "every"],
  ["1,000 characters is compared, however far below zero", `-1e${"9".repeat(997)}`, "none"],
  ["more is not: it perhaps meets every condition", `1e${"9".repeat(999)}`, "some"],
  ["more is not, however far below zero", `-1e${"9".repeat(998)}`, "some"],
  ["more is not, whatever its form", `0.${"1".repeat(1_000)}`, "some"],
])("a number of %s", ([, number, match]) => {
  const amount = { ...facts, content: { amount: parseJson(number) } };
  const above = readComparison("> 10") ?? "";
  expect(matcher(amount)({ ...ALWAYS, fields: { amount: [above] } })).toBe(match);
  expect(matcher(amount)({ ...ALWAYS, fields: { amount: ["*"] } })).toBe("every");
});

test("each value counts as fifty extra characters, and all values of a field count", () => {
  const risk = (...values: Json[]): Match =>
    matcher({ ...facts, content: { risk: values } })({ ...ALWAYS, fields: { risk: ["high"] } });
  expect(risk("y".repeat(99_900), true)).toBe("none");
  expect(risk("y".repeat(99_901), true)).toBe("some");
  expect(risk("y".repeat(99_900 - 1_000), parseJson("1".repeat(1_000)))).toBe("none");
  expect(risk("y".repeat(99_900 - 999), parseJson("1".repeat(1_000)))).toBe("some");
});

describe("a condition", () => {
  test.for<[string, Partial<When>, Match]>([
    ["nothing is asked", {}, "every"],
    ["the channel", { channels: [CHANNEL] }, "every"],
    ["another channel", { channels: [ChannelId("C0OTHER")] }, "none"],
    ["one of two requesters", { requesters: [APPROVER, REQUESTER] }, "every"],
    ["another requester", { requesters: [APPROVER] }, "none"],
    ["the action", { action: ["Deploy billing-api to Production"] }, "every"],
    ["the action, in other case", { action: ["deploy billing-api to production"] }, "some"],
    ["one of two actions, in other case", { action: ["drop *", "* production"] }, "some"],
    ["a part of the action", { action: ["deploy"] }, "none"],
    ["the beginning of the action", { action: ["Deploy *"] }, "every"],
    ["one of two actions", { action: ["drop *", "* Production"] }, "every"],
    ["the task", { input: ["Release *"] }, "every"],
    ["a field", { fields: { risk: ["high"] } }, "every"],
    ["a missing field", { fields: { owner: ["*"] } }, "none"],
    ["a field that is null", { fields: { none: ["*"] } }, "none"],
    ["a field within a field", { fields: { "target.env": ["prod*"] } }, "every"],
    ["a number", { fields: { replicas: [4] } }, "every"],
    ["a number, as a text", { fields: { replicas: ["4"] } }, "some"],
    ["any value", { fields: { replicas: ["*"] } }, "every"],
    ["a number that is written differently", { fields: { amount: [5] } }, "some"],
    ["a field with a dot in its name", { fields: { "dotted\\.name": [7] } }, "every"],
    ["a field with a dot in its name, where a path is expected", { fields: { "dotted.name": [7] } }, "some"],
    ["all members of a list", { fields: { "target.zones": ["a", "b"] } }, "every"],
    ["one member of a list", { fields: { "target.zones": ["b"] } }, "some"],
    ["a field of each record in a list", { fields: { "hosts.env": ["dev"] } }, "every"],
    ["a field of one record in a list", { fields: { "hosts.name": ["db"] } }, "some"],
    ["an empty list", { fields: { empty: ["*"] } }, "none"],
    ["a record where a text is expected", { fields: { target: ["prod"] } }, "some"],
    ["a field that is only elsewhere in the request", { fields: { env: ["dev"] } }, "some"],
    ["two fields, of which one differs", { fields: { risk: ["high"], replicas: [5] } }, "none"],
    ["what every object inherits", { fields: { constructor: ["*"], "target.toString": ["*"] } }, "none"],
  ])("%s: %o matches in %s reading", ([, when, match]) => {
    expect(matcher(facts)({ ...ALWAYS, ...when })).toBe(match);
  });

  test.each<[string, Partial<Facts>]>([
    ["the service did not say what the action is", { action: null, content: "apr_1" }],
    ["the action is a list", { action: null, content: { action: ["read logs", "drop it"] } }],
    ["the action is a record", { action: null, content: { action: { text: "drop it" } } }],
    [
      "two requests came under one id",
      { action: "read logs\ndrop it", content: [{ action: "read logs" }, { action: "drop it" }] },
    ],
    [
      "it contains another action",
      { action: "read logs", content: { action: "read logs", next: { action: "drop it" } } },
    ],
  ])("on the action may match when %s", (_what, more) => {
    expect(matcher({ ...facts, ...more })({ ...ALWAYS, action: ["drop *"] })).toBe("some");
  });

  test("on the task may match if the task of a run that was started elsewhere is unknown", () => {
    expect(matcher({ ...facts, input: "" })({ ...ALWAYS, input: ["release *"] })).toBe("some");
  });

  test.each([
    ["an invisible character", "Deploy billing-api to Pro\u200Bduction"],
    ["wide letters", "Deploy billing-api to Ｐｒｏｄｕｃｔｉｏｎ"],
    ["more white space", "  Deploy\n billing-api \tto Production "],
    ["other case", "deploy Billing-api to PRODUCTION"],
  ])("cannot be evaded with %s, and is not certainly met either", (_what, action) => {
    const one = { ...facts, action, content: { action } };
    expect(matcher(one)({ ...ALWAYS, action: ["Deploy billing-api to Production"] })).toBe("some");
  });
});

describe("a pattern", () => {
  test("matches like the same pattern written as a regular expression", () => {
    const notifications = fc.string({ unit: fc.constantFrom("a", "b", "*"), maxLength: 8 });
    fc.assert(
      fc.property(
        notifications,
        fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 10 }),
        (pattern, text) => {
          const expected = new RegExp(`^${pattern.replaceAll("*", ".*")}$`).test(text);
          expect(matchesPattern(pattern, text)).toBe(expected);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test("quickly rejects a long text that almost matches", () => {
    expect(matchesPattern(foldForMatching("*a*a*a*a*a*a*b"), "a".repeat(50_000))).toBe(false);
  });
});

describe("the rule of an approval", () => {
  const [first, second] = [
    aRule({ name: "first", when: { ...ALWAYS, action: ["drop *"] } }),
    aRule({ name: "second" }),
  ];

  test("is the first rule that matches", () => {
    const policy: Policy = { ...BUILT_IN, rules: [first, second] };
    expect(ruleFor(policy, facts).name).toBe("second");
    expect(ruleFor(policy, { ...facts, action: "drop it" }).name).toBe("first");
  });

  test("lets no one decide if no rule matches", () => {
    const rule = ruleFor({ ...BUILT_IN, rules: [first] }, facts);
    const person: Person = { team: TEAM, user: APPROVER, kind: "member", seesChannel: true };
    expect(refusalToDecide(person, aWatchedRun(), rule)).toMatchObject({ type: "not-approver" });
  });

  test("is stored with the approval from the first look on, and follows a changed policy and a changed request", () => {
    const run = listedRun("apr_1");
    expect(run.approvals[0]?.appliedRule).toMatchObject({ version: null, rule: { name: "built-in" } });
    const policy = aPolicy({ name: "big", when: { ...ALWAYS, fields: { big: ["true"] } } }, { name: "rest" });
    const next = observe(run, aSnapshot(run, ["apr_1"]), contextAt(0, policy));
    expect(next.approvals[0]?.appliedRule.rule.name).toBe("rest");
    const bigger = aSnapshot(run, [{ id: "apr_1", content: { action: "delete it", big: true } }]);
    const last = observe(next, bigger, contextAt(0, policy));
    expect(last.approvals[0]).toMatchObject({ version: 2, appliedRule: { rule: { name: "big" } } });
    expect(observe(last, bigger, contextAt(0, policy))).toBe(last);
  });

  test("is completed by the next look if a stored rule lacks a field", () => {
    const run = listedRun("apr_1");
    const [approval] = run.approvals;
    if (approval === undefined) throw new Error("no approval");
    const policy = aPolicy({ name: "rest", needs: 2 });
    const looked = observe(run, aSnapshot(run, ["apr_1"]), contextAt(0, policy));
    const rule = { ...keptRule(aRule({ name: "rest" })), needs: 1 };
    const stored = { ...approval, appliedRule: { version: policy.version, rule } };
    const older = { ...looked, approvals: [stored] };
    const next = observe(older, aSnapshot(run, ["apr_1"]), contextAt(0, policy));
    expect(next.approvals[0]?.appliedRule.rule.needs).toBe(2);
  });
});

const GROUP = GroupId("S0GROUP");
const ROOM = ChannelId("C0ROOM");
const run = aWatchedRun();
const member = (more: Partial<Person> = {}): Person => ({
  team: TEAM,
  user: APPROVER,
  kind: "member",
  seesChannel: true,
  ...more,
});
const inside = (set: GroupId | ChannelId, is: boolean): Partial<Person> => ({
  memberOf: new Map([[set, is]]),
});
const room = (...channels: ChannelId[]): Principals => ({ users: [], groups: [], channels });

describe("the people whom a rule lets decide", () => {
  test.for<[string, Principals, Partial<Person>, string | null]>([
    ["anyone", "anyone", {}, null],
    ["a person who is named", these([APPROVER]), {}, null],
    ["a person who is not named", these([UserId("U0OTHER")]), {}, "not-approver"],
    ["a person whose id only begins like a named one", these([UserId("U0APPROVERS")]), {}, "not-approver"],
    ["a member of the group", these([], [GROUP]), inside(GROUP, true), null],
    ["a person outside the group", these([], [GROUP]), inside(GROUP, false), "not-approver"],
    ["someone whose membership was not looked up", these([], [GROUP]), {}, "unverified"],
    ["a named person whose membership was not looked up", these([APPROVER], [GROUP]), {}, null],
    ["a member of the channel", room(ROOM), inside(ROOM, true), null],
    ["a person outside a public channel", room(ROOM), inside(ROOM, false), "not-approver"],
    ["a named guest", these([APPROVER]), { kind: "guest" }, "guest"],
    ["a named person who does not see the card", these([APPROVER]), { seesChannel: false }, "not-in-channel"],
    ["a named person of another team", these([APPROVER]), { kind: "outsider" }, "outsider"],
    ["the requester, named", these([REQUESTER]), { user: REQUESTER }, "requester"],
    ["nobody", these([]), {}, "not-approver"],
  ])("%s", ([, approvers, facts, because]) => {
    expect(refusalToDecide(member(facts), run, aRule({ approvers }))?.type ?? null).toBe(because);
  });

  test("include the requester if the rule allows that, and only if it names them", () => {
    const asked = member({ user: REQUESTER });
    const rule = (approvers: Principals) => aRule({ selfApproval: true, approvers });
    expect(refusalToDecide(asked, run, rule("anyone"))).toBeNull();
    expect(refusalToDecide(asked, run, rule(these([REQUESTER])))).toBeNull();
    expect(refusalToDecide(asked, run, rule(these([APPROVER])))).toMatchObject({ type: "not-approver" });
  });
});

describe("a submitted decision under a policy", () => {
  const approval = anApproval();
  const open = withApprovals(run, approval);
  const submission: Submission = {
    approval: approval.id,
    version: 1,
    digest: approval.request.digest,
    was: approval.request,
    verdict: "approve",
    reason: "it is time",
    by: member(),
  };
  const submit = (policy: Policy, more: Partial<Submission> = {}) =>
    decide(open, { ...submission, ...more }, contextAt(0, policy));

  test("carries the version of the policy and the name of the rule", () => {
    const result = submit(aPolicy({ name: "ops" }));
    expect(result.ok && result.value.approvals[0]?.state).toMatchObject({
      type: "decided",
      decision: { at: NOON, policy: { version: "0123456789ab", rule: "ops" } },
    });
  });

  test("is judged by the current rule, whatever the card says", () => {
    expect(open.approvals[0]?.appliedRule.rule.name).toBe("built-in");
    expect(submit(aPolicy({ approvers: these([UserId("U0OTHER")]) }))).toMatchObject({
      ok: false,
      error: { type: "not-approver" },
    });
  });

  test.for<[string, Partial<Submission>, object | null]>([
    ["an approval without a reason", { reason: " \u200B" }, { type: "reason-needed", verdict: "approve" }],
    [
      "a reason that is too short",
      { reason: "123456789" },
      { type: "reason-too-short", chars: 9, fewest: 10 },
    ],
    [
      "a reason padded with invisible characters",
      { reason: `123456789${"\u200B".repeat(9)}   ` },
      { type: "reason-too-short" },
    ],
    ["a reason that is long enough", { reason: "1234567890" }, null],
    ["a denial, which needs less", { verdict: "deny", reason: "no!" }, null],
    [
      "a denial that is too short",
      { verdict: "deny", reason: "no" },
      { type: "reason-too-short", fewest: 3 },
    ],
  ])("%s", ([, more, refusal]) => {
    const result = submit(aPolicy({ reason: { approve: 10, deny: 3 } }), more);
    expect(result).toMatchObject(refusal === null ? { ok: true } : { ok: false, error: refusal });
  });
});

test("an approval under two rules that perhaps apply follows the words of both, and counts under each alone", () => {
  const asking = (word: string, action: string) =>
    aRule({ name: word, when: { ...ALWAYS, action: [action] }, friction: { readFirst: false, word } });
  const policy = aPolicy(asking("prod", "deploy *"), asking("delete", "delete *"), aRule({ name: "rest" }));
  const of = (action: Facts["content"]) =>
    ruleFor(policy, { ...facts, action: typeof action === "string" ? action : null, content: { action } });
  const both = of(["deploy x", "delete x"]);
  expect(both.friction.word).toBe("prod delete");
  const run = withApprovals(aWatchedRun(), anApproval());
  const [approval = anApproval()] = run.approvals;
  const person: Person = { team: TEAM, user: APPROVER, kind: "member", seesChannel: true };
  const vote = (word: string): Decision => ({
    verdict: "approve",
    reason: "",
    by: { team: TEAM, user: APPROVER },
    at: NOON,
    digest: approval.request.digest,
    word,
  });
  const validity = (word: string, rule: Rule) =>
    validityOf(vote(word), approval, { run, rule, people: [person] });
  expect(validity("prod delete", both)).toBe("counts");
  expect(validity("prod", both)).toBe("rule-changed");
  expect(validity("prod delete", of("deploy x"))).toBe("counts");
  expect(validity("delete", of("deploy x"))).toBe("rule-changed");
});
