// The audit's effects outside of it: receipts, "This was not me", and the daily head.

import { describe, expect, test } from "vitest";
import { MessageTs, UserId } from "#src/domain/ids.ts";
import { auditEntry } from "#src/audit/entry.ts";
import { notificationMessage } from "#src/adapters/slack/blocks/notification-message.ts";
import { REFUSED_TRIES } from "#src/domain/posted-message.ts";
import { ADMIN, AUDIT_CHANNEL, createBench, failure } from "../make/bot.ts";
import { aNonce, APPROVER, CHANNEL, NOON, type TEAM } from "../make/run.ts";
import { BY, decided, disputes, receiptOf, sent } from "../make/receipts.ts";

describe("a receipt", () => {
  test("is sent to the person who decided, once, and names their entry", async () => {
    const bench = await createBench();
    const { id } = await decided(bench);
    const receipt = await receiptOf(bench);
    expect(receipt.to).toBe(APPROVER);
    expect(receipt.facts).toMatchObject({ action: "delete it", channel: CHANNEL });
    expect(receipt.facts.entry.entry).toMatchObject({
      what: "decided",
      verdict: "approve",
      runId: id,
      by: BY,
    });
    await bench.clock.pass(60_000);
    expect(sent(bench, "receipt")).toHaveLength(1);
  });

  test("is not sent to a person who was refused", async () => {
    const bench = await createBench();
    const { click } = await bench.withCard();
    bench.people.facts = { kind: "guest" };
    await bench.flow.openForm.open(click, "approve");
    await bench.clock.pass(5_000);
    expect(sent(bench, "receipt")).toEqual([]);
  });

  test("is written after a restart if the process died with the decision", async () => {
    const bench = await createBench();
    await decided(bench);
    expect(sent(bench, "receipt")).toEqual([]);
    await bench.restart();
    await receiptOf(bench);
    await bench.restart();
    await bench.clock.pass(20_000);
    expect(sent(bench, "receipt")).toHaveLength(1);
  });

  test("is sent again if its answer was lost, since a missing receipt would go unnoticed", async () => {
    const bench = await createBench();
    const post = bench.notificationSender.post.bind(bench.notificationSender);
    bench.notificationSender.post = () => Promise.reject(failure("timeout", { applied: "maybe" }));
    await decided(bench);
    await bench.clock.pass(2_000);
    bench.notificationSender.post = post;
    expect(sent(bench, "receipt")).toEqual([]);
    const receipt = await bench.clock.pass(20_000).then(() => receiptOf(bench));
    expect(await bench.store.notification(receipt.id)).toMatchObject({ post: { type: "up" } });
  });

  test("that Slack refuses is given up after a while, and the log says so", async () => {
    const bench = await createBench();
    const post = bench.notificationSender.post.bind(bench.notificationSender);
    const gone = failure("user_disabled", { retry: "never" });
    bench.notificationSender.post = (notification, facts) =>
      notification.kind === "receipt" ? Promise.reject(gone) : post(notification, facts);
    await decided(bench);
    await bench.clock.pass((REFUSED_TRIES + 2) * 5 * 60_000);
    expect(await bench.store.notifications(100)).toEqual([]);
    const tries = bench.errors.filter((each) => each.includes("notification"));
    expect(tries).toHaveLength(REFUSED_TRIES);
    expect(tries.filter((each) => each.includes("given up"))).toEqual(tries.slice(-1));
  });

  test("is not written for decisions from before the first start with notifications", async () => {
    const bench = await createBench();
    await decided(bench);
    await bench.store.putDocument("audit letters", (await bench.store.auditHead())?.seq ?? 0);
    await bench.restart();
    await bench.clock.pass(20_000);
    expect(sent(bench, "receipt")).toEqual([]);
  });
});

describe('"This was not me"', () => {
  test("adds an entry to the marked one and alerts the admins and the audit channel, once", async () => {
    const bench = await createBench();
    const { id, approval } = await decided(bench);
    const receipt = await receiptOf(bench);
    expect(await bench.flow.dispute(BY, receipt.id)).toMatchObject({
      ok: true,
      value: { again: false, notified: { admins: 1, channel: true } },
    });
    expect(await bench.flow.dispute(BY, receipt.id)).toMatchObject({
      ok: true,
      value: { again: true, notified: { admins: 1, channel: true } },
    });
    const [marked, ...more] = await disputes(bench);
    expect(more).toEqual([]);
    expect(marked?.entry).toMatchObject({
      by: BY,
      refers: receipt.entry,
      runId: id,
      approval,
      verdict: "approve",
    });
    expect((await bench.store.auditEntry(receipt.entry))?.entry.what).toBe("decided");
    await bench.clock.pass(60_000);
    const alerts = sent(bench, "dispute");
    expect(alerts.map(({ to }) => to).sort()).toEqual([AUDIT_CHANNEL, ADMIN].sort());
    for (const { facts } of alerts)
      expect(facts).toMatchObject({ action: "delete it", about: { seq: receipt.entry } });
  });

  test("changes no decision: what was decided stays decided", async () => {
    const bench = await createBench();
    const { id } = await decided(bench);
    const receipt = await receiptOf(bench);
    const before = bench.agents.resolved.length;
    await bench.flow.dispute(BY, receipt.id);
    await bench.clock.pass(10_000);
    expect(bench.agents.resolved).toHaveLength(before);
    expect((await bench.run(id)).approvals[0]?.state).toMatchObject({ delivery: { type: "confirmed" } });
  });

  test.for([
    ["someone else", { ...BY, user: UserId("U0SECOND") }, "theirs"],
    ["a person of another workspace", { ...BY, team: "T0OTHER" as typeof TEAM }, "theirs"],
    ["a person who made up a button", BY, "made up"],
    ["a person whose button carries nothing", BY, "none"],
  ] as const)("is not accepted from %s, and the attempt is recorded", async ([, by, which]) => {
    const bench = await createBench();
    await decided(bench);
    const receipt = await receiptOf(bench);
    const nonce = which === "theirs" ? receipt.id : which === "made up" ? aNonce() : null;
    expect(await bench.flow.dispute(by, nonce)).toEqual({ ok: false, error: "unknown" });
    expect(await disputes(bench)).toEqual([]);
    const [last] = (await bench.store.auditAfter(0, ["refused"], 100)).slice(-1);
    expect(last?.entry).toMatchObject({ by, step: "receipt", refusal: "unknown" });
    await bench.clock.pass(5_000);
    expect(sent(bench, "dispute")).toEqual([]);
  });

  test("is not accepted from the alert about it, which carries no button of its reader's", async () => {
    const bench = await createBench();
    await decided(bench);
    await bench.flow.dispute(BY, (await receiptOf(bench)).id);
    await bench.clock.pass(5_000);
    const alert = sent(bench, "dispute").find(({ to }) => to === ADMIN);
    const admin = { ...BY, user: ADMIN };
    expect(await bench.flow.dispute(admin, alert?.id ?? aNonce())).toMatchObject({ ok: false });
  });
});

test("an erased text is reported to the admins and the audit channel, with the person who asked for it", async () => {
  const bench = await createBench();
  await bench.clock.pass(2_000);
  const digest = "ab".repeat(32);
  const outcome = "asked for at the shell by root on vm";
  await bench.store.audit([
    auditEntry(null, { at: NOON, what: "redacted", digest, outcome, reason: "Ana asked" }),
  ]);
  await bench.clock.pass(3_000);
  const notifications = sent(bench, "redaction");
  expect(notifications.map(({ to }) => to).toSorted()).toEqual([AUDIT_CHANNEL, ADMIN].toSorted());
  const [notification] = notifications;
  if (notification === undefined) throw new Error("no notification");
  const drawn = JSON.stringify(notificationMessage(notification, notification.facts));
  for (const words of [digest, outcome, "Ana asked"]) expect(drawn).toContain(words);
});

describe("the audit's head", () => {
  test("is posted once a day in the audit channel, and not while there is nothing new", async () => {
    const bench = await createBench();
    await bench.clock.pass(5_000);
    expect(sent(bench, "head")).toEqual([]);
    await bench.withCard();
    await bench.clock.pass(5_000);
    const [first] = sent(bench, "head");
    expect(first).toMatchObject({ to: AUDIT_CHANNEL });
    await bench.restart();
    await bench.clock.pass(60_000);
    expect(sent(bench, "head")).toHaveLength(1);
    // Past midnight, on the wall clock only: half a day of polls would take long. The test begins at noon.
    bench.clock.step(12 * 60 * 60_000);
    await bench.clock.pass(60 * 60_000);
    const [, second, ...more] = sent(bench, "head");
    expect(more).toEqual([]);
    expect(second?.facts.entry.link).toBe((await bench.store.auditEntry(second?.entry ?? 0))?.link);
  });

  test("whose answer was lost is looked for in the channel, and not posted again", async () => {
    const bench = await createBench();
    const post = bench.notificationSender.post.bind(bench.notificationSender);
    bench.notificationSender.post = async (notification, facts) => {
      await post(notification, facts);
      throw failure("timeout", { applied: "maybe" });
    };
    await bench.withCard();
    await bench.clock.pass(30_000);
    expect(sent(bench, "head")).toHaveLength(1);
    expect((await bench.store.notifications(100)).filter(({ kind }) => kind === "head")).toEqual([]);
  });

  test("is marked in the store before its first byte leaves", async () => {
    const bench = await createBench();
    const post = bench.notificationSender.post.bind(bench.notificationSender);
    const marks: unknown[] = [];
    bench.notificationSender.post = async (notification, facts) => {
      marks.push((await bench.store.notification(notification.id))?.post);
      return post(notification, facts);
    };
    await bench.withCard();
    await bench.clock.pass(5_000);
    expect(marks).toMatchObject([{ type: "sending", tries: 1 }]);
  });

  test.for([["arrived"], ["did not arrive"]] as const)(
    "whose process died before the answer, and which %s, is looked for first",
    async ([how]) => {
      const bench = await createBench();
      const post = bench.notificationSender.post.bind(bench.notificationSender);
      const acts: string[] = [];
      const find = bench.notificationSender.find.bind(bench.notificationSender);
      bench.notificationSender.find = (notification) => {
        acts.push("find");
        return find(notification);
      };
      bench.notificationSender.post = async (notification, facts) => {
        acts.push("post");
        if (how === "arrived") await post(notification, facts);
        return new Promise(() => undefined);
      };
      await bench.withCard();
      await bench.clock.pass(5_000);
      bench.notificationSender.post = async (notification, facts) => {
        acts.push("post");
        return post(notification, facts);
      };
      await bench.restart();
      await bench.clock.pass(60_000);
      expect(sent(bench, "head")).toHaveLength(1);
      expect(acts.slice(0, 3)).toEqual(
        how === "arrived" ? ["post", "find", "find"] : ["post", "find", "post"],
      );
      expect((await bench.store.notifications(100)).filter(({ kind }) => kind === "head")).toEqual([]);
    },
  );

  test("whose outcome could not be stored is looked for, and not posted again", async () => {
    const bench = await createBench();
    const save = bench.store.saveNotification.bind(bench.store);
    let fails = 1;
    bench.store.saveNotification = (notification, toDo) => {
      if (notification.post.type !== "up" || fails === 0) return save(notification, toDo);
      fails -= 1;
      return Promise.reject(failure("disk_full"));
    };
    await bench.withCard();
    await bench.clock.pass(60_000);
    expect(fails).toBe(0);
    expect(sent(bench, "head")).toHaveLength(1);
    expect((await bench.store.notifications(100)).filter(({ kind }) => kind === "head")).toEqual([]);
  });

  test("that arrives late, after it was posted again, is removed from the channel", async () => {
    const bench = await createBench();
    const [late, second] = [MessageTs("1700000001.000001"), MessageTs("1700000001.000002")];
    const there = new Set<MessageTs>();
    let posts = 0;
    bench.notificationSender.post = () => {
      posts += 1;
      if (posts === 1) {
        bench.clock.after(20_000, () => void there.add(late));
        return Promise.reject(failure("timeout", { applied: "maybe" }));
      }
      there.add(second);
      return Promise.resolve(second);
    };
    bench.notificationSender.find = () => Promise.resolve([...there].sort());
    bench.notificationSender.remove = (_letter, ts) => Promise.resolve(void there.delete(ts));
    await bench.withCard();
    await bench.clock.pass(15_000);
    expect([...there]).toEqual([second]);
    await bench.restart();
    await bench.clock.pass(60_000);
    expect([...there]).toEqual([second]);
    expect(posts).toBe(2);
    expect((await bench.store.notifications(100)).filter(({ kind }) => kind === "head")).toEqual([]);
  });
});
