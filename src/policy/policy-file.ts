// The policy that is in force: read at the start, and read again when somebody asks for that.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { BUILT_IN, type Policy } from "../core/policy.ts";
import { err, type Result } from "../core/result.ts";
import type { FlowLog } from "../flow/flow-log.ts";
import { findDoubts } from "./find-faults.ts";
import { type Finding, readLines } from "./policy-lines.ts";
import { finding, readPolicy } from "./read-policy.ts";

export type PolicyHolder = {
  now(): Policy;
  /** True: another policy is in force. A file that can't be used leaves the old one in force, and the log says so. */
  reload(): Promise<boolean>;
};

/** Rejects with one message for people when the file can't be used. */
export async function createPolicyHolder(path: string | null, log: FlowLog): Promise<PolicyHolder> {
  let policy = BUILT_IN;
  if (path !== null) {
    const loaded = await loadPolicy(path);
    if (!loaded.ok) throw new Error(explain(path, loaded.error));
    policy = loaded.value;
    warn(log, path, await lintPolicy(path));
  }

  async function reload(): Promise<boolean> {
    if (path === null) {
      log.info({}, "there is no policy file to read again");
      return false;
    }
    const loaded = await loadPolicy(path);
    if (!loaded.ok) {
      log.error(
        { policy: policy.version, faults: loaded.error },
        "the policy file can't be used; the old policy stays in force",
      );
      return false;
    }
    const changed = loaded.value.version !== policy.version;
    policy = loaded.value;
    log.info({ policy: policy.version, changed }, "the policy file was read again");
    warn(log, path, await lintPolicy(path));
    return changed;
  }

  return { now: () => policy, reload };
}

function warn(log: FlowLog, path: string, findings: readonly Finding[]): void {
  if (findings.length > 0) log.warn({ path, findings }, "the policy says something that is hardly meant");
}

export async function loadPolicy(path: string): Promise<Result<Policy, readonly Finding[]>> {
  try {
    const text = await readFile(path, "utf8");
    return readPolicy(text, createHash("sha256").update(text, "utf8").digest("hex").slice(0, 12));
  } catch (error) {
    const says = error instanceof Error ? error.message : String(error);
    return err([{ line: 0, where: "", says: `can't be read: ${says}` }]);
  }
}

/** What a policy that can be used is doubted for. */
export async function lintPolicy(path: string): Promise<readonly Finding[]> {
  const text = await readFile(path, "utf8");
  const read = readPolicy(text, "");
  if (!read.ok) return read.error;
  const lined = readLines(text);
  return findDoubts(read.value).map(({ path, says }) => finding(lined, path, says));
}

/** One line per finding, for the terminal. */
export function explain(path: string, findings: readonly Finding[]): string {
  return [
    `the policy ${path} can't be used:`,
    ...findings.map((each) => `  ${findingLine(path, each)}`),
  ].join("\n");
}

export function findingLine(path: string, { line, where, says }: Finding): string {
  const place = line > 0 ? `${path}:${line}` : path;
  return where === "" ? `${place}: ${says}` : `${place}: ${where} ${says}`;
}
