// The picture of a week, drawn by the real library in its own process.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createDrawLookBack } from "#src/adapters/chart/draw-look-back.ts";
import { dayName, lookBackWords } from "#src/audit/look-back.ts";
import { NOON } from "../../make/run.ts";

const DAY = 86_400_000;
const days = [3, 12, 0, 5, 7, 1, 0].map((approved, day) => ({
  from: NOON + day * DAY,
  approved,
  denied: day % 3,
  expired: day === 4 ? 2 : 0,
}));

function program(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "chart-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "program.mjs");
  writeFileSync(path, text);
  return path;
}

test("a week becomes a PNG of 1,200 by 800, and other figures another picture", async () => {
  const draw = createDrawLookBack();
  const picture = Buffer.from(await draw({ days }, "UTC"));
  expect(picture.subarray(1, 4).toString()).toBe("PNG");
  expect([picture.readUInt32BE(16), picture.readUInt32BE(20)]).toEqual([1_200, 800]);
  const other = await draw({ days: days.map((day) => ({ ...day, denied: 1 })) }, "UTC");
  expect(picture.equals(other)).toBe(false);
});

test.each([
  ["crashes", "process.abort()"],
  ["says something else", "console.log('no picture')"],
  ["says nothing", ""],
  ["says too much", "process.stdout.write(Buffer.alloc(3 * 1024 * 1024))"],
])("a process that %s yields no picture, and does no further harm", async (_what, text) => {
  await expect(createDrawLookBack(program(text))({ days }, "UTC")).rejects.toThrow("the chart");
});

test("the process gets the figures and none of our environment", async () => {
  process.env["SECRET_OF_A_TEST"] = "xoxb-1";
  onTestFinished(() => void delete process.env["SECRET_OF_A_TEST"]);
  const script =
    "process.stdout.write(Buffer.from([0x89, 0x50, 0x4e, 0x47])); console.log(JSON.stringify(process.env))";
  const output = Buffer.from(await createDrawLookBack(program(script))({ days }, "UTC")).toString("latin1");
  expect(output).not.toContain("SECRET_OF_A_TEST");
});

test("the font is the one in the package, with its license", () => {
  const ours = (name: string): Buffer =>
    readFileSync(new URL(`../../../src/adapters/chart/${name}`, import.meta.url));
  const theirs = (name: string): Buffer =>
    readFileSync(new URL(import.meta.resolve(`@fontsource/lato/${name}`)));
  expect(ours("lato.woff2").equals(theirs("files/lato-latin-400-normal.woff2"))).toBe(true);
  expect(ours("lato-license.txt").equals(theirs("LICENSE"))).toBe(true);
});

test("its text names each day in the time zone, with the same figures", () => {
  const [first] = days;
  if (first === undefined) throw new Error("no day");
  expect(dayName(first, "UTC")).toBe("Fri 20");
  expect(dayName(first, "Pacific/Kiritimati")).toBe("Sat 21");
  expect(lookBackWords({ days }, "UTC")).toContain("Sat 21: 12 approved, 1 denied, 0 not decided in time");
  expect(lookBackWords({ days }, "UTC").length).toBeLessThan(1_000);
});
