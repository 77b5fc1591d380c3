import { describe, expect, test } from "vitest";
import { readCreated, readRun } from "#src/agents/wire.ts";
import { MAX_SERVICE_ID_CHARS, RunId } from "#src/core/ids.ts";

const id = RunId("run_1");
const read = (fields: object) =>
  readRun(JSON.stringify({ id, status: "awaiting_approval", ...fields }), id, 7);

function pendingOf(items: unknown, status = "awaiting_approval") {
  const result = read({ status, pending_approvals: items });
  if (!result.ok) throw new Error(result.error);
  return result.value.pending;
}

describe("a run", () => {
  test("becomes a snapshot with every field of the interface in its place", () => {
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
        extra: {},
        askedAt: 7,
      },
    });
  });

  test("keeps unknown fields, and known ones of an unforeseen kind, as extra", () => {
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

  test("has an output that is not text written out as JSON", () => {
    expect(read({ status: "succeeded", output: { a: [1] } })).toMatchObject({
      value: { output: '{\n  "a": [\n    1\n  ]\n}' },
    });
    expect(read({ status: "succeeded", output: null })).toMatchObject({ value: { output: null } });
    expect(read({ status: "succeeded", output: 0 })).toMatchObject({ value: { output: "0" } });
  });

  test("may be in a state that nobody has heard of", () => {
    expect(read({ status: "thinking" })).toMatchObject({ value: { status: "thinking", pending: [] } });
  });

  test("may have a number for its id", () => {
    expect(readRun('{"id":42,"status":"queued"}', RunId("42"), 7)).toMatchObject({ value: { id: "42" } });
  });

  test.each([
    ["another run's id", '{"id":"run_2","status":"queued"}'],
    ["no id", '{"status":"queued"}'],
    ["no status", '{"id":"run_1"}'],
    ["an empty status", '{"id":"run_1","status":""}'],
    ["a status that is no text", '{"id":"run_1","status":1}'],
    ["a list", "[]"],
    ["null", "null"],
    ["nothing", ""],
    ["half a record", '{"id":"run_1","sta'],
    ["a page", "<html>"],
    [
      "a record nested so deeply that a walk through it fails",
      `{"id":"run_1","status":"q","x":${"[".repeat(9_000)}${"]".repeat(9_000)}}`,
    ],
  ])("is not read out of %s", (_what, body) => {
    expect(readRun(body, id, 7)).toMatchObject({ ok: false });
  });
});

describe("a created run", () => {
  test("is queued where the service gives no state", () => {
    expect(readCreated('{"id":"run_1"}', 7)).toMatchObject({
      ok: true,
      value: { id, status: "queued", askedAt: 7 },
    });
  });

  test.each(["..", ".", "", "\ud800", "x".repeat(MAX_SERVICE_ID_CHARS + 1)])(
    "has no id that cannot stand in an address: %j",
    (odd) => {
      expect(readCreated(JSON.stringify({ id: odd }), 7)).toMatchObject({ ok: false });
    },
  );

  test("keeps an odd id that can be encoded", () => {
    expect(readCreated(JSON.stringify({ id: "a/../b?c#d é" }), 7)).toMatchObject({
      value: { id: "a/../b?c#d é" },
    });
  });
});

describe("pending approvals", () => {
  test("come as full records, with what is unknown kept in the content", () => {
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

  test("come as id and action, as bare ids and as numbers", () => {
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

  test("have no action where it is missing, empty or no text; the content still shows it", () => {
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

  test("leave out an item with the time of its resolution", () => {
    expect(pendingOf([{ id: "a", resolved_at: "2026-11-20T10:00:00Z" }])).toEqual([]);
  });

  test("keep an item whose status is not known", () => {
    expect(pendingOf([{ id: "a", status: "waiting" }])).toHaveLength(1);
  });

  test("of one id are one approval that shows them all", () => {
    const [one, two] = [
      { id: "a", action: "list files" },
      { id: "a", action: "delete files" },
    ];
    expect(pendingOf([one, "b", two])).toMatchObject([
      { id: "a", action: "list files\ndelete files", content: [one, two] },
      { id: "b" },
    ]);
  });

  test("are unknown when an awaiting run does not list them, and none when a run in another state does not", () => {
    expect(pendingOf(undefined)).toBeNull();
    expect(pendingOf({ a: 1 })).toBeNull();
    expect(pendingOf(undefined, "running")).toEqual([]);
    expect(pendingOf(null, "queued")).toEqual([]);
    expect(pendingOf([], "awaiting_approval")).toEqual([]);
  });

  test("that are no list are shown as an extra field", () => {
    expect(read({ pending_approvals: { a: 1 } })).toMatchObject({
      value: { extra: { pending_approvals: { a: 1 } } },
    });
  });

  test.each([
    ["no id", {}],
    ["an id that is too long", "x".repeat(MAX_SERVICE_ID_CHARS + 1)],
    ["an id that names another path", { id: ".." }],
    ["a number that JSON does not carry exactly", 2 ** 60],
    ["a truth value", true],
  ])("with %s make the whole answer useless, because leaving one out would close it", (_what, item) => {
    expect(read({ pending_approvals: ["a", item] })).toMatchObject({ ok: false });
  });

  test("many of one id are read in one pass", () => {
    const items = Array.from({ length: 100_000 }, () => "a");
    expect(pendingOf(items)).toHaveLength(1);
  });
});
