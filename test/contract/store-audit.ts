// What every store guarantees for the audit: the chain, the full texts, and the notifications that follow from it.

import { createHash } from "node:crypto";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { auditSignatures } from "#src/adapters/store/audit-key.ts";
import type { AuditEntry } from "#src/audit/entry.ts";
import { linkText, NO_LINK, signedText } from "#src/domain/audit/hash-chain.ts";
import { type ApprovalId, RunId, UserId } from "#src/domain/ids.ts";
import { PLANNED } from "#src/domain/posted-message.ts";
import type { Run } from "#src/domain/run.ts";
import type { Notification } from "#src/ports/notification.ts";
import { lastEntry } from "../make/last-entry.ts";
import {
  anApproval,
  anAuditEntry,
  aNonce,
  aRun,
  aRunId,
  aTicket,
  aWatchedRun,
  NOON,
  withApprovals,
} from "../make/run.ts";
import { type MakeStore, storeBench } from "./store-bench.ts";

const ALL: readonly AuditEntry["what"][] = ["opened", "decided", "disputed", "refused", "started"];
const sha256 = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

export function auditContract(name: string, makeStore: MakeStore): void {
  describe(`${name} keeps the contract of an audit`, () => {
    const bench = storeBench(makeStore);
    const kept = () => bench.store.auditAfter(0, ALL, 10_000);
    const aReceipt = (facts: Partial<Notification> = {}): Notification => ({
      id: aNonce(),
      kind: "receipt",
      entry: 1,
      to: UserId("U0APPROVER"),
      madeAt: bench.now,
      post: PLANNED,
      ...facts,
    });

    /** Checks that each link follows from the previous one, and each signature from its link. */
    async function expectWhole(): Promise<number> {
      const good = auditSignatures([bench.store.auditPublicKey()]);
      let previous = NO_LINK;
      const entries = await kept();
      for (const [index, { seq, link }] of entries.entries()) {
        expect(seq).toBe(index + 1);
        const proof = await bench.store.auditProof(seq);
        if (proof === null) throw new Error(`no proof of ${seq}`);
        const { text, key, signature } = proof;
        expect(link).toBe(sha256(linkText(previous, { seq, key, text })));
        expect(good(key, signedText({ seq, link }), signature)).toBe("good");
        previous = link;
      }
      return entries.length;
    }

    test("entries are numbered from one, chained and signed, whichever call wrote them", async () => {
      expect(await bench.store.auditHead()).toBeNull();
      const run = withApprovals(aRun(), anApproval());
      await bench.store.insert(run, { audit: [anAuditEntry(run)] });
      await bench.store.save({ run, revision: 1 }, run, { audit: [anAuditEntry(run, { what: "decided" })] });
      const [approval = anApproval()] = run.approvals;
      await bench.store.saveForm(aTicket(run, approval), [anAuditEntry(run, { what: "opened" })]);
      await bench.store.audit([
        anAuditEntry(run),
        anAuditEntry(run, { what: "refused", reason: "no \u202e ü" }),
      ]);
      expect(await expectWhole()).toBe(5);
      expect((await lastEntry(bench.store))?.reason).toBe("no \u202e ü");
    });

    test("concurrent writers get an entry each, and the chain holds", async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.nat(3), { minLength: 2, maxLength: 20 }), async (sizes) => {
          const before = (await bench.store.auditHead())?.seq ?? 0;
          await Promise.all(
            sizes.map(async (size) => {
              const run = aRun();
              const audit = Array.from({ length: size }, () => anAuditEntry(run));
              await bench.store.insert(run, { audit });
              await bench.store.save({ run, revision: 1 }, run, { audit });
            }),
          );
          const written = 2 * sizes.reduce((sum, size) => sum + size, 0);
          expect(await expectWhole()).toBe(before + written);
        }),
        { numRuns: 10 },
      );
    });

    test("a failed write leaves no entry and no gap", async () => {
      const run = aRun();
      await bench.store.insert(run, { audit: [anAuditEntry(run)] });
      await bench.store.insert(run, { audit: [anAuditEntry(run)] });
      expect(await bench.store.save({ run, revision: 9 }, run, { audit: [anAuditEntry(run)] })).toBe("lost");
      await bench.store.audit([]);
      await bench.store.audit([anAuditEntry(run, { what: "refused" })]);
      expect(await expectWhole()).toBe(2);
    });

    test("a save can store the numbers of its entries in the run", async () => {
      const run = aRun();
      await bench.store.insert(run, { audit: [anAuditEntry(run)] });
      const afterAudit = (saved: Run, marks: readonly { seq: number; link: string }[]): Run => ({
        ...saved,
        input: marks.map(({ seq, link }) => `${seq} ${link}`).join(),
      });
      const audit = [anAuditEntry(run), anAuditEntry(run)];
      expect(await bench.store.save({ run, revision: 1 }, run, { audit, afterAudit })).toBe("saved");
      const entries = await kept();
      const { input } = (await bench.loaded(run.key)).run;
      expect(input).toBe(
        entries
          .slice(1)
          .map(({ seq, link }) => `${seq} ${link}`)
          .join(),
      );
    });

    test("an entry is read as it was written; its full text is stored once per digest", async () => {
      const run = aRun();
      const digest = sha256("the whole request");
      const asked = anAuditEntry(run, { what: "decided", digest, text: "the whole request" });
      await bench.store.audit([asked, asked, anAuditEntry(run, { what: "refused", digest: "unknown" })]);
      const { text, ...entry } = asked;
      const [first] = await kept();
      expect(first?.entry).toEqual({ ...entry, textKept: true });
      expect(await bench.store.auditText(digest)).toBe(text);
      expect(await bench.store.auditText("unknown")).toBeNull();
      expect((await bench.store.auditEntry(1))?.entry).toEqual(first?.entry);
      expect(await bench.store.auditEntry(99)).toBeNull();
      expect(await bench.store.auditProof(99)).toBeNull();
    });

    test("entries are found after a number, by kind, and no more than asked for", async () => {
      const run = aRun();
      await bench.store.audit(
        (["opened", "decided", "refused", "decided"] as const).map((what) => anAuditEntry(run, { what })),
      );
      const seqs = async (...asked: Parameters<typeof bench.store.auditAfter>): Promise<number[]> =>
        (await bench.store.auditAfter(...asked)).map(({ seq }) => seq);
      expect(await seqs(0, ["decided"], 9)).toEqual([2, 4]);
      expect(await seqs(2, ["decided", "refused"], 9)).toEqual([3, 4]);
      expect(await seqs(0, ALL, 2)).toEqual([1, 2]);
      expect(await seqs(4, ALL, 9)).toEqual([]);
      const links = (await bench.store.auditRows(0, 9)).map(({ link }) => link);
      expect(await bench.store.numbersAfter(2, ["decided", "refused"], 9)).toEqual([
        { seq: 3, link: links[2], what: "refused", at: NOON },
        { seq: 4, link: links[3], what: "decided", at: NOON },
      ]);
      expect(await bench.store.numbersAfter(0, ALL, 1)).toEqual([
        { seq: 1, link: links[0], what: "opened", at: NOON },
      ]);
    });

    test("of concurrent writers one records that a week has ended, and no older week is recorded later", async () => {
      const ended = (until: number) => ({ ...anAuditEntry(aRun(), { what: "week-ended" }), until });
      const answers = await Promise.all(Array.from({ length: 5 }, () => bench.store.auditOnce(ended(2_000))));
      expect(answers.filter((answer) => answer === "added")).toHaveLength(1);
      expect(await bench.store.auditOnce(ended(1_000))).toBe("known");
      expect(await bench.store.auditOnce(ended(3_000))).toBe("added");
      expect((await bench.store.auditAfter(0, ["week-ended"], 9)).map(({ entry }) => entry.until)).toEqual([
        2_000, 3_000,
      ]);
    });

    test("a week that is recorded with an end in the future keeps no earlier week from being recorded", async () => {
      const ended = (until: number) => ({
        ...anAuditEntry(aRun(), { what: "week-ended", at: 2_000 }),
        until,
      });
      expect(await bench.store.auditOnce(ended(9_000))).toBe("added");
      expect(await bench.store.auditOnce(ended(2_000))).toBe("added");
      expect(await bench.store.auditOnce(ended(2_000))).toBe("known");
    });

    test("decisions on the same request are found by verdict, digest and age, newest first, without disputed ones", async () => {
      const run = aRun();
      const settled = (facts: Partial<AuditEntry>) =>
        anAuditEntry(run, { what: "settled", verdict: "approve", asked: "same", ...facts });
      const [first, second] = ["apr_1", "apr_2"] as readonly string[] as readonly ApprovalId[];
      if (first === undefined || second === undefined) throw new Error("no ids");
      await bench.store.audit([
        settled({ approval: first, at: 1_000 }),
        settled({ approval: second, at: 2_000 }),
        settled({ approval: first, at: 3_000, verdict: "deny" }),
        settled({ approval: first, at: 4_000, asked: "another" }),
        anAuditEntry(run, { what: "disputed", approval: second }),
        settled({ approval: first, at: 6_000 }),
      ]);
      const found = (verdict: "approve" | "deny", since = 0, limit = 9) =>
        bench.store.decidedBefore({ verdict, digest: "same", since }, limit);
      expect(await found("approve")).toEqual([6, 1]);
      expect(await found("deny")).toEqual([3]);
      expect(await found("approve", 2_000)).toEqual([6]);
      expect(await found("approve", 0, 1)).toEqual([6]);
      expect((await bench.store.provenEntry(6)).ok).toBe(true);
      expect(await bench.store.walkAudit()).toBeNull();
    });

    test("a run's entries are found by our key and by the service's id, including those from before it had one", async () => {
      const id = aRunId();
      const run = aWatchedRun(id);
      const runId = RunId(id);
      await bench.store.audit([
        anAuditEntry(run),
        anAuditEntry(aRun()),
        anAuditEntry(run, { runId, what: "decided" }),
        anAuditEntry(aRun(), { run: null, runId, what: "refused" }),
      ]);
      const seqs = async (asked: string): Promise<number[]> =>
        (await bench.store.auditOfRun(asked)).map(({ seq }) => seq);
      expect(await seqs(id)).toEqual([1, 3, 4]);
      expect(await seqs(run.key)).toEqual([1, 3]);
      expect(await seqs("run_unknown")).toEqual([]);
    });

    test("a notification is added once per kind, entry and addressee, and is due until it is done", async () => {
      const notification = aReceipt();
      await bench.store.addNotifications([
        notification,
        aReceipt(),
        aReceipt({ kind: "dispute" }),
        aReceipt({ entry: 2 }),
      ]);
      await bench.store.addNotifications([aReceipt()]);
      await bench.store.addNotifications([]);
      const open = await bench.store.notifications(9);
      expect(open).toHaveLength(3);
      expect(open).toContainEqual(notification);
      const sending = { ...notification, post: { type: "sending", at: bench.now, tries: 1 } } as const;
      await bench.store.saveNotification(sending, true);
      expect(await bench.store.notification(notification.id)).toEqual(sending);
      await bench.store.saveNotification(sending, false);
      expect(await bench.store.notifications(9)).toHaveLength(2);
      expect(await bench.store.notifications(1)).toHaveLength(1);
      expect(await bench.store.notification(aNonce())).toBeNull();
    });

    test("the notifications that are wanted are found behind any number of others, alarms first and receipts last", async () => {
      const many = Array.from({ length: 1_100 }, (_, nth) => aReceipt({ entry: nth, kind: "dispute" }));
      const [receipt, answer, alarm] = [
        aReceipt({ entry: 5_001 }),
        aReceipt({ entry: 5_002, kind: "answered" }),
        aReceipt({ entry: 5_003, kind: "tampering" }),
      ];
      await bench.store.addNotifications([...many, receipt, answer, alarm]);
      const isWanted = ({ entry }: Notification): boolean => entry > 5_000;
      expect(await bench.store.notifications(9, isWanted)).toEqual([alarm, answer, receipt]);
      expect(await bench.store.notifications(2, isWanted)).toEqual([alarm, answer]);
      const seen = await bench.store.notifications(9_999);
      expect(new Set(seen.map(({ id }) => id)).size).toBe(1_103);
      expect(seen).toHaveLength(1_103);
    });

    test("of few notifications, alarms are first, receipts are last, and the oldest of each is first", async () => {
      const receipts = [aReceipt({ entry: 1 }), aReceipt({ entry: 2, madeAt: bench.now - 2 })];
      const alarms = [3, 4].map((entry) => aReceipt({ entry, kind: "dispute", madeAt: bench.now - entry }));
      const answer = aReceipt({ entry: 5, kind: "answered" });
      await bench.store.addNotifications([...receipts, answer, ...alarms]);
      const inOrder = [...alarms.toReversed(), answer, ...receipts.toReversed()];
      expect(await bench.store.notifications(9)).toEqual(inOrder);
    });

    test("the newest notification up to a head says how far the audit was followed, except for that of a head", async () => {
      expect(await bench.store.newestNotified(9)).toBe(0);
      await bench.store.addNotifications([
        aReceipt({ entry: 2 }),
        aReceipt({ entry: 3, kind: "dispute" }),
        aReceipt({ entry: 5, kind: "head" }),
        aReceipt({ entry: 8 }),
      ]);
      expect(await Promise.all([9, 7, 2].map((head) => bench.store.newestNotified(head)))).toEqual([8, 3, 2]);
    });

    test("a notification of an unknown kind is listed apart, is no tampering, and takes no place of another", async () => {
      const findings: unknown[] = [];
      bench.store.onTampering((finding) => findings.push(finding));
      const strange = aReceipt({ kind: "monthly" as never, entry: 7, madeAt: bench.now - 1 });
      const known = aReceipt();
      await bench.store.addNotifications([strange, known]);
      expect(await bench.store.notifications(1)).toEqual([known]);
      expect(await bench.store.notification(strange.id)).toBeNull();
      expect(await bench.store.strangeNotifications(9)).toEqual([{ id: strange.id, entry: 7 }]);
      expect(findings).toEqual([]);
    });

    test("of concurrent disputes of one notification, one leaves an entry", async () => {
      const notification = aReceipt();
      await bench.store.addNotifications([notification]);
      const about = { approval: "apr_1" as ApprovalId };
      await bench.store.audit([anAuditEntry(aRun(), { what: "decided", ...about })]);
      const entry = anAuditEntry(aRun(), { what: "disputed", refers: notification.entry, ...about });
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => bench.store.dispute(notification.id, entry)),
      );
      expect(answers.filter((answer) => answer === "disputed")).toHaveLength(1);
      expect(await expectWhole()).toBe(2);
      expect(await bench.store.dispute(aNonce(), entry)).toBe("known");
    });

    test("a dispute by another person does not stand for one of this person", async () => {
      const notification = aReceipt();
      await bench.store.addNotifications([notification]);
      const about = { approval: "apr_1" as ApprovalId };
      await bench.store.audit([anAuditEntry(aRun(), { what: "decided", ...about })]);
      const entry = anAuditEntry(aRun(), { what: "disputed", refers: notification.entry, ...about });
      const others = { ...entry, by: { team: aRun().team, user: UserId("U0OTHER") } };
      expect(await bench.store.dispute(notification.id, others)).toBe("disputed");
      expect(await bench.store.dispute(notification.id, entry)).toBe("disputed");
      expect(await bench.store.dispute(notification.id, entry)).toBe("known");
    });

    test("the first dispute of a decision by a person is found, among disputes of other decisions and people", async () => {
      const run = aRun();
      const [approval, other] = ["apr_1", "apr_2"] as readonly string[] as readonly [ApprovalId, ApprovalId];
      const report = anAuditEntry(run, { what: "disputed", approval, refers: 2 });
      const someone = { team: run.team, user: UserId("U0OTHER") };
      await bench.store.audit([
        ...[1, 2, 3].map(() => anAuditEntry(run, { what: "decided", approval })),
        { ...report, at: 4_000, refers: 1 },
        { ...report, at: 5_000, approval: other },
        { ...report, at: 6_000, run: aRun().key },
        { ...report, at: 7_000, by: someone },
        { ...report, at: 8_000, what: "dispute-closed" },
        { ...report, at: 9_000 },
        { ...report, at: 10_000 },
      ]);
      expect(await bench.store.disputedAt(report)).toBe(9_000);
      expect(await bench.store.disputedAt({ ...report, by: someone })).toBe(7_000);
      expect(await bench.store.disputedAt({ ...report, refers: 1 })).toBe(4_000);
      expect(await bench.store.disputedAt({ ...report, refers: 3 })).toBeNull();
    });
  });
}
