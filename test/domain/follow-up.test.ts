import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ageAt, type FollowUp, momentOfAge, type Pause } from "#src/domain/follow-up.ts";
import { ruleFor } from "#src/domain/policy/choose-rule.ts";
import { combineStrictly, isAsStrict } from "#src/domain/policy/combine-rules.ts";
import {
  combineFollowUps,
  type FollowUpRule,
  idsOfFollowUp,
  NO_FOLLOW_UP,
  type Stage,
} from "#src/domain/policy/follow-up-rule.ts";
import { BUILT_IN_RULE, type Rule } from "#src/domain/policy/policy.ts";
import { ChannelId, GroupId, UserId } from "#src/domain/ids.ts";

const pause = fc
  .record({ from: fc.nat(1_000), length: fc.option(fc.nat(500)) })
  .map(({ from, length }): Pause => ({
    why: "service",
    from,
    until: length === null ? null : from + length,
  }));
const waiting = fc
  .record({ waitsSince: fc.nat(500), pauses: fc.array(pause, { maxLength: 6 }) })
  .map(({ waitsSince, pauses }): { waitsSince: number; followUp: FollowUp } => ({
    waitsSince,
    followUp: { pauses },
  }));

describe("the waiting time of a request", () => {
  it("never runs backwards, and no faster than the clock", () => {
    fc.assert(
      fc.property(waiting, fc.nat(2_000), fc.nat(100), (request, now, later) => {
        const grown = ageAt(request, now + later) - ageAt(request, now);
        expect(grown).toBeGreaterThanOrEqual(0);
        expect(grown).toBeLessThanOrEqual(later);
      }),
    );
  });

  it("reaches an age at the predicted moment, and not a millisecond earlier", () => {
    fc.assert(
      fc.property(waiting, fc.integer({ min: 1, max: 1_500 }), (request, age) => {
        const moment = momentOfAge(request, age);
        // Null means that a pause without an end comes first.
        expect(ageAt(request, moment ?? 1_000_000) === age).toBe(moment !== null);
        expect(ageAt(request, (moment ?? 1_000_000) - 1)).toBeLessThan(age);
      }),
    );
  });

  it("stops during pauses, and counts overlapping pauses once", () => {
    const pauses: Pause[] = [
      { why: "service", from: 10, until: 30 },
      { why: "slack", from: 20, until: 40 },
      { why: "question", from: 100, until: null },
    ];
    const request = { waitsSince: 0, followUp: { pauses } };
    expect(ageAt(request, 35)).toBe(10);
    expect(ageAt(request, 60)).toBe(30);
    expect(ageAt(request, 500)).toBe(70);
    expect(momentOfAge(request, 70)).toBe(100);
    expect(momentOfAge(request, 71)).toBeNull();
  });
});

const stage = (afterMs: number, users: readonly string[]): Stage => ({
  afterMs,
  to: { users: users.map(UserId), groups: [], channels: [] },
  call: null,
});
const NO_ONE = { users: [], groups: [], channels: [] };
const escalating = (name: string, ...escalate: readonly Stage[]): Rule => ({
  ...BUILT_IN_RULE,
  name,
  approvers: { users: [UserId("U0BEN")], groups: [], channels: [] },
  followUp: { ...NO_FOLLOW_UP, escalate },
});

describe("rules that escalate", () => {
  it("are laxer than the same rule without escalation, and as strict as one that escalates earlier", () => {
    const [never, late, early] = [
      escalating("never"),
      escalating("late", stage(60, ["U0CAT"])),
      escalating("early", stage(30, ["U0CAT"])),
    ];
    expect(isAsStrict(never, late)).toBe(true);
    expect(isAsStrict(late, never)).toBe(false);
    expect(isAsStrict(late, early)).toBe(true);
    expect(isAsStrict(early, late)).toBe(false);
  });

  it("let in no one else when two of them apply: people whom only one of them lets in are only called", () => {
    const both = combineFollowUps(
      escalating("a", stage(60, ["U0CAT"])).followUp,
      escalating("b", stage(30, ["U0DEE"])).followUp,
    );
    expect(both.escalate.map(({ to }) => to)).toEqual([null, null]);
    expect(both.escalate.map(({ call }) => call?.users)).toEqual([["U0DEE"], ["U0CAT"]]);
  });

  it("let in, once both stages have begun, the people whom stages of both rules let in", () => {
    const a = escalating("a", stage(30, ["U0CAT", "U0DEE"]), stage(90, ["U0GUS"]));
    const b = escalating("b", stage(60, ["U0CAT"]), stage(90, ["U0GUS"]));
    const followUp = combineFollowUps(a.followUp, b.followUp);
    expect(followUp.escalate.map(({ afterMs, to, call }) => [afterMs, to?.users, call?.users])).toEqual([
      [30, undefined, ["U0CAT", "U0DEE"]],
      [60, ["U0CAT"], undefined],
      [90, ["U0GUS"], undefined],
    ]);
    for (const rule of [a, b]) expect(isAsStrict({ ...a, followUp }, rule)).toBe(true);
  });

  it("let in the same groups and channels as before when a third rule has their stage too", () => {
    const to = { users: [], groups: [GroupId("S0ONCALL")], channels: [ChannelId("C0OPS")] };
    const [a, b, c] = [1, 2, 3].map((n): Rule => {
      const reason = { approve: n, deny: 1 };
      return { ...escalating(`rule ${n}`, { afterMs: 15, to, call: null }), needs: 4 - n, reason };
    });
    if (a === undefined || b === undefined || c === undefined) throw new Error("three rules");
    expect(combineStrictly([a, b, c]).followUp.escalate).toEqual([{ afterMs: 15, to, call: null }]);
  });

  it("call the people of both rules where stages begin at the same time", () => {
    const dee = { ...stage(30, ["U0DEE"]), call: { ...NO_ONE, users: [UserId("U0FAY")] } };
    const { followUp } = combineStrictly([
      escalating("a", stage(30, ["U0CAT"])),
      escalating("b", dee, stage(60, ["U0GUS"])),
    ]);
    expect(followUp.escalate.map(({ afterMs, call }) => [afterMs, call?.users])).toEqual([
      [30, ["U0CAT", "U0DEE", "U0FAY"]],
      [60, ["U0GUS"]],
    ]);
  });

  it("a request that may match two rules gets the combined stages", () => {
    const when = { ...BUILT_IN_RULE.when, fields: { env: ["production"] } };
    const rules = [
      { ...escalating("a", stage(60, ["U0CAT"])), when },
      { ...escalating("b", stage(30, ["U0DEE"])), approvers: "anyone" as const, needs: 2 },
    ];
    const rule = ruleFor(
      {
        version: "v",
        rules,
        starters: null,
        tasks: [],
        volatile: [],
        fallback: null,
        card: null,
        auditors: null,
        freezers: null,
        lookBack: null,
      },
      {
        channel: ChannelId("C0OPS"),
        requester: UserId("U0ANA"),
        input: "x",
        action: "deploy",
        content: { env: ["production", "staging"] },
      },
    );
    expect(rule.followUp.escalate.every(({ to }) => to === null)).toBe(true);
  });
});

describe("two rules combined for a waiting request", () => {
  const hours = { tz: "UTC", days: ["mon"], from: "08:00", to: "20:00" } as const;
  const remind = { afterMs: 20, doubles: true, atMost: 3 };
  const sooner = { afterMs: 10, doubles: false, atMost: 9 };
  const extend = { byMs: 5, atMostMs: 10 };
  const shorter = { byMs: 7, atMostMs: 9 };
  const together = (a: Partial<FollowUpRule>, b: Partial<FollowUpRule>) => [
    combineFollowUps({ ...NO_FOLLOW_UP, ...a }, { ...NO_FOLLOW_UP, ...b }),
    combineFollowUps({ ...NO_FOLLOW_UP, ...b }, { ...NO_FOLLOW_UP, ...a }),
  ];

  it.each<[string, Partial<FollowUpRule>, Partial<FollowUpRule>, Partial<FollowUpRule>]>([
    ["the reminders of the one that has any", { remind }, {}, { remind }],
    ["the reminders that come sooner", { remind }, { remind: sooner }, { remind: sooner }],
    ["the shorter claim", { claimMs: 3 }, { claimMs: 4 }, { claimMs: 3 }],
    ["the shorter question", { questionMs: 4 }, { questionMs: 3 }, { questionMs: 3 }],
    ["the only warning", { warnMs: 3 }, {}, { warnMs: 3 }],
    ["the earlier warning", { warnMs: 3 }, { warnMs: 4 }, { warnMs: 4 }],
    ["no extension unless both have one", { extend }, {}, { extend: null }],
    ["the shorter extension", { extend }, { extend: shorter }, { extend: shorter }],
    ["any time unless both have hours", { hours }, {}, { hours: null }],
    ["the hours that both have", { hours }, { hours: { ...hours } }, { hours }],
    ["any time if their hours differ", { hours }, { hours: { ...hours, to: "21:00" } }, { hours: null }],
    ["that it is urgent", { urgent: true }, {}, { urgent: true }],
  ])("is %s", (_what, a, b, both) => {
    const expected = { ...NO_FOLLOW_UP, ...both };
    expect(together(a, b)).toEqual([expected, expected]);
  });

  it("uses the reminders of the first rule if both come at the same time", () => {
    const same = { ...sooner, afterMs: 20 };
    expect(together({ remind }, { remind: same }).map((each) => each.remind)).toEqual([remind, same]);
  });

  it("names the people of all stages, those who may decide and those who are only called", () => {
    const to = { users: [UserId("U0CAT")], groups: [GroupId("S0OPS")], channels: [ChannelId("C0OPS")] };
    const call = { ...NO_ONE, channels: [ChannelId("C0LEADS")] };
    const escalate = [
      { afterMs: 1, to, call: null },
      { afterMs: 2, to: null, call },
    ];
    expect(idsOfFollowUp({ ...NO_FOLLOW_UP, escalate })).toEqual(["U0CAT", "S0OPS", "C0OPS", "C0LEADS"]);
  });
});
