// Approvals that no person touched do not let the audit grow without bound. If an agent asks and withdraws again and
// again, a few closings and reopenings per hour are recorded in full, and the rest as a number.

import * as fc from "fast-check";
import { expect, test } from "vitest";
import type { AuditEntry } from "#src/audit/entry.ts";
import { entryStory } from "#src/audit/narrative.ts";
import { population } from "#src/audit/report-population.ts";
import { limitUncausedEntries, MAX_ENTRIES_PER_APPROVAL, MAX_ENTRIES_PER_RUN } from "#src/audit/run-diff.ts";
import { createBench } from "../make/bot.ts";
import { aFlickering, flicker } from "../make/flicker.ts";
import { aRunId, CHANNEL, NOON, REQUESTER, TEAM } from "../make/run.ts";

const HOUR_MS = 60 * 60_000;

const closed = (recorded: readonly AuditEntry[]): AuditEntry[] =>
  recorded.filter(({ what }) => what === "closed");
const reopened = (recorded: readonly AuditEntry[]): AuditEntry[] =>
  recorded.filter(({ what }) => what === "reopened");
const counted = (recorded: readonly AuditEntry[]): number =>
  recorded.reduce((sum, { what, times = 0 }) => (what === "coalesced" ? sum + times : sum), 0);

test("every closing and reopening is recorded or counted, and an hour records no more than its share", () => {
  const step = fc.record({
    after: fc.integer({ min: 1, max: HOUR_MS / 4 }),
    id: fc.integer({ min: 1, max: 30 }).map((of) => `apr_${of}`),
    chars: fc.constant(0),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 150 }), (steps) => {
      const recorded = flicker(steps);
      const again = steps.length - new Set(steps.map(({ id }) => id)).size;
      const told = closed(recorded).length + reopened(recorded).length;
      expect(told + counted(recorded)).toBe(steps.length + again);
      const hourOf = ({ at }: AuditEntry): number => Math.floor(at / HOUR_MS);
      for (const each of Map.groupBy(closed(recorded), hourOf).values()) {
        // A window of an hour may begin at any time, so a clock hour overlaps two of them.
        expect(each.length).toBeLessThanOrEqual(2 * MAX_ENTRIES_PER_RUN);
        const most = Math.max(
          ...[...Map.groupBy(each, ({ approval }) => approval).values()].map((all) => all.length),
        );
        expect(most).toBeLessThanOrEqual(2 * MAX_ENTRIES_PER_APPROVAL);
      }
      for (const each of Map.groupBy([...recorded], ({ approval }) => approval).values())
        expect(reopened(each).length).toBeLessThanOrEqual(closed(each).length);
    }),
    { numRuns: 30 },
  );
});

test("the first closings and reopenings of an hour are recorded in full, the rest as one number when the hour is over", () => {
  const quick = Array.from({ length: 20 }, () => ({ after: 1_000, id: "apr_1", chars: 0 }));
  const recorded = flicker([...quick, { after: HOUR_MS, id: "apr_1", chars: 0 }]);
  expect(recorded.map(({ what }) => what)).toEqual([
    ...Array.from({ length: MAX_ENTRIES_PER_APPROVAL }, () => ["closed", "reopened"]).flat(),
    "coalesced",
    "closed",
    "coalesced",
  ]);
  const summary = recorded[2 * MAX_ENTRIES_PER_APPROVAL];
  // The approval closed twenty times, and opened again each time but the last.
  expect(summary).toMatchObject({ times: 20 + 19 - 2 * MAX_ENTRIES_PER_APPROVAL, by: null });
  const entry = summary ?? recorded[0];
  if (entry === undefined) throw new Error("nothing was recorded");
  expect(entryStory({ seq: 1, link: "0".repeat(64), entry })).toContain(
    "31 events without an entry of their own",
  );
});

test("the report does not call further events of one approval further approvals", () => {
  const recorded = flicker(Array.from({ length: 20 }, () => ({ after: 1_000, id: "apr_1", chars: 0 })));
  const kept = recorded.map((entry, index) => ({ seq: index + 1, link: "0".repeat(64), entry }));
  const { rows } = population(kept, 0);
  expect(rows.find(({ measure }) => measure === "Approvals")).toMatchObject({ value: "1" });
  const further = rows.find(({ measure }) => measure === "Events without an entry of their own");
  expect(further?.value).toBe("31");
  expect(further?.counted).toContain("one approval may count several times");
});

test.each([
  ["whose reopenings used up its share", ["apr_1"], 4, "apr_1"],
  [
    "whose run's reopenings used up their share",
    Array.from({ length: 40 }, (_, of) => `apr_${of}`),
    60,
    "apr_20",
  ],
])("a request %s is told as open, if its end was told", (_how, ids, times, id) => {
  const agent = aFlickering();
  for (const each of ids) agent.ask({ after: 1_000, id: each, chars: 0 });
  const again = Array.from({ length: times }, (_, nth) => ids[nth % ids.length] ?? id);
  for (const [nth, each] of again.entries())
    agent.ask({ after: nth === 0 ? HOUR_MS : 1_000, id: each, chars: 0 });
  agent.askAndWait({ after: 1_000, id, chars: 0 });
  expect(agent.told.findLast(({ approval }) => approval === id)?.what).toBe("reopened");
});

test("requests with ever new ids are bounded too", () => {
  const recorded = flicker(
    Array.from({ length: 200 }, (_, of) => ({ after: 1_000, id: `apr_${of}`, chars: 0 })),
  );
  expect(closed(recorded)).toHaveLength(MAX_ENTRIES_PER_RUN);
  expect(counted(recorded)).toBe(200 - MAX_ENTRIES_PER_RUN);
});

test.for(["__proto__", "constructor"])("an approval with the id %s is counted like any other", (id) => {
  const agent = aFlickering();
  for (let round = 0; round < 10; round += 1) agent.ask({ after: 1, id, chars: 0 });
  expect(closed(agent.told)).toHaveLength(MAX_ENTRIES_PER_APPROVAL);
  expect(agent.run().untouched?.omitted).toBe(10 + 9 - 2 * MAX_ENTRIES_PER_APPROVAL);
});

test("long texts are stored up to a limit; after that, only their digest", () => {
  const recorded = flicker(
    Array.from({ length: 10 }, (_, of) => ({ after: 1_000, id: `apr_${of}`, chars: 400_000 })),
  );
  expect(closed(recorded)).toHaveLength(10);
  const kept = closed(recorded).filter(({ text }) => text !== undefined);
  expect(kept).toHaveLength(3);
  for (const { digest } of closed(recorded)) expect(digest).not.toBeNull();
});

test("a change that is not about them leaves the run as it is, though an hour has passed", () => {
  const agent = aFlickering();
  for (let round = 0; round < 10; round += 1) agent.ask({ after: 1, id: "apr_1", chars: 0 });
  const run = agent.run();
  const later = limitUncausedEntries(run, run, [], NOON + 2 * HOUR_MS);
  expect(later).toEqual({ run, audit: [] });
  expect(later.run).toBe(run);
});

test("closings and reopenings that a person caused are recorded every time", async () => {
  const bench = await createBench();
  const id = aRunId();
  const by = { team: TEAM, user: REQUESTER, channel: CHANNEL };
  for (let round = 0; round < 8; round += 1) {
    bench.agents.pending.set(id, ["apr_1"]);
    await bench.flow.adoptRun.adopt(by, id);
    await bench.clock.pass(20_000);
    await bench.flow.adoptRun.unwatch(by, id);
    await bench.clock.pass(20_000);
  }
  const recorded = await bench.store.auditAfter(0, ["closed", "reopened", "coalesced"], 100);
  expect(recorded.map(({ entry }) => `${entry.what} ${entry.outcome}`)).toEqual([
    ...Array.from({ length: 7 }, () => ["closed unwatched", "reopened unwatched"]).flat(),
    "closed unwatched",
  ]);
});

test("a flickering request of a running bot leaves a few entries and a number", async () => {
  const bench = await createBench();
  const { id } = await bench.withCard();
  for (let round = 0; round < 20; round += 1) {
    const content = { action: `ask ${round}` };
    bench.agents.pending.set(id, round % 2 === 0 ? [] : [{ id: "apr_1", content }]);
    await bench.clock.pass(30_000);
  }
  bench.agents.pending.set(id, []);
  bench.agents.statuses.set(id, "succeeded");
  await bench.clock.pass(30_000);
  const recorded = await bench.store.auditAfter(0, ["closed", "coalesced"], 100);
  expect(recorded.filter(({ entry }) => entry.what === "closed")).toHaveLength(MAX_ENTRIES_PER_APPROVAL);
  expect(recorded.at(-1)?.entry).toMatchObject({
    what: "coalesced",
    times: 11 + 10 - 2 * MAX_ENTRIES_PER_APPROVAL,
    runId: id,
  });
});
