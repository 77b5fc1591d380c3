// The queue of each person. `refusalToOpen` alone says who may decide; the queue adds only that someone who has
// approved waits for others.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Approval, isUndecided } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { decidersOf } from "#src/domain/approval-transitions.ts";
import { ruleOf } from "#src/domain/applied-rule.ts";
import { type Person, refusalToOpen } from "#src/domain/authorization.ts";
import { ChannelId, GroupId, RunId, UserId } from "#src/domain/ids.ts";
import {
  filtered,
  rotatedAfter,
  groupAround,
  needsOwnForm,
  placeOf,
  queueOf,
  reviewGroups,
} from "#src/domain/queue.ts";
import type { Run } from "#src/domain/run.ts";
import { aPolicy, aRule } from "../make/policy.ts";
import { aQueue, MEMBER } from "../make/queue.ts";
import {
  anApproval,
  APPROVER,
  aRequest,
  aWatchedRun,
  CHANNEL,
  NOON,
  TEAM,
  withApprovals,
} from "../make/run.ts";

const USERS = [UserId("U0ANA"), UserId("U0BEN"), UserId("U0CAT")];
const GROUP = GroupId("S0OPS");
const CHANNELS = [CHANNEL, ChannelId("C0OTHER")];
const user = fc.constantFrom(...USERS);

const anyRule = fc
  .record({
    approvers: fc.constantFrom(
      "anyone" as const,
      { users: USERS.slice(0, 1), groups: [], channels: [] },
      { users: [], groups: [GROUP], channels: [] },
    ),
    selfApproval: fc.boolean(),
    needs: fc.integer({ min: 1, max: 2 }),
    holdMs: fc.constantFrom(0, 60_000),
    expiry: fc.constantFrom(null, { afterMs: 1_000, outcome: "deny" as const }),
    friction: fc.record({ readFirst: fc.boolean(), word: fc.constantFrom(null, "yes") }),
  })
  .map((facts) => aRule(facts));

const decisionBy = (by: UserId, verdict: "approve" | "deny" = "approve") => ({
  verdict,
  reason: "",
  by: { team: TEAM, user: by },
  at: NOON,
  digest: aRequest().digest,
});

const anyState: fc.Arbitrary<Approval["state"]> = fc.oneof(
  fc.constant({ type: "pending" as const }),
  fc.constant({ type: "closed" as const, cause: "run-over" as const, at: NOON }),
  fc.tuple(user, fc.constantFrom("held" as const, "recorded" as const)).map(([by, type]) => ({
    type: "decided" as const,
    decision: decisionBy(by),
    delivery: type === "held" ? { type, until: NOON, sendAt: NOON } : { type },
  })),
);

const anyApproval: fc.Arbitrary<Approval> = fc
  .record({
    state: anyState,
    voters: fc.subarray(USERS, { maxLength: 1 }),
    readers: fc.subarray(USERS),
    risk: fc.constantFrom("low", "medium", "high", "critical", "7/10", null),
    waitedMs: fc.integer({ min: 0, max: 5_000 }),
  })
  .map(({ voters, risk, waitedMs, ...facts }) => ({
    ...anApproval(),
    ...facts,
    request: aRequest(risk === null ? { action: "x" } : { action: "x", risk }),
    waitsSince: NOON - waitedMs,
    votes: facts.state.type === "pending" ? voters.map((by) => decisionBy(by)) : [],
  }));

const anyRunHere: fc.Arbitrary<Run> = fc
  .tuple(fc.constantFrom(...CHANNELS), user, fc.array(anyApproval, { maxLength: 4 }))
  .map(([channel, requester, approvals]) =>
    withApprovals(aWatchedRun(RunId(`run_${channel}_${requester}`), { channel, requester }), ...approvals),
  );

const anyPerson: fc.Arbitrary<Person> = fc
  .record({
    user,
    kind: fc.constantFrom("member" as const, "member" as const, "guest" as const, "outsider" as const),
    inGroup: fc.constantFrom(true, false, null),
  })
  .map(({ inGroup, ...facts }) => ({
    ...facts,
    team: TEAM,
    seesChannel: true,
    ...(inGroup === null ? {} : { memberOf: new Map([[GROUP, inGroup]]) }),
  }));

const anyQueue = fc
  .record({
    runs: fc.array(anyRunHere, { maxLength: 4 }),
    rule: anyRule,
    person: anyPerson,
    channels: fc.subarray(CHANNELS),
  })
  .map(({ runs, rule, person, channels }) => {
    const ctx = { policy: aPolicy(rule), now: NOON, monotonic: NOON };
    const reader = { user: person.user, person, channels: new Set(channels) };
    return { runs, person, reader, ctx, queue: queueOf(runs, reader, ctx) };
  });

const always = <Value>(of: fc.Arbitrary<Value>, holds: (value: Value) => void): void =>
  fc.assert(fc.property(of, holds), { numRuns: 500 });

describe("a queue", () => {
  test("lists for each person exactly the requests that they may decide now and have not approved themselves", () => {
    always(anyQueue, ({ runs, person, reader, ctx, queue }) => {
      const due = runs.flatMap((run) =>
        run.approvals.filter((approval) => {
          const rule = ruleOf(ctx, run, approval);
          const by = { ...person, seesChannel: reader.channels.has(run.channel) };
          const refusals = (["approve", "deny"] as const).map((verdict) =>
            refusalToOpen(
              approval,
              { run, rule, by, verdict, monotonic: NOON },
              { version: approval.version, was: null },
            ),
          );
          const may = refusals.some((each) => each === null || each.type === "read-first");
          return may && !decidersOf(approval).includes(person.user);
        }),
      );
      expect(new Set(queue.yours.map(({ approval }) => approval))).toEqual(new Set(due));
    });
  });

  test("omits nothing from a member's channels, and shows nothing from other channels", () => {
    always(anyQueue, ({ runs, person, reader, queue }) => {
      const here = runs.filter(({ channel }) => person.kind === "member" && reader.channels.has(channel));
      const due = here.flatMap(({ approvals }) => approvals.filter(isUndecided));
      const all = [...queue.yours, ...queue.others].map(({ approval }) => approval);
      expect(all).toHaveLength(due.length);
      expect(new Set(all)).toEqual(new Set(due));
      expect(queue.closedTo).toBe(person.kind === "member" ? null : person.kind);
    });
  });

  test("puts the riskiest first, and the oldest first within the same risk", () => {
    const order = ["critical", "high", "other", "medium", "low", undefined];
    always(anyQueue, ({ queue }) => {
      for (const list of [queue.yours, queue.others]) {
        const keys = list.map(({ marks, waitedMs }) => order.indexOf(marks.risk?.level) * 1e6 - waitedMs);
        expect(keys).toEqual(keys.toSorted((a, b) => a - b));
      }
    });
  });

  test("lists the decisions that the service has not confirmed, for those who see the request, oldest first", () => {
    const decided = (by: UserId, at: number, delivery: Delivery): Approval => ({
      ...anApproval(),
      state: { type: "decided", decision: { ...decisionBy(by), at }, delivery },
    });
    const why = { notBefore: NOON, tries: 1, why: "" };
    const undelivered = [
      decided(APPROVER, NOON - 4, { type: "unsure", since: NOON, ...why }),
      decided(APPROVER, NOON - 3, { type: "retry", lost: false, ...why }),
      decided(APPROVER, NOON - 2, { type: "sending", at: NOON, tries: 1, lost: false }),
      decided(APPROVER, NOON - 1, { type: "recorded" }),
    ];
    const others = [
      anApproval(),
      decided(APPROVER, NOON, { type: "held", until: NOON, sendAt: NOON }),
      decided(APPROVER, NOON, { type: "confirmed", at: NOON, stillListed: null }),
      decided(APPROVER, NOON, { type: "refused", at: NOON, words: "", absent: true }),
    ];
    const run = withApprovals(aWatchedRun(), ...others, ...undelivered.toReversed());
    const queue = aQueue([run]);
    expect(queue.undelivered.map(({ approval }) => approval)).toEqual(undelivered);
    expect(filtered(queue, { channel: ChannelId("C0OTHER") }).undelivered).toEqual([]);
    const ctx = { policy: aPolicy(), now: NOON, monotonic: NOON };
    const elsewhere = { user: APPROVER, person: MEMBER, channels: new Set([ChannelId("C0OTHER")]) };
    expect(queueOf([run], elsewhere, ctx).undelivered).toEqual([]);
    expect(aQueue([run], { by: { ...MEMBER, kind: "guest" } }).undelivered).toEqual([]);
  });

  test("lists requests that cannot be verified as waiting for others, and says so", () => {
    const run = withApprovals(aWatchedRun(), anApproval());
    const ctx = {
      policy: aPolicy({ approvers: { users: [], groups: [GROUP], channels: [] } }),
      now: NOON,
      monotonic: NOON,
    };
    for (const person of [null, { team: TEAM, user: APPROVER, kind: "member", seesChannel: true } as const]) {
      const { yours, others } = queueOf([run], { user: APPROVER, person, channels: new Set([CHANNEL]) }, ctx);
      expect(yours).toEqual([]);
      expect(others.map(({ refusal }) => refusal?.type)).toEqual(["unverified"]);
    }
  });

  test("shows until when each request can be decided under the current rule", () => {
    const run = withApprovals(aWatchedRun(), { ...anApproval(), waitsSince: NOON - 1_000 });
    const policy = aPolicy({ expiry: { afterMs: 5_000, outcome: "nothing" } });
    expect(aQueue([run], { policy }).yours.map(({ deadline }) => deadline)).toEqual([NOON + 4_000]);
  });
});

describe("requests that can be reviewed together", () => {
  const ofRun = (channel: ChannelId, many: number): Run =>
    withApprovals(aWatchedRun(undefined, { channel }), ...Array.from({ length: many }, () => anApproval()));

  test("belong to one run, or to one rule in one channel", () => {
    const runs = [ofRun(CHANNEL, 3), ofRun(CHANNEL, 1), ofRun(CHANNELS[1] ?? CHANNEL, 1)];
    const { yours } = aQueue(runs);
    expect(reviewGroups(yours).map(({ kind, items }) => [kind, items.length])).toEqual([
      ["rule", 4],
      ["run", 3],
    ]);
    const [anchor] = yours;
    if (anchor === undefined) throw new Error("nothing waits");
    for (const kind of ["run", "rule"] as const)
      for (const { run, rule } of groupAround(yours, kind, anchor))
        expect(kind === "run" ? run.key : `${run.channel} ${rule.name}`).toBe(
          kind === "run" ? anchor.run.key : `${anchor.run.channel} ${anchor.rule.name}`,
        );
  });

  test.for([
    { friction: { readFirst: true, word: null } },
    { friction: { readFirst: false, word: "yes" } },
    { holdMs: 1_000 },
  ])("exclude requests with friction or a hold: %j", (facts) => {
    const { yours } = aQueue([ofRun(CHANNEL, 3)], { policy: aPolicy(facts) });
    expect(yours).toHaveLength(3);
    expect(yours.every(needsOwnForm)).toBe(true);
    expect(reviewGroups(yours)).toEqual([]);
  });

  test("exclude requests that are attached as a file", () => {
    const long = { ...anApproval(), request: { ...aRequest(), chars: 60_000 } };
    const { yours } = aQueue([
      withApprovals(aWatchedRun(), long, { ...long, ...anApproval(), request: long.request }),
    ]);
    expect(yours).toHaveLength(2);
    expect(yours.every(needsOwnForm)).toBe(true);
    expect(reviewGroups(yours)).toEqual([]);
  });
});

test("after each request, the queue continues with the next one and ends with the request itself", () => {
  const same = anApproval();
  const { yours } = aQueue([
    withApprovals(aWatchedRun(), same, anApproval(), anApproval()),
    withApprovals(aWatchedRun(), same),
  ]);
  expect(yours).toHaveLength(4);
  for (const [at, item] of yours.entries())
    expect(rotatedAfter(placeOf(item), yours)).toEqual([...yours.slice(at + 1), ...yours.slice(0, at + 1)]);
});

test("a filter keeps only what it names", () => {
  always(fc.tuple(anyQueue, user, fc.constantFrom(...CHANNELS)), ([{ queue }, askedBy, channel]) => {
    const left = filtered(queue, { askedBy, channel });
    for (const { run } of [...left.yours, ...left.others])
      expect([run.requester, run.channel]).toEqual([askedBy, channel]);
    const all = [...queue.yours, ...queue.others].filter(
      ({ run }) => run.requester === askedBy && run.channel === channel,
    );
    expect(left.yours.length + left.others.length).toBe(all.length);
    const none = filtered(queue, { rule: () => false });
    expect([...none.yours, ...none.others]).toEqual([]);
  });
});
