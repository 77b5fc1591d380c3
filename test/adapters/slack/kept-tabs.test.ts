// Open Home tabs when several processes share the work.

import { expect, test } from "vitest";
import { EVERYTHING } from "#src/adapters/slack/queue-choice.ts";
import { ChannelId, shardOfName, UserId } from "#src/domain/ids.ts";
import { aChange, aDocument, anAudit, seconds, someHomes, someProcesses } from "./some-homes.ts";

const BEN = UserId("U0BEN");
const CLEO = UserId("U0CLEO");

test("an open tab is redrawn at most ten seconds after another process wrote to the audit", async () => {
  const auditLog = anAudit();
  const some = someHomes({ auditLog });
  await seconds(15, some);
  some.open(BEN);
  auditLog.seq += 1;
  await seconds(12, some);
  expect(some.draws).toHaveLength(1);
  await seconds(40, some);
  expect(some.draws).toHaveLength(1);
  auditLog.seq += 1;
  await seconds(12, some);
  expect(some.draws).toHaveLength(2);
});

test.each([false, true])(
  "an open tab is redrawn once a minute while the audit does not grow, or cannot be read (%s)",
  async (isDown) => {
    const auditLog = anAudit();
    const some = someHomes({ auditLog });
    await seconds(15, some);
    some.open(BEN);
    auditLog.isDown = isDown;
    await seconds(200, some);
    expect(some.draws).toHaveLength(3);
  },
);

test("of several processes, the one that holds the reader's shard redraws a tab, and another one after it", async () => {
  let holder = 0;
  const { processes, auditLog, drawn, pass } = someProcesses(2, () => holder);
  processes[1]?.open(BEN);
  await processes[1]?.homes.written();
  await pass(30);
  expect(drawn()).toEqual([1, 0]);
  auditLog.seq += 1;
  await pass(30);
  expect(drawn()).toEqual([2, 0]);
  processes[1]?.homes.changed(aChange());
  await pass(5);
  expect(drawn()).toEqual([2, 0]);
  holder = 1;
  await pass(30);
  expect(drawn()).toEqual([2, 1]);
});

test("each process draws the tabs of its own readers, for a freeze too", async () => {
  const { processes, drawn, pass } = someProcesses(2, (shard) => shard % 2);
  const readers = Array.from({ length: 8 }, (_, nth) => UserId(`U0R${nth}`));
  for (const reader of readers) processes[0]?.open(reader);
  await processes[0]?.homes.written();
  await pass(59);
  const odd = readers.filter((reader) => shardOfName(reader) % 2 === 1).length;
  expect([odd > 0, odd < 8]).toEqual([true, true]);
  const before = drawn();
  for (const { homes } of processes) homes.freezesChanged();
  await pass(40);
  expect(drawn().map((count, nth) => count - (before[nth] ?? 0))).toEqual([8 - odd, odd]);
});

test("a tab whose entry in the list was lost is written again by the process that opened it", async () => {
  const documents = aDocument();
  const { processes, drawn, pass } = someProcesses(2, () => 0, documents);
  const [keeper, opener] = processes;
  documents.failures = 1;
  opener?.open(BEN);
  await opener?.homes.written();
  // Two lists that were read before either was written: only the later one remains.
  opener?.open(UserId("U0DEE"));
  keeper?.open(CLEO);
  await Promise.all(processes.map(({ homes }) => homes.written()));
  await pass(45);
  expect(new Set(keeper?.draws.map(({ user }) => user))).toEqual(new Set([BEN, CLEO, UserId("U0DEE")]));
  expect(drawn()[1]).toBe(0);
});

test("a change is drawn before tabs that may have changed, and those are not forgotten", async () => {
  const auditLog = anAudit();
  const some = someHomes({ auditLog, sharers: 2 });
  const others = Array.from({ length: 20 }, (_, nth) => UserId(`U0R${nth}`));
  for (const other of others) some.open(other, [ChannelId("C0OTHER")]);
  some.open(BEN);
  auditLog.seq += 1;
  await seconds(15, some);
  const before = some.draws.length;
  some.homes.changed(aChange());
  await seconds(9, some);
  expect(some.draws.slice(before).map(({ user }) => user)).toContain(BEN);
  await seconds(90, some);
  expect(new Set(some.draws.map(({ user }) => user)).size).toBe(21);
});

test("a tab beyond the hundred that are kept makes no other tab count as not drawn", async () => {
  const documents = aDocument();
  const some = someHomes({ documents, sharers: 2 });
  await seconds(12, some);
  for (let nth = 0; nth < 100; nth += 1) {
    some.open(UserId(`U0R${nth}`));
    await some.clock.pass(10);
  }
  await some.homes.written();
  documents.failures = 1;
  some.open(BEN);
  await some.homes.written();
  await seconds(30, some);
  expect(some.draws).toEqual([]);
});

test("a process that draws often still looks for changes by others", async () => {
  const auditLog = anAudit();
  const some = someHomes({ auditLog, sharers: 2 });
  some.open(BEN, [ChannelId("C0OTHER")]);
  some.open(CLEO);
  auditLog.seq += 1;
  for (let at = 0; at < 15; at += 1) {
    some.homes.changed(aChange());
    await seconds(3, some);
  }
  expect(some.draws.map(({ user }) => user)).toContain(BEN);
});

test("a change draws the page that the reader chose through another process", async () => {
  const documents = aDocument();
  const ours = someHomes({ documents, sharers: 2 });
  ours.open(BEN);
  await ours.homes.written();
  await ours.clock.pass(4_000);
  const theirs = someHomes({ documents, clock: ours.clock });
  theirs.homes.opened(BEN, EVERYTHING);
  await theirs.homes.written();
  ours.homes.changed(aChange());
  await ours.clock.pass(10);
  expect(ours.draws.map(({ show }) => show)).toEqual([EVERYTHING.show]);
});

test("a tab that its reader used through another process takes over its filters", async () => {
  const documents = aDocument();
  const ours = someHomes({ documents });
  ours.open(BEN);
  await ours.homes.written();
  await ours.clock.pass(1_000);
  const theirs = someHomes({ documents, clock: ours.clock });
  theirs.homes.opened(BEN, EVERYTHING);
  await theirs.homes.written();
  await seconds(75, ours);
  expect(ours.draws.at(-1)?.show).toBe(EVERYTHING.show);
});
