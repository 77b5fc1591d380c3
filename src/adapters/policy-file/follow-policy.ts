// Several replicas have one policy: the one that any of them has loaded last, at its start or on request. The audit has its text.

import { type EventLog, PortError } from "../../ports.ts";
import type { AuditLog } from "../../ports/store.ts";
import { digestOf, type PolicyHolder } from "./policy-holder.ts";

type Audited = Pick<AuditLog, "auditAfter" | "auditText" | "provenEntry">;

/** The function resolves to whether another policy is in force now. It rejects with PortError when that cannot be told. */
export function createPolicyFollower(
  holder: Pick<PolicyHolder, "adopt" | "now">,
  store: Audited,
  log: EventLog,
): () => Promise<boolean> {
  let cursor = 0;
  return async () => {
    const entries = await store.auditAfter(cursor, ["policy-loaded"], MOST_LOADED);
    const last = entries.at(-1);
    if (last === undefined) return false;
    const changed = await holder.adopt(await textOf(store, last.seq));
    cursor = last.seq;
    if (changed)
      log.info({ policy: holder.now().version }, "took over the policy that another replica put into force");
    return changed;
  };
}

/** More than any audit has between two looks. Of more, the next look sees the rest. */
const MOST_LOADED = 10_000;

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
