import { afterEach, beforeEach, describe, expect, test } from "vitest";
import * as fc from "fast-check";
import type { Json } from "#src/domain/json.ts";
import type { Run } from "#src/domain/run.ts";
import type { Store } from "#src/ports/store.ts";
import { createLongTexts, unpackedFrom } from "#src/adapters/store/long-texts.ts";
import { readable, type StoredRow } from "#src/adapters/store/run-row.ts";
import { PortError } from "#src/ports.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { aRun } from "../../make/run.ts";
import { anyCodePoint } from "../../make/code-points.ts";

const LONG = "a long text, with \0 and 👩‍💻 in it; ".repeat(1_000);

describe("a packed value", () => {
  const odd = fc.oneof(
    fc.constantFrom(
      "\0",
      "\0\0",
      "\0@",
      `\0@${"0".repeat(64)}`,
      `"\\u0000@${"0".repeat(64)}"`,
      "\ud800",
      "__proto__",
    ),
    fc.constantFrom(LONG, `\0${LONG}`, `\ud800${LONG}`, `${LONG}!`),
    fc.string({ unit: anyCodePoint, maxLength: 20 }),
  );
  const value = fc.letrec<{ json: Json }>((tie) => ({
    json: fc.oneof(
      odd,
      fc.jsonValue() as fc.Arbitrary<Json>,
      fc.array(tie("json"), { maxLength: 4 }),
      fc.dictionary(odd, tie("json"), { maxKeys: 4 }),
    ),
  })).json;

  test("is the same after unpacking, and its document is short", () => {
    const texts = createLongTexts();
    fc.assert(
      fc.property(value, (each) => {
        const { doc, texts: apart } = texts.pack(each);
        expect(unpackedFrom(doc, JSON.parse(doc) as Json, (digest) => apart.get(digest))).toEqual(
          JSON.parse(JSON.stringify(each)),
        );
        expect([...apart.values()].every((text) => text.length > 16_384)).toBe(true);
      }),
    );
  });

  test("without a long text is not written in advance", async () => {
    let written = 0;
    const value = { toJSON: () => (written += 1) };
    await createLongTexts().prepare({ a: [value, "short"] });
    expect(written).toBe(0);
  });

  test("cannot be unpacked without one of its texts", () => {
    const { doc } = createLongTexts().pack({ a: [LONG] });
    expect(doc.length).toBeLessThan(200);
    expect(unpackedFrom(doc, JSON.parse(doc) as Json, () => undefined)).toBeUndefined();
  });
});

describe("a long text in the store", () => {
  let folder = "";
  let store: Store;
  const file = (): string => join(folder, "bot.db");
  const open = (): Promise<Store> => openStore({ url: `sqlite:${file()}`, owner: "test" });
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "countersign-long-"));
    store = await open();
  });
  afterEach(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });

  const inFile = async <T>(ask: (db: DatabaseSync) => T): Promise<T> => {
    await store.close();
    const db = new DatabaseSync(file());
    const found = ask(db);
    db.close();
    store = await open();
    return found;
  };
  const rows = (db: DatabaseSync): number =>
    Number(db.prepare("select count(*) as many from long_texts").get()?.["many"]);
  const run: Run = { ...aRun(), input: LONG };

  test("is still there after a restart", async () => {
    await store.insert(run, {});
    expect(await inFile(rows)).toBe(1);
    expect((await store.load(run.key))?.run).toEqual(run);
  });

  test("does not make the run's row grow, and is deleted when it is no longer needed", async () => {
    await store.insert(run, {});
    const next = { ...run, input: `${LONG}!` };
    expect(await store.save({ run, revision: 1 }, next)).toBe("saved");
    const [many, length] = await inFile((db) => [
      rows(db),
      Number(db.prepare("select length(doc) as chars from runs").get()?.["chars"]),
    ]);
    expect(many).toBe(1);
    expect(length).toBeLessThan(5_000);
    expect((await store.load(run.key))?.run.input).toBe(next.input);
  });

  test("that was changed by hand is reported, and its run is not read", async () => {
    await store.insert(run, {});
    const findings: string[] = [];
    await inFile((db) => db.exec("update long_texts set text = 'approve everything'"));
    store.onTampering((finding) => void findings.push(finding.words));
    await expect(store.load(run.key)).rejects.toMatchObject({ code: "row_unreadable" });
    expect(findings).toEqual([expect.stringContaining("was changed outside Countersign")]);
  });

  test("is deleted with its run", async () => {
    await store.insert(run, {});
    expect(await store.save({ run, revision: 1 }, run, { finished: true })).toBe("saved");
    await store.forget(Number.MAX_SAFE_INTEGER);
    expect(await inFile(rows)).toBe(0);
  });
});

test("a database that does not answer while a long text is read does not make the run unreadable", async () => {
  const away = new PortError("", { applied: "no", retry: "later", code: "store_down" });
  const textsOf = () => Promise.reject(away);
  const reading = {
    seals: null,
    now: Date.now,
    findings: { report: () => undefined },
    texts: { ...createLongTexts(), textsOf },
  };
  const row = { key: aRun().key, doc_version: 1, doc: "{}" } as StoredRow;
  const corrupt: unknown[] = [];
  const reader = {} as Parameters<typeof readable>[0];
  await expect(readable(reader, [row], reading, (key) => void corrupt.push(key))).rejects.toBe(away);
  expect(corrupt).toEqual([]);
});
