// The audit's entries on their way to AUDIT_SINK: a file, an address that fails, and standard output.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Writable } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AuditEntry } from "#src/audit/entry.ts";
import { openSink } from "#src/adapters/audit-sink/open-sink.ts";
import { openForArchive } from "#src/adapters/store/archive-audit.ts";
import { auditKeyBeside } from "#src/adapters/store/audit-key.ts";
import { openStore } from "#src/adapters/store/open.ts";
import type { AuditSink } from "#src/ports.ts";
import type { Store } from "#src/ports/store.ts";
import { streamTo } from "../make/audit-stream.ts";
import { spoil } from "../make/spoil.ts";
import { anApproval, anAuditEntry, aRun } from "../make/run.ts";
import { eventually } from "../make/eventually.ts";
import { lastEntry } from "../make/last-entry.ts";

let folder = "";
let store: Store;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "audit-stream-"));
  store = await openStore({ url: `sqlite:${join(folder, "bot.db")}`, owner: "test" });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true });
});

const SECRET_REASON = "the reason that Ben typed";
const copy = (): string => join(folder, "copy.jsonl");
const run = aRun();

/** Appends this many decisions. */
async function append(count: number, facts: Partial<AuditEntry> = {}): Promise<void> {
  const about = { approval: anApproval("apr_1").id, digest: "a".repeat(64), text: "the full request" };
  const decided = { what: "decided", verdict: "approve", reason: SECRET_REASON, ...about } as const;
  await store.audit(Array.from({ length: count }, () => anAuditEntry(run, { ...decided, ...facts })));
}

type Line = {
  readonly metadata: { readonly sequence: number; readonly uid: string; readonly event_code: string };
  readonly unmapped: { readonly seq: number; readonly hash: string; readonly previous: string };
};

const linesIn = (text: string): Line[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
const copied = (): Line[] => linesIn(readFileSync(copy(), "utf8"));
const numbers = (lines: readonly Line[]): number[] => lines.map(({ unmapped }) => unmapped.seq);
const upTo = (last: number): number[] => Array.from({ length: last }, (_, at) => at + 1);

const streaming = (auditSink: AuditSink, isShardHolder?: () => boolean, from: Store = store) =>
  streamTo(auditSink, from, isShardHolder);

const toFile = (): AuditSink => openSink({ type: "file", path: copy() });

test("each entry is one line with its number, its link and the link before, and without any text", async () => {
  await append(3);
  const { stop, pass } = streaming(toFile());
  await eventually(async () => {
    await pass();
    expect(numbers(copied())).toEqual([1, 2, 3]);
  });
  await stop();
  const lines = copied();
  expect(lines.map(({ unmapped }) => unmapped.hash)).toEqual(
    (await store.auditRows(0, 10)).map(({ link }) => link),
  );
  expect(lines[1]?.unmapped.previous).toBe(lines[0]?.unmapped.hash);
  expect(lines[0]?.unmapped.previous).toBe("0".repeat(64));
  expect(lines[0]).toMatchObject({
    class_uid: 3004,
    type_uid: 300_403,
    metadata: { version: "1.3.0", event_code: "decided", sequence: 1 },
    actor: { user: { uid: "U0REQUESTER", org: { uid: "T0ACME" } } },
    entity: { type: "approval", uid: "apr_1" },
    unmapped: { verdict: "approve", digest: "a".repeat(64) },
  });
  const text = readFileSync(copy(), "utf8");
  expect(text).not.toContain(SECRET_REASON);
  expect(text).not.toContain("the full request");
});

test("entries are sent although the newest one cannot be read", async () => {
  await append(2);
  spoil(join(folder, "bot.db"), "update audit set entry = '{}' where seq = 2");
  const { stop, pass } = streaming(toFile());
  await eventually(async () => {
    await pass();
    expect(numbers(copied())).toEqual([1, 2]);
  });
  await stop();
});

test("a word typed into a refused command is not part of its line", async () => {
  await append(1, { what: "refused", outcome: "refused: xoxb-typed", refusal: "unknown-command" });
  const { stop, pass } = streaming(toFile());
  await eventually(async () => {
    await pass();
    expect(copied()).toMatchObject([{ status_id: 2, status_detail: "unknown-command" }]);
  });
  await stop();
  expect(readFileSync(copy(), "utf8")).not.toContain("xoxb-typed");
});

test("a restart continues where the sink stopped; one before the cursor moves repeats lines, and never skips any", async () => {
  await append(450);
  const first = streaming(toFile());
  await eventually(async () => {
    await first.pass();
    expect(copied()).toHaveLength(450);
  });
  await first.stop();
  await append(2);
  const failing = { ...store, putDocument: () => Promise.reject(new Error("killed")) };
  const killed = streaming(toFile(), () => true, failing);
  await eventually(async () => {
    await killed.clock.pass(1);
    expect(killed.seen.errors).toBe(1);
  });
  await killed.stop();
  const again = streaming(toFile());
  await eventually(async () => {
    await again.pass();
    expect(numbers(copied())).toEqual([...upTo(452), 451, 452]);
  });
  await again.stop();
});

test("half a line that a crash left does not break later lines", async () => {
  writeFileSync(copy(), '{"class_uid":3004,"unma');
  await append(1);
  const { stop, pass } = streaming(toFile());
  await eventually(async () => {
    await pass();
    expect(readFileSync(copy(), "utf8").split("\n")).toHaveLength(3);
  });
  await stop();
  expect(linesIn(readFileSync(copy(), "utf8").split("\n")[1] ?? "")).toMatchObject([
    { unmapped: { seq: 1 } },
  ]);
});

test("another sink, or another audit than the sink's last one, gets everything from the beginning", async () => {
  await append(3);
  const first = streaming(toFile());
  await eventually(async () => {
    await first.pass();
    expect(copied()).toHaveLength(3);
  });
  await first.stop();
  await store.putDocument("audit stream", { to: `file:${copy()}`, seq: 900, link: "f".repeat(64) });
  const second = streaming(toFile());
  await eventually(async () => {
    await second.pass();
    expect(numbers(copied())).toEqual([1, 2, 3, 1, 2, 3]);
  });
  expect(second.seen.errors).toBe(1);
  await second.stop();
});

test("only the replica that holds the shard sends", async () => {
  await append(2);
  let isShardHolder = false;
  const { stop, pass } = streaming(toFile(), () => isShardHolder);
  await pass();
  await pass();
  expect(() => copied()).toThrow("ENOENT");
  isShardHolder = true;
  await eventually(async () => {
    await pass();
    expect(numbers(copied())).toEqual([1, 2]);
  });
  await stop();
});

type Taker = (request: IncomingMessage, body: string, response: ServerResponse) => void;

async function aServer(take: Taker): Promise<{ server: Server; url: string }> {
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => take(request, body, response));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in` };
}

test("an address that fails raises both metrics, and gets every entry once it is back, with its token", async () => {
  let well = false;
  const bodies: string[] = [];
  const headers: (string | undefined)[] = [];
  const { server, url } = await aServer((request, body, response) => {
    headers.push(request.headers.authorization, request.headers["content-type"]);
    if (well) bodies.push(body);
    response.writeHead(well ? 200 : 503).end();
  });
  await append(5);
  const sink = openSink({ type: "http", url, token: "siem-token" });
  const { seen, stop, clock } = streaming(sink);
  await eventually(async () => {
    await clock.pass(5_000);
    expect(seen).toMatchObject({ lag: 5 });
    expect(seen.failures).toBeGreaterThan(1);
  });
  well = true;
  await eventually(async () => {
    await clock.pass(60_000);
    expect(seen.lag).toBe(0);
  });
  await stop();
  server.close();
  expect(numbers(linesIn(bodies.join("")))).toEqual(upTo(5));
  expect(new Set(headers)).toEqual(new Set(["Bearer siem-token", "application/x-ndjson"]));
});

test("a sink that has accepted nothing is on record from the first round, so no archive skips it", async () => {
  await append(2);
  const refuses: AuditSink = {
    name: "https://siem.example/in",
    write: () => Promise.reject(new Error("away")),
    close: () => Promise.resolve(),
  };
  const { seen, stop, clock } = streaming(refuses);
  await eventually(async () => {
    await clock.pass(1);
    expect(seen.failures).toBe(1);
  });
  await stop();
  expect(await store.document("audit stream")).toMatchObject({ to: refuses.name, seq: 0 });
});

/** Resolves to the last entry that an archive may take, and to why the next one stays. */
async function archivable(): Promise<{ readonly lastArchivable: number; readonly because: string | null }> {
  await store.close();
  const file = join(folder, "bot.db");
  const audit = await openForArchive(file, auditKeyBeside(file).key);
  const { lastArchivable, because } = await audit.limit({
    before: Number.MAX_SAFE_INTEGER,
    withoutSink: false,
  });
  await audit.close();
  store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  return { lastArchivable, because };
}

const naming = (words: string): unknown => expect.stringContaining(words);

/** A sink that takes this many batches and then fails. */
function failingAfter(batches: number, name = "https://b.example/in"): AuditSink {
  let left = batches;
  const write = () => ((left -= 1) < 0 ? Promise.reject(new Error("away")) : Promise.resolve());
  return { name, write, close: () => Promise.resolve() };
}

async function untilFailing(sink: AuditSink): Promise<void> {
  const { seen, stop, pass } = streaming(sink);
  await eventually(async () => {
    await pass();
    expect(seen.failures).toBeGreaterThan(0);
  });
  await stop();
}

test.for([
  ["has taken nothing", 0, 0],
  ["has taken a part", 1, 200],
] as const)(
  "a new sink that %s holds up an archive from the first entry that it lacks",
  async ([, batches, lastArchivable]) => {
    await append(450, { what: "opened" });
    const complete = streaming(toFile());
    await eventually(async () => {
      await complete.pass();
      expect(complete.seen.lag).toBe(0);
    });
    await complete.stop();
    await append(1, { what: "opened" });
    expect(await archivable()).toMatchObject({ lastArchivable: 450 });
    await untilFailing(failingAfter(batches));
    expect(await archivable()).toMatchObject({ lastArchivable, because: naming("b.example") });
  },
);

test("a replaced sink holds up an archive from the first entry that it lacks, and continues there when it comes back", async () => {
  await append(450, { what: "opened" });
  await untilFailing(failingAfter(1, "https://a.example/in"));
  const other = streaming(failingAfter(100));
  await eventually(async () => {
    await other.pass();
    expect(other.seen.lag).toBe(0);
  });
  await other.stop();
  expect(await archivable()).toMatchObject({ lastArchivable: 200, because: naming("a.example") });
  const taken: string[] = [];
  const write = async (lines: readonly string[]): Promise<void> => void taken.push(...lines);
  const back = streaming({ ...failingAfter(0, "https://a.example/in"), write });
  await eventually(async () => {
    await back.pass();
    expect(back.seen.lag).toBe(0);
  });
  await back.stop();
  expect(numbers(linesIn(taken.join("")))[0]).toBe(201);
  expect(await archivable()).toMatchObject({ lastArchivable: 449, because: null });
});

test("an archive gives up the sinks that lack its entries, says so for each, and keeps the others", async () => {
  await append(10, { what: "opened" });
  await untilFailing(failingAfter(0, "https://a.example/in"));
  await untilFailing(failingAfter(0, "https://b.example/in"));
  const complete = streaming(toFile());
  await eventually(async () => {
    await complete.pass();
    expect(complete.seen.lag).toBe(0);
  });
  await complete.stop();
  await store.close();
  const file = join(folder, "bot.db");
  const audit = await openForArchive(file, auditKeyBeside(file).key);
  await audit.archive(5, join(folder, "old.jsonl"), 0);
  await audit.close();
  store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  const { outcome } = (await lastEntry(store)) ?? {};
  const lacks = (name: string): string =>
    `AUDIT_SINK (https://${name}.example/in) was given up, and has taken none of them from entry 1 on`;
  for (const name of ["a", "b"]) expect(outcome).toContain(lacks(name));
  expect(await store.document("audit stream")).toMatchObject({ to: `file:${copy()}`, seq: 10 });
  expect(JSON.stringify(await store.document("audit stream"))).not.toContain("example");
});

test("an address that redirects does not get the token, and counts as having accepted nothing", async () => {
  const asked: string[] = [];
  const { server, url } = await aServer((request, _, response) => {
    asked.push(request.url ?? "");
    response.writeHead(307, { location: "/elsewhere" }).end();
  });
  const sink = openSink({ type: "http", url, token: "siem-token" });
  await expect(sink.write(["{}\n"])).rejects.toThrow("it answered HTTP 307");
  await sink.close();
  server.close();
  expect(asked).toEqual(["/in"]);
});

test("standard output gets whole lines", async () => {
  const out = new PassThrough();
  await append(2);
  const { stop, pass } = streaming(openSink({ type: "stdout" }, { out }));
  await eventually(async () => {
    await pass();
    expect(numbers(linesIn(String(out.read() ?? "")))).toEqual([1, 2]);
  });
  await stop();
});

test("standard output that fails rejects the write, and nothing else", async () => {
  const out = new Writable({ write: (_chunk, _encoding, done) => done(new Error("EPIPE")) });
  await expect(openSink({ type: "stdout" }, { out }).write(["{}\n"])).rejects.toThrow("stdout");
  // Without a listener, this would throw, and the process would end.
  expect(out.emit("error", new Error("EPIPE"))).toBe(true);
});

test("a sink that neither takes nor refuses counts as failing, gets no second write meanwhile, and loses nothing", async () => {
  await append(2);
  const free = Promise.withResolvers<undefined>();
  const file = toFile();
  let writes = 0;
  const write = async (lines: readonly string[]): Promise<void> => {
    writes += 1;
    await free.promise;
    await file.write(lines);
  };
  const { stop, pass, seen } = streaming({ ...file, write });
  await eventually(async () => {
    await pass();
    expect(seen.failures).toBe(2);
  });
  await append(5);
  await eventually(async () => {
    await pass();
    expect(seen.lag).toBe(7);
  });
  expect(writes).toBe(1);
  free.resolve(undefined);
  await eventually(async () => {
    await pass();
    expect(numbers(copied())).toEqual([1, 2, ...upTo(7)]);
  });
  await stop();
});
