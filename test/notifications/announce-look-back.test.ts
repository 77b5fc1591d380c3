// The weekly look back: one message per week, whatever happens, with figures from the audit.

import { describe, expect, test } from "vitest";
import type { AuditEntry } from "#src/audit/entry.ts";
import { RunKey, UserId } from "#src/domain/ids.ts";
import type { LookBackTime } from "#src/domain/policy/hours.ts";
import { AUDIT_CHANNEL, type Bench, createBench, failure } from "../make/bot.ts";
import { aPolicy } from "../make/policy.ts";
import { anAuditEntry, aRun, NOON, TEAM } from "../make/run.ts";
import { decided, sent } from "../make/receipts.ts";
import { rowThatIsNoEntry, withFile } from "../make/spoilt-database.ts";

const [HOUR, DAY] = [3_600_000, 86_400_000];
/** NOON is a Friday. */
const MONDAY = NOON + 2 * DAY + 20 * HOUR;
const TIME: LookBackTime = { tz: "UTC", day: "mon", at: "08:00" };

const withRules = (...names: readonly string[]) => ({
  ...aPolicy(...names.map((name) => ({ name }))),
  lookBack: TIME,
});

/** Sets the wall clock to `at`, and lets the next check run. */
async function reach(bench: Bench, at: number): Promise<void> {
  bench.clock.step(at - bench.clock.now());
  await bench.clock.pass(30_000);
}

const lookBacks = (bench: Bench) => sent(bench, "look-back");

async function lookBack(bench: Bench) {
  const [first] = lookBacks(bench);
  if (first?.facts.lookBack === undefined) throw new Error("there is no look back");
  return first.facts.lookBack;
}

describe("the end of a week", () => {
  test("is announced once in the audit channel, and not early; so is the next one", async () => {
    const bench = await createBench();
    await decided(bench);
    await reach(bench, MONDAY - 60_000);
    expect(lookBacks(bench)).toEqual([]);
    await reach(bench, MONDAY + 1_000);
    await reach(bench, MONDAY + DAY);
    expect(lookBacks(bench).map(({ to }) => to)).toEqual([AUDIT_CHANNEL]);
    expect(await lookBack(bench)).toMatchObject({ week: { from: MONDAY - 7 * DAY, to: MONDAY }, unused: [] });
    await reach(bench, MONDAY + 7 * DAY);
    expect(lookBacks(bench).map(({ facts }) => facts.lookBack?.week.to)).toEqual([MONDAY, MONDAY + 7 * DAY]);
  });

  test("is announced although the wall clock was wrong for a moment and a week of the future was recorded", async () => {
    const bench = await createBench();
    await decided(bench);
    await reach(bench, MONDAY + 35 * DAY);
    await reach(bench, MONDAY - HOUR);
    await reach(bench, MONDAY);
    await bench.restart();
    await reach(bench, MONDAY + 7 * DAY);
    const ends = lookBacks(bench).map(({ facts }) => facts.lookBack?.week.to);
    expect(ends.slice(-2)).toEqual([MONDAY, MONDAY + 7 * DAY]);
  });

  test("is announced although a row that says so is no entry", async () => {
    const { bench, spoil } = await withFile();
    await decided(bench);
    await reach(bench, MONDAY);
    spoil(...rowThatIsNoEntry("week-ended"));
    await reach(bench, MONDAY + 7 * DAY);
    expect(lookBacks(bench).map(({ facts }) => facts.lookBack?.week.to)).toEqual([MONDAY, MONDAY + 7 * DAY]);
  });

  test("is announced late, and once, by a process that was down then, even after weeks", async () => {
    const bench = await createBench();
    await decided(bench);
    await bench.restart(MONDAY + 15 * DAY - bench.clock.now());
    await bench.clock.pass(30_000);
    expect(lookBacks(bench).map(({ facts }) => facts.lookBack?.week.to)).toEqual([MONDAY + 14 * DAY]);
    for (let again = 0; again < 3; again += 1) {
      await bench.restart();
      await bench.clock.pass(30_000);
    }
    expect(lookBacks(bench)).toHaveLength(1);
  });

  test("is announced once although its answer was lost and the process died", async () => {
    const bench = await createBench();
    await decided(bench);
    const post = bench.notificationSender.post;
    bench.notificationSender.post = async (...args) => {
      await post(...args);
      throw failure("timeout", { applied: "maybe" });
    };
    await reach(bench, MONDAY);
    await bench.restart();
    await bench.clock.pass(120_000);
    expect(lookBacks(bench)).toHaveLength(1);
  });

  test("is not announced for a time before the first entry, nor if the policy says off", async () => {
    const bench = await createBench();
    await bench.clock.pass(60_000);
    expect(lookBacks(bench)).toEqual([]);
    await decided(bench);
    bench.policy = { ...withRules("a rule"), lookBack: null };
    await reach(bench, MONDAY + DAY);
    expect(lookBacks(bench)).toEqual([]);
  });
});

describe("the picture", () => {
  test("is in the thread, with its text", async () => {
    const bench = await createBench();
    await decided(bench);
    await bench.clock.pass(20_000);
    await reach(bench, MONDAY);
    const [picture] = bench.notificationSender.pictures;
    expect(bench.notificationSender.pictures).toHaveLength(1);
    expect(picture?.alt).toContain("1 approved, 0 denied, 0 not decided in time");
  });

  test("is left out if it cannot be uploaded, and the text is sent once", async () => {
    const bench = await createBench();
    await decided(bench);
    await bench.clock.pass(20_000);
    bench.notificationSender.attach = () => Promise.reject(failure("storage_limit_reached"));
    await reach(bench, MONDAY);
    await bench.clock.pass(60_000);
    expect(lookBacks(bench)).toHaveLength(1);
    expect(await bench.store.notifications(100)).toEqual([]);
  });
});

const person = (user: string) => ({ team: TEAM, user: UserId(user) });

describe("the figures", () => {
  async function weekOf(entries: readonly Partial<AuditEntry>[], rules: readonly string[] = []) {
    const bench = await createBench();
    bench.policy = withRules(...rules);
    const run = { ...aRun(), key: RunKey("00000000") };
    const at = NOON + HOUR;
    await bench.store.audit(
      entries.map((facts, index) =>
        anAuditEntry(run, {
          at,
          approval: `apr_${index}` as NonNullable<AuditEntry["approval"]>,
          by: person("U0BEN"),
          policy: { version: "0123456789ab", rule: "production" },
          ...facts,
        }),
      ),
    );
    await reach(bench, MONDAY);
    return lookBack(bench);
  }

  const settled = { what: "settled", outcome: "confirmed", verdict: "approve" } as const;

  test("count confirmed decisions of people by rule and by day", async () => {
    const policy = { version: "0123456789ab", rule: "database" };
    const figures = await weekOf([
      settled,
      { ...settled, at: NOON + DAY + HOUR },
      { ...settled, verdict: "deny", policy },
      { ...settled, verdict: "deny", by: null },
      { ...settled, outcome: "elsewhere" },
    ]);
    expect(figures).toMatchObject({ approved: 2, denied: 1 });
    expect(figures.rules).toEqual([
      { rule: "production", approved: 2, denied: 0 },
      { rule: "database", approved: 0, denied: 1 },
    ]);
    expect(figures.days.map(({ approved, denied }) => approved + denied)).toEqual([0, 0, 0, 0, 2, 1, 0, 0]);
  });

  test("report how long people took, by nearest rank", async () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9, 100].map((minutes) => ({
      what: "decided" as const,
      at: NOON + 2 * HOUR,
      moments: { asked: NOON + 2 * HOUR - minutes * 60_000 },
    }));
    expect(await weekOf(waits)).toMatchObject({ medianMs: 5 * 60_000, p90Ms: 9 * 60_000 });
  });

  test("count what went wrong, each approval once", async () => {
    const same = { approval: "apr_x" as NonNullable<AuditEntry["approval"]> };
    const figures = await weekOf([
      { what: "closed", outcome: "expired", by: null },
      { what: "decided", outcome: "no decision in time", verdict: "deny", by: null },
      { what: "decided", outcome: "the run is stopped", verdict: "deny", by: null },
      { what: "closed", outcome: "run-over", by: null },
      { what: "refused", refusal: "requester", step: "click" },
      { what: "settled", outcome: "unconfirmed", verdict: "approve" },
      { what: "disputed" },
      { what: "escalated", by: null, ...same },
      { what: "escalated", by: null, ...same },
      { what: "too-few-approvers", outcome: "0 of 1", ...same },
      { what: "too-few-approvers", outcome: "0 of 1", ...same },
    ]);
    expect(figures).toMatchObject({
      expired: 2,
      refused: 1,
      unconfirmed: 1,
      disputed: 1,
      escalated: 1,
      tooFew: 1,
    });
    expect(figures.days.reduce((sum, { expired }) => sum + expired, 0)).toBe(2);
  });

  test("name the rules that no entry names, alone or combined", async () => {
    const policy = { version: "0123456789ab", rule: "production and staging" };
    const figures = await weekOf([{ ...settled, policy }], ["production", "staging", "payments"]);
    expect(figures.unused).toEqual(["payments"]);
  });

  test('do not call a rule unused because its own name contains an "and"', async () => {
    const policy = { version: "0123456789ab", rule: "deploys and rollbacks and staging" };
    const figures = await weekOf([{ ...settled, policy }], ["deploys and rollbacks", "staging", "payments"]);
    expect(figures.unused).toEqual(["payments"]);
  });

  test.for(["reminded", "claimed", "asked", "extended"] as const)(
    "do not call a rule unused under which a request was %s and waits",
    async (what) => {
      const figures = await weekOf([{ what }], ["production", "payments"]);
      expect(figures.unused).toEqual(["payments"]);
    },
  );

  test("leave out other weeks", async () => {
    const figures = await weekOf([{ ...settled, at: MONDAY - 8 * DAY }, settled, { ...settled, at: MONDAY }]);
    expect(figures.approved).toBe(1);
  });
});
