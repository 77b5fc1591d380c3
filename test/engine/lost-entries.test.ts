// A standby takes over that lacks the newest entries of the audit, and other entries get their numbers. Who had read the lost entries reads
// the new ones.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  createPolicyFollower,
  createPolicyHolder,
  digestOf,
} from "#src/adapters/policy-file/policy-holder.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { type AuditEntry, auditEntry, policyLoadedEntry } from "#src/audit/entry.ts";
import { createFreezes } from "#src/engine/freezes.ts";
import { createIntegrity } from "#src/engine/integrity.ts";
import { createNotificationWriter, type NotificationWriter } from "#src/notifications/from-audit.ts";
import type { Store } from "#src/ports/store.ts";
import { ADMIN, AUDIT_CHANNEL } from "../make/bot.ts";
import { streamTo } from "../make/audit-stream.ts";
import { createHandClock } from "../make/clock.ts";
import { contextAt } from "../make/history.ts";
import { policyFile } from "../make/policy.ts";
import { quietLog, quietMetrics } from "../make/quiet.ts";
import { anAuditEntry, APPROVER, aRun, CHANNEL, NOON, TEAM } from "../make/run.ts";
import { spoil } from "../make/spoil.ts";
import { withStandby } from "../make/take-over.ts";

const BY = { team: TEAM, user: APPROVER };
const run = aRun();

const entry = (what: AuditEntry["what"], facts: Partial<AuditEntry> = {}): AuditEntry =>
  auditEntry(null, { at: NOON, what, outcome: "x", by: BY, channel: CHANNEL, ...facts });

const FROZEN = entry("frozen");
const lifted = (refers: number): AuditEntry => entry("freeze-lifted", { refers });

test.for([1, 3])("a freeze holds that was written with the number of a lost entry, of %i", async (lost) => {
  const { store, fallBehind, takeOver } = await withStandby();
  const freezes = createFreezes(store, quietLog([], []));
  await store.audit([FROZEN]);
  fallBehind();
  await store.audit([lifted(1), FROZEN, lifted(3)].slice(0, lost));
  await freezes.refresh();
  expect(freezes.now()).toEqual([]);
  await takeOver();
  await store.audit([FROZEN]);
  await freezes.refresh();
  expect(freezes.now().map((freeze) => freeze.entry)).toEqual([1, 2]);
  expect(freezes.knownTo()).toMatchObject({ seq: 2 });
});

describe("a freeze whose entry is lost", () => {
  /** Freezes the channel in a process, and loses the entry. */
  async function lostFreeze() {
    const { store, fallBehind, takeOver } = await withStandby();
    const errors: string[] = [];
    const freezes = createFreezes(store, quietLog([], errors));
    fallBehind();
    await store.audit([FROZEN]);
    await freezes.refresh();
    await takeOver();
    const read = async (...entries: AuditEntry[]): Promise<unknown> => {
      await store.audit(entries);
      await freezes.refresh();
      return freezes.now().map(({ entry, channel }) => [entry, channel]);
    };
    return { read, errors, freezes };
  }

  test("holds until someone lifts it, with an entry that names none", async () => {
    const { read, errors, freezes } = await lostFreeze();
    expect(await read()).toEqual([[1, CHANNEL]]);
    expect(freezes.now().map((freeze) => freezes.isLost(freeze))).toEqual([true]);
    expect(errors).toEqual([expect.stringContaining("freezes in force are gone from the audit")]);
    expect(await read(entry("freeze-lifted", { channel: null }))).toEqual([[1, CHANNEL]]);
    expect(await read(entry("freeze-lifted"))).toEqual([]);
    expect(errors).toHaveLength(1);
  });

  test("holds when a freeze of another channel gets its number, and when that one is lifted", async () => {
    const { read } = await lostFreeze();
    expect(await read(entry("frozen", { channel: null }))).toEqual([
      [1, CHANNEL],
      [1, null],
    ]);
    expect(await read(entry("freeze-lifted", { channel: null, refers: 1 }))).toEqual([[1, CHANNEL]]);
  });

  test("gives way to a new freeze of its channel", async () => {
    const { read, freezes } = await lostFreeze();
    await read();
    expect(await read(FROZEN)).toEqual([[1, CHANNEL]]);
    expect(freezes.now().map((freeze) => freezes.isLost(freeze))).toEqual([false]);
    expect(await read(lifted(1))).toEqual([]);
  });

  test.for([
    ["its end", [entry("freeze-lifted", { at: NOON + 60_000 })]],
    [
      "a later freeze of its channel and the end of that",
      [entry("frozen", { at: NOON + 60_000 }), entry("freeze-lifted", { at: NOON + 90_000, refers: 1 })],
    ],
  ] as const)("ends with %s, also in a process that did not know of the loss", async ([_what, entries]) => {
    const { read, errors } = await lostFreeze();
    expect(await read(...entries)).toEqual([]);
    expect(errors).toEqual([]);
  });

  test("is not ended by the end of an earlier one that is read again", async () => {
    const { store, fallBehind, takeOver } = await withStandby();
    const freezes = createFreezes(store, quietLog([], []));
    await store.audit([FROZEN, lifted(1), FROZEN, entry("freeze-lifted"), lifted(3)]);
    fallBehind();
    await store.audit([FROZEN]);
    await freezes.refresh();
    await takeOver();
    await freezes.refresh();
    expect(freezes.now().map((freeze) => freeze.entry)).toEqual([6]);
  });
});

test("no approval leaves until the freezes are read anew", async () => {
  const { store, fallBehind, takeOver } = await withStandby();
  const freezes = createFreezes(store, quietLog([], []));
  await store.insert(run, {});
  fallBehind();
  await store.audit([FROZEN, lifted(1)]);
  await freezes.refresh();
  const known = freezes.knownTo();
  await takeOver();
  const stored = await store.load(run.key);
  if (stored === null) throw new Error("the standby has no run");
  expect(await store.save(stored, run, { noFreezeAfter: known })).toBe("frozen");
  await freezes.refresh();
  expect(await store.save(stored, run, { noFreezeAfter: freezes.knownTo() })).toBe("passed-on");
});

test("findings and acknowledgements are those of the audit, and lost findings are found again", async () => {
  const { store, fallBehind, takeOver } = await withStandby();
  const clock = createHandClock();
  const deps = {
    store,
    context: () => contextAt(),
    clock,
    log: quietLog([], []),
    metrics: quietMetrics([], []),
  };
  const integrity = createIntegrity(deps);
  const open = (): string[] =>
    integrity
      .state()
      .open.map(({ id }) => id)
      .sort();
  await store.audit([entry("tampering-found", { findings: ["first"] })]);
  fallBehind();
  await store.audit([entry("tampering-acknowledged", { findings: ["first"] }), anAuditEntry(run)]);
  await store.audit([entry("tampering-found", { findings: ["lost"] })]);
  await integrity.catchUp();
  expect(open()).toEqual(["lost"]);
  await takeOver();
  await store.audit([entry("tampering-found", { findings: ["new"] })]);
  await integrity.catchUp();
  expect(open()).toEqual(["first", "lost", "new"]);
  await integrity.stop();
  const found = await store.auditAfter(2, ["tampering-found"], 9);
  expect(found.flatMap(({ entry: { findings } }) => findings)).toEqual(["lost"]);
});

test("the newest policy that the audit has is in force, and the log says that a newer one is lost", async () => {
  const { store, fallBehind, takeOver } = await withStandby();
  const errors: string[] = [];
  const log = quietLog([], errors);
  const wanting = (quorum: number) =>
    policyFile(`rules:\n  - { name: r, approvers: anyone, quorum: ${quorum} }`).path;
  const load = async (quorum: number): Promise<void> => {
    const other = await createPolicyHolder(wanting(quorum), log);
    await store.audit([policyLoadedEntry(other.loaded(), { now: NOON, digest: digestOf })]);
  };
  const holder = await createPolicyHolder(wanting(1), log);
  const follow = createPolicyFollower(holder, store, log);
  await load(2);
  fallBehind();
  await load(3);
  await load(4);
  await follow();
  const { version } = holder.now();
  await takeOver();
  expect(errors).toEqual([]);
  expect(await follow()).toBe(true);
  expect(holder.now().rules[0]?.needs).toBe(2);
  expect(errors).toEqual([expect.stringContaining(`the policy ${version ?? ""} was in force and is gone`)]);
  expect(await follow()).toBe(false);
  await load(5);
  expect(await follow()).toBe(true);
  expect(holder.now().rules[0]?.needs).toBe(5);
  expect(errors).toHaveLength(1);
});

const writerOn = (store: Store, errors: string[]): NotificationWriter =>
  createNotificationWriter({
    store,
    audit: { team: TEAM, channel: AUDIT_CHANNEL, admins: [ADMIN] },
    context: () => contextAt(),
    log: quietLog([], errors),
    engine: { changeAnywhere: () => Promise.resolve(null) },
    integrity: { found: () => undefined },
  });

test("notifications follow from the entries that were written with the numbers of lost ones", async () => {
  const { store, fallBehind, takeOver } = await withStandby();
  const errors: string[] = [];
  const writer = writerOn(store, errors);
  await store.audit([anAuditEntry(run)]);
  await writer.write();
  fallBehind();
  await store.audit([FROZEN, lifted(2), anAuditEntry(run)]);
  await writer.write();
  await takeOver();
  await store.audit([anAuditEntry(run), FROZEN]);
  await writer.write();
  const freezes = (await store.notifications(99)).filter(({ kind }) => kind === "freeze");
  expect(new Set(freezes.map((each) => each.entry))).toEqual(new Set([3]));
  expect(errors).toHaveLength(1);
});

test.for([
  ["writes notifications after", "handOver", "write"],
  ["does so before", "write", "handOver"],
  ["never does so", "handOver", "handOver"],
] as const)("a process that %s the loss says once that entries are gone", async ([, before, after]) => {
  const { store, fallBehind, takeOver } = await withStandby();
  const errors: string[] = [];
  const writer = writerOn(store, errors);
  await store.audit([anAuditEntry(run)]);
  fallBehind();
  await store.audit([anAuditEntry(run), anAuditEntry(run)]);
  await writer[before]();
  await takeOver();
  await store.audit([FROZEN, FROZEN]);
  for (let round = 0; round < 2; round += 1) await writer[after]();
  expect(errors).toEqual([expect.stringContaining("the newest entries of the audit are gone")]);
});

test("the sink gets the entries that were written with the numbers of lost ones", async () => {
  const { store, fallBehind, takeOver } = await withStandby();
  const written: string[] = [];
  const write = (lines: readonly string[]): Promise<void> => Promise.resolve(void written.push(...lines));
  const { pass, stop, seen } = streamTo({ name: "memory", write, close: () => Promise.resolve() }, store);
  await store.audit([anAuditEntry(run)]);
  await pass();
  fallBehind();
  await store.audit([anAuditEntry(run), anAuditEntry(run)]);
  await pass();
  expect(written).toHaveLength(3);
  await takeOver();
  await store.audit([anAuditEntry(run, { outcome: "new" })]);
  await pass();
  await stop();
  expect(written.slice(3).map((line) => line.includes('"seq":2') && line.includes("new"))).toEqual([true]);
  expect(seen.errors).toBe(1);
});

describe("the end of a lost decision", () => {
  const about = (what: AuditEntry["what"], refers?: number): AuditEntry =>
    anAuditEntry(run, { what, outcome: "confirmed", ...(refers !== undefined && { refers }) });

  /** A store that loses the newest entries, and keeps what it remembers. */
  async function forgetfulStore() {
    const folder = mkdtempSync(join(tmpdir(), "lost-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "bot.db");
    const store = await openStore({ url: `sqlite:${file}`, owner: "test", now: () => NOON });
    onTestFinished(() => store.close());
    await store.insert(run, {});
    return {
      /** Writes the entries as the process that decides does, or as another process. */
      write: async (by: "this process" | "another process", ...audit: AuditEntry[]): Promise<void> => {
        const stored = await store.load(run.key);
        if (by === "another process" || stored === null) await store.audit(audit);
        else await store.save(stored, run, { audit });
      },
      lose: (after: number) => spoil(file, `delete from audit where seq > ${after}`),
      endOf: async (seq: number): Promise<readonly string[]> => {
        const proven = await store.provenEntry(seq);
        if (!proven.ok) throw new Error("the decision is not proven");
        const { link } = proven.kept;
        return (await store.settledAfter({ seq, link })).entries.map((end) => `${end.seq} ${end.outcome}`);
      },
    };
  }

  test.for(["this process", "another process"] as const)(
    "that %s wrote does not end the decision that gets its number",
    async (by) => {
      const { write, lose, endOf } = await forgetfulStore();
      await write(by, about("decided"), about("opened"));
      expect(await endOf(1)).toEqual([]);
      await write(by, about("decided"));
      await write(by, about("settled", 3));
      expect(await endOf(1)).toEqual([]);
      lose(2);
      await write(by, about("decided", 0));
      expect(await endOf(3)).toEqual([]);
      await write(by, about("settled", 3));
      expect(await endOf(3)).toEqual(["4 confirmed"]);
      lose(3);
      expect(await endOf(3)).toEqual(["4 confirmed"]);
    },
  );
});
