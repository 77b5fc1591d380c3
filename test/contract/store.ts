// What every store guarantees, whatever engine is below it.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Approval } from "#src/domain/approval.ts";
import { reopen } from "#src/domain/approval-transitions.ts";
import type { AuditPlace } from "#src/domain/audit/hash-chain.ts";
import { BEGINNING } from "#src/domain/audit/verify-chain.ts";
import type { Run } from "#src/domain/run.ts";
import { PortError } from "#src/ports.ts";
import {
  aNonce,
  anApproval,
  anAuditEntry,
  aRequest,
  aRun,
  aRunId,
  aRunKey,
  aWatchedRun,
  aTicket,
  CHANNEL,
  NOON,
  withApprovals,
} from "../make/run.ts";
import { LEASE_MS, type MakeStore, storeBench } from "./store-bench.ts";
import { auditContract } from "./store-audit.ts";
import { leaseContract } from "./store-leases.ts";
import { listContract } from "./store-lists.ts";
import { anyCodePoint } from "../make/code-points.ts";

const renamed = (run: Run, input: string): Run => ({ ...run, input });

export function storeContract(name: string, makeStore: MakeStore): void {
  leaseContract(name, makeStore);
  auditContract(name, makeStore);
  listContract(name, makeStore);

  describe(`${name} keeps the contract of a store`, () => {
    const bench = storeBench(makeStore);

    describe("insert", () => {
      test("a run is loaded as it was stored", async () => {
        const run = withApprovals(aWatchedRun(), anApproval(), anApproval());
        expect((await bench.stored(run)).run).toEqual(run);
        expect(await bench.store.load(aRunKey())).toBeNull();
      });

      test("a second run of one intention is not stored, and the first is returned", async () => {
        const [first, second] = [aRun(), aRun()];
        expect(await bench.store.insert(first, { intention: "command 1" })).toBe("stored");
        expect(await bench.store.insert(second, { intention: "command 1" })).toEqual({ known: first.key });
        expect(await bench.store.load(second.key)).toBeNull();
        expect(await bench.store.insert(second, { intention: "command 2" })).toBe("stored");
      });

      test("a second run that watches the same run of the service is not stored", async () => {
        const id = aRunId();
        const { run } = await bench.stored(aWatchedRun(id));
        const again = aWatchedRun(id);
        expect(await bench.store.insert(again, { intention: "another" })).toEqual({ known: run.key });
        expect(await bench.store.load(again.key)).toBeNull();
        // The intention of the run that was not stored is still free.
        expect(await bench.store.insert(aRun(), { intention: "another" })).toBe("stored");
      });

      test("a run that is stored twice is recognized the second time", async () => {
        const { run } = await bench.stored();
        expect(await bench.store.insert(renamed(run, "other"), {})).toEqual({ known: run.key });
        expect((await bench.loaded(run.key)).run.input).toBe(run.input);
      });

      test("of many inserts of one intention at once, one is stored and all others return it", async () => {
        const answers = await Promise.all(
          Array.from({ length: 20 }, () => bench.store.insert(aRun(), { intention: "double click" })),
        );
        expect(answers.filter((answer) => answer === "stored")).toHaveLength(1);
        const known = new Set(
          answers.flatMap((answer) => (typeof answer === "string" ? [] : [answer.known])),
        );
        expect(known.size).toBe(1);
        expect(await bench.store.load([...known][0] ?? aRunKey())).not.toBeNull();
      });

      test("any text and any content are returned byte for byte", async () => {
        const unit = fc.oneof(fc.string({ unit: anyCodePoint }), fc.string({ unit: "grapheme" }));
        await fc.assert(
          fc.asyncProperty(unit, fc.jsonValue(), async (input, content) => {
            const approval = {
              ...anApproval(),
              request: aRequest(content as Approval["request"]["content"]),
            };
            const run = withApprovals(aRun({ input }), approval);
            // JSON has no -0.
            expect((await bench.stored(run)).run).toEqual(JSON.parse(JSON.stringify(run)));
          }),
          { numRuns: 100 },
        );
      });
    });

    describe("save", () => {
      test("a stale revision is lost and nothing of it is written", async () => {
        const first = await bench.stored();
        const button = anApproval();
        expect(await bench.store.save(first, renamed(first.run, "first"))).toBe("saved");
        const late = withApprovals(renamed(first.run, "late"), button);
        expect(await bench.store.save(first, late, { intention: "late", finished: true })).toBe("lost");
        expect((await bench.loaded(first.run.key)).run.input).toBe("first");
        expect(await bench.store.byButton(button.nonce)).toBeNull();
        expect(await bench.store.insert(aRun(), { intention: "late" })).toBe("stored");
      });

      test("a save that must know all freezes is refused once there is a later freeze, and nothing of it is written", async () => {
        const first = await bench.stored();
        const frozen = (): Promise<void> =>
          bench.store.audit([anAuditEntry(first.run, { what: "frozen", outcome: "frozen" })]);
        await frozen();
        const [known] = await bench.store.auditAfter(0, ["frozen"], 1);
        const sent = {
          audit: [anAuditEntry(first.run, { what: "sent" })],
          noFreezeAfter: known ?? BEGINNING,
        };
        expect(await bench.store.save(first, renamed(first.run, "known"), sent)).toBe("saved");
        const second = await bench.loaded(first.run.key);
        await frozen();
        expect(await bench.store.save(second, renamed(first.run, "late"), sent)).toBe("frozen");
        expect((await bench.loaded(first.run.key)).run.input).toBe("known");
        expect(await bench.store.auditAfter(0, ["sent"], 9)).toHaveLength(1);
      });

      test("a save that must know all freezes is refused if the last one that it knows is gone", async () => {
        const first = await bench.stored();
        const frozen = anAuditEntry(first.run, { what: "frozen", outcome: "frozen" });
        await bench.store.audit([frozen, frozen]);
        const [one, other] = await bench.store.auditAfter(0, ["frozen"], 2);
        const save = (noFreezeAfter: AuditPlace) => bench.store.save(first, first.run, { noFreezeAfter });
        expect(await save({ seq: other?.seq ?? 0, link: one?.link ?? "" })).toBe("frozen");
        expect(await save({ seq: 99, link: other?.link ?? "" })).toBe("frozen");
        expect(await save(other ?? BEGINNING)).toBe("saved");
      });

      test("each save raises the revision by one", async () => {
        const first = await bench.stored();
        await bench.store.save(first, first.run);
        expect((await bench.loaded(first.run.key)).revision).toBe(first.revision + 1);
      });

      test("of any number of saves of one revision exactly one wins", async () => {
        await fc.assert(
          fc.asyncProperty(fc.integer({ min: 2, max: 12 }), fc.boolean(), async (writers, mustHold) => {
            const first = await bench.stored();
            const answers = await Promise.all(
              Array.from({ length: writers }, (_, n) =>
                bench.store.save(first, renamed(first.run, `writer ${n}`), { mustHold }),
              ),
            );
            expect(answers.filter((answer) => answer === "saved")).toHaveLength(1);
            const last = await bench.loaded(first.run.key);
            expect(last.run.input).toBe(`writer ${answers.indexOf("saved")}`);
            expect(last.revision).toBe(first.revision + 1);
          }),
          { numRuns: 30 },
        );
      });

      test("a run that is not stored cannot be saved", async () => {
        const run = aRun();
        expect(await bench.store.save({ run, revision: 1 }, run)).toBe("lost");
      });

      test("a run of the service that another run watches is refused, and nothing is written", async () => {
        const id = aRunId();
        const { run: other } = await bench.stored(aWatchedRun(id));
        const stored = await bench.stored();
        const created: Run = { ...stored.run, creation: { type: "created", id, at: bench.now } };
        await expect(bench.store.save(stored, created)).rejects.toMatchObject({
          code: "run_id_taken",
          applied: "no",
          retry: "never",
        });
        expect(await bench.loaded(stored.run.key)).toEqual(stored);
        expect(await bench.store.byRunId(id)).toBe(other.key);
      });

      test("a save with the intention of another run is refused, and nothing is written", async () => {
        await bench.store.insert(aRun(), { intention: "taken" });
        const stored = await bench.stored();
        expect(await bench.store.save(stored, renamed(stored.run, "mine"), { intention: "taken" })).toBe(
          "intention-taken",
        );
        expect(await bench.loaded(stored.run.key)).toEqual(stored);
      });
    });

    describe("finding", () => {
      test("a run is found by the service's id as soon as it has one", async () => {
        const id = aRunId();
        const stored = await bench.stored();
        expect(await bench.store.byRunId(id)).toBeNull();
        await bench.store.save(stored, { ...stored.run, creation: { type: "created", id, at: bench.now } });
        expect(await bench.store.byRunId(id)).toBe(stored.run.key);
      });

      test("a button is found under every version that its card ever had", async () => {
        const first = anApproval();
        const stored = await bench.stored(withApprovals(aRun(), first));
        const second = reopen(first, aRequest("changed"), aNonce(), null);
        await bench.store.save(stored, { ...stored.run, approvals: [second] });
        const { key: run } = stored.run;
        expect(await bench.store.byButton(first.nonce)).toEqual({ run, approval: first.id, version: 1 });
        expect(await bench.store.byButton(second.nonce)).toEqual({ run, approval: first.id, version: 2 });
        expect(await bench.store.byButton(aNonce())).toBeNull();
      });

      test("the buttons of thousands of approvals are all stored", async () => {
        const approvals = Array.from({ length: 2_001 }, () => anApproval());
        const { run } = await bench.stored(withApprovals(aRun(), ...approvals));
        const last = approvals.at(-1) ?? anApproval();
        expect(await bench.store.byButton(last.nonce)).toEqual({
          run: run.key,
          approval: last.id,
          version: 1,
        });
      });

      test.each(["a b/c?d=%2F", "'; drop table runs; --", "ünïcode 🛂", "nul\u0000inside"])(
        "an odd id %j is found again",
        async (odd) => {
          const approval = anApproval(odd);
          const { run } = await bench.stored(withApprovals(aRun(), approval));
          expect(await bench.store.byButton(approval.nonce)).toEqual({
            run: run.key,
            approval: odd,
            version: 1,
          });
        },
      );
    });

    describe("forms and documents", () => {
      test("a form is found by its nonce, as it was opened first", async () => {
        const approval = anApproval();
        const { run } = await bench.stored(withApprovals(aRun(), approval));
        const ticket = aTicket(run, approval);
        await bench.store.saveForm(ticket);
        await bench.store.saveForm({ ...ticket, verdict: "deny" });
        expect(await bench.store.form(ticket.nonce)).toEqual(ticket);
        expect(await bench.store.form(aNonce())).toBeNull();
      });

      test("a form for a run that is not stored is refused", async () => {
        const approval = anApproval();
        const opening = bench.store.saveForm(aTicket(aRun(), approval));
        await expect(opening).rejects.toBeInstanceOf(PortError);
        await expect(opening).rejects.toMatchObject({ applied: "no" });
      });

      test("a document is saved and loaded whole", async () => {
        expect(await bench.store.document("outages")).toBeNull();
        await bench.store.putDocument("outages", { since: NOON, told: ["C1"] });
        await bench.store.putDocument("outages", { since: NOON + 1 });
        expect(await bench.store.document("outages")).toEqual({ since: NOON + 1 });
        expect(await bench.store.document("others")).toBeNull();
      });

      test("old finished runs are deleted with everything that belongs to them", async () => {
        const approval = anApproval();
        const old = aWatchedRun(aRunId(), {});
        await bench.store.insert(withApprovals(old, approval), { intention: "old" });
        const ticket = aTicket(old, approval);
        await bench.store.saveForm(ticket);
        const first = await bench.loaded(old.key);
        await bench.store.save(first, first.run, { finished: true });
        const working = await bench.stored();
        bench.now += 1_000;
        const recent = await bench.stored();
        await bench.store.save(recent, recent.run, { finished: true });

        expect(await bench.store.forget(bench.now)).toBe(1);
        expect(await bench.store.load(old.key)).toBeNull();
        expect(await bench.store.byButton(approval.nonce)).toBeNull();
        expect(await bench.store.form(ticket.nonce)).toBeNull();
        expect(await bench.store.load(working.run.key)).not.toBeNull();
        expect(await bench.store.load(recent.run.key)).not.toBeNull();
        expect(await bench.store.insert(aRun(), { intention: "old" })).toBe("stored");
        expect(await bench.store.forget(bench.now)).toBe(0);
      });

      test("an old finished run stays while one of its decisions has an open dispute", async () => {
        const run = aWatchedRun();
        const stored = await bench.stored(run);
        await bench.store.save(stored, run, { finished: true });
        const disputed = (refers: number) => anAuditEntry(run, { what: "disputed", refers });
        await bench.store.audit([disputed(1), disputed(2)]);
        const [first, second] = await bench.store.auditAfter(0, ["disputed"], 10);
        const closed = (dispute: typeof first) =>
          anAuditEntry(run, { what: "dispute-closed", refers: dispute?.seq ?? 0 });
        await bench.store.audit([closed(first)]);
        bench.now += 1_000;
        expect(await bench.store.forget(bench.now)).toBe(0);
        expect(await bench.store.load(run.key)).not.toBeNull();
        await bench.store.audit([closed(second)]);
        expect(await bench.store.forget(bench.now)).toBe(1);
        expect(await bench.store.load(run.key)).toBeNull();
      });

      test("however many old finished runs there are, all are deleted in batches, and a stop ends this after a batch", async () => {
        const count = 250;
        const runs = Array.from({ length: count }, () => aWatchedRun());
        for (const run of runs) {
          const stored = await bench.stored(run);
          await bench.store.save(stored, run, { finished: true });
        }
        bench.now += 1_000;
        let batches = 0;
        const before = await bench.store.forget(bench.now, () => (batches += 1) > 1);
        expect(before).toBeGreaterThan(0);
        expect(before).toBeLessThan(count);
        expect(await bench.store.forget(bench.now)).toBe(count - before);
        expect(await bench.store.channelsInUse()).toEqual([]);
      });
    });

    test("methods that are called concurrently do not disturb each other", async () => {
      const runs = Array.from({ length: 50 }, () => withApprovals(aRun(), anApproval()));
      await Promise.all(
        runs.map(async (run, n) => {
          const first = await bench.stored(run);
          if (n % 2 === 0) await bench.store.save(first, run, { intention: "wanted by all" });
          else await bench.store.putDocument(`document ${n}`, n);
          await Promise.all([
            bench.store.renew(bench.now, LEASE_MS),
            bench.store.ping(),
            bench.store.load(run.key),
          ]);
        }),
      );
      const all = await bench.store.list({ channels: [CHANNEL], only: "pending", limit: 100 });
      expect(new Set(all.map(({ key }) => key))).toEqual(new Set(runs.map(({ key }) => key)));
      expect(
        (await Promise.all(all.map(({ key }) => bench.loaded(key)))).filter(({ revision }) => revision > 1),
      ).toHaveLength(1);
    });

    test("a closed store rejects with a PortError that says nothing was applied", async () => {
      const { run } = await bench.stored();
      await bench.store.close();
      await expect(bench.store.load(run.key)).rejects.toMatchObject({ name: "PortError", applied: "no" });
      await expect(bench.store.insert(aRun(), {})).rejects.toMatchObject({
        name: "PortError",
        applied: "no",
      });
    });
  });
}
