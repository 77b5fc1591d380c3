// The effects of "This was not me": marks on the card, the alarm, and the receipt.

import { describe, expect, test } from "vitest";
import { notificationMessage } from "#src/adapters/slack/blocks/notification-message.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { auditEntry } from "#src/audit/entry.ts";
import { UserId } from "#src/domain/ids.ts";
import { BUILT_IN, type Policy } from "#src/domain/policy/policy.ts";
import { renderKey } from "#src/domain/render-key.ts";
import { cardSlot, OPENING } from "#src/domain/slot.ts";
import type { Reach } from "#src/ports/notification.ts";
import type { Click } from "#src/usecases/open-form.ts";
import { printedMessage } from "../adapters/slack/blocks/printed.ts";
import { ADMIN, AUDIT_CHANNEL, type Bench, createBench, failure } from "../make/bot.ts";
import { cardOf, disputed, withReceipt } from "../make/dispute.ts";
import { aPolicy } from "../make/policy.ts";
import { BY, decide, disputes, sent } from "../make/receipts.ts";
import { APPROVER } from "../make/run.ts";

const SECOND = UserId("U0SECOND");

describe("a disputed decision", () => {
  test("is marked on its card and on the opening, once, and both are redrawn", async () => {
    const bench = await createBench();
    const { id, receipt } = await withReceipt(bench);
    const [card, opening] = [(await cardOf(bench, id)).key, renderKey(await bench.run(id), OPENING)];
    const drawn: string[] = [];
    bench.chat.update = (_run, slot) => {
      drawn.push(slot);
      return Promise.resolve("updated");
    };
    await bench.flow.dispute(BY, receipt.id);
    await bench.flow.dispute(BY, receipt.id);
    await bench.clock.pass(3_000);
    const { run, approval, shown, key } = await cardOf(bench, id);
    const [entry] = await disputes(bench);
    expect(approval.disputes).toMatchObject([{ entry: entry?.seq, by: APPROVER }]);
    expect(shown).toContain(`⚠️ Disputed by @${APPROVER}`);
    expect(printedMessage(messageIn(run, OPENING))).toContain("disputed");
    expect(key).not.toBe(card);
    expect(renderKey(run, OPENING)).not.toBe(opening);
    expect(drawn).toEqual(expect.arrayContaining([OPENING, cardSlot(approval.id)]));
  });

  test("is marked after a restart if the process died with the report", async () => {
    const bench = await createBench();
    const { id, receipt } = await withReceipt(bench);
    await bench.flow.dispute(BY, receipt.id);
    await bench.restart();
    await bench.clock.pass(20_000);
    expect((await cardOf(bench, id)).approval.disputes).toHaveLength(1);
    await bench.restart();
    await bench.clock.pass(20_000);
    expect((await cardOf(bench, id)).approval.disputes).toHaveLength(1);
  });

  test("is marked on the card of a run that is over", async () => {
    const bench = await createBench();
    const { id, receipt } = await withReceipt(bench);
    bench.agents.statuses.set(id, "succeeded");
    await bench.clock.pass(60 * 60_000);
    await bench.flow.dispute(BY, receipt.id);
    await bench.clock.pass(3_000);
    expect((await cardOf(bench, id)).shown).toContain("⚠️ Disputed by");
  });

  test("leaves no entry other than its own", async () => {
    const bench = await createBench();
    const { receipt } = await withReceipt(bench);
    const before = (await bench.store.auditHead())?.seq ?? 0;
    await bench.flow.dispute(BY, receipt.id);
    await bench.clock.pass(5_000);
    expect((await bench.store.auditHead())?.seq).toBe(before + 1);
  });

  test("keeps no notification waiting if its run is gone", async () => {
    const bench = await createBench();
    const { id, receipt } = await withReceipt(bench);
    bench.agents.statuses.set(id, "succeeded");
    await bench.clock.pass(60_000);
    await bench.store.forget(Number.MAX_SAFE_INTEGER);
    await bench.flow.dispute(BY, receipt.id);
    await bench.clock.pass(5_000);
    expect(sent(bench, "dispute")).toHaveLength(2);
  });
});

describe("the receipt", () => {
  test("asks for confirmation before it raises an alarm", async () => {
    const bench = await createBench();
    const { receipt } = await withReceipt(bench);
    const drawn = JSON.stringify(notificationMessage(receipt, receipt.facts).blocks);
    for (const words of ["Raise an alarm?", "Yes, it was not me", "Cancel"]) expect(drawn).toContain(words);
  });

  test("has no button after the report, and says when it was made", async () => {
    const bench = await createBench();
    const { answer, receipt } = await disputed(bench);
    const again = await bench.flow.dispute(BY, receipt.id);
    const [entry] = await disputes(bench);
    for (const each of [answer, again]) {
      if (!each.ok) throw new Error(each.error);
      const { reportedAt, facts } = each.value;
      if (facts === null) throw new Error("no facts");
      expect(reportedAt).toBe(entry?.entry.at);
      const shown = printedMessage(notificationMessage(receipt, facts, { reportedAt }));
      expect(shown).toContain("You reported this");
      expect(shown).not.toContain("[This was not me]");
    }
  });
});

describe("the receipt, if the store fails after the report", () => {
  test("is not drawn, because what it says is not known", async () => {
    const bench = await createBench();
    const { receipt } = await withReceipt(bench);
    bench.store.auditText = () => Promise.reject(failure("store_down"));
    const answer = await bench.flow.dispute(BY, receipt.id);
    expect(answer).toMatchObject({ ok: true, value: { again: false, facts: null } });
    expect(await disputes(bench)).toHaveLength(1);
  });
});

describe("the alarm", () => {
  test("links to the card, names the run and the command for its evidence, in at most six lines", async () => {
    const bench = await createBench();
    const { id } = await disputed(bench);
    const { run, approval } = await cardOf(bench, id);
    const post = run.posts[cardSlot(approval.id)];
    const alarms = sent(bench, "dispute");
    expect(alarms.map(({ to }) => to).toSorted()).toEqual([ADMIN, AUDIT_CHANNEL].toSorted());
    for (const alarm of alarms) {
      expect(alarm.facts.card).toBe(post?.type === "up" ? post.ts : "none");
      const link = "https://example.slack.com/archives/C0OPS/p1";
      const shown = printedMessage(notificationMessage(alarm, alarm.facts, { link }));
      const [, ...lines] = shown.split("\n").filter((each) => each !== "");
      expect(lines.length).toBeLessThanOrEqual(6);
      for (const words of [
        id,
        `[Open the card](${link})`,
        `/agent audit ${id}`,
        `/agent audit close ${id} <what you found>`,
        `@${APPROVER}`,
      ])
        expect(shown).toContain(words);
    }
  });
});

describe("the answer and the alarm say of the decision", () => {
  type Happens = (bench: Bench, click: Click) => Promise<unknown>;
  const HELD = aPolicy({ holdMs: 60_000 });

  test.for<readonly [string, Policy, Reach, Happens]>([
    ["that was sent", BUILT_IN, "maybe", async () => undefined],
    ["that is on hold", HELD, "not-yet", async () => undefined],
    ["that waits for another one", aPolicy({ needs: 2 }), "not-yet", async () => undefined],
    ["that was held, then sent", HELD, "maybe", (bench) => bench.clock.pass(70_000)],
    [
      "that someone denied first",
      HELD,
      "never",
      (bench, click) => decide(bench, { ...click, user: SECOND }, "deny"),
    ],
    ["that was undone", HELD, "never", (bench, click) => bench.flow.undoDecision.onCard(click)],
    [
      "that was held before the database was restored",
      HELD,
      "maybe",
      ({ store, clock }) =>
        store.audit([auditEntry(null, { at: clock.now(), what: "restored", outcome: "restored" })]),
    ],
  ])("%s", async ([, policy, reach, happens]) => {
    const bench = await createBench();
    bench.policy = policy;
    const { receipt, click } = await withReceipt(bench);
    await happens(bench, click);
    expect(await bench.flow.dispute(BY, receipt.id)).toMatchObject({ ok: true, value: { reach } });
    await bench.clock.pass(3_000);
    const alarms = sent(bench, "dispute").map(({ facts }) => facts.reach);
    expect(alarms).toEqual([reach, reach]);
  });

  test("that two approved and that was sent: each of them may have left", async () => {
    const bench = await createBench();
    bench.policy = aPolicy({ needs: 2 });
    const { receipt, click } = await withReceipt(bench);
    await decide(bench, { ...click, user: SECOND }, "approve");
    await bench.clock.pass(3_000);
    expect(await bench.flow.dispute(BY, receipt.id)).toMatchObject({ value: { reach: "maybe" } });
  });
});
