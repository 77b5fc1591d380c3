// Whether a disputed decision may have reached the service. The audit has an entry before the first byte of a decision leaves.

import type { KeptEntry } from "../audit/entry.ts";
import { voidCause, voidOutcome } from "../domain/audit/hash-chain.ts";
import type { Reach } from "../ports/notification.ts";
import { PortError } from "../ports.ts";
import type { AuditLog } from "../ports/audit-store.ts";

/** Resolves to "maybe" if the store does not answer, because an alarm must not wait for this. */
export async function reachOf(
  store: Pick<AuditLog, "auditAfter" | "auditOfRun">,
  decided: KeptEntry,
): Promise<Reach> {
  const { run } = decided.entry;
  if (run === null) return "maybe";
  try {
    // A restored copy lacks what was recorded after it was made, so the decision may have left although no entry says so.
    const restores = await store.auditAfter(decided.seq, ["restored"], 1);
    return restores.length > 0 ? "maybe" : reachIn(await store.auditOfRun(run), decided);
  } catch (error) {
    if (error instanceof PortError) return "maybe";
    throw error;
  }
}

/** Outcomes after which we don't know what happened to the decision. */
const UNCLEAR: readonly string[] = [voidOutcome("restored"), voidOutcome("tampered")];

function reachIn(entries: readonly KeptEntry[], { seq, entry: { verdict } }: KeptEntry): Reach {
  const later = entries.filter((kept) => kept.seq > seq);
  const isIn = ({ what, refers, votes = [] }: KeptEntry["entry"]): boolean =>
    what === "sent" && (refers === seq || votes.some(({ entry }) => entry === seq || entry === null));
  if (later.some(({ entry }) => isIn(entry))) return "maybe";
  const outcomes = later.flatMap(({ entry: { what, refers, outcome } }) =>
    what === "settled" && refers === seq ? [outcome] : [],
  );
  if (outcomes.some((outcome) => UNCLEAR.includes(outcome))) return "maybe";
  if (outcomes.some((outcome) => voidCause(outcome) !== null)) return "never";
  // A denial is sent as soon as it is recorded, and cannot be undone.
  return verdict === "approve" ? "not-yet" : "maybe";
}
