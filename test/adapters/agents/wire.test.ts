import { isUtf8 } from "node:buffer";
import { describe, expect, test } from "vitest";
import { readCreated, readRun } from "#src/adapters/agents/run-record.ts";
import { MAX_SERVICE_ID_CHARS, RunId } from "#src/domain/ids.ts";
import { canonicalJson, parseJson } from "#src/domain/json.ts";

const id = RunId("run_1");
const LOOKED = { askedAt: 7, now: Date.UTC(2026, 10, 20, 12, 0, 0) };
const text = (body: string) => ({ body, spoiled: null });
const read = (fields: object) =>
  readRun(text(JSON.stringify({ id, status: "awaiting_approval", ...fields })), id, LOOKED);

function pendingOf(items: unknown, status = "awaiting_approval") {
  const result = read({ status, pending_approvals: items });
  if (!result.ok) throw new Error(result.error);
  return result.value.pending;
}

describe("a run", () => {
  test("becomes a snapshot that has every field of the interface in its place", () => {
    const fields = {
      status: "succeeded",
      input: "task",
      output: "done",
      completed_at: "2026-11-20T10:00:00Z",
    };
    expect(read(fields)).toEqual({
      ok: true,
      value: {
        id,
        status: "succeeded",
        input: "task",
        output: "done",
        completedAt: "2026-11-20T10:00:00Z",
        pending: [],
        unreadable: [],
        extra: {},
        askedAt: 7,
      },
    });
  });

  test("keeps unknown fields, and known ones of an unexpected type, as extra", () => {
    const fields = { status: "failed", error: { code: "x" }, completed_at: 12, input: ["a"], note: null };
    expect(read(fields)).toMatchObject({
      ok: true,
      value: {
        completedAt: null,
        input: null,
        extra: { error: { code: "x" }, completed_at: 12, input: ["a"], note: null },
      },
    });
  });

  test("has an output that is not text written as JSON", () => {
    expect(read({ status: "succeeded", output: { a: [1] } })).toMatchObject({
      value: { output: '{\n  "a": [\n    1\n  ]\n}' },
    });
    expect(read({ status: "succeeded", output: null })).toMatchObject({ value: { output: null } });
    expect(read({ status: "succeeded", output: 0 })).toMatchObject({ value: { output: "0" } });
  });

  test("may be in an unknown state", () => {
    expect(read({ status: "thinking" })).toMatchObject({ value: { status: "thinking", pending: [] } });
  });

  test("may have a number as its id", () => {
    expect(readRun(text('{"id":42,"status":"queued"}'), RunId("42"), LOOKED)).toMatchObject({
      value: { id: "42" },
    });
  });

  test.each([
    ["another run's id", '{"id":"run_2","status":"queued"}'],
    ["no id", '{"status":"queued"}'],
    ["no status", '{"id":"run_1"}'],
    ["an empty status", '{"id":"run_1","status":""}'],
    ["a status that is not text", '{"id":"run_1","status":1}'],
    ["a list", "[]"],
    ["null", "null"],
    ["nothing", ""],
    ["a truncated record", '{"id":"run_1","sta'],
    ["an HTML page", "<html>"],
  ])("cannot be read from %s", (_what, body) => {
    expect(readRun(text(body), id, LOOKED)).toMatchObject({ ok: false });
  });
});

describe("a created run", () => {
  test("is queued if the service returns no state", () => {
    expect(readCreated(text('{"id":"run_1"}'), LOOKED)).toMatchObject({
      ok: true,
      value: { id, status: "queued", askedAt: 7 },
    });
  });

  test.each(["..", ".", "", "\ud800", "x".repeat(MAX_SERVICE_ID_CHARS + 1)])(
    "must not have an id that cannot be part of a URL: %j",
    (odd) => {
      expect(readCreated(text(JSON.stringify({ id: odd })), LOOKED)).toMatchObject({ ok: false });
    },
  );

  test("keeps an unusual id that can be encoded", () => {
    expect(readCreated(text(JSON.stringify({ id: "a/../b?c#d é" })), LOOKED)).toMatchObject({
      value: { id: "a/../b?c#d é" },
    });
  });
});

/** The answer to a look, as it comes over the wire. */
function listing(items: string | Buffer, more = "") {
  const bytes = Buffer.concat([
    Buffer.from(`{"id":"run_1","status":"awaiting_approval"${more},"pending_approvals":`),
    Buffer.from(items),
    Buffer.from("}"),
  ]);
  const valid = isUtf8(bytes);
  const body = { body: bytes.toString(), spoiled: valid ? null : bytes.toString("latin1") };
  const result = readRun(body, id, LOOKED);
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

describe("content from the service", () => {
  test.each(["1234567890123456789", "1000000000000000000000001", "1e400", "1e3", "1.0", "-0", "0.10"])(
    "keeps the number %s as it is written",
    (number) => {
      const { pending } = listing(`[{"id":"a","user_id":${number}}]`);
      expect(JSON.stringify(pending?.[0]?.content)).toBe(`{"id":"a","user_id":${number}}`);
    },
  );

  test("keeps every digit of a long id", () => {
    expect(listing('[{"id":1234567890123456789}, 9007199254740993]').pending).toMatchObject([
      { id: "1234567890123456789" },
      { id: "9007199254740993" },
    ]);
  });

  test("is read back unchanged from what the store writes", () => {
    const { pending } = listing('[{"id":"a","n":[1e400,12345678901234567890,0.1,7]}]');
    const content = pending?.[0]?.content ?? null;
    expect(canonicalJson(parseJson(JSON.stringify(content)))).toBe(canonicalJson(content));
  });
});

describe("an item that cannot be read", () => {
  const wrapped = (times: number, item: string) =>
    `${'{"approval":'.repeat(times)}${item}${"}".repeat(times)}`;
  const good = '{"id":"b","action":"read"}';

  test.each<[string, string | Buffer, string, string[]]>([
    ["a name twice", '{"id":"a","action":"drop","action":"read"}', "name-twice", ["a"]],
    ["a name twice, once in escapes", '{"id":"a","x":{"a":1,"\\u0061":2}}', "name-twice", ["a"]],
    ["two ids", '{"id":"a","id":"c"}', "name-twice", ["a", "c"]],
    ["bytes that are not UTF-8", Buffer.from('{"id":"a","action":"J\xe4rg"}', "latin1"), "not-utf8", ["a"]],
    ["half a character", '{"id":"a","action":"\\ud83d"}', "half-character", ["a"]],
    ["half a character in a name", '{"id":"a","\\ude00":1}', "half-character", ["a"]],
    ["great depth", `{"id":"a","x":${"[".repeat(70)}${"]".repeat(70)}}`, "too-deep", ["a"]],
    ["thousands of records around it", wrapped(9_900, "1"), "too-deep", []],
    ["a name twice in three records", wrapped(2, '{"id":"a","x":1,"x":2}'), "name-twice", ["a"]],
    ["a name twice in four records", wrapped(3, '{"id":"a","x":1,"x":2}'), "name-twice", []],
    ["too many values", `{"id":"a","x":[${"1,".repeat(100_000)}1]}`, "too-many-values", ["a"]],
    ["no id", '{"action":"read"}', "no-id", []],
    ["an empty id", '{"id":""}', "odd-id", []],
    ["an id that names another path", '{"id":".."}', "odd-id", []],
    ["an id that is a record", '{"id":{}}', "odd-id", []],
    ["an id that is not an integer", '{"id":1.5}', "odd-id", []],
    ["a boolean as an id", "true", "odd-id", []],
    ["an id that is too long", `"${"x".repeat(MAX_SERVICE_ID_CHARS + 1)}"`, "odd-id", []],
  ])("because of %s is reported, and the next item is read", (_what, item, code, ids) => {
    const items = Buffer.concat([Buffer.from(`[${good},`), Buffer.from(item), Buffer.from("]")]);
    const { pending, unreadable } = listing(items);
    expect(pending).toMatchObject([{ id: "b", action: "read" }]);
    expect(unreadable).toMatchObject([{ code, ids }]);
    expect(unreadable[0]?.source.isWellFormed()).toBe(true);
  });

  test("discards a readable item with the same id, since one decision would decide both", () => {
    const { pending, unreadable } = listing('[{"id":"a","action":"read"},{"id":"a","x":1,"x":2},"b"]');
    expect(pending).toMatchObject([{ id: "b" }]);
    expect(unreadable).toHaveLength(1);
  });

  test("is shown by its beginning", () => {
    const { unreadable } = listing(`[{"x":"${"y".repeat(5_000)}"}]`);
    expect(unreadable).toMatchObject([{ source: expect.stringContaining('"x": "yyy') as string }]);
    expect(unreadable[0]?.source).toHaveLength(2_000);
    expect(unreadable[0]?.hidden).toBeGreaterThan(3_000);
  });

  test.each(["7", '"many"', "true"])("replaces a list that is %s", (list) => {
    expect(listing(list)).toMatchObject({ pending: null, unreadable: [{ code: "odd-list" }] });
  });
});

describe("a field of the run that cannot be read", () => {
  test.each([
    ["plan", '{"a":1,"a":2}', 'the name "a" stands twice in one of its records'],
    ["x", "[".repeat(9_000) + "]".repeat(9_000), "its lists and records are nested too deeply"],
    ["plan", '"\\ud83d"', "it holds half of a character (a lone surrogate)"],
  ])("is kept as it was sent: %s %s", (name, value, why) => {
    const { pending, extra } = listing('["a"]', `,"${name}":${value}`);
    expect(pending).toMatchObject([{ id: "a" }]);
    expect(extra).toEqual({ [`${name} (${why}; as sent)`]: value });
  });

  test.each([
    ['"half \\ud83d"', "half \ud83d"],
    ['{"a":1,"a":2}', '{"a":1,"a":2}'],
  ])("is still shown if it is the output: %s", (output, shown) => {
    const body = `{"id":"run_1","status":"succeeded","output":${output}}`;
    expect(readRun(text(body), id, LOOKED)).toMatchObject({ value: { output: shown, extra: {} } });
  });

  test("makes the whole answer unusable if the list of approvals occurs twice", () => {
    const body =
      '{"id":"run_1","status":"awaiting_approval","pending_approvals":["a"],"pending_approvals":[]}';
    expect(readRun(text(body), id, LOOKED)).toEqual({
      ok: false,
      error: 'the name "pending_approvals" stands twice in one of its records',
    });
  });
});

describe("the list of approvals", () => {
  test.each([
    ["a record around it", '{"count":1,"items":[{"id":"a","action":"rm"}]}'],
    ["a record by id", '{"a":{"action":"rm"}}'],
    ["a record of requests by id", '{"a":"rm"}'],
    ["one approval alone", '{"id":"a","action":"rm"}'],
    ["lists in a list", '[[{"id":"a","action":"rm"}],[]]'],
    ["records around each record", '[{"approval":{"id":"a","action":"rm"}}]'],
    ["another name for the id", '[{"approval_id":"a","action":"rm"}]'],
    ["another name for the id beside an empty one", '[{"id":null,"approval_id":"a","action":"rm"}]'],
    ["null items", '[null,{"id":"a","action":"rm"},null]'],
  ])("may be %s", (_what, list) => {
    expect(listing(list)).toMatchObject({ pending: [{ id: "a", action: "rm" }], unreadable: [] });
  });

  test.each([
    ["beside an empty one", '{"data":[],"pending":[{"id":"a"},{"id":"b"}]}'],
    ["of two known names", '{"approvals":[{"id":"a"}],"pending":[{"id":"b"}]}'],
    ["beside one of an unknown name", '{"items":[{"id":"a"}],"urgent":[{"id":"b"}]}'],
    ["of the same name", '{"items":[{"id":"a"}],"items":[{"id":"b"}]}'],
    ["read item by item", '{"items":[{"id":"a"}],"urgent":[{"id":"b"}],"count":1,"count":2}'],
  ])("may be several lists in one record, which are all read: %s", (_what, list) => {
    expect(listing(list)).toMatchObject({ pending: [{ id: "a" }, { id: "b" }], unreadable: [] });
  });

  test.each([
    '{"items":[{"id":"a"}],"warnings":["x"]}',
    '{"items":[{"id":"a"}],"warnings":["x"],"count":1,"count":2}',
  ])("is not a list of texts beside it: %s", (list) => {
    expect(listing(list)).toMatchObject({ pending: [{ id: "a" }], unreadable: [] });
  });

  test.each([
    ['{"id":"a","action":"read","data":[1,2]}', ["a"], []],
    ['{"id":"a","action":"read","action":"drop","data":[1,2]}', [], ["a"]],
  ])("is not a list inside a single approval: %s", (list, readable, spoiled) => {
    const { pending, unreadable } = listing(list);
    expect((pending ?? []).map((each) => each.id)).toEqual(readable);
    expect(unreadable.flatMap(({ ids }) => ids)).toEqual(spoiled);
  });

  test.each([
    ["a record around it", '{"count":2,"items":[{"id":"a"},{"id":"b","x":1,"x":2}]}'],
    ["a record by id", '{"a":{"action":"rm"},"b":{"x":1,"x":2}}'],
  ])("is read item by item: %s", (_what, list) => {
    expect(listing(list)).toMatchObject({ pending: [{ id: "a" }], unreadable: [{ code: "name-twice" }] });
  });
});

describe("pending approvals", () => {
  test.each(["null", "0", "0.0", "false", '""', '"null"', "{}", "[]", '"0001-01-01T00:00:00Z"', "true"])(
    "are pending while their resolution time is %s",
    (time) => {
      expect(listing(`[{"id":"a","resolved_at":${time}}]`).pending).toMatchObject([{ id: "a" }]);
    },
  );

  test("are pending if their status says so, whatever their resolution time", () => {
    const item = { id: "a", status: "pending", resolved_at: "2026-11-20T10:00:00Z" };
    expect(pendingOf([item])).toMatchObject([{ id: "a" }]);
  });

  test("may be full records, whose unknown fields are kept in the content", () => {
    const item = {
      id: "a",
      action: "rm",
      status: "pending",
      requested_at: "t",
      resolved_at: null,
      risk: { level: "low" },
    };
    expect(pendingOf([item])).toEqual([{ id: "a", action: "rm", requestedAt: "t", content: item }]);
  });

  test("may be an id and an action, bare ids, and numbers", () => {
    expect(pendingOf([{ id: "a", action: "rm" }, "b", 3, { id: 4 }])).toEqual([
      { id: "a", action: "rm", requestedAt: null, content: { id: "a", action: "rm" } },
      { id: "b", action: null, requestedAt: null, content: "b" },
      { id: "3", action: null, requestedAt: null, content: 3 },
      { id: "4", action: null, requestedAt: null, content: { id: 4 } },
    ]);
  });

  test("skip null items", () => {
    expect(pendingOf([null, "a", null])).toHaveLength(1);
  });

  test("have no action if it is missing, empty or not a text; the content still shows it", () => {
    for (const action of [undefined, "", { tool: "rm" }, null])
      expect(pendingOf([{ id: "a", action }])).toMatchObject([{ action: null, content: { id: "a" } }]);
    expect(pendingOf([{ id: "a", action: { tool: "rm" } }])).toMatchObject([
      { content: { action: { tool: "rm" } } },
    ]);
  });

  test.each([
    "approved",
    "denied",
    "Rejected",
    "declined",
    "expired",
    "canceled",
    "cancelled",
    "withdrawn",
    "resolved",
    "completed",
  ])("leave out an item that is %s", (status) => {
    expect(pendingOf([{ id: "a", status }, "b"])).toMatchObject([{ id: "b" }]);
  });

  test("leave out an item with a resolution time", () => {
    expect(pendingOf([{ id: "a", resolved_at: "2026-11-20T10:00:00Z" }])).toEqual([]);
  });

  test("keep an item whose status is unknown", () => {
    expect(pendingOf([{ id: "a", status: "waiting" }])).toHaveLength(1);
  });

  test("with the same id are one approval that shows them all", () => {
    const [one, two] = [
      { id: "a", action: "list files" },
      { id: "a", action: "delete files" },
    ];
    expect(pendingOf([one, "b", two])).toMatchObject([
      { id: "a", action: "delete files\nlist files", content: [two, one] },
      { id: "b" },
    ]);
  });

  test("are unknown if an awaiting run does not list them, and none if a run in another state does not", () => {
    expect(pendingOf(undefined)).toBeNull();
    expect(pendingOf(undefined, "running")).toEqual([]);
    expect(pendingOf(null, "queued")).toEqual([]);
    expect(pendingOf([], "awaiting_approval")).toEqual([]);
  });

  test("with the same id are read in one pass, however many", () => {
    const items = Array.from({ length: 100_000 }, () => "a");
    expect(pendingOf(items)).toHaveLength(1);
  });
});
