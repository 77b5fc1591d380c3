// Someone who can write to the database, but has no key, changes what decides. None of it is believed, and all of it is reported.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store, StoredRun } from "#src/ports/store.ts";
import type { Finding } from "#src/ports/audit-store.ts";
import {
  anApproval,
  anAuditEntry,
  APPROVER,
  aTicket,
  aWatchedRun,
  NOON,
  TEAM,
  withApprovals,
} from "../make/run.ts";

/** A database, seen by someone who can write to it. */
export type Place = {
  open(options: { now: () => number }): Promise<Store>;
  /** Runs a statement without the rules that refuse a change of the audit. `?` stands for a value. */
  run(sql: string, ...values: readonly string[]): Promise<Record<string, unknown>[]>;
  remove(): Promise<void>;
};

/** The greatest number that a column holds. JavaScript has no such number. */
const TOO_GREAT = "9223372036854775807";

/** Rows that a store did not write must be noticed. */
export function sealContract(name: string, makePlace: () => Promise<Place>): void {
  describe(`${name} believes only what this program wrote`, () => {
    let place: Place;
    let store: Store;
    let findings: Finding[] = [];

    const open = async (): Promise<void> => {
      store = await place.open({ now: () => NOON });
      findings = [];
      store.onTampering((finding) => findings.push(finding));
    };

    beforeEach(async () => {
      place = await makePlace();
      await open();
    });
    afterEach(async () => {
      await store.close();
      await place.remove();
    });

    /** Writes past the store, as a thief would. */
    async function change(sql: string, ...values: readonly string[]): Promise<void> {
      await store.close();
      await place.run(sql, ...values);
      await open();
    }

    async function stored() {
      const run = withApprovals(aWatchedRun(), anApproval());
      const [approval] = run.approvals;
      if (approval === undefined) throw new Error("no approval");
      await store.insert(run, { audit: [anAuditEntry(run)] });
      const ticket = aTicket(run, approval);
      await store.saveForm(ticket);
      return { run, approval, ticket };
    }

    test("what this program wrote is believed", async () => {
      const { run, approval, ticket } = await stored();
      await store.close();
      await open();
      expect((await store.load(run.key))?.run).toMatchObject(run);
      expect(await store.form(ticket.nonce)).toEqual(ticket);
      expect(await store.byButton(approval.nonce)).toMatchObject({ run: run.key });
      expect(findings).toEqual([]);
    });

    describe("a run that is saved as this program wrote it, without being loaded again", () => {
      async function written(): Promise<StoredRun> {
        const { run } = await stored();
        const saved: StoredRun[] = [];
        const facts = { audit: [anAuditEntry(run)], onSaved: (next: StoredRun) => void saved.push(next) };
        expect(await store.save({ run, revision: 1 }, { ...run, input: "written" }, facts)).toBe("saved");
        const [last] = saved;
        if (last === undefined) throw new Error("nothing was saved");
        expect(await store.load(run.key)).toMatchObject({ run: last.run, revision: last.revision });
        return last;
      }

      test("is saved, and can be saved again", async () => {
        const first = await written();
        const saved: StoredRun[] = [];
        const onSaved = (next: StoredRun): void => void saved.push(next);
        expect(await store.save(first, { ...first.run, input: "second" }, { onSaved })).toBe("saved");
        const [second] = saved;
        if (second === undefined) throw new Error("nothing was saved");
        expect(await store.save(second, { ...second.run, input: "third" })).toBe("saved");
        expect((await store.load(first.run.key))?.run.input).toBe("third");
        expect(findings).toEqual([]);
      });

      test.for([
        ["its document", "update runs set doc = replace(doc, 'pending', 'decided')"],
        ["its requester", "update runs set requester = 'U0SOMEONE'"],
        ["its newest entry", "update runs set audit_seq = null, audit_link = null"],
        ["its newest entry, to a number beyond all others", `update runs set audit_seq = ${TOO_GREAT}`],
        ["its seal", "update runs set seal = ''"],
      ] as const)("is not saved over a change of %s, which is reported", async ([, sql]) => {
        const saved = await written();
        await change(sql);
        const entries = [anAuditEntry(saved.run)];
        const before = (await store.auditHead())?.seq;
        expect(await store.save(saved, { ...saved.run, input: "over it" }, { audit: entries })).toBe("lost");
        expect((await store.auditHead())?.seq).toBe(before);
        expect((await store.load(saved.run.key))?.run.watch.type).toBe("tampered");
        expect(findings[0]).toMatchObject({ run: saved.run.key });
      });

      test("is not saved over an older row that was put back under the newest revision", async () => {
        const { run } = await stored();
        const [{ doc, seal }] = (await place.run("select doc, seal from runs")) as [
          { doc: string; seal: string },
        ];
        const saved: StoredRun[] = [];
        const onSaved = (next: StoredRun): void => void saved.push(next);
        await store.save({ run, revision: 1 }, { ...run, input: "newer" }, { onSaved });
        await change("update runs set doc = ?, seal = ?", doc, seal);
        const [last] = saved;
        if (last === undefined) throw new Error("nothing was saved");
        expect(await store.save(last, { ...last.run, input: "over it" })).toBe("lost");
      });

      test("is not saved if it was deleted", async () => {
        const saved = await written();
        await change("delete from runs");
        expect(await store.save(saved, { ...saved.run, input: "over it" })).toBe("lost");
      });
    });

    describe("a run that was changed", () => {
      test.for([
        ["its document", "update runs set doc = replace(doc, 'pending', 'decided')"],
        ["its requester", "update runs set requester = 'U0SOMEONE'"],
        ["its channel", "update runs set channel = 'C0ELSEWHERE'"],
        ["the service's id", "update runs set service_run_id = 'run_other'"],
        ["its newest entry", "update runs set audit_seq = null, audit_link = null"],
        ["its newest entry, to a number beyond all others", `update runs set audit_seq = ${TOO_GREAT}`],
        ["its seal", "update runs set seal = ''"],
      ] as const)("in %s is marked as tampered with wherever it is read", async ([, sql]) => {
        const { run } = await stored();
        await change(sql);
        const found = (await store.load(run.key))?.run;
        expect(found).toMatchObject({ watch: { type: "tampered" }, input: "", notices: [] });
        expect(found?.approvals[0]?.state).toEqual({ type: "closed", cause: "tampered", at: NOON });
        await store.renew(NOON + 120_000, 1_000);
        const [claimed] = await store.claim(10);
        expect(claimed?.run.watch.type).toBe("tampered");
        expect(findings[0]).toMatchObject({ run: run.key });
      });

      test("shows nothing as decided, confirmed or given", async () => {
        const { run, approval } = await stored();
        const decision = { verdict: "approve", reason: "go", by: { team: TEAM, user: APPROVER }, at: NOON };
        const delivery = { type: "confirmed", at: NOON, stillListed: null };
        const state = {
          type: "decided",
          decision: { ...decision, digest: approval.request.digest },
          delivery,
        };
        const doc = JSON.stringify({ ...run, approvals: [{ ...approval, state, past: [{ decision }] }] });
        await change("update runs set doc = ?", doc);
        const [found] = (await store.load(run.key))?.run.approvals ?? [];
        expect(JSON.stringify(found)).not.toContain(APPROVER);
      });

      test("into an unknown shape is left alone", async () => {
        const { run } = await stored();
        await change("update runs set doc = ?", JSON.stringify({ key: run.key, approvals: 7 }));
        await expect(store.load(run.key)).rejects.toThrow("changed outside Countersign");
        expect(findings).toHaveLength(1);
      });
    });

    test.for([
      ["its verdict", `update forms set doc = replace(doc, '"approve"', '"deny"')`],
      ["its person", `update forms set doc = replace(doc, '${APPROVER}', 'U0SOMEONE')`],
      ["its nonce", "update forms set nonce = 'another'"],
    ] as const)("a form that was changed in %s is rejected", async ([what, sql]) => {
      const { ticket } = await stored();
      await change(sql);
      expect(await store.form(what === "its nonce" ? ("another" as typeof ticket.nonce) : ticket.nonce)).toBe(
        "changed",
      );
      expect(findings).toHaveLength(1);
    });

    test("a button that was changed leads nowhere", async () => {
      const { approval } = await stored();
      await change("update buttons set version = 7");
      expect(await store.byButton(approval.nonce)).toBeNull();
      expect(findings).toHaveLength(1);
    });

    describe("the audit", () => {
      const ids = async (): Promise<string[]> =>
        (await store.checkAudit()).map(({ id }) => id.split(" ")[0] ?? "");
      const stray = (seq: string): string =>
        `insert into audit select ${seq}, at, what, run, run_id, approval, by_user, entry, link, key, signature, asked from audit where seq = 1`;

      beforeEach(async () => {
        const run = aWatchedRun();
        await store.audit([anAuditEntry(run), anAuditEntry(run)]);
        await store.insert(run, { audit: [anAuditEntry(run)] });
      });

      test("is whole as this program wrote it", async () => {
        expect(await ids()).toEqual([]);
        expect(await store.walkAudit()).toBeNull();
      });

      test.for<[string, string, string[]]>([
        [
          "an edited entry",
          "update audit set entry = replace(entry, 'stored', 'other') where seq = 2",
          ["altered"],
        ],
        ["an edited column", "update audit set run = 'x' where seq = 2", ["columns"]],
        ["a time beyond all numbers", `update audit set at = ${TOO_GREAT} where seq = 2`, ["columns"]],
        ["a forged precedent", "update audit set asked = 'approve x' where seq = 2", ["columns"]],
        ["a missing entry", "delete from audit where seq = 2", ["missing", "gap"]],
        ["a row with a negative number", stray("-9007199254740991"), ["stray"]],
        ["a row with a number beyond the last", stray(TOO_GREAT), ["stray"]],
      ])("is checked quickly and walked through, and both find %s", async ([, sql, found]) => {
        await change(sql);
        expect(await ids()).toEqual(found);
        expect(await store.walkAudit()).not.toBeNull();
      });

      test.for<[string, string, string[]]>([
        ["an unsigned row", "update audit set signature = '' where seq = 2", ["forged"]],
        ["an emptied table while runs know heads", "delete from audit", ["head"]],
        ["a cut end", "delete from audit where seq > 2", ["head"]],
      ])("is checked quickly, which finds %s", async ([, sql, found]) => {
        await change(sql);
        expect(await ids()).toEqual(found);
      });
    });

    describe("the finding about", () => {
      const ids = async (): Promise<string[]> => (await store.checkAudit()).map(({ id }) => id);
      const write = (count: number): Promise<void> =>
        store.audit(Array.from({ length: count }, () => anAuditEntry(aWatchedRun())));
      const stray = (seq: number): string =>
        `insert into audit select ${seq}, at, what, run, run_id, approval, by_user, entry, link, key, signature, asked from audit where seq = 1`;

      test.for([
        ["the first entry", 1],
        ["an entry in the middle", 3],
      ] as const)("%s, which is missing, stays the same while entries are added", async ([, seq]) => {
        await write(5);
        await change(`delete from audit where seq = ${seq}`);
        const found = await ids();
        expect(found).toContain(`missing ${seq} 1`);
        await write(2);
        expect(await ids()).toEqual(found);
      });

      test("missing entries is another one once a further entry is missing", async () => {
        await write(5);
        await change("delete from audit where seq = 2");
        expect(await ids()).toContain("missing 2 1");
        await change("delete from audit where seq = 4");
        expect(await ids()).toContain("missing 2 2");
      });

      test("a row with an impossible number is another one once another row takes its place", async () => {
        await write(2);
        await change(stray(-1));
        const found = await ids();
        await write(1);
        expect(await ids()).toEqual(found);
        expect((await store.walkAudit())?.id).toBe(found[0]);
        await change("update audit set seq = -2 where seq = -1");
        const moved = await ids();
        await change("update audit set entry = '{}' where seq = -2");
        expect(new Set([...found, ...moved, ...(await ids())]).size).toBe(3);
      });
    });

    describe("what became of a decision", () => {
      const entry = (facts: Parameters<typeof anAuditEntry>[1]) => anAuditEntry(aWatchedRun(), facts);
      const damage: string[] = [];
      const settled = (refers: number) => entry({ what: "settled", refers, outcome: "void: undone" });
      const endOf = async (seq: number) => {
        const proven = await store.provenEntry(seq);
        if (!proven.ok) throw new Error("the decision is not proven");
        const { link } = proven.kept;
        const found = await store.settledAfter({ seq, link });
        damage.push(...found.damage.map(({ words }) => words));
        return found.entries.map(({ seq: at, outcome }) => `${at} ${outcome}`);
      };

      /** Two decisions, of which the second is settled first. */
      beforeEach(async () => {
        damage.length = 0;
        await store.audit([entry({ what: "decided" }), entry({ what: "decided" })]);
        await store.audit([
          settled(2),
          entry({ what: "opened" }),
          settled(1),
          entry({ what: "opened" }),
          entry({ what: "opened" }),
        ]);
      });

      test("is found, whichever decision is asked about first, and however many entries follow", async () => {
        expect(await endOf(2)).toEqual(["3 void: undone"]);
        expect(await endOf(1)).toEqual(["5 void: undone"]);
        await store.audit([...Array.from({ length: 250 }, () => entry({ what: "opened" })), settled(2)]);
        expect(await Promise.all([endOf(2), endOf(1), endOf(7)])).toEqual([
          ["3 void: undone", "258 void: undone"],
          ["5 void: undone"],
          [],
        ]);
      });

      test.for<[string, string, string, readonly string[]]>([
        ["kind", "update audit set what = 'refused' where seq = 5", "5: its columns", ["5 void: undone"]],
        ["text", "update audit set entry = '{}' where seq = 5", "5: it does not match", []],
        [
          "signature",
          "update audit set signature = '' where seq = 5",
          "5: its signature",
          ["5 void: undone"],
        ],
        ["number", "delete from audit where seq = 5", "6: the number before it", []],
      ])(
        "is read behind damage, which is reported once, if the %s of an entry was changed",
        async ([, sql, words, ends]) => {
          await change(sql);
          await store.audit([settled(2)]);
          expect(await endOf(1)).toEqual(ends);
          expect(damage).toEqual([expect.stringContaining(words)]);
          expect(await endOf(2)).toEqual(["3 void: undone", "8 void: undone"]);
          expect(damage).toHaveLength(1);
        },
      );

      test("stays known if entries that this process has read are gone or others", async () => {
        expect(await endOf(2)).toEqual(["3 void: undone"]);
        await place.run("delete from audit where seq > 2");
        expect(await endOf(2)).toEqual(["3 void: undone"]);
        await store.audit([entry({ what: "opened" }), settled(1)]);
        expect(await endOf(1)).toEqual(["4 void: undone", "5 void: undone"]);
      });
    });

    test("an entry that is written where a number was missing is read, even if the row after it is the same again", async () => {
      const entry = (facts: Parameters<typeof anAuditEntry>[1]) => anAuditEntry(aWatchedRun(), facts);
      await store.audit([entry({ what: "decided" }), entry({ what: "opened" })]);
      const proven = await store.provenEntry(1);
      if (!proven.ok) throw new Error("the decision is not proven");
      const look = () => store.settledAfter({ seq: 1, link: proven.kept.link });
      await place.run("create table kept as select * from audit where seq = 2");
      await place.run("update kept set seq = 1000");
      await place.run("insert into audit select * from kept");
      expect((await look()).damage).toHaveLength(1);
      await change("delete from audit where seq = 1000");
      await store.audit([entry({ what: "settled", refers: 1, outcome: "void: undone" })]);
      await place.run("insert into audit select * from kept");
      expect((await look()).entries).toMatchObject([{ seq: 3, isIntact: true }]);
    });

    describe("one entry by itself", () => {
      test("that is not proven is the same finding as in a check of all, and another one once its content changes", async () => {
        await store.audit([anAuditEntry(aWatchedRun())]);
        const found = async (text: string) => {
          await change("update audit set entry = ? where seq = 1", text);
          const proven = await store.provenEntry(1);
          if (proven.ok) throw new Error("a changed entry is proven");
          expect(await store.checkAudit()).toEqual([proven.finding]);
          return proven.finding.id;
        };
        expect(await found("{}")).not.toBe(await found("[]"));
      });

      test("is proven by a few look-ups, but not once the entry, its place or its columns were changed", async () => {
        const run = aWatchedRun();
        await store.audit([1, 2, 3].map((at) => anAuditEntry(run, { at })));
        for (const seq of [1, 2, 3])
          expect(await store.provenEntry(seq)).toMatchObject({ ok: true, kept: { seq } });
        expect(await store.provenEntry(4)).toHaveProperty("finding.id", expect.stringMatching("^gap 4 "));
        await change("update audit set approval = 'apr_9' where seq = 2");
        expect(await store.provenEntry(2)).toHaveProperty("finding.id", expect.stringMatching("^columns 2 "));
        expect(await store.provenEntry(3)).toMatchObject({ ok: true });
        await change("update audit set entry = replace(entry, 'stored', 'other') where seq = 3");
        expect(await store.provenEntry(3)).toHaveProperty("finding.id", expect.stringMatching("^altered 3 "));
      });
    });
  });
}
