// The audit's entries about the program itself: that it started, with which configuration, and which policy is in force.

import type { Context } from "../core/context.ts";
import { canonicalJson, type Json } from "../core/json.ts";
import type { Policy } from "../core/policy.ts";
import { type AuditEntry, auditEntry } from "./audit-entry.ts";

/** A policy with the text that it was read from; null: the built-in one. */
export type LoadedPolicy = { readonly policy: Policy; readonly text: string | null };

export type Program = {
  readonly version: string;
  /** Of the runtime. */
  readonly node: string;
  /** Without secrets. */
  readonly config: { readonly [variable: string]: Json };
};

type Now = Pick<Context, "now" | "digest">;

export function auditOfStart({ version, node, config }: Program, ctx: Now): AuditEntry {
  const text = canonicalJson(config);
  const outcome = `Countersign ${version} on Node ${node}`;
  return auditEntry(null, { at: ctx.now, what: "program-started", outcome, digest: ctx.digest(text), text });
}

/** The version of a policy is the beginning of the digest of its text. */
export function auditOfPolicy({ policy, text }: LoadedPolicy, ctx: Now): AuditEntry {
  const facts = { at: ctx.now, what: "policy-loaded" } as const;
  if (text === null) return auditEntry(null, { ...facts, outcome: "no policy file: the built-in policy" });
  const outcome = `policy ${policy.version ?? ""}`;
  return auditEntry(null, { ...facts, outcome, digest: ctx.digest(text), text });
}
