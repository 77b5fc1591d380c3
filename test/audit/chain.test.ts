// The chain by itself: the format of a head, what a link covers, and the name of each fault.

import { describe, expect, test } from "vitest";
import {
  type ChainedEntry,
  headWords,
  linkText,
  NO_LINK,
  parseKnownHead,
  signedText,
} from "#src/domain/audit/hash-chain.ts";
import { type AuditTools, columnsOf, verifyAudit } from "#src/domain/audit/verify-chain.ts";
import { canonicalJson, type Json } from "#src/domain/json.ts";
import { sha256 } from "./tampering.ts";

const LINK = "9f3c".repeat(16);

describe("a witnessed head", () => {
  test.for<[string, number | null, string]>([
    [headWords({ seq: 1_234, link: LINK }), 1_234, LINK.slice(0, 16)],
    [LINK, null, LINK],
    [LINK.toUpperCase(), null, LINK],
    [` 1234:${LINK} `, 1_234, LINK],
    [`audit:1234:${LINK.slice(0, 16)}`, 1_234, LINK.slice(0, 16)],
    [`1234 ${LINK.slice(0, 20)}…`, 1_234, LINK.slice(0, 20)],
  ])("is read from %j", ([text, seq, link]) => expect(parseKnownHead(text)).toEqual({ seq, link }));

  test.for(["", "9f3c", "audit 1234", "audit 1234 · 9f3c", `${LINK}0`, "not a head at all"])(
    "is not read from %j, which is too short or not a head",
    (text) => expect(parseKnownHead(text)).toBeNull(),
  );
});

const row = (seq: number, previous: string, facts: { [field: string]: Json } = {}): ChainedEntry => {
  const entry = { at: seq, what: "decided", run: null, runId: null, approval: null, by: null, ...facts };
  const linked = { seq, key: "ours", text: canonicalJson(entry) };
  const link = sha256(linkText(previous, linked));
  return { ...linked, link, signature: sha256(signedText({ seq, link })), columns: columnsOf(entry) };
};

const tools: AuditTools = {
  hash: sha256,
  signature: (key, text, signature) =>
    key !== "ours" ? "unknown-key" : signature === sha256(text) ? "good" : "bad",
  textOf: (digest) =>
    Promise.resolve(digest === sha256("kept") ? "kept" : digest === "lost" ? null : "other"),
};

async function* stream(rows: readonly ChainedEntry[]): AsyncGenerator<ChainedEntry> {
  yield* rows;
}

const first = row(1, NO_LINK);
const second = row(2, first.link);
const third = row(3, second.link);
const verdict = (...rows: ChainedEntry[]) => verifyAudit(stream(rows), tools);

describe("the verifier", () => {
  test("finds no fault in a whole chain, and returns its head", async () => {
    expect(await verdict(first, second, third)).toEqual({ ok: true, entries: 3, head: third, redacted: 0 });
    expect(await verdict()).toEqual({ ok: true, entries: 0, head: null, redacted: 0 });
  });

  test("accepts an entry without a link only at the beginning", async () => {
    expect(await verdict(first, row(2, NO_LINK))).toEqual({ ok: false, fault: "altered", seq: 2 });
  });

  test.for<[string, ChainedEntry[], string, number]>([
    ["a missing first entry", [second, third], "gap", 2],
    ["a missing entry", [first, third], "gap", 3],
    ["a number that comes twice", [first, first], "gap", 1],
    ["another text", [first, { ...second, text: second.text.replace("2", "9") }], "altered", 2],
    ["a wrong signature", [first, { ...second, signature: first.signature }], "forged", 2],
    ["a column that differs", [{ ...first, columns: { ...first.columns, by: "U0X" } }], "columns", 1],
    ["a missing text", [row(1, NO_LINK, { digest: "lost", textKept: true })], "text-missing", 1],
    ["a replaced text", [row(1, NO_LINK, { digest: "x", textKept: true })], "text-altered", 1],
  ])("names %s", async ([, rows, fault, seq]) => {
    expect(await verdict(...rows)).toEqual({ ok: false, fault, seq });
  });

  test("names an unknown key", async () => {
    const linked = { ...first, key: "theirs" };
    const foreign = { ...linked, link: sha256(linkText(NO_LINK, linked)) };
    expect(await verdict(foreign)).toEqual({ ok: false, fault: "unknown-key", seq: 1, key: "theirs" });
  });

  test("accepts a stored text, and a digest whose text was never stored", async () => {
    expect(await verdict(row(1, NO_LINK, { digest: sha256("kept"), textKept: true }))).toMatchObject({
      ok: true,
    });
    expect(await verdict(row(1, NO_LINK, { digest: "lost" }))).toMatchObject({ ok: true });
  });

  test("finds a witnessed head, with or without its number", async () => {
    const rows = [first, second, third];
    const heads = [
      { seq: 2, link: second.link.slice(0, 16) },
      { seq: null, link: third.link },
    ];
    expect(await verifyAudit(stream(rows), tools, heads)).toMatchObject({ ok: true });
  });

  test.for<[string, { seq: number | null; link: string }, string, number]>([
    ["newer than the newest entry", { seq: 4, link: LINK }, "cut-short", 4],
    ["of another entry", { seq: 2, link: LINK }, "rewritten", 2],
    ["of another number", { seq: 1, link: second.link }, "rewritten", 1],
    ["that is not in the chain", { seq: null, link: LINK }, "cut-short", 3],
  ])("names a witnessed head %s", async ([, head, fault, seq]) => {
    expect(await verifyAudit(stream([first, second, third]), tools, [head])).toEqual({
      ok: false,
      fault,
      seq,
    });
  });

  const archived = row(3, second.link, {
    what: "archived",
    archive: { seq: 2, link: second.link, file: "x" },
  });

  test.for<[string, { seq: number | null; link: string }, object]>([
    ["that is the last archived entry", { seq: 2, link: second.link }, { ok: true }],
    ["that is the last archived entry, without its number", { seq: null, link: second.link }, { ok: true }],
    ["that differs from the last archived entry", { seq: 2, link: LINK }, { fault: "rewritten", seq: 2 }],
    ["before the last archived entry", { seq: 1, link: LINK }, { fault: "in-archive", seq: 1 }],
    ["without a number", { seq: null, link: first.link }, { fault: "in-archive", seq: 3 }],
  ])("judges a witnessed head %s", async ([, head, expected]) => {
    expect(await verifyAudit(stream([archived]), tools, [head], second)).toMatchObject(expected);
  });

  test.for<[string, { seq: number; link: string }, object]>([
    ["a rewrite", { seq: 2, link: LINK }, { fault: "rewritten", seq: 2 }],
    ["a cut end", { seq: 4, link: LINK }, { fault: "cut-short", seq: 4 }],
  ])("names %s even if another head is only archived", async ([, head, found]) => {
    const heads = [{ seq: 1, link: first.link }, head];
    expect(await verifyAudit(stream([archived]), tools, heads, second)).toEqual({ ok: false, ...found });
  });
});
