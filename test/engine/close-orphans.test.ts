// After an older copy was restored, messages that the store does not know lose their buttons, and nothing else is
// touched.

import { describe, expect, test } from "vitest";
import { cardSlot, OPENING } from "#src/domain/slot.ts";
import { ApprovalId, MessageTs } from "#src/domain/ids.ts";
import { BACKUP_MARK, EARLIER_MARK } from "#src/ports/store.ts";
import { type Bench, clickOn, createBench, failure } from "../make/bot.ts";
import { anOwnMessage } from "../make/own-messages.ts";
import { aPolicy, aRule } from "../make/policy.ts";
import { SECOND } from "../make/voting.ts";
import { anAuditEntry, APPROVER, aRun, aRunId, CHANNEL, NOON, REQUESTER, TEAM } from "../make/run.ts";

const COPIED = NOON - 3_600_000;
const MINUTE = 60_000;
const CARD = cardSlot(ApprovalId("apr_1"));

/** Marks the stored database as a copy, and starts another process on it. */
async function restored(bench: Bench): Promise<void> {
  await bench.store.putDocument(BACKUP_MARK, COPIED);
  await bench.restart();
}

async function stage() {
  const bench = await createBench();
  const { id } = await bench.withCard();
  const run = await bench.run(id);
  const post = run.posts[CARD];
  if (post?.type !== "up") throw new Error("no card");
  return { bench, id, run, card: post.ts };
}

const closed = ({ ownMessages }: Bench) => ownMessages.closed.map(({ ts, orphan }) => ({ ts, ...orphan }));
const entries = async ({ store }: Bench) => store.auditAfter(0, ["restored"], 10);

describe("the first start on a copy", () => {
  test("is reported in the log and in the audit, once, and the mark is forgotten when all is done", async () => {
    const { bench } = await stage();
    await restored(bench);
    await bench.clock.pass(MINUTE);
    const recorded = await entries(bench);
    expect(recorded.map(({ entry }) => entry.since)).toEqual([COPIED]);
    expect(bench.warnings.join()).toContain("restored from a back-up");
    expect(await bench.store.document(BACKUP_MARK)).toBeNull();
    await bench.restart();
    expect(await entries(bench)).toEqual(recorded);
    expect(bench.ownMessages.asked.every((at) => at === COPIED)).toBe(true);
  });

  test("is remembered across a crash in the middle, with one entry", async () => {
    const { bench, run } = await stage();
    bench.ownMessages.messages.push(anOwnMessage(run, CARD, "1800000000.000001"));
    let isBroken = true;
    bench.ownMessages.beforeRead = () => (isBroken ? Promise.reject(failure("timeout")) : Promise.resolve());
    await restored(bench);
    await bench.clock.pass(1_000);
    expect(closed(bench)).toEqual([]);
    await bench.restart();
    isBroken = false;
    await bench.clock.pass(MINUTE);
    expect(closed(bench)).toHaveLength(1);
    expect(await entries(bench)).toHaveLength(1);
    expect(await bench.store.document(BACKUP_MARK)).toBeNull();
  });

  test("reads the messages since an earlier copy, whose restore was unfinished when this one was made", async () => {
    const { bench, run } = await stage();
    bench.ownMessages.messages.push(anOwnMessage(run, CARD, "1800000000.000001"));
    await bench.store.putDocument(EARLIER_MARK, COPIED - MINUTE);
    await restored(bench);
    await bench.clock.pass(MINUTE);
    expect(new Set(bench.ownMessages.asked)).toEqual(new Set([COPIED - MINUTE]));
    expect(closed(bench)).toMatchObject([{ copiedAt: COPIED }]);
    expect((await entries(bench)).map(({ entry }) => entry.since)).toEqual([COPIED]);
    for (const name of [BACKUP_MARK, EARLIER_MARK]) expect(await bench.store.document(name)).toBeNull();
  });

  test("reads nothing without the mark", async () => {
    const { bench, run } = await stage();
    bench.ownMessages.messages.push(anOwnMessage(run, CARD, "1800000000.000001"));
    await bench.restart();
    await bench.clock.pass(MINUTE);
    expect(bench.ownMessages.asked).toEqual([]);
    expect(closed(bench)).toEqual([]);
  });
});

describe("messages that the store does not know are closed:", () => {
  test("a second card of a request, with a link to the one that the store knows", async () => {
    const { bench, run, card } = await stage();
    const runId = aRunId();
    bench.ownMessages.messages.push(anOwnMessage(run, CARD, "1800000000.000001", { runId }));
    await restored(bench);
    await bench.clock.pass(MINUTE);
    expect(closed(bench)).toEqual([
      {
        ts: "1800000000.000001",
        kind: "card",
        about: "High risk: rotate the certificates",
        runId,
        isFollowed: true,
        current: card,
        copiedAt: COPIED,
      },
    ]);
  });

  test("a card of a request that the restored run learns of only now, once its new card is up", async () => {
    const { bench, id, run } = await stage();
    const slot = cardSlot(ApprovalId("apr_2"));
    bench.ownMessages.messages.push(anOwnMessage(run, slot, "1800000000.000001"));
    bench.agents.beforeLook = () => Promise.reject(failure("timeout"));
    await restored(bench);
    await bench.clock.pass(10_000);
    expect(closed(bench)).toEqual([]);
    bench.agents.beforeLook = () => Promise.resolve();
    bench.agents.pending.set(id, ["apr_1", "apr_2"]);
    await bench.clock.pass(MINUTE);
    const post = (await bench.run(id)).posts[slot];
    expect(post?.type).toBe("up");
    expect(closed(bench)).toMatchObject([{ current: post?.type === "up" ? post.ts : "" }]);
  });

  test("a card of a request that was decided meanwhile, without a link to another", async () => {
    const { bench, id, run } = await stage();
    bench.ownMessages.messages.push(anOwnMessage(run, cardSlot(ApprovalId("apr_2")), "1800000000.000001"));
    bench.agents.pending.set(id, []);
    await restored(bench);
    await bench.clock.pass(MINUTE);
    expect(closed(bench)).toMatchObject([{ isFollowed: true, current: null }]);
  });

  test("a card whose run cannot be looked up, after five minutes", async () => {
    const { bench, run } = await stage();
    bench.ownMessages.messages.push(anOwnMessage(run, cardSlot(ApprovalId("apr_2")), "1800000000.000001"));
    bench.agents.beforeLook = () => Promise.reject(failure("timeout"));
    await restored(bench);
    await bench.clock.pass(4 * MINUTE);
    expect(closed(bench)).toEqual([]);
    await bench.clock.pass(2 * MINUTE);
    expect(closed(bench)).toMatchObject([{ isFollowed: true, current: null }]);
  });

  test("the opening and the cards of a run that is not stored, in every channel", async () => {
    const { bench } = await stage();
    const lost = aRun();
    bench.ownMessages.messages.push(
      anOwnMessage(lost, OPENING, "1800000000.000001"),
      anOwnMessage(lost, CARD, "1800000000.000002"),
    );
    await restored(bench);
    await bench.clock.pass(MINUTE);
    expect(closed(bench)).toMatchObject([
      { ts: "1800000000.000001", kind: "opening", isFollowed: false },
      { ts: "1800000000.000002", kind: "card", isFollowed: false },
    ]);
  });

  test("even if Slack refuses at first, and once each", async () => {
    const { bench, run } = await stage();
    for (const ts of ["1800000000.000001", "1800000000.000002"])
      bench.ownMessages.messages.push(anOwnMessage(run, CARD, ts));
    let refusals = 2;
    bench.ownMessages.beforeClose = () =>
      refusals-- > 0 ? Promise.reject(failure("ratelimited")) : Promise.resolve();
    await restored(bench);
    await bench.clock.pass(3 * MINUTE);
    expect(closed(bench).map(({ ts }) => ts)).toEqual(["1800000000.000001", "1800000000.000002"]);
    expect(await bench.store.document(BACKUP_MARK)).toBeNull();
  });
});

test("a message that Slack does not let us change does not hold up the others", async () => {
  const { bench, run } = await stage();
  for (const ts of ["1800000000.000001", "1800000000.000002"])
    bench.ownMessages.messages.push(anOwnMessage(run, CARD, ts));
  const close = bench.ownMessages.close.bind(bench.ownMessages);
  Object.assign(bench.ownMessages, {
    close: async (...what: Parameters<typeof close>) =>
      what[0].ts.endsWith("1") ? Promise.reject(failure("timeout")) : close(...what),
  });
  await restored(bench);
  await bench.clock.pass(MINUTE);
  expect(closed(bench).map(({ ts }) => ts)).toEqual(["1800000000.000002"]);
  expect(await bench.store.document(BACKUP_MARK)).toBe(COPIED);
});

describe("messages that are left alone:", () => {
  async function leftAlone(bench: Bench): Promise<void> {
    await restored(bench);
    await bench.clock.pass(MINUTE);
    expect(closed(bench)).toEqual([]);
    expect(await bench.store.document(BACKUP_MARK)).toBeNull();
  }

  test("one that the store knows, and one without buttons", async () => {
    const { bench, run, card } = await stage();
    bench.ownMessages.messages.push(
      anOwnMessage(run, CARD, card),
      anOwnMessage(run, CARD, "1800000000.000001", { isLive: false }),
    );
    await leftAlone(bench);
  });

  test("one of a run that was deleted on time, which the audit knows", async () => {
    const { bench } = await stage();
    const old = aRun();
    await bench.store.audit([anAuditEntry(old)]);
    bench.ownMessages.messages.push(anOwnMessage(old, OPENING, "1800000000.000001"));
    await leftAlone(bench);
  });

  test("a card that this process posts while the history is read", async () => {
    const { bench } = await stage();
    const id = aRunId();
    bench.agents.pending.set(id, ["apr_1"]);
    const post = bench.chat.post.bind(bench.chat);
    const [posted, answered] = [Promise.withResolvers<null>(), Promise.withResolvers<null>()];
    // Slack has the card, but its answer is still on its way.
    bench.chat.post = async (run, slot) => {
      const ts = await post(run, slot);
      if (slot !== CARD) return ts;
      bench.ownMessages.messages.push(anOwnMessage(run, slot, ts));
      posted.resolve(null);
      await answered.promise;
      return ts;
    };
    bench.ownMessages.beforeRead = async () => void (await posted.promise);
    await restored(bench);
    await bench.flow.adoptRun.adopt({ team: TEAM, user: REQUESTER, channel: CHANNEL }, id);
    await bench.clock.pass(20_000);
    expect(bench.ownMessages.asked).not.toEqual([]);
    expect(closed(bench)).toEqual([]);
    expect(await bench.store.document(BACKUP_MARK)).toBe(COPIED);
    answered.resolve(null);
    await bench.clock.pass(MINUTE);
    expect(closed(bench)).toEqual([]);
  });
});

describe("a button that the store does not know", () => {
  test("closes its message when it is clicked, even without the mark", async () => {
    const { bench, run, card } = await stage();
    bench.ownMessages.messages.push(anOwnMessage(run, CARD, "1800000000.000001"));
    const ts = MessageTs("1800000000.000001");
    await bench.flow.orphans.pressed(CHANNEL, ts);
    expect(closed(bench)).toMatchObject([{ ts, current: card, copiedAt: null }]);
  });

  test("leaves known messages, messages of others and deleted messages alone", async () => {
    const { bench, run, card } = await stage();
    bench.ownMessages.messages.push(anOwnMessage(run, CARD, card));
    await bench.flow.orphans.pressed(CHANNEL, card);
    await bench.flow.orphans.pressed(CHANNEL, MessageTs("1800000000.000009"));
    expect(closed(bench)).toEqual([]);
  });
});

describe("plans in the copy are confirmed again, because they may have been carried out or undone since", () => {
  /** A bench whose rule holds approvals for ten minutes. `approve` presses the button and submits the form. */
  async function holding(needs = 1) {
    const bench = await createBench();
    bench.policy = aPolicy(aRule({ needs, holdMs: 10 * MINUTE }));
    const { id, approval, click } = await bench.withCard();
    const approve = async (user = click.user): Promise<void> => {
      const { click: newest } = clickOn(await bench.run(id));
      const opened = await bench.flow.openForm.open({ ...newest, user }, "approve");
      if (!opened.ok) throw new Error("the form did not open");
      const by = { team: click.team, user };
      expect((await bench.flow.submitDecision(by, opened.value.ticket.nonce, "go")).ok).toBe(true);
    };
    return { bench, id, approval, approve };
  }

  test.each([
    ["given before the time of the copy", NOON + MINUTE],
    ["given, by a clock that was wrong, after the time of the copy", NOON - MINUTE],
  ])(
    "an approval that was not sent, %s: its card opens again, and its approver is notified",
    async (_, marked) => {
      const { bench, id, approval, approve } = await holding();
      await approve();
      await bench.store.putDocument(BACKUP_MARK, marked);
      await bench.restart();
      await bench.clock.pass(11 * MINUTE);
      expect(bench.agents.resolved).toEqual([]);
      expect((await bench.run(id)).approvals).toMatchObject([
        { id: approval, state: { type: "pending" }, past: [{ cause: "restored" }] },
      ]);
      expect(bench.chat.told).toMatchObject([
        { to: APPROVER, says: { type: "decision-void", cause: "restored" } },
      ]);
    },
  );

  test.each([
    ["after the time of the copy", NOON - MINUTE],
    ["by a clock that was wrong, before the time of the copy", NOON + 60 * MINUTE],
  ])(
    "an approval that was given after the restore, %s, is not asked for again, even after a crash",
    async (_, marked) => {
      const { bench, approve } = await holding();
      bench.ownMessages.beforeRead = () => Promise.reject(failure("timeout"));
      await bench.store.putDocument(BACKUP_MARK, marked);
      await bench.restart();
      await approve();
      await bench.restart();
      await bench.clock.pass(11 * MINUTE);
      expect(bench.agents.resolved).toHaveLength(1);
      expect(await bench.store.document(BACKUP_MARK)).toBe(marked);
    },
  );

  test("an approval is not asked for again although another replica recorded the same restore after it", async () => {
    const { bench, approve } = await holding();
    bench.ownMessages.beforeRead = () => Promise.reject(failure("timeout"));
    await restored(bench);
    const [recorded] = await entries(bench);
    await approve();
    if (recorded !== undefined) await bench.store.audit([recorded.entry]);
    await bench.restart();
    await bench.clock.pass(11 * MINUTE);
    expect(bench.agents.resolved).toHaveLength(1);
    expect(await entries(bench)).toHaveLength(2);
  });

  test("an approval that waited for others no longer counts, and its voter is notified; one given since then does", async () => {
    const { bench, id, approve } = await holding(2);
    bench.ownMessages.beforeRead = () => Promise.reject(failure("timeout"));
    await approve();
    await bench.store.putDocument(BACKUP_MARK, COPIED);
    await bench.restart();
    await bench.clock.pass(MINUTE);
    expect((await bench.run(id)).approvals).toMatchObject([
      {
        state: { type: "pending" },
        votes: [],
        past: [{ cause: "restored", decision: { by: { user: APPROVER } } }],
      },
    ]);
    expect(bench.chat.told.filter(({ to }) => to === APPROVER)).toMatchObject([
      { says: { type: "decision-void", cause: "restored" } },
    ]);
    await approve(SECOND);
    await bench.restart();
    await bench.clock.pass(11 * MINUTE);
    expect((await bench.run(id)).approvals).toMatchObject([
      { state: { type: "pending" }, votes: [{ by: { user: SECOND } }] },
    ]);
    expect(bench.agents.resolved).toEqual([]);
    await approve();
    await bench.clock.pass(11 * MINUTE);
    expect(bench.agents.resolved).toHaveLength(1);
  });

  test.each([NOON + MINUTE, NOON - MINUTE])(
    "a run that was not started: its requester is asked whether to start it, whatever the time of the copy (%d)",
    async (marked) => {
      const bench = await createBench();
      const run = aRun();
      await bench.store.insert(run, { audit: [anAuditEntry(run)] });
      await bench.store.putDocument(BACKUP_MARK, marked);
      await bench.restart();
      await bench.clock.pass(MINUTE);
      expect(bench.agents.created).toEqual([]);
      expect((await bench.store.load(run.key))?.run.creation).toMatchObject({
        type: "unknown",
        again: "asked",
        restored: true,
      });
    },
  );
});
