// What happens to a file when an attempt to upload, share or find it ends.

import { describe, expect, test } from "vitest";
import type { Outcome } from "#src/domain/effect.ts";
import { applyUploadOutcome, type UploadAct } from "#src/domain/upload-transitions.ts";
import { applyOutcome } from "#src/domain/apply-outcome.ts";
import { MessageTs } from "#src/domain/ids.ts";
import { observe } from "#src/domain/observe.ts";
import { REFUSED_TRIES, REQUEST_FILE_TRIES, type Upload, uploadedFile } from "#src/domain/posted-message.ts";
import { isFinished } from "#src/domain/reconcile.ts";
import { outcomeRenderKey } from "#src/domain/render-key.ts";
import type { Run } from "#src/domain/run.ts";
import { OPENING, OUTCOME, OUTPUT, requestSlot } from "#src/domain/slot.ts";
import { aSnapshot, contextAt, listedRun } from "../make/history.ts";
import { aWatchedRun, NOON } from "../make/run.ts";

const LOST: Outcome = { type: "unsure", why: "no answer" };
const REFUSED: Outcome = { type: "refused", words: "no" };
const BLOCKED: Outcome = { type: "later", afterMs: null, why: "the upload address did not answer" };
const DAY_MS = 24 * 60 * 60_000;

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
      "its answer lost, in a thread that could not be read sixteen times",
      "find-file",
      { type: "unsure", file, lookAt: NOON, tries: 15 },
      { type: "later", afterMs: null, why: "too many" },
      { type: "uploaded", file, notBefore: NOON + 60_000 },
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
    const run: Run = { ...aWatchedRun(), uploads: before === undefined ? {} : { [OUTPUT]: before } };
    expect(applyUploadOutcome(run, { type: act, slot: OUTPUT }, outcome, NOON)).toMatchObject(next);
  });
});

const sharing = (upload: Upload): Upload => {
  if (upload.type !== "uploaded") throw new Error(`not uploaded: ${upload.type}`);
  return { type: "sharing", ...uploadedFile(upload), at: NOON, tries: upload.tries + 1 };
};

test("however often a file was not uploaded, it is looked for as often, and as soon, as one uploaded at once", () => {
  const act = (type: UploadAct, before: Upload, outcome: Outcome): Upload =>
    applyUploadOutcome(
      { ...aWatchedRun(), uploads: { [OUTPUT]: before } },
      { type, slot: OUTPUT },
      outcome,
      NOON,
    );
  const shared = (tries: number): Upload => {
    const uploaded = act(
      "upload",
      { type: "planned", notBefore: 0, tries },
      { type: "uploaded", file: "F1" },
    );
    return act("share", sharing(uploaded), { type: "shared" });
  };
  const unseen = act("find-file", shared(15), { type: "file-found", there: false });
  expect(unseen).toMatchObject({ type: "unsure", lookAt: NOON + 2_000 });
  expect(shared(15)).toEqual(shared(0));
});

describe("the file of a request that cannot be uploaded", () => {
  const run = listedRun("apr_1");
  const [slot = ""] = run.approvals.map((each) => requestSlot(each));
  const after = (upload: Upload, outcome: Outcome, act: UploadAct = "upload"): Upload =>
    applyUploadOutcome({ ...run, uploads: { [slot]: upload } }, { type: act, slot }, outcome, NOON);
  const planned = (tries: number): Upload => ({ type: "planned", notBefore: 0, tries });
  const refused: Upload = { type: "refused", words: "no", retryAt: NOON };

  test("is tried again soon, and from the eighth failure on its card says why", () => {
    expect(after(planned(REQUEST_FILE_TRIES - 2), BLOCKED)).toMatchObject({ type: "planned" });
    expect(after(planned(REQUEST_FILE_TRIES - 1), BLOCKED)).toEqual({
      type: "refused",
      words: "the upload address did not answer",
      retryAt: NOON + 60_000,
    });
  });

  test("keeps the newest reason on its card while it is tried again", () => {
    expect(after(refused, BLOCKED)).toMatchObject({ type: "refused", retryAt: NOON + 60_000 });
    expect(after(refused, { ...BLOCKED, afterMs: 90_000 })).toMatchObject({ retryAt: NOON + 90_000 });
    expect(after(refused, { type: "uploaded", file: "F1" })).toMatchObject({ type: "uploaded" });
  });

  test("says the same if Slack loses it again and again", () => {
    const round = (before: Upload): Upload =>
      after(sharing(after(before, { type: "uploaded", file: "F1" })), { type: "gone" }, "share");
    let upload = planned(0);
    for (let count = 0; count < REQUEST_FILE_TRIES; count += 1) upload = round(upload);
    expect(upload).toMatchObject({ type: "refused", words: "Slack does not have the file any more" });
  });

  test("says the same if its share is put off, or if no look can tell whether it is there", () => {
    const uploaded = { file: "F1", notBefore: 0, tries: 7 } as const;
    expect(after({ type: "sharing", file: "F1", at: NOON, tries: 8 }, BLOCKED, "share").type).toBe("refused");
    expect(after({ type: "unsure", ...uploaded, lookAt: NOON }, BLOCKED, "find-file").type).toBe("unsure");
    expect(after({ type: "unsure", file: "F1", lookAt: NOON, tries: 15 }, BLOCKED, "find-file").type).toBe(
      "refused",
    );
  });
});

describe("the file of an output that cannot be uploaded", () => {
  const up = { type: "up", ts: MessageTs("1.1"), sweepAt: null, notBefore: 0, tries: 0 } as const;
  const bare = aWatchedRun();
  const output = "x".repeat(9_000);
  const over = observe(bare, aSnapshot(bare, [], { status: "succeeded", output }), contextAt());
  const withUpload = (tries: number): Run => ({
    ...over,
    posts: { [OPENING]: { ...up, shows: "" }, [OUTCOME]: { ...up, shows: outcomeRenderKey(over) ?? "" } },
    uploads: { [OUTPUT]: { type: "planned", notBefore: 0, tries } },
  });
  const failed = (tries: number, ms: number): Run =>
    applyOutcome(withUpload(tries), { type: "upload", slot: OUTPUT }, BLOCKED, contextAt(ms));

  test("is given up a day after the end of its run and after many tries, and not before", () => {
    const type = (tries: number, ms: number) => failed(tries, ms).uploads[OUTPUT]?.type;
    expect(type(REFUSED_TRIES - 1, DAY_MS)).toBe("refused");
    expect(type(REFUSED_TRIES - 2, DAY_MS)).toBe("planned");
    expect(type(REFUSED_TRIES - 1, DAY_MS - 60_000)).toBe("planned");
  });

  test("then holds up nothing: its message says why, the output is dropped, and the run is finished", () => {
    const given = failed(REFUSED_TRIES - 1, DAY_MS);
    expect(given.seen?.ended?.output).toBe(output);
    const draw = (run: Run, slot: string, shows: string): Run =>
      applyOutcome(run, { type: "update", slot }, { type: "updated", shows }, contextAt(DAY_MS));
    const told = draw(given, OUTCOME, outcomeRenderKey(given) ?? "");
    expect(told.posts[OUTCOME]).toMatchObject({ shows: "ended, file refused" });
    expect(told.seen?.ended?.output).toBeNull();
    expect(isFinished(draw(told, OPENING, "run succeeded"), NOON + DAY_MS)).toBe(true);
  });
});
