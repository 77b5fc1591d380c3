// A copy of the tree in which bugs are planted and tests are run. The working tree is never touched.

import { execFile, spawn } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { z } from "zod";
import { type PlantedBug, ROOT } from "./planted-bugs.ts";

/** A test that takes longer counts as hung (ms). The slowest takes a few seconds on a quiet machine. */
const LIMIT_MS = 180_000;

const run = promisify(execFile);

export type Verdict =
  | "caught"
  /** The test passed despite the bug. */
  | "survived"
  /** The test was ended by a time limit, its own or ours. */
  | "hung"
  /** The test did not run: there is no such title, or its file does not load. */
  | "broken";

export type Ended = {
  readonly verdict: Verdict;
  /** The failed tests, each with the first line of its error. */
  readonly failed: readonly string[];
};

export type Field = { readonly folder: string; readonly remove: () => void };

/** Copies every file that git tracks or would track, with the working tree's changes. The packages are linked. */
export async function createField(): Promise<Field> {
  const folder = mkdtempSync(join(tmpdir(), "countersign-planted-"));
  const listed = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
  const { stdout } = await run("git", listed, { cwd: ROOT, maxBuffer: 10_000_000 });
  for (const file of stdout.split("\0").filter((each) => each !== "")) {
    cpSync(join(ROOT, file), join(folder, file), { recursive: true, force: true, errorOnExist: false });
  }
  symlinkSync(join(ROOT, "node_modules"), join(folder, "node_modules"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Plants the bug, runs its test, and removes the bug again. */
export async function tryBug({ folder }: Field, { patch, test, title }: PlantedBug): Promise<Ended> {
  await run("git", ["apply", patch], { cwd: folder });
  try {
    return await endOf(folder, [test], [title]);
  } finally {
    await run("git", ["apply", "--reverse", patch], { cwd: folder });
  }
}

/** Runs the tests of these bugs in the unchanged copy. */
export function tryUnchanged({ folder }: Field, bugs: readonly PlantedBug[]): Promise<Ended> {
  return endOf(
    folder,
    [...new Set(bugs.map(({ test }) => test))],
    bugs.map(({ title }) => title),
  );
}

const Report = z.object({
  testResults: z.array(
    z.object({
      assertionResults: z.array(
        z.object({
          fullName: z.string(),
          status: z.string(),
          failureMessages: z.array(z.string()).nullish(),
        }),
      ),
    }),
  ),
});

async function endOf(folder: string, files: readonly string[], titles: readonly string[]): Promise<Ended> {
  const report = join(folder, "planted-report.json");
  rmSync(report, { force: true });
  const pattern = titles.map((title) => title.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
  const vitest = join("node_modules", "vitest", "vitest.mjs");
  const reported = ["--reporter=json", `--outputFile=${report}`];
  if (!(await ended([vitest, "run", ...files, "-t", pattern, ...reported], folder)))
    return { verdict: "hung", failed: [] };
  if (!existsSync(report)) return { verdict: "broken", failed: [] };
  const all = Report.parse(JSON.parse(readFileSync(report, "utf8"))).testResults;
  const ran = all
    .flatMap((each) => each.assertionResults)
    .filter(({ status }) => status === "passed" || status === "failed");
  const missing = titles.filter((title) => !ran.some(({ fullName }) => fullName.includes(title)));
  if (missing.length > 0) return { verdict: "broken", failed: missing.map((title) => `not run: ${title}`) };
  const failed = ran.flatMap(({ status, fullName, failureMessages }) =>
    status === "failed" ? [`${fullName}: ${failureMessages?.[0]?.split("\n")[0] ?? ""}`] : [],
  );
  if (failed.length === 0) return { verdict: "survived", failed };
  return { verdict: failed.every((each) => /timed out in \d+ ?ms/.test(each)) ? "hung" : "caught", failed };
}

/** Resolves to false if the command was still running at the limit; then it is killed with everything that it started. */
async function ended(args: readonly string[], cwd: string): Promise<boolean> {
  const child = spawn(process.execPath, args, { cwd, stdio: "ignore", detached: true });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
    resolve(false);
  }, LIMIT_MS);
  child.once("exit", () => resolve(true));
  return promise.finally(() => clearTimeout(timer));
}
