// The evidence of one run, handed to people who may read the audit. That somebody was given it is an entry too.

import type { RunId, UserId } from "../core/ids.ts";
import { err, ok, type Result } from "../core/result.ts";
import { aboutSameRun, auditEntry, type KeptEntry } from "./audit-entry.ts";
import { evidenceOf } from "./evidence.ts";
import { entryFinding, type Integrity } from "./integrity.ts";
import type { AuditReaders, Mail } from "./letter.ts";
import { answered, type Asker, isAmongAny, mayUse, type UseDeps } from "./may-use.ts";
import type { NoRun } from "./no-run.ts";
import { PortError } from "./ports.ts";

/** Resolves to how many entries the file has. */
export type GiveAudit = (by: Asker, id: RunId) => Promise<Result<number, NoRun>>;

type Deps = UseDeps & {
  readonly mail: Mail;
  readonly audit: AuditReaders;
  readonly integrity: Pick<Integrity, "found">;
};

export function createGiveAudit(deps: Deps): GiveAudit {
  return async (by, id) => answered(deps, by, await give(deps, by, id), { step: "audit", runId: id });
}

async function give(deps: Deps, by: Asker, id: RunId): Promise<Result<number, NoRun>> {
  const { store, mail, context } = deps;
  const no = await mayRead(deps, by, id);
  if (no !== null) return err(no);
  const broken = await store.walkAudit();
  if (broken !== null) {
    deps.integrity.found(broken);
    return err({ because: "tampered", words: broken.words });
  }
  const [first] = await store.auditOfRun(id);
  if (first === undefined) return err({ because: "unknown-run" });
  const { team, user } = by;
  const about = aboutSameRun(first.entry);
  const facts = { at: context().now, what: "audit-read", outcome: "given", by: { team, user } } as const;
  await store.audit([auditEntry(null, { ...facts, ...about, runId: about.runId ?? id })]);
  const entries = await store.auditOfRun(id);
  const unproven = await firstUnproven(deps, entries);
  if (unproven !== null) return err(unproven);
  try {
    await mail.file(user, await evidenceOf(store, entries, { id, user, at: facts.at }));
    return ok(entries.length);
  } catch (error) {
    if (error instanceof PortError) return err({ because: "not-sent" });
    throw error;
  }
}

/** Each entry that is handed out bears a signature of its own. */
async function firstUnproven(
  { store, integrity }: Deps,
  entries: readonly KeptEntry[],
): Promise<NoRun | null> {
  for (const { seq } of entries) {
    const proven = await store.provenEntry(seq);
    if (proven.ok) continue;
    const finding = entryFinding(seq, proven.fault);
    integrity.found(finding);
    return { because: "tampered", words: finding.words };
  }
  return null;
}

/** The admins of the configuration, and whomever the policy names. Null: they may. */
async function mayRead(deps: Deps, by: Asker, id: RunId): Promise<NoRun | null> {
  const no = await mayUse(deps, by);
  if (no !== null) return no;
  if (deps.audit.admins.includes(by.user)) return null;
  const { auditors } = deps.context().policy;
  const among =
    auditors === null
      ? { because: "not-auditor" as const }
      : await isAmongAny(deps, by, [auditors], "not-auditor");
  if (among?.because !== "not-auditor") return among;
  // Only those who know of the run anyway hear that it is there.
  return (await tookPart(deps, by.user, id)) ? { because: "own-audit" } : among;
}

/** Did this person ask for the run, or decide something in it? */
async function tookPart({ store }: Deps, user: UserId, id: RunId): Promise<boolean> {
  const did = ({ entry }: KeptEntry): boolean =>
    entry.by?.user === user && ["started", "watched", "voted", "decided"].includes(entry.what);
  return (await store.auditOfRun(id)).some(did);
}
