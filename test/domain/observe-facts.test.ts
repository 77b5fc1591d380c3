// What a single look changes: each fact of a snapshot, and the notices to the people who decided.

import { describe, expect, test } from "vitest";
import {
  addNoticesToDeciders,
  digestedText,
  noticesOf,
  observe,
  OUTPUT_IN_THREAD_CHARS,
  requestOf,
} from "#src/domain/observe.ts";
import { ApprovalId, GroupId, RunId } from "#src/domain/ids.ts";
import { BUILT_IN_RULE } from "#src/domain/policy/policy.ts";
import type { DecisionNotice } from "#src/domain/notice.ts";
import { reconcile } from "#src/domain/reconcile.ts";
import type { Run } from "#src/domain/run.ts";
import { ABSENT_AFTER_MS, type Snapshot, type UnreadableItem } from "#src/domain/snapshot.ts";
import { aSnapshot, contextAt, decidedRun, deliveredRun, listedRun } from "../make/history.ts";
import { aPolicy } from "../make/policy.ts";
import { APPROVER, aWatchedRun, NOON } from "../make/run.ts";

const item = (facts: Partial<UnreadableItem> = {}): UnreadableItem => {
  return { ids: [], code: "no-id", why: "it has no id", source: "{}", hidden: 0, ...facts };
};
const look = (
  run: Run,
  facts: Partial<Snapshot>,
  ms = 1,
  pending: readonly string[] | null = ["apr_1"],
): Run => observe(run, aSnapshot(run, pending, { askedAt: NOON + ms, ...facts }), contextAt(ms));

test("a look that began at the same moment as the newest one is taken in", () => {
  const run = listedRun("apr_1");
  expect(look(run, { askedAt: run.seen?.askedAt ?? 0 }, 1, ["apr_1", "apr_2"]).approvals).toHaveLength(2);
});

describe("the task", () => {
  const adopted: Run = { ...aWatchedRun(), origin: "adopted", input: "" };

  test("of an adopted run is recorded even if nothing else is new", () => {
    const quiet = look(look(adopted, { input: null }, 1, []), { input: null }, 2, []);
    expect(quiet.input).toBe("");
    expect(look(quiet, { input: "the task" }, 3, []).input).toBe("the task");
  });

  test("of a run that was started here is what its requester typed", () => {
    expect(look({ ...adopted, origin: "started" }, { input: "another" }, 1, []).input).toBe("");
  });
});

describe("the service's word for a request that is no longer pending", () => {
  const gone = (words: readonly (readonly [string, string])[]): Run => {
    const resolved = words.map(([id, said]) => ({ id: ApprovalId(id), said }));
    const looks = [1, 1 + ABSENT_AFTER_MS, 1 + 3 * ABSENT_AFTER_MS];
    const facts = resolved.length === 0 ? {} : { resolved };
    return looks.reduce(
      (run, ms) => look(run, { ...facts, status: "awaiting_approval" }, ms, []),
      listedRun("apr_1", "apr_2"),
    );
  };
  const saidOf = ({ approvals }: Run) =>
    approvals.map(({ state }) => (state.type === "closed" ? (state.said ?? null) : "open"));

  test("is kept with that request", () => {
    expect(saidOf(gone([["apr_1", "expired"]]))).toEqual(["expired", null]);
    expect(saidOf(gone([]))).toEqual([null, null]);
  });

  test("is each of its words, once and in an order that does not change", () => {
    const words = [
      ["apr_2", "denied"],
      ["apr_2", "approved"],
      ["apr_2", "denied"],
    ] as const;
    expect(saidOf(gone(words))).toEqual([null, "approved, denied"]);
  });
});

describe("unreadable items that the service lists", () => {
  const run = listedRun("apr_1");
  const LATER = [1, 1 + ABSENT_AFTER_MS, 1 + 3 * ABSENT_AFTER_MS];
  const missed = (unreadable: readonly UnreadableItem[]): Run =>
    LATER.reduce((next, ms) => look(next, { unreadable, status: "awaiting_approval" }, ms, []), run);

  test("are news by themselves, and so is their end", () => {
    const found = look(run, { unreadable: [item()] });
    expect(found.unreadable).toMatchObject({ what: "items", count: 1, since: NOON + 1 });
    expect(look(found, { unreadable: [item()] }, 2)).toBe(found);
    expect(look(found, {}, 2).unreadable).toBeNull();
  });

  test("are ignored once the run is over", () => {
    expect(look(run, { unreadable: [item()], status: "succeeded" }).unreadable).toBeNull();
  });

  test("close a card whose id they name, keep it open if they name no id, and let it go if they name another id", () => {
    const states = [
      [item({ ids: [ApprovalId("apr_1")] })],
      [item()],
      [item({ ids: [ApprovalId("apr_2")] })],
    ].map((unreadable) => missed(unreadable).approvals[0]?.state);
    expect(states).toMatchObject([
      { type: "closed", cause: "unreadable", at: NOON + 1 },
      { type: "pending" },
      { type: "closed", cause: "no-longer-listed" },
    ]);
  });

  test("void a decision on an approval with their id after a while, with that cause", () => {
    const decided = decidedRun();
    const named = [item({ ids: [ApprovalId("apr_1")] })];
    const last = LATER.reduce(
      (next, ms) => look(next, { unreadable: named, status: "awaiting_approval" }, ms, []),
      decided,
    );
    expect(last.notices).toMatchObject([
      { to: APPROVER, says: { type: "decision-void", cause: "unreadable" } },
    ]);
  });

  test.each([["its id", ["apr_1"]] as const, ["no id", []] as const])(
    "hold back a decision whose answer was lost, until the service lists its approval again: an item with %s",
    (_, ids) => {
      const facts = { notBefore: NOON, tries: 1, why: "no answer" };
      const lost = deliveredRun({ type: "retry", lost: true, ...facts });
      const spoilt = look(lost, { unreadable: [item({ ids: ids.map(ApprovalId) })] }, 1, []);
      const due = (run: Run, ms: number) =>
        reconcile(run, NOON + ms).effects.filter(({ type }) => type === "send-decision");
      expect(due(lost, 0)).toHaveLength(1);
      expect(due(spoilt, 60_000)).toEqual([]);
      expect(spoilt.approvals[0]?.state).toEqual(lost.approvals[0]?.state);
      expect(due(look(spoilt, {}, 60_000), 60_000)).toHaveLength(1);
    },
  );
});

test("a change in whether the service lists what is pending is news", () => {
  const run = listedRun("apr_1");
  const untold = look(run, { status: "awaiting_approval" }, 1, null);
  expect(untold.seen).toEqual({ ...run.seen, lists: false, askedAt: NOON + 1 });
  expect(untold.notices).toEqual(run.notices);
  expect(look(untold, {}, 2).seen?.lists).toBe(true);
});

test("the run's fields are kept while nothing is pending", () => {
  const run = look(listedRun("apr_1"), { extra: { plan: "a" } }, 1, ["apr_1", "apr_2"]);
  expect(run.context).not.toBeNull();
  expect(look(run, { extra: { plan: "b" }, status: "running" }, 2, []).context).toBe(run.context);
});

describe("an output", () => {
  const ended = (output: string | null): boolean | undefined =>
    look(aWatchedRun(), { status: "succeeded", output }, 1, []).seen?.ended?.asFile;

  test("is attached as a file when it is longer than a thread message allows, as Slack counts it", () => {
    expect(ended(null)).toBe(false);
    expect(ended("x".repeat(OUTPUT_IN_THREAD_CHARS))).toBe(false);
    expect(ended("x".repeat(OUTPUT_IN_THREAD_CHARS + 1))).toBe(true);
    expect(ended("x".repeat(3 * OUTPUT_IN_THREAD_CHARS))).toBe(true);
  });
});

describe("the digest that a decision is bound to", () => {
  test("covers the run, the approval and the request, and the run's own fields if there are any", () => {
    const [run, approval] = [RunId("run_1"), ApprovalId("apr_1")];
    expect(digestedText(run, approval, { content: { a: 1 } })).toBe('["run_1","apr_1",{"a":1}]');
    expect(digestedText(run, approval, { content: { a: 1 }, context: "c" })).toBe(
      '["run_1","apr_1",{"a":1},"c"]',
    );
    expect(digestedText(run, approval, { content: { a: 1, b: 2 }, volatile: ["b"] })).toBe(
      '["run_1","apr_1",{"a":1}]',
    );
  });

  test("names the fields that the policy calls volatile only where it does so", () => {
    const asked = { id: ApprovalId("apr_1"), action: "a", requestedAt: null };
    const ctx = contextAt(0, { ...aPolicy({}), volatile: ["at"] });
    expect("volatile" in requestOf(RunId("run_1"), { ...asked, content: { a: 1 } }, ctx)).toBe(false);
    expect(requestOf(RunId("run_1"), { ...asked, content: { at: 1 } }, ctx).volatile).toEqual(["at"]);
  });
});

test("a policy that needs the requester's groups makes the run look them up", () => {
  const asks = contextAt(
    1,
    aPolicy({ when: { ...BUILT_IN_RULE.when, requesters: [], requesterGroups: [GroupId("S0OPS")] } }),
  );
  const run = listedRun("apr_1");
  const asking = observe(run, aSnapshot(run, ["apr_1"], { askedAt: NOON + 1 }), asks);
  expect(asking.requesterGroups).toMatchObject({ asks: ["S0OPS"] });
  expect("requesterGroups" in look(asking, {}, 2)).toBe(false);
  expect("requesterGroups" in look(run, {}, 2, ["apr_1", "apr_2"])).toBe(false);
});

describe("the people who decided", () => {
  const run = decidedRun();
  const said = (id: string): DecisionNotice => ({
    type: "decision-void",
    approval: ApprovalId(id),
    cause: "run-over",
  });

  test("are notified about their own approval, and about no other", () => {
    const two = look(run, {}, 1, ["apr_1", "apr_2"]);
    expect(addNoticesToDeciders(two, [said("apr_1")], contextAt()).notices).toMatchObject([
      { to: APPROVER, state: "planned", notBefore: 0 },
    ]);
    expect(addNoticesToDeciders(two, [said("apr_2")], contextAt())).toBe(two);
    expect(addNoticesToDeciders(two, [said("apr_9")], contextAt())).toBe(two);
  });

  test("are told only if there is something to say", () => {
    expect(noticesOf([{ says: null }, { says: said("apr_1") }])).toEqual([said("apr_1")]);
  });
});

test("an unreadable item is read a few times, however many approvals are not listed", () => {
  const run = listedRun(...Array.from({ length: 100 }, (_, at) => `apr_${at}`));
  let reads = 0;
  const counted: UnreadableItem = {
    ...item(),
    get ids() {
      reads += 1;
      return [];
    },
  };
  look(run, { unreadable: [counted] }, 2, []);
  expect(reads).toBeGreaterThan(0);
  expect(reads).toBeLessThan(10);
});
