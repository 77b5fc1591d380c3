// The clock of a supervised bot catches up with the sandbox's clock, and the bot's timers fire for the time in between.

import { spawn } from "node:child_process";
import { once } from "node:events";
import type { Writable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";

const WITH_PARENT = new URL("../../sandbox/bot/exit-with-parent.ts", import.meta.url).href;
const MINUTE_MS = 60_000;

const PROGRAM = `
  const began = { wall: Date.now(), elapsed: performance.now() };
  let ticks = 0;
  setInterval(() => ticks += 1, ${MINUTE_MS});
  const dropped = setTimeout(() => console.log("never"), 1_000);
  clearTimeout(dropped);
  setTimeout(() => {
    const passed = [Date.now() - began.wall, performance.now() - began.elapsed].map((ms) => Math.floor(ms / ${MINUTE_MS}));
    console.log(JSON.stringify({ began: began.wall, now: new Date().getTime(), passed, ticks }));
    process.exit(0);
  }, ${10 * MINUTE_MS} + 500);
`;

test("timers fire and clocks advance as if the time had passed, from the moment where they started", async () => {
  const from = Date.now();
  const child = spawn(
    process.execPath,
    ["--import", `${WITH_PARENT}?ahead=${60 * MINUTE_MS}`, "--input-type=module", "-e", PROGRAM],
    { stdio: ["ignore", "pipe", "inherit", "pipe"] },
  );
  onTestFinished(() => void child.kill());
  const { stdout } = child;
  if (stdout === null) throw new Error("the process has no standard output");
  (child.stdio[3] as Writable).write(`${75 * MINUTE_MS}\n`);
  const [printed] = (await once(stdout, "data")) as [Buffer];
  const report = JSON.parse(printed.toString()) as {
    began: number;
    now: number;
    passed: number[];
    ticks: number;
  };
  expect(report.passed).toEqual([10, 10]);
  expect(report.ticks).toBe(10);
  expect(report.began - from).toBeGreaterThanOrEqual(60 * MINUTE_MS);
  expect(report.now - report.began).toBeGreaterThanOrEqual(10 * MINUTE_MS);
});
