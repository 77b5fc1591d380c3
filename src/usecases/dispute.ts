// "This was not me": a further entry marks the entry of the decision, and the admins are notified. The decision stays: it may be at the
// service already, and only people can undo what followed.

import type { Nonce, TeamId, UserId } from "../domain/ids.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { aboutSameRun, auditEntry } from "../audit/entry.ts";
import type { Counters } from "../ports.ts";
import { createNoteRefusal } from "./refusals.ts";
import type { NotificationDeps } from "../notifications/from-audit.ts";

export type Disputed = {
  /** The decision was disputed before; nothing was written. */
  readonly again: boolean;
  /** How many people and channels are notified. 0: only the log. */
  readonly told: number;
};

/** `nonce` null: the button carried no valid nonce. Rejects with PortError when nothing could be written. */
export type Dispute = (
  by: { team: TeamId; user: UserId },
  nonce: Nonce | null,
) => Promise<Result<Disputed, "unknown">>;

export function createDispute(deps: NotificationDeps & { readonly metrics: Counters }): Dispute {
  const { store, audit, context, log } = deps;
  const refuse = createNoteRefusal(deps);
  return async (by, nonce) => {
    const notification = nonce === null ? null : await store.notification(nonce);
    const told = notification === null ? null : await store.auditEntry(notification.entry);
    const theirs = notification?.kind === "receipt" && notification.to === by.user && by.team === audit.team;
    if (notification === null || told === null || !theirs) {
      await refuse(by, "unknown", { step: "receipt" });
      return err("unknown");
    }
    const { run, runId, approval, verdict, digest, policy } = told.entry;
    const decision = { approval, verdict, digest, policy, refers: told.seq };
    const about = { ...aboutSameRun(told.entry), ...decision };
    const facts = { at: context().now, what: "disputed", outcome: "disputed", by } as const;
    const marked = await store.dispute(notification.id, auditEntry(null, { ...facts, ...about }));
    log.error({ ...by, run, runId, entry: told.seq }, "a person disputes a decision in their name");
    return ok({ again: marked === "known", told: audit.admins.length + (audit.channel === null ? 0 : 1) });
  };
}
