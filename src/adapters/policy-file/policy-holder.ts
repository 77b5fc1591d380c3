// Holds the policy in force. It reads the file at the start and again on request (SIGHUP). All replicas share one policy: the one that any of
// them loaded last, at its start or on request. The audit has its text.

import { isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { LoadedPolicy } from "../../audit/entry.ts";
import type { AuditPlace } from "../../domain/audit/hash-chain.ts";
import { BEGINNING } from "../../domain/audit/verify-chain.ts";
import { BUILT_IN, type Policy } from "../../domain/policy/policy.ts";
import { err, ok, type Result } from "../../domain/result.ts";
import { BATCH, rowsAfter } from "../../engine/audit-positions.ts";
import { type EventLog, PortError } from "../../ports.ts";
import type { PolicyReading } from "../../ports/monitoring.ts";
import type { AuditLog } from "../../ports/audit-store.ts";
import { findDoubts } from "./find-doubts.ts";
import { findEvasions } from "./find-evasions.ts";
import type { Finding } from "./read-policy.ts";
import { isReadOnce } from "./watch-files.ts";

export type PolicyHolder = {
  now(): Policy;
  /** The policy in force, with its text. */
  loaded(): LoadedPolicy;
  /**
   * Resolves to true if another policy is now in force. If the file cannot be used, or `beforeUse` rejects, the old policy stays in force and
   * the log says so. `beforeUse` is called with a new policy before anything is decided under it.
   */
  reload(beforeUse?: (loaded: LoadedPolicy) => Promise<void>): Promise<boolean>;
  /** Resolves to whether the file now has another text than the policy in force, or cannot be used. False for a pipe. */
  isOutdated(): Promise<boolean>;
  /**
   * Puts the policy with this text into force, as another replica did. Null is the built-in policy. Resolves to true if it differs from the
   * previous one. Rejects with PortError if this program cannot read it; the old policy then stays in force.
   */
  adopt(text: string | null): Promise<boolean>;
  /** The result of the last reading of the file, including the one at the start. Used by the metrics. */
  lastReload(): PolicyReload;
  /** The content of the file at the start. Null if there is no file. */
  readonly firstText: string | null;
};

type PolicyReload = {
  /** Wall time (ms since 1970). */
  readonly at: number;
  readonly outcome: PolicyReading;
};

/** The number of characters of the text's digest that name a version. */
const VERSION_CHARS = 12;

/** `builtIn` applies if there is no file. Rejects with a message for the operator if the file cannot be used. */
export async function createPolicyHolder(
  path: string | null,
  log: EventLog,
  builtIn: Policy = BUILT_IN,
  now: () => number = Date.now,
): Promise<PolicyHolder> {
  let inForce = await firstPolicy(path, log, builtIn);
  let last: PolicyReload = { at: now(), outcome: "in force" };
  const { text: firstText } = inForce;

  const reload: PolicyHolder["reload"] = async (beforeUse = () => Promise.resolve()) => {
    if (path === null) log.info({}, "there is no policy file to read again");
    if (path === null || !canReadAgain(path, log)) return false;
    const before = inForce;
    const { version } = before.policy;
    const read = await readAgain(path, { version, beforeUse, log });
    last = { at: now(), outcome: typeof read === "string" ? read : "in force" };
    if (typeof read === "string") return false;
    // Another replica's policy was adopted meanwhile. Only the audit says which of the two is newer, so it is read again.
    if (inForce === before) inForce = read;
    const changed = inForce.policy.version !== version;
    log.info({ policy: inForce.policy.version, changed }, "the policy file was read again");
    warn(log, path, await lintText(read.text ?? ""));
    return changed;
  };

  return {
    now: () => inForce.policy,
    loaded: () => inForce,
    reload,
    isOutdated: () => isOutdated(path, inForce.text),
    adopt: async (text) => {
      const next = text === null ? { policy: builtIn, text } : await adopted(text);
      const before = inForce.policy.version;
      inForce = next;
      return inForce.policy.version !== before;
    },
    lastReload: () => last,
    firstText,
  };
}

function canReadAgain(path: string, log: EventLog): boolean {
  const isPipe = isReadOnce(path);
  if (isPipe)
    log.warn({ path }, "the policy came from a pipe, which can be read only once; it stays in force");
  return !isPipe;
}

async function isOutdated(path: string | null, text: string | null): Promise<boolean> {
  if (path === null || isReadOnce(path)) return false;
  const read = await readPolicyFile(path);
  return !read.ok || read.value.text !== text;
}

type Again = {
  readonly version: string | null;
  readonly beforeUse: (loaded: LoadedPolicy) => Promise<void>;
  readonly log: EventLog;
};

/** Resolves to the policy to put into force, or to the reason why there is none. */
async function readAgain(
  path: string,
  { version, beforeUse, log }: Again,
): Promise<LoadedPolicy | "faulty" | "not recorded"> {
  const read = await readPolicyFile(path);
  if (!read.ok) {
    log.error({ policy: version, faults: read.error }, FAULTY);
    return "faulty";
  }
  const changed = read.value.policy.version !== version;
  return !changed || (await afterAudit(beforeUse, read.value, log)) ? read.value : "not recorded";
}

const FAULTY = "the policy file can't be used; the old policy stays in force";

async function firstPolicy(path: string | null, log: EventLog, builtIn: Policy): Promise<LoadedPolicy> {
  if (path === null) return { policy: builtIn, text: null };
  const read = await readPolicyFile(path);
  if (!read.ok) throw new Error(explain(path, read.error));
  warn(log, path, await lintText(read.value.text ?? ""));
  return read.value;
}

async function adopted(text: string): Promise<LoadedPolicy> {
  const read = await policyOf(text);
  if (read.ok) return read.value;
  throw new PortError(
    "another replica put a policy into force that this version of Countersign cannot read",
    {
      applied: "no",
      retry: "later",
      code: "policy_unreadable",
    },
  );
}

async function afterAudit(
  beforeUse: (loaded: LoadedPolicy) => Promise<void>,
  loaded: LoadedPolicy,
  log: EventLog,
): Promise<boolean> {
  try {
    await beforeUse(loaded);
    return true;
  } catch (error) {
    log.error({ error }, "could not record the new policy; the old policy stays in force");
    return false;
  }
}

function warn(log: EventLog, path: string, findings: readonly Finding[]): void {
  if (findings.length > 0) log.warn({ path, findings }, "the policy is valid but may not mean what it says");
}

export async function loadPolicy(path: string): Promise<Result<Policy, readonly Finding[]>> {
  const read = await readPolicyFile(path);
  return read.ok ? ok(read.value.policy) : read;
}

async function readPolicyFile(path: string): Promise<Result<LoadedPolicy, readonly Finding[]>> {
  try {
    const bytes = await readFile(path);
    // A pattern that was decoded to other letters would never match.
    if (!isUtf8(bytes)) return err([{ line: 0, where: "", says: "is not text in UTF-8" }]);
    return await policyOf(bytes.toString("utf8"));
  } catch (error) {
    const says = error instanceof Error ? error.message : String(error);
    return err([{ line: 0, where: "", says: `can't be read: ${says}` }]);
  }
}

/** Loads the policy parser only when it is needed, because a bot without a policy file does not need it. */
const reader = () => import("./read-policy.ts");

async function policyOf(text: string): Promise<Result<LoadedPolicy, readonly Finding[]>> {
  const { readPolicy } = await reader();
  const policy = readPolicy(text, digestOf(text).slice(0, VERSION_CHARS));
  return policy.ok ? ok({ policy: policy.value, text }) : policy;
}

export const digestOf = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

export type LintedPolicy = { readonly policy: Policy; readonly doubts: readonly Finding[] };

/** Loads a policy and lints the same text. A pipe can be read only once, and a file may change between two reads. */
export async function lintPolicy(path: string): Promise<Result<LintedPolicy, readonly Finding[]>> {
  const read = await readPolicyFile(path);
  if (!read.ok) return read;
  const { policy, text } = read.value;
  return ok({ policy, doubts: await lintText(text ?? "") });
}

async function lintText(text: string): Promise<readonly Finding[]> {
  const { finding, readLines, readPolicy } = await reader();
  const read = readPolicy(text, "");
  if (!read.ok) return read.error;
  const document = readLines(text);
  return [...findDoubts(read.value), ...findEvasions(read.value)].map(({ path, says }) =>
    finding(document, path, says),
  );
}

/** Returns one line per finding, for the terminal. */
function explain(path: string, findings: readonly Finding[]): string {
  return [
    `the policy ${path} can't be used:`,
    ...findings.map((each) => `  ${findingLine(path, each)}`),
  ].join("\n");
}

export function findingLine(path: string, { line, where, says }: Finding): string {
  const place = line > 0 ? `${path}:${line}` : path;
  return where === "" ? `${place}: ${says}` : `${place}: ${where} ${says}`;
}

type Audited = Pick<AuditLog, "numbersAfter" | "auditText" | "provenEntry">;

/** The function resolves to whether another policy is now in force. It rejects with PortError if that is unknown. */
export function createPolicyFollower(
  holder: Pick<PolicyHolder, "adopt" | "now">,
  store: Audited,
  log: EventLog,
): () => Promise<boolean> {
  let place = BEGINNING;
  let look: Promise<unknown> = Promise.resolve();

  async function follow(): Promise<boolean> {
    const { newest, isAnew } = await newestLoaded(store, place);
    const before = holder.now().version;
    const isNews = newest !== place && newest !== BEGINNING;
    const changed = isNews && (await holder.adopt(await textOf(store, newest.seq)));
    place = newest;
    const policy = holder.now().version;
    if (changed && isAnew) log.error({ policy }, lostPolicy(before));
    else if (changed) log.info({ policy }, "took over the policy that another replica put into force");
    return changed;
  }

  /** Look-ups run one after the other, so that no older answer overtakes a newer one. */
  return () => {
    const next = look.then(follow, follow);
    look = next;
    return next;
  };
}

/** Only a person knows whether the file of this process is the newest one. */
const lostPolicy = (version: string | null): string =>
  `the policy ${version ?? "that is built in"} was in force and is gone from the audit, so the newest one that the audit has is in force now; check that it is the right one, or load the right one again`;

/** Finds the newest entry that names a policy: `place` if there is no newer one, or `BEGINNING` if there is none. */
async function newestLoaded(
  store: Audited,
  place: AuditPlace,
): Promise<{ readonly newest: AuditPlace; readonly isAnew: boolean }> {
  const { rows, isAnew } = await rowsAfter(store, place, ["policy-loaded"]);
  let newest = isAnew ? BEGINNING : place;
  for (
    let page = rows;
    page.length > 0;
    page = await store.numbersAfter(newest.seq, ["policy-loaded"], BATCH)
  )
    newest = page.at(-1) ?? newest;
  return { newest, isAnew };
}

async function textOf(store: Audited, seq: number): Promise<string | null> {
  const proven = await store.provenEntry(seq);
  if (!proven.ok) throw unproven(seq);
  const { digest } = proven.kept.entry;
  if (digest === null) return null;
  const text = await store.auditText(digest);
  if (text === null || digestOf(text) !== digest) throw unproven(seq);
  return text;
}

function unproven(seq: number): PortError {
  const facts = { applied: "no", retry: "later", code: "policy_changed" } as const;
  return new PortError(`audit entry ${seq}, which names the policy in force, was changed`, facts);
}
