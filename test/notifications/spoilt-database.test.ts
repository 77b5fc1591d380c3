// Someone who can write to the database must not be able to silence the notifications, least of all the alarms about it.

import { describe, expect, test } from "vitest";
import { auditEntry } from "#src/audit/entry.ts";
import { UserId } from "#src/domain/ids.ts";
import { PLANNED } from "#src/domain/posted-message.ts";
import { AUDIT_CHANNEL, type Bench, createBench } from "../make/bot.ts";
import { BY, decided, receiptOf, sent } from "../make/receipts.ts";
import { aNonce, APPROVER, NOON } from "../make/run.ts";
import { rowThatIsNoEntry, withFile } from "../make/spoilt-database.ts";

const MIN = 60_000;

const textsBecome = (text: string): string => `update audit_texts set text = '${text}'`;

const brokenRun = (key: string | null): string => `update runs set doc = '{' where key = '${key ?? ""}'`;

describe("a row of the audit that is no entry", () => {
  test("is reported as tampering, and the entries after it are followed", async () => {
    const { bench, spoil } = await withFile();
    await decided(bench);
    const receipt = await receiptOf(bench);
    spoil(...rowThatIsNoEntry());
    expect(await bench.flow.dispute(BY, receipt.id)).toMatchObject({ ok: true });
    await bench.clock.pass(5 * MIN);
    expect(sent(bench, "dispute").length).toBeGreaterThan(0);
    expect(await bench.store.auditAfter(0, ["tampering-found"], 10)).toHaveLength(1);
  });

  test("does not keep back what waits already", async () => {
    const { bench, spoil } = await withFile();
    await decided(bench);
    await receiptOf(bench);
    await decided(bench);
    await bench.clock.pass(3_000);
    expect(await bench.store.notifications(10)).toHaveLength(1);
    spoil(...rowThatIsNoEntry());
    await bench.clock.pass(30 * MIN);
    expect(sent(bench, "receipt")).toHaveLength(2);
  });
});

describe("an entry that is spoilt", () => {
  test("as the newest one does not keep back the alarm before it", async () => {
    const { bench, spoil } = await withFile();
    await decided(bench);
    const receipt = await receiptOf(bench);
    expect(await bench.flow.dispute(BY, receipt.id)).toMatchObject({ ok: true });
    spoil(...rowThatIsNoEntry());
    await bench.clock.pass(5 * MIN);
    expect(sent(bench, "dispute").length).toBeGreaterThan(0);
  });

  test("after it was disputed does not keep back the alarm", async () => {
    const { bench, spoil } = await withFile();
    await decided(bench);
    const receipt = await receiptOf(bench);
    expect(await bench.flow.dispute(BY, receipt.id)).toMatchObject({ ok: true });
    spoil("update audit set entry = '{}' where what = 'decided'");
    await bench.clock.pass(5 * MIN);
    expect(sent(bench, "dispute").length).toBeGreaterThan(0);
  });

  test("while its receipt waits is reported as tampering", async () => {
    const { bench, spoil } = await withFile();
    await decided(bench);
    await receiptOf(bench);
    await decided(bench);
    await bench.clock.pass(10_000);
    spoil("update audit set entry = '{}' where seq = (select max(seq) from audit where what = 'decided')");
    await bench.clock.pass(20 * MIN);
    expect(await bench.store.auditAfter(0, ["tampering-found"], 10)).toHaveLength(1);
  });
});

test("an entry of a newer release is no tampering, and the entries after it are followed", async () => {
  const bench = await createBench();
  await decided(bench);
  const receipt = await receiptOf(bench);
  const facts = {
    at: bench.clock.now(),
    what: "redacted",
    outcome: "x",
    step: "a new word" as never,
  } as const;
  await bench.store.audit([auditEntry(null, facts)]);
  expect(await bench.flow.dispute(BY, receipt.id)).toMatchObject({ ok: true });
  await bench.clock.pass(5 * MIN);
  expect(sent(bench, "dispute").length).toBeGreaterThan(0);
  expect(await bench.store.auditAfter(0, ["tampering-found"], 10)).toEqual([]);
});

describe("a notification of a kind that this release does not know", () => {
  test("is no tampering, because a newer release in another replica adds and sends it", async () => {
    const bench = await createBench();
    await decided(bench);
    const { entry } = await receiptOf(bench);
    const strange = { id: aNonce(), kind: "monthly" as never, entry, to: AUDIT_CHANNEL } as const;
    await bench.store.addNotifications([{ ...strange, madeAt: NOON, post: PLANNED }]);
    await bench.clock.pass(30 * MIN);
    expect(sent(bench, "receipt")).toHaveLength(1);
    expect(await bench.store.strangeNotifications(10)).toEqual([{ id: strange.id, entry }]);
    expect(await bench.store.auditAfter(0, ["tampering-found"], 10)).toEqual([]);
    const warnings = bench.warnings.filter((words) => words.includes("a kind that this release"));
    expect(warnings).toHaveLength(1);
  });

  test("hides nothing: what its entry demands is sent all the same", async () => {
    const { bench, spoil } = await withFile();
    await decided(bench);
    await receiptOf(bench);
    await decided(bench);
    await bench.clock.pass(3_000);
    spoil("update notifications set kind = 'monthly', to_id = 'nobody' where to_do = 1");
    await bench.clock.pass(30 * MIN);
    expect(sent(bench, "receipt")).toHaveLength(2);
  });

  test("is tampering if its entry is forged", async () => {
    const { bench, spoil } = await withFile();
    await decided(bench);
    await receiptOf(bench);
    await decided(bench);
    await bench.clock.pass(3_000);
    spoil(
      "update audit set entry = '{}' where seq = (select entry from notifications where to_do = 1)",
      "update notifications set kind = 'monthly' where to_do = 1",
    );
    await bench.clock.pass(10_000);
    expect(await bench.store.auditAfter(0, ["tampering-found"], 10)).toHaveLength(1);
  });
});

test("a receipt that is marked as disputed in the database can be disputed", async () => {
  const { bench, spoil } = await withFile();
  await decided(bench);
  const receipt = await receiptOf(bench);
  spoil("update notifications set disputed = 1");
  expect(await bench.flow.dispute(BY, receipt.id)).toMatchObject({ ok: true, value: { again: false } });
  expect(await bench.flow.dispute(BY, receipt.id)).toMatchObject({ ok: true, value: { again: true } });
  expect(await bench.store.auditAfter(0, ["disputed"], 10)).toMatchObject([
    { entry: { refers: receipt.entry } },
  ]);
  await bench.clock.pass(5 * MIN);
  expect(sent(bench, "dispute").length).toBeGreaterThan(0);
});

test("an entry of another kind whose row calls itself a dispute silences no dispute", async () => {
  const { bench, spoil } = await withFile();
  await decided(bench);
  const receipt = await receiptOf(bench);
  spoil("update audit set what = 'disputed' where what in ('sent', 'settled')");
  expect(await bench.flow.dispute(BY, receipt.id)).toMatchObject({ value: { again: false } });
  const reportedAt = bench.clock.now();
  await bench.clock.pass(5 * MIN);
  expect(sent(bench, "dispute").length).toBeGreaterThan(0);
  expect(await bench.store.auditAfter(0, ["tampering-found"], 10)).not.toEqual([]);
  expect(await bench.flow.dispute(BY, receipt.id)).toMatchObject({ value: { again: true, reportedAt } });
});

test("rows about other decisions that call themselves disputes hide no report", async () => {
  const { bench, spoil } = await withFile();
  await decided(bench);
  const receipt = await receiptOf(bench);
  const reportedAt = bench.clock.now();
  const facts = { at: reportedAt, what: "opened", outcome: "x" } as const;
  await bench.store.audit(Array.from({ length: 100 }, () => auditEntry(null, facts)));
  spoil("update audit set what = 'disputed' where what = 'opened'");
  await bench.flow.dispute(BY, receipt.id);
  expect(await bench.flow.dispute(BY, receipt.id)).toMatchObject({ value: { again: true, reportedAt } });
});

describe("a stored receipt", () => {
  const SECOND = UserId("U0SECOND");
  const disputers = async ({ store }: Bench) =>
    (await store.auditAfter(0, ["disputed"], 10)).map(({ entry }) => entry.by?.user);

  /** The newest decision of another person. */
  const ofAnother = (what: "decided" | "settled"): string =>
    `(select max(seq) from audit where what = '${what}' and by_user = '${SECOND}')`;

  test.for(["decided", "settled"] as const)(
    "that names a %s entry of another person disputes nothing and uses up nothing",
    async (what) => {
      const { bench, spoil } = await withFile();
      await decided(bench);
      const receipt = await receiptOf(bench);
      await decided(bench, "deny", SECOND);
      await bench.clock.pass(5 * MIN);
      spoil(`update notifications set entry = ${ofAnother(what)} where to_id = '${APPROVER}'`);
      expect(await bench.flow.dispute(BY, receipt.id)).toEqual({ ok: false, error: "unproven" });
      await bench.clock.pass(5 * MIN);
      expect(sent(bench, "dispute")).toEqual([]);
      expect(await bench.store.auditAfter(0, ["tampering-found"], 10)).toHaveLength(1);
      const [other] = sent(bench, "receipt").filter(({ to }) => to === SECOND);
      if (other === undefined) throw new Error("no receipt");
      expect(await bench.flow.dispute({ ...BY, user: SECOND }, other.id)).toMatchObject({
        value: { again: false },
      });
      expect(await disputers(bench)).toEqual([SECOND]);
    },
  );

  test("that names an entry of the same person that is no decision disputes nothing", async () => {
    const { bench, spoil } = await withFile();
    await decided(bench);
    const receipt = await receiptOf(bench);
    spoil("update notifications set entry = (select max(seq) from audit where what = 'sent')");
    expect(await bench.flow.dispute(BY, receipt.id)).toEqual({ ok: false, error: "unproven" });
    expect(await disputers(bench)).toEqual([]);
  });

  test("that was given to another person in the database belongs to the person who decided", async () => {
    const { bench, spoil } = await withFile();
    await decided(bench);
    const receipt = await receiptOf(bench);
    spoil(`update notifications set to_id = '${SECOND}', kind = 'answered'`);
    expect(await bench.flow.dispute({ ...BY, user: SECOND }, receipt.id)).toMatchObject({ ok: false });
    expect(await bench.flow.dispute(BY, receipt.id)).toMatchObject({ ok: true });
    expect(await disputers(bench)).toEqual([APPROVER]);
  });
});

describe("a run that cannot be read", () => {
  test("does not keep back the alarm of a dispute", async () => {
    const { bench, spoil } = await withFile();
    const { id } = await decided(bench);
    const receipt = await receiptOf(bench);
    spoil(brokenRun(await bench.store.byRunId(id)));
    expect(await bench.flow.dispute(BY, receipt.id)).toMatchObject({ ok: true });
    await bench.clock.pass(5 * MIN);
    expect(sent(bench, "dispute").length).toBeGreaterThan(0);
  });

  test("does not keep back the receipts of other decisions", async () => {
    const { bench, spoil } = await withFile();
    await decided(bench);
    await receiptOf(bench);
    const { id } = await decided(bench);
    spoil(brokenRun(await bench.store.byRunId(id)));
    await decided(bench);
    await decided(bench);
    await bench.clock.pass(60 * MIN);
    expect(sent(bench, "receipt").length).toBeGreaterThan(2);
  });
});

describe("a stored text that was changed", () => {
  test("is not what a receipt names", async () => {
    const { bench, spoil } = await withFile();
    await decided(bench);
    await receiptOf(bench);
    await decided(bench);
    spoil(textsBecome('["run","apr_1",{"action":"Read the wiki"}]'));
    await bench.clock.pass(16 * MIN);
    const receipts = sent(bench, "receipt");
    expect(receipts).toHaveLength(2);
    expect(receipts[1]?.facts.action).toBeNull();
  });

  test("does not keep back the alarm of a dispute", async () => {
    const { bench, spoil } = await withFile();
    await decided(bench);
    const receipt = await receiptOf(bench);
    spoil(textsBecome("x"));
    expect(await bench.flow.dispute(BY, receipt.id)).toMatchObject({ ok: true });
    await bench.clock.pass(5 * MIN);
    expect(sent(bench, "dispute").length).toBeGreaterThan(0);
  });
});

describe.each(["9007199254740991", "-1", "{", '"everything"'])(
  "the number of the last entry that was followed, set to %s,",
  (doc) => {
    test("silences nothing and doubles nothing, also after a restart", async () => {
      const { bench, spoil } = await withFile();
      await decided(bench);
      await receiptOf(bench);
      spoil(`update documents set doc = '${doc}' where name = 'audit letters'`);
      const facts = {
        at: bench.clock.now(),
        what: "decided",
        outcome: "recorded",
        verdict: "approve",
      } as const;
      await bench.store.audit([auditEntry(null, { ...facts, by: BY })]);
      await bench.restart();
      await bench.clock.pass(30 * MIN);
      expect(sent(bench, "receipt")).toHaveLength(2);
      await decided(bench);
      await bench.clock.pass(30 * MIN);
      expect(sent(bench, "receipt")).toHaveLength(3);
    });
  },
);

test("a number of an entry that does not exist is one finding, which is notified", async () => {
  const { bench, spoil } = await withFile();
  await decided(bench);
  await receiptOf(bench);
  spoil("update documents set doc = '9007199254740991' where name = 'audit letters'");
  await bench.restart();
  await bench.clock.pass(5 * MIN);
  await bench.restart();
  await bench.clock.pass(5 * MIN);
  expect(await bench.store.auditAfter(0, ["tampering-found"], 10)).toHaveLength(1);
  expect(sent(bench, "tampering").length).toBeGreaterThan(0);
});

describe("the stored day of the audit's last head", () => {
  const HALF_A_DAY = 12 * 60 * MIN;
  const becomes = (doc: string): string =>
    `update documents set doc = '${doc}' where name = 'audit head day'`;

  test("that is set to the new day before its head is posted keeps no head back while the process runs", async () => {
    const { bench, spoil } = await withFile();
    await bench.withCard();
    await bench.clock.pass(5_000);
    spoil(becomes('"2026-11-21"'));
    bench.clock.step(HALF_A_DAY);
    await bench.withCard();
    await bench.clock.pass(MIN);
    expect(sent(bench, "head")).toHaveLength(2);
  });

  test("that cannot be read keeps no head back, also after a restart", async () => {
    const { bench, spoil } = await withFile();
    await bench.withCard();
    await bench.clock.pass(5_000);
    spoil(becomes("{"));
    await bench.restart();
    bench.clock.step(HALF_A_DAY);
    await bench.withCard();
    await bench.clock.pass(MIN);
    expect(sent(bench, "head")).toHaveLength(2);
  });
});
