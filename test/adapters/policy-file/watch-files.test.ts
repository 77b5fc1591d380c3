import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createFileWatch, type FileWatch, LOOK_EVERY_MS } from "#src/adapters/policy-file/watch-files.ts";
import { createHandClock, type HandClock } from "../../make/clock.ts";
import { eventually } from "../../make/eventually.ts";

const SILENT = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

let folder: string;
let clock: HandClock;
let watch: FileWatch;
let changeCount: number;
let looks: number;
const at = (...names: string[]): string => join(folder, ...names);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "countersign-watch-"));
  clock = createHandClock();
  changeCount = 0;
  looks = 0;
});
afterEach(async () => {
  await watch.stop();
  rmSync(folder, { recursive: true, force: true });
});

function watching(path: string, content: string, failing = (): boolean => false): void {
  // Each look sets the timer for the next one, which shows that it has ended.
  const counting = { ...clock, after: (ms: number, what: () => void) => (looks++, clock.after(ms, what)) };
  const changed = (): Promise<void> => {
    if (failing()) return Promise.reject(new Error("not now"));
    changeCount += 1;
    return Promise.resolve();
  };
  watch = createFileWatch({ clock: counting, log: SILENT }, [{ path, content, changed }]);
  watch.start();
}

/** One look at the files. */
async function look(waitMs = LOOK_EVERY_MS): Promise<void> {
  const before = looks;
  await clock.pass(waitMs);
  await eventually(() => expect(looks).toBeGreaterThan(before), 1);
}

test("a change is reported once, when two looks have seen the same content", async () => {
  writeFileSync(at("file"), "one\n");
  watching(at("file"), "one");
  await look();
  await look();
  expect(changeCount).toBe(0);
  writeFileSync(at("file"), "half of tw");
  await look();
  writeFileSync(at("file"), "two");
  await look();
  expect(changeCount).toBe(0);
  await look();
  expect(changeCount).toBe(1);
  await look();
  await look();
  expect(changeCount).toBe(1);
});

test("a symbolic link that Kubernetes swaps two folders up is a change", async () => {
  for (const version of ["v1", "v2"]) {
    mkdirSync(at(version));
    writeFileSync(at(version, "key"), version);
  }
  symlinkSync("v1", at("data"));
  symlinkSync(join("data", "key"), at("key"));
  watching(at("key"), "v1");
  await look();
  symlinkSync("v2", at("next"));
  renameSync(at("next"), at("data"));
  await look();
  await look();
  expect(changeCount).toBe(1);
});

test("content that the caller has read itself is not reported again", async () => {
  writeFileSync(at("file"), "one");
  watching(at("file"), "one");
  writeFileSync(at("file"), "two");
  await look();
  await watch.mark();
  await look();
  await look();
  expect(changeCount).toBe(0);
  writeFileSync(at("file"), "one");
  await look();
  await look();
  expect(changeCount).toBe(1);
});

test("a removed file is a change, and so is its return with other content", async () => {
  writeFileSync(at("file"), "one");
  watching(at("file"), "one");
  rmSync(at("file"));
  await look();
  await look();
  expect(changeCount).toBe(1);
  writeFileSync(at("file"), "two");
  await look();
  await look();
  expect(changeCount).toBe(2);
});

test("content that could not be taken over is reported again, ever less often", async () => {
  writeFileSync(at("file"), "two");
  let fails = true;
  watching(at("file"), "one", () => fails);
  await look();
  await look();
  fails = false;
  await look();
  expect(changeCount).toBe(1);
});

test("a file that is written again while it is taken over is reported once more", async () => {
  writeFileSync(at("file"), "two");
  watching(at("file"), "one", () => {
    if (changeCount === 0) writeFileSync(at("file"), "two");
    return false;
  });
  for (let time = 0; time < 6; time += 1) await look();
  expect(changeCount).toBe(2);
});

test("a path that is not a regular file is not watched", () => {
  watching(folder, "");
  expect(clock.waiting()).toBe(0);
});
