import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { effectKey } from "#src/domain/effect.ts";
import {
  ApprovalId,
  ChannelId,
  MAX_SERVICE_ID_CHARS,
  MessageTs,
  Nonce,
  parsed,
  RunId,
  RunKey,
  TeamId,
  UserId,
} from "#src/domain/ids.ts";
import { lastNewsAt, nextPollMs } from "#src/domain/poll-schedule.ts";
import { decidedRun } from "../make/history.ts";
import { anApproval, aWatchedRun, NOON } from "../make/run.ts";

const LIMITS = { minMs: 1_000, maxMs: 15_000 };
const CALM = { quietMs: 0, fails: 0, missing: false };
const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe("the next poll", () => {
  test("comes within the limits, less jitter, however long a run is quiet", () => {
    fc.assert(
      fc.property(fc.nat(10 ** 9), random, (quietMs, random) => {
        const wait = nextPollMs({ ...CALM, quietMs }, LIMITS, random);
        expect(wait).toBeGreaterThanOrEqual(LIMITS.minMs * 0.85);
        expect(wait).toBeLessThanOrEqual(LIMITS.maxMs);
      }),
    );
  });

  test("comes within the slowest interval or 5 s, whichever is longer, after any number of failures", () => {
    fc.assert(
      fc.property(fc.nat(5_000), random, fc.integer({ min: 100, max: 20_000 }), (fails, random, maxMs) => {
        const wait = nextPollMs({ ...CALM, fails }, { minMs: 100, maxMs }, random);
        expect(wait).toBeLessThanOrEqual(Math.max(maxMs, 5_000));
      }),
    );
  });

  test.for<[object, number]>([
    [{}, 1_000],
    [{ quietMs: 50_000 }, 5_000],
    [{ quietMs: 3_600_000 }, 15_000],
    [{ fails: 1 }, 2_000],
    [{ fails: 3 }, 8_000],
    [{ fails: 20 }, 15_000],
    [{ missing: true }, 1_000],
    [{ missing: true, quietMs: 300_000 }, 30_000],
    [{ missing: true, quietMs: 3_600_000 }, 60_000],
  ])("for %o is due after %d ms, without jitter", ([facts, wait]) => {
    expect(nextPollMs({ ...CALM, ...facts }, LIMITS, 0)).toBe(wait);
  });

  test("counts quiet time from the last news: the start, a state, an approval or a decision", () => {
    const run = aWatchedRun();
    expect(lastNewsAt(run)).toBe(NOON);
    const seen = { status: "running", since: NOON + 5, ended: null, lists: true, askedAt: NOON };
    expect(lastNewsAt({ ...run, seen })).toBe(NOON + 5);
    expect(lastNewsAt({ ...decidedRun(), askedAt: NOON - 9 })).toBe(NOON);
  });
});

describe("an id", () => {
  test.for<[string, (text: string) => string, string[], string[]]>([
    ["run key", RunKey, ["0123456789abcdef"], ["", "short", "UPPERCASE1", "x".repeat(41), "with space1"]],
    [
      "run id",
      RunId,
      ["run_1", "../../x?y#z", "日本", "\n", "x".repeat(MAX_SERVICE_ID_CHARS)],
      ["", "x".repeat(MAX_SERVICE_ID_CHARS + 1)],
    ],
    ["approval id", ApprovalId, ["1", "a b"], [""]],
    ["team id", TeamId, ["T0ACME", "E012"], ["", "t0acme", "T", "U0X", "T0 X", "T0X\n"]],
    ["user id", UserId, ["U0X", "W0X"], ["", "u0x", "B0X", "<@U0X>", "U0X\nU0Y"]],
    ["channel id", ChannelId, ["C0X", "D0X", "G0X"], ["", "#ops", "c0x", "C0X "]],
    ["message ts", MessageTs, ["1700000000.000100"], ["", "1700000000", "1.2.3", "1e9.1", "-1.0"]],
    ["nonce", Nonce, ["abcdefghij-_0123"], ["", "short", "x".repeat(65), "a/b+c=d012345678"]],
  ])("%s has a fixed shape, and nothing else is accepted for it", ([, make, good, bad]) => {
    for (const text of good) expect(make(text)).toBe(text);
    for (const text of bad) {
      expect(() => make(text)).toThrow(TypeError);
      expect(parsed(make, text)).toBeNull();
    }
    for (const odd of [null, undefined, 7, {}, ["U0X"]]) expect(parsed(make, odd)).toBeNull();
  });

  test("has the same key for the same work, and another key for other work", () => {
    const [a, b] = [ApprovalId("1"), ApprovalId("2")];
    expect(effectKey({ type: "send-decision", approval: a })).toBe(
      effectKey({ type: "send-decision", approval: a }),
    );
    const keys = [
      effectKey({ type: "send-decision", approval: a }),
      effectKey({ type: "send-decision", approval: b }),
      effectKey({ type: "post", slot: "card 1" }),
      effectKey({ type: "update", slot: "card 1" }),
      effectKey({ type: "create-run" }),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});

test("the newest news is found in a run with more approvals than one call takes arguments", () => {
  const approval = anApproval();
  const approvals = Array.from({ length: 200_000 }, () => approval);
  expect(lastNewsAt({ ...aWatchedRun(), approvals })).toBe(NOON);
});
