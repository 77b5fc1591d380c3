import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readRun } from "#src/adapters/agents/run-record.ts";
import { RunId } from "#src/domain/ids.ts";
import { itemsUnreadable, unreadableMeaning } from "#src/domain/snapshot.ts";

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
  ])("while its status is %j, even with the resolution time %s", (status, resolved_at) => {
    expect(isPending({ status, resolved_at })).toBe(true);
  });

  test.each([DISTANT, "2026-11-20T10:06:00Z", Date.parse(DISTANT), Date.parse(DISTANT) / 1_000])(
    "while its resolution time is in the future: %s",
    (resolved_at) => {
      expect(isPending({ resolved_at })).toBe(true);
      expect(isPending({ status: "", resolved_at })).toBe(true);
    },
  );

  test.each(["pending 2", "expected by 2026-11-19", "0", "not before 1", "Fri, 20 Nov 2026 09:00:00 GMT"])(
    "while its resolution time is not in ISO 8601: %j",
    (resolved_at) => {
      expect(isPending({ resolved_at })).toBe(true);
      expect(isPending({ status: "", resolved_at })).toBe(true);
    },
  );
});

describe("an approval is resolved", () => {
  test.each([
    "2026-11-20",
    "2026-11-20T09:00Z",
    "2026-11-20T09:00:00.123456Z",
    "2026-11-20T11:00:00+02:00",
    "2026-11-20 09:00:00+0000",
    "2026-11-18T09:00:00",
  ])("by its time, written as %s", (resolved_at) => {
    expect(isPending({ resolved_at })).toBe(false);
  });

  test.each(["approved", " Approved\n", "expired"])("if its status is %j, whatever its time", (status) => {
    for (const resolved_at of [undefined, null, PAST, DISTANT])
      expect(isPending({ status, resolved_at })).toBe(false);
  });

  test.each([null, undefined, "", " ", false, 0])("by its time if its status is %j", (status) => {
    for (const resolved_at of [PAST, Date.parse(PAST), Date.parse(PAST) / 1_000, "2026-11-20T10:04:00Z"])
      expect(isPending({ status, resolved_at })).toBe(false);
  });
});

test("a listed approval that is no longer pending keeps the service's word for it", () => {
  const read = (...items: unknown[]) => listing(...items).resolved ?? null;
  expect(read({ id: "a", status: " Expired\n" }, { id: "b" })).toEqual([{ id: "a", said: "expired" }]);
  expect(read({ approval: { id: 7, status: "denied" } })).toEqual([{ id: "7", said: "denied" }]);
  for (const silent of [{ id: "a", resolved_at: PAST }, { status: "denied" }, { id: "a", status: "pending" }])
    expect(read(silent)).toBeNull();
});

test.each([0, false, ""])("an item that is only %j is not an approval that can be decided", (item) => {
  const { pending, unreadable } = listing(item, { id: "a", action: "read" });
  expect(pending).toMatchObject([{ id: "a" }]);
  expect(unreadable).toMatchObject([{ code: "odd-id", ids: [] }]);
});

describe("the order in which the service lists items, and an equal copy of one, change nothing", () => {
  const items: readonly unknown[] = [
    "a",
    { id: "a", action: "read", requested_at: PAST },
    { id: "a", action: "delete", n: 1 },
    { id: "a", action: "delete", n: 2 },
    { approval: { id: "a" }, action: "pay" },
  ];
  const relisted = (all: readonly unknown[]): fc.Arbitrary<unknown[]> =>
    fc
      .array(fc.constantFrom(...all))
      .chain((copies) => fc.shuffledSubarray([...all, ...copies], { minLength: all.length + copies.length }));

  test("for items with the same id", () => {
    fc.assert(
      fc.property(
        fc
          .subarray([...items], { minLength: 1 })
          .chain((some) => fc.tuple(fc.constant(some), relisted(some))),
        ([some, again]) => {
          expect(listing(...again).pending).toEqual(listing(...some).pending);
        },
      ),
    );
  });

  test("for an item that is listed twice in one answer, which keeps its own content", () => {
    const [item] = [{ id: "a", action: "read" }];
    expect(listing(item, item).pending).toMatchObject([{ action: "read", content: item }]);
  });

  test("for items that cannot be read", () => {
    const meaning = (...unread: unknown[]): string => {
      const unreadable = itemsUnreadable(null, listing(...unread), NOW);
      return unreadable === null ? "" : unreadableMeaning(unreadable);
    };
    const [noId, oddId] = [{ action: "x" }, { id: ".." }];
    expect(meaning(noId, oddId)).toBe(meaning(oddId, noId));
  });
});

const look = (list: string) => {
  const body = `{"id":"run_1","status":"awaiting_approval","pending_approvals":${list}}`;
  return readRun({ body, spoiled: null }, RunId("run_1"), { askedAt: 7, now: NOW });
};
const names = (count: number): string => Array.from({ length: count }, (_, at) => `"k${at}":1`).join();

describe("too many values", () => {
  test.each([
    ["items", `["a"${",{}".repeat(200_000)}]`],
    ["names in one approval", `[{"id":"a",${names(50_000)}}]`],
    ["names in a record inside it", `[{"id":"a","o":{${names(50_000)}}}]`],
    ["numbers", `[{"id":"a","o":[${"1,".repeat(200_000)}1]}]`],
  ])("make the whole answer unreadable, with that reason: %s", (_what, list) => {
    expect(look(list)).toEqual({ ok: false, error: "it holds too many values" });
  });

  test.each([
    ["names", `{"id":"b",${names(5_100)}}`],
    ["names in a record inside it", `{"id":"b","o":{${names(5_100)}}}`],
    ["numbers", `{"id":"b","o":[${"1,".repeat(20_100)}1]}`],
  ])("make one approval unreadable, but not the next: %s", (_what, item) => {
    const read = look(`[{"id":"a"},${item}]`);
    expect(read).toMatchObject({
      value: { pending: [{ id: "a" }], unreadable: [{ code: "too-many-values", ids: ["b"] }] },
    });
  });

  test.each([
    ["a list", (items: string) => `[${items}]`],
    ["lists in a list", (items: string) => `[[${items}]]`],
    ["a record around it", (items: string) => `{"items":[${items}]}`],
    // This list is read item by item.
    ["a list with a name twice", (items: string) => `[{"id":"z","x":1,"x":2},${items}]`],
  ])("in %s: the first 2,000 approvals are read, and one item stands for all others", (what, list) => {
    const read = look(list(Array.from({ length: 3_000 }, (_, at) => `"a${at}"`).join()));
    if (!read.ok) throw new Error(read.error);
    const { pending, unreadable } = read.value;
    const twice = what.includes("twice") ? 1 : 0;
    expect(pending).toHaveLength(2_000 - twice);
    expect(unreadable.slice(twice)).toMatchObject([
      { code: "too-many-items", ids: [], count: 1_000 + twice },
    ]);
    expect(itemsUnreadable(null, read.value, NOW)).toMatchObject({ count: 1_000 + 2 * twice });
  });

  test("are written out only for the five items that are shown", () => {
    const { unreadable } = listing(...Array.from({ length: 1_000 }, () => ({ action: "x" })));
    expect(unreadable).toHaveLength(1_000);
    expect(unreadable.filter(({ source }) => source !== "")).toHaveLength(5);
  });
});
