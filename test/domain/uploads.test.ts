// What happens to a file when an attempt to upload, share or find it ends.

import { describe, expect, test } from "vitest";
import type { Outcome } from "#src/domain/effect.ts";
import { applyUploadOutcome, type UploadAct } from "#src/domain/message-outcome.ts";
import type { Upload } from "#src/domain/posted-message.ts";
import { NOON } from "../make/run.ts";

const LOST: Outcome = { type: "unsure", why: "no answer" };
const REFUSED: Outcome = { type: "refused", words: "no" };

describe("a file", () => {
  const file = "F1";
  test.for<[string, UploadAct, Upload | undefined, Outcome, object]>([
    ["uploaded", "upload", undefined, { type: "uploaded", file }, { type: "uploaded", file, tries: 0 }],
    [
      "shared",
      "share",
      { type: "sharing", file, at: NOON, tries: 1 },
      { type: "shared" },
      { type: "unsure", file, lookAt: NOON + 500, until: NOON + 60_000, tries: 1 },
    ],
    [
      "shared, but not there yet",
      "find-file",
      { type: "unsure", file, lookAt: NOON, until: NOON + 1, tries: 1 },
      { type: "file-found", there: false },
      { type: "unsure", file, lookAt: NOON + 2_000, until: NOON + 1, tries: 2 },
    ],
    [
      "shared, but not there after a minute",
      "find-file",
      { type: "unsure", file, lookAt: NOON, until: NOON, tries: 7 },
      { type: "file-found", there: false },
      { type: "uploaded", file },
    ],
    [
      "shared, and in a thread that could not be read for a minute",
      "find-file",
      { type: "unsure", file, lookAt: NOON, until: NOON, tries: 7 },
      { type: "later", afterMs: null, why: "too many" },
      { type: "up", file },
    ],
    [
      "shared again and again, and never there",
      "find-file",
      { type: "unsure", file, lookAt: NOON, until: NOON + 1, tries: 16 },
      { type: "file-found", there: false },
      { type: "up", file },
    ],
    [
      "its answer lost, in a thread that cannot be read",
      "find-file",
      { type: "unsure", file, lookAt: NOON, tries: 40 },
      { type: "later", afterMs: null, why: "too many" },
      { type: "unsure", file },
    ],
    [
      "its answer lost",
      "share",
      { type: "sharing", file, at: NOON, tries: 1 },
      LOST,
      { type: "unsure", file },
    ],
    [
      "found",
      "find-file",
      { type: "unsure", file, lookAt: NOON, tries: 1 },
      { type: "file-found", there: true },
      { type: "up" },
    ],
    [
      "not found",
      "find-file",
      { type: "unsure", file, lookAt: NOON, tries: 1 },
      { type: "file-found", there: false },
      { type: "uploaded", file },
    ],
    ["lapsed", "share", { type: "sharing", file, at: NOON, tries: 1 }, { type: "gone" }, { type: "planned" }],
    [
      "refused",
      "upload",
      { type: "planned", notBefore: 0, tries: 0 },
      REFUSED,
      { type: "refused", words: "no" },
    ],
    ["an upload whose answer was lost", "upload", undefined, LOST, { type: "planned", tries: 1 }],
  ])("%s", ([, act, before, outcome, next]) => {
    expect(applyUploadOutcome(act, before, outcome, NOON)).toMatchObject(next);
  });
});
