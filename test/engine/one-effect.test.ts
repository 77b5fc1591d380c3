// The path of one effect: its turn, its mark, its outcome in the store, and its calls to the engine.

import { describe, expect, test } from "vitest";
import { ApprovalId, MessageTs, RunId, shardOf } from "#src/domain/ids.ts";
import type { Effect, Outcome } from "#src/domain/effect.ts";
import { replaceApproval, type Run } from "#src/domain/run.ts";
import { cardSlot, OPENING } from "#src/domain/slot.ts";
import { AFTER_FAILURE_MS } from "#src/engine/effect-executor.ts";
import { failure } from "../make/bot.ts";
import { createEffectStage, KNOWN } from "../make/effect-stage.ts";
import { aSnapshot, decidedRun, listedRun } from "../make/history.ts";
import { aRun, aWatchedRun, NOON } from "../make/run.ts";

const UP = { type: "up", ts: MessageTs("1.1"), shows: "", sweepAt: null, notBefore: 0, tries: 0 } as const;
const POST: Effect = { type: "post", slot: OPENING };
const CREATE: Effect = { type: "create-run" };
const APR = ApprovalId("apr_1");
const COUNT: Effect = { type: "count-approvers", approval: APR };
const SEND: Effect = { type: "send-decision", approval: APR };

/** Decided by a person, as the audit says. */
function decision(): Run {
  const run = decidedRun();
  const [approval] = run.approvals;
  if (approval?.state.type !== "decided") throw new Error("nothing is decided");
  const { decision } = approval.state;
  return replaceApproval(run, {
    ...approval,
    state: { ...approval.state, decision: { ...decision, entry: 1 } },
  });
}

const planned = (): Run => ({ ...aRun(), posts: { [OPENING]: UP } });

describe("an effect under way", () => {
  test("is not started twice, but its urgency is raised, and its run is reconciled again when it has ended", async () => {
    const stage = createEffectStage(aRun());
    const gate = Promise.withResolvers<void>();
    stage.turn = () => gate.promise;
    await stage.act(POST);
    expect(stage.executor.isUnderWay(stage.run.key, POST)).toBe(true);
    expect(stage.executor.isUnderWay(stage.run.key, COUNT)).toBe(false);
    await stage.act(POST);
    expect(stage.told).toEqual(["queued post", "raiseUrgency post"]);
    gate.resolve();
    await stage.act(POST);
    expect(stage.performed).toEqual(["post opening"]);
    expect(stage.told.slice(2)).toEqual(["raiseUrgency post", "again 0", "idle"]);
    expect(stage.executor.isUnderWay(stage.run.key, POST)).toBe(false);
    expect(stage.run.posts[OPENING]).toMatchObject({ type: "up", ts: "2.2" });
  });

  test("that does not wait for a turn keeps its urgency", async () => {
    const stage = createEffectStage(listedRun("apr_1"));
    const gate = Promise.withResolvers<Outcome>();
    stage.perform = () => gate.promise;
    await stage.act(COUNT);
    await stage.act(COUNT);
    expect(stage.told).toEqual([]);
    expect(stage.wanted).toEqual([]);
  });

  test("keeps its run busy and its shard sending until the last effect ends", async () => {
    const stage = createEffectStage({ ...listedRun("apr_1"), posts: {} });
    const { executor, run } = stage;
    const gates = [Promise.withResolvers<Outcome>(), Promise.withResolvers<Outcome>()];
    stage.perform = () => gates[stage.performed.length - 1]?.promise ?? Promise.reject(new Error("a third"));
    expect([executor.isBusy(run.key), executor.shardsSending()]).toEqual([false, new Set()]);
    await stage.act(POST);
    await stage.act(COUNT);
    expect([executor.isBusy(run.key), executor.shardsSending()]).toEqual([true, new Set([shardOf(run)])]);
    gates[0]?.resolve({ type: "posted", ts: MessageTs("2.2"), shows: "" });
    await stage.settle();
    expect([executor.isBusy(run.key), stage.told.includes("idle")]).toEqual([true, false]);
    gates[1]?.resolve({ type: "counted", of: "", able: null, grows: false });
    await stage.settle();
    expect([executor.isBusy(run.key), executor.shardsSending()]).toEqual([false, new Set()]);
    expect(stage.told.filter((each) => each !== "queued post")).toEqual(["idle"]);
  });

  test("is awaited by a stop, only for the given time, and nothing else starts", async () => {
    const stage = createEffectStage(listedRun("apr_1"));
    const gate = Promise.withResolvers<void>();
    stage.turn = () => gate.promise;
    await stage.act(POST);
    let stopped = 0;
    void stage.executor.stop(5_000).then(() => (stopped += 1));
    await stage.act(COUNT);
    await stage.clock.pass(4_999);
    expect(stopped).toBe(0);
    await stage.clock.pass(1);
    expect(stopped).toBe(1);
    // The effect that waited for its turn is not begun.
    gate.resolve();
    await stage.settle();
    expect([stage.performed, stage.saved]).toEqual([[], []]);
    await stage.act(COUNT);
    expect(stage.told).toEqual(["queued post", "idle"]);
  });
});

describe("an effect before its mark", () => {
  test("tells the requester about a queue only if nothing of the run is in Slack", async () => {
    const queued = async (run: Run, effect: Effect) => {
      const stage = createEffectStage(run);
      await stage.act(effect);
      return stage.told.some((each) => each.startsWith("queued"));
    };
    const listed = listedRun("apr_1");
    const opened = { ...listed, posts: { [OPENING]: { ...UP, shows: "older" } } };
    expect(await queued(aRun(), POST)).toBe(true);
    expect(await queued(opened, POST)).toBe(false);
    expect(await queued(listed, { type: "post", slot: cardSlot(APR) })).toBe(false);
    expect(await queued(listed, { type: "update", slot: OPENING })).toBe(false);
    expect(await queued(planned(), CREATE)).toBe(false);
  });

  test("is left alone by a process that may have lost its lease, or does not follow the run", async () => {
    const stage = createEffectStage(aRun());
    stage.holds = () => false;
    await stage.act(POST);
    expect(stage.told).toEqual(["queued post", `again ${AFTER_FAILURE_MS}`, "idle"]);
    stage.holds = () => true;
    stage.ours = false;
    await stage.act(POST);
    expect(stage.wanted).toEqual([true, false]);
    expect([stage.performed, stage.saved, stage.executor.shardsSending()]).toEqual([[], [], new Set()]);
    expect(stage.told.slice(3)).toEqual(["queued post", "idle"]);
  });

  test("that starts a run reads only what other processes froze, and is not marked under a later freeze", async () => {
    const stage = createEffectStage(planned());
    stage.catchUp = () => Promise.reject(failure("policy_unreadable"));
    stage.perform = () => Promise.resolve({ type: "refused", words: "no", code: "x" });
    await stage.act(CREATE);
    expect(stage.told).toEqual(["freezes read", "idle"]);
    expect(stage.saved).toEqual([{ audit: [], noFreezeAfter: KNOWN }]);
    expect(stage.run.creation).toMatchObject({ type: "refused" });
    const message = createEffectStage(aRun());
    await message.act(POST);
    expect(message.told).not.toContain("freezes read");
    expect(message.saved).toEqual([{ audit: [] }]);
  });

  test("is not performed if its run no longer needs it, or if another process has the run", async () => {
    const unwanted = createEffectStage({
      ...aRun(),
      posts: { [OPENING]: { type: "unsure", lookAt: NOON, tries: 1 } },
    });
    await unwanted.act(POST);
    expect([unwanted.performed, unwanted.told, unwanted.saved]).toEqual([[], ["idle"], []]);
    const marked = createEffectStage({
      ...aRun(),
      posts: { [OPENING]: { type: "sending", at: NOON, tries: 1 } },
    });
    await marked.act(POST);
    expect([marked.performed, marked.saved]).toEqual([[], []]);
    expect(marked.told).toEqual([`again ${AFTER_FAILURE_MS}`, "idle"]);
    const lost = createEffectStage(planned());
    lost.fails.push(null);
    await lost.act(CREATE);
    expect(lost.performed).toEqual([]);
    expect(lost.told).toEqual(["freezes read", `again ${AFTER_FAILURE_MS}`, "idle"]);
    expect(lost.logged).toEqual([]);
  });

  test("that fails because of a bug is logged and tried again", async () => {
    const stage = createEffectStage(aRun());
    stage.turn = () => Promise.reject(new TypeError("a fault"));
    await stage.act(POST);
    expect(stage.told.slice(1)).toEqual([
      "error post opening could not execute an effect",
      `again ${AFTER_FAILURE_MS}`,
      "idle",
    ]);
    // If that cannot be stored either, the next change of the run settles it.
    stage.fails.push(failure("database_locked"));
    await stage.act(POST);
    expect(stage.told.slice(-2)).toEqual([`again ${AFTER_FAILURE_MS}`, "idle"]);
  });

  test("that meets the same failure of the store as another shares its error for a minute", async () => {
    const stage = createEffectStage(planned());
    stage.refresh = () => Promise.reject(failure("database_locked"));
    for (let times = 0; times < 3; times += 1) await stage.act(CREATE);
    await stage.clock.pass(60_000);
    await stage.act(CREATE);
    const lines = stage.told.filter((each) => each.endsWith("could not execute an effect"));
    expect(lines.map((each) => each.split(" ")[0])).toEqual(["error", "debug", "debug", "error"]);
    expect([stage.performed, stage.run.creation]).toEqual([[], planned().creation]);
  });
});

describe("a decision", () => {
  const delivery = ({ run }: { readonly run: Run }) => {
    const state = run.approvals[0]?.state;
    return state?.type === "decided" ? state.delivery : state?.type;
  };

  test("is sent as it was checked, and under no later freeze", async () => {
    const stage = createEffectStage(decision());
    stage.perform = () => Promise.resolve({ type: "confirmed" });
    await stage.act(SEND);
    expect(stage.performed).toEqual(["send-decision apr_1"]);
    // One reads the run after the look-ups, which use what the look stored. One stores the outcome.
    expect(stage.changes).toBe(2);
    expect(stage.saved).toMatchObject([{ audit: [{ what: "sent" }], noFreezeAfter: KNOWN }]);
    expect(delivery(stage)).toMatchObject({ type: "confirmed" });
    expect(stage.logged).toEqual([{ type: "confirmed" }]);
  });

  test.each<[string, (run: Run) => Run]>([
    ["has changed", (run) => withReason(run, "something else")],
    ["is gone", (run) => ({ ...run, approvals: [] })],
  ])("that %s since it was checked is not sent", async (_what, change) => {
    const stage = createEffectStage(decision());
    stage.catchUp = () => Promise.resolve(void (stage.run = change(stage.run)));
    await stage.act(SEND);
    expect([stage.performed, stage.saved, stage.logged]).toEqual([[], [], []]);
    expect(stage.told).toEqual(["catch up", "idle"]);
  });

  test("waits while Slack does not say whether its approver may decide", async () => {
    const stage = createEffectStage(decision());
    stage.lookUp = () => Promise.reject(failure("slack_down"));
    await stage.act(SEND);
    expect(stage.performed).toEqual([]);
    expect(stage.logged).toMatchObject([{ type: "later", afterMs: null, code: "voters_unverified" }]);
    expect(delivery(stage)).toMatchObject({
      type: "retry",
      tries: 1,
      notSent: true,
      why: "Countersign could not verify with Slack that the people who approved may still do so.",
    });
  });

  test("is void once its approver may no longer decide", async () => {
    const stage = createEffectStage(decision());
    stage.lookUp = () => Promise.resolve({ kind: "deactivated", seesChannel: true });
    await stage.act(SEND);
    expect([stage.performed, stage.logged]).toEqual([[], []]);
    expect(delivery(stage)).toBe("pending");
    expect(stage.run.approvals[0]?.past).toMatchObject([{ cause: "voter-may-not" }]);
  });

  test("that is held back by its check is recorded as held back", async () => {
    const stage = createEffectStage(decision());
    stage.catchUp = () => Promise.reject(failure("database_locked"));
    await stage.act(SEND);
    expect(stage.logged).toMatchObject([{ type: "later", code: "database_locked", notSent: true }]);
    expect(delivery(stage)).toMatchObject({ type: "retry", notSent: true });
  });
});

function withReason(run: Run, reason: string): Run {
  const [approval] = run.approvals;
  if (approval?.state.type !== "decided") throw new Error("nothing is decided");
  const { state } = approval;
  return replaceApproval(run, { ...approval, state: { ...state, decision: { ...state.decision, reason } } });
}

describe("the outcome of an effect", () => {
  test("is unsure, and logged, if our own code fails; unsure, and without a call, if the lease was lost", async () => {
    const faulty = createEffectStage(aRun());
    faulty.perform = () => Promise.reject(new TypeError("a fault"));
    await faulty.act(POST);
    const why = "something failed inside Countersign";
    expect(faulty.logged).toEqual([{ type: "unsure", why, code: "internal" }]);
    expect(faulty.told).toContain("error post opening a fault in Countersign");
    expect(faulty.run.posts[OPENING]).toMatchObject({ type: "unsure" });
    const late = createEffectStage(aRun());
    // The process stands still while its mark is saved.
    let looks = 0;
    late.holds = () => (looks += 1) === 1;
    await late.act(POST);
    const held = "this replica lost its hold on the run";
    expect(late.logged).toEqual([{ type: "unsure", why: held, code: "lease_lost" }]);
    expect(late.performed).toEqual([]);
  });

  test("of a start with an id that is already followed is that the id is taken, unless its run gives it up", async () => {
    const answer = async (other: Run | null) => {
      const stage = createEffectStage(planned());
      const id = RunId("run_1");
      const snapshot = aSnapshot(aWatchedRun(id));
      stage.perform = () => {
        stage.fails.push(failure("run_id_taken"));
        return Promise.resolve({ type: "created", snapshot });
      };
      stage.other = other;
      await stage.act(CREATE);
      return stage.run.creation;
    };
    expect(await answer(null)).toMatchObject({ type: "created", id: "run_1" });
    const over = { ...aWatchedRun(), watch: { type: "over", at: NOON } } as const;
    expect(await answer(over)).toMatchObject({ type: "created", id: "run_1" });
    expect(await answer(aWatchedRun())).toEqual({ type: "taken", id: "run_1", at: NOON });
  });
});
