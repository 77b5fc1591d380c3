// Someone who can write to the database must not be able to stop the copy of the audit that AUDIT_SINK keeps.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore } from "#src/adapters/store/open.ts";
import { type AuditSink, PortError } from "#src/ports.ts";
import type { Store } from "#src/ports/store.ts";
import { streamTo } from "../make/audit-stream.ts";
import { eventually } from "../make/eventually.ts";
import { anAuditEntry, aRun } from "../make/run.ts";
import { spoil } from "../make/spoil.ts";

let folder = "";
let store: Store;
let taken: number[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "sink-cursor-"));
  store = await openStore({ url: `sqlite:${join(folder, "bot.db")}`, owner: "test" });
  taken = [];
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const sink: AuditSink = {
  name: "https://siem.example/in",
  write: async (lines) => {
    for (const line of lines) taken.push((JSON.parse(line) as { unmapped: { seq: number } }).unmapped.seq);
  },
  close: () => Promise.resolve(),
};

const append = (count: number): Promise<unknown> =>
  store.audit(Array.from({ length: count }, () => anAuditEntry(aRun(), { what: "opened" })));

const cursorBecomes = (doc: string): void =>
  spoil(join(folder, "bot.db"), `update documents set doc = '${doc}' where name = 'audit stream'`);

async function untilTaken(stream: ReturnType<typeof streamTo>, numbers: readonly number[]): Promise<void> {
  await eventually(async () => {
    await stream.pass();
    expect(taken).toEqual(numbers);
  });
}

/** Findings with the same id are one. */
const findingsOf = ({ seen }: ReturnType<typeof streamTo>): string[] => [
  ...new Set(seen.findings.map(({ id }) => id)),
];

test("a cursor that is spoilt while the process runs is a finding, and nothing is sent twice", async () => {
  await append(2);
  const stream = streamTo(sink, store);
  await untilTaken(stream, [1, 2]);
  cursorBecomes("{");
  await append(2);
  await untilTaken(stream, [1, 2, 3, 4]);
  await append(1);
  await untilTaken(stream, [1, 2, 3, 4, 5]);
  await stream.stop();
  expect(stream.seen).toMatchObject({ failures: 0, lag: 0 });
  expect(findingsOf(stream)).toHaveLength(1);
  expect(await store.document("audit stream")).toMatchObject({ to: sink.name, seq: 5 });
});

test.for(["{", "5", '{"to":"https://siem.example/in"}'])(
  "a cursor that is spoilt before a restart (%s) is a finding, and the entries are sent from the first",
  async (doc) => {
    await append(2);
    const first = streamTo(sink, store);
    await untilTaken(first, [1, 2]);
    await first.stop();
    cursorBecomes(doc);
    const again = streamTo(sink, store);
    await untilTaken(again, [1, 2, 1, 2]);
    await again.stop();
    expect(again.seen).toMatchObject({ failures: 0, lag: 0 });
    expect(findingsOf(again)).toHaveLength(1);
  },
);

test.for(["auditRows", "putDocument", "document"] as const)(
  "a pass that fails at %s counts as a failure, and its entries count as waiting",
  async (broken) => {
    await append(3);
    const fails = () =>
      Promise.reject(new PortError("disk I/O error", { applied: "no", retry: "later", code: "io" }));
    const { seen, stop, clock } = streamTo(sink, { ...store, [broken]: fails });
    await eventually(async () => {
      await clock.pass(5_000);
      expect(seen.failures).toBeGreaterThan(1);
    });
    await stop();
    expect(seen).toMatchObject({ lag: 3, findings: [] });
  },
);
