// The ids that a policy names, and the defaults without a policy file.

import { describe, expect, test } from "vitest";
import { ChannelId, GroupId, UserId } from "#src/domain/ids.ts";
import { ruleFor } from "#src/domain/policy/choose-rule.ts";
import { BUILT_IN, builtInFor, type Facts, idsNamedIn, type Policy } from "#src/domain/policy/policy.ts";
import { aPolicy, aRule } from "../make/policy.ts";
import { CHANNEL, REQUESTER } from "../make/run.ts";

const FACTS: Facts = { channel: CHANNEL, requester: REQUESTER, input: "task", action: "pay", content: {} };

describe("a policy", () => {
  const people = (...names: string[]) => ({
    users: names.map((name) => UserId(`U0${name}`)),
    groups: names.map((name) => GroupId(`S0${name}`)),
    channels: names.map((name) => ChannelId(`C0${name}`)),
  });
  const all = (...names: string[]) => names.flatMap((name) => [`U0${name}`, `S0${name}`, `C0${name}`]);

  test("returns the ids of its rules, its starters, its tasks and everyone who has a say in it", () => {
    const { users, groups } = people("MENTIONED");
    const { channels } = people("ASKED");
    const when = {
      ...aRule().when,
      channels,
      requesters: people("ASKED").users,
      requesterGroups: people("ASKED").groups,
    };
    const task = { name: "t", description: "", text: "", fields: [], channels: null, who: null };
    const escalate = [{ afterMs: 1, to: people("STAGE"), call: null }];
    const rule = {
      when,
      approvers: people("APPROVER"),
      parts: [people("PART")],
      except: people("EXCEPTED"),
      mention: { users, groups },
      followUp: { ...aRule().followUp, escalate },
    };
    const whole: Policy = {
      ...aPolicy(rule, {}),
      starters: [
        { channels: people("STARTS").channels, who: people("STARTER") },
        { channels: null, who: "anyone" },
      ],
      tasks: [task, { ...task, channels: people("OFFERED").channels, who: people("USER") }],
      auditors: people("AUDITOR"),
      freezers: people("FREEZER"),
      fallback: ChannelId("C0FALLBACK"),
    };
    const everyone = all(
      "APPROVER",
      "PART",
      "EXCEPTED",
      "STARTER",
      "USER",
      "AUDITOR",
      "FREEZER",
      "STAGE",
      "ASKED",
    );
    expect(idsNamedIn(whole).toSorted()).toEqual(
      [...everyone, "U0MENTIONED", "S0MENTIONED", "C0STARTS", "C0OFFERED", "C0FALLBACK"].toSorted(),
    );
    expect(idsNamedIn(BUILT_IN)).toEqual([]);
  });

  test("that is built in lets anyone but the requester decide at once, and requires a reason for a denial", () => {
    const { users, groups } = people("MENTIONED");
    const { rules, ...rest } = builtInFor({ users, groups });
    expect(rules).toEqual([
      {
        ...ruleFor(BUILT_IN, FACTS),
        approvers: "anyone",
        selfApproval: false,
        reason: { approve: 0, deny: 1 },
        needs: 1,
        holdMs: 0,
        friction: { readFirst: false, word: null },
        denyReasons: [],
        mention: { users, groups },
        receiptAtOnce: false,
      },
    ]);
    expect(rest).toMatchObject({ version: null, starters: null, tasks: [], volatile: [], fallback: null });
    const { claimMs, questionMs } = ruleFor(BUILT_IN, FACTS).followUp;
    expect([claimMs, questionMs]).toEqual([30 * 60_000, 60 * 60_000]);
    expect(ruleFor({ ...BUILT_IN, rules: [] }, FACTS)).toMatchObject({
      name: "(no rule fits)",
      approvers: { users: [], groups: [], channels: [] },
      mention: { users: [], groups: [] },
    });
  });
});
