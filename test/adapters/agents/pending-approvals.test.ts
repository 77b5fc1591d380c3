import { describe, expect, test } from "vitest";
import { readRun } from "#src/adapters/agents/run-record.ts";
import { RunId } from "#src/domain/ids.ts";

const NOW = Date.UTC(2026, 10, 20, 10, 0, 0);
const PAST = "2026-11-20T09:00:00Z";
const DISTANT = "2099-01-01T00:00:00Z";

function listing(...items: unknown[]) {
  const body = JSON.stringify({ id: "run_1", status: "awaiting_approval", pending_approvals: items });
  const result = readRun({ body, spoiled: null }, RunId("run_1"), { askedAt: 7, now: NOW });
  if (!result.ok) throw new Error(result.error);
  return result.value;
}

const isPending = (fields: object): boolean => listing({ id: "a", ...fields }).pending?.length === 1;

describe("an approval is pending", () => {
  test.each([
    ["awaiting_human", PAST],
    ["awaiting_human", DISTANT],
    ["PENDING ", PAST],
    ["\u200Bpending", PAST],
    ["ａｐｐｒｏｖｅｄ", PAST],
    ["app\u200Broved", PAST],
    [["approved"], PAST],
    [{ name: "approved" }, PAST],
    [7, PAST],
    [true, PAST],
  ])("while its status is %j, although it has the time %s of its resolution", (status, resolved_at) => {
    expect(isPending({ status, resolved_at })).toBe(true);
  });

  test.each([DISTANT, "2026-11-20T10:06:00Z", Date.parse(DISTANT), Date.parse(DISTANT) / 1_000])(
    "while the time of its resolution is still to come: %s",
    (resolved_at) => {
      expect(isPending({ resolved_at })).toBe(true);
      expect(isPending({ status: "", resolved_at })).toBe(true);
    },
  );
});

describe("an approval is resolved", () => {
  test.each(["approved", " Approved\n", "expired"])("by the word %j, whatever its time", (status) => {
    for (const resolved_at of [undefined, null, PAST, DISTANT])
      expect(isPending({ status, resolved_at })).toBe(false);
  });

  test.each([null, undefined, "", " ", false, 0])("by its time where its status is %j", (status) => {
    for (const resolved_at of [PAST, Date.parse(PAST), Date.parse(PAST) / 1_000, "2026-11-20T10:04:00Z"])
      expect(isPending({ status, resolved_at })).toBe(false);
  });
});

test.each([0, false, ""])("an item that is nothing but %j is no approval that can be decided", (item) => {
  const { pending, unreadable } = listing(item, { id: "a", action: "read" });
  expect(pending).toMatchObject([{ id: "a" }]);
  expect(unreadable).toMatchObject([{ code: "odd-id", ids: [] }]);
});
