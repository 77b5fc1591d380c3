// Freezing a channel or everything, and lifting a freeze. The same people may lift a freeze, but not their own: it takes a second
// person to let approvals be sent again.

import { auditEntry } from "../audit/entry.ts";
import { type Freeze, freezeIn } from "../domain/freeze.ts";
import type { ChannelId } from "../domain/ids.ts";
import { err, ok, type Result } from "../domain/result.ts";
import { applyBrakeToRuns } from "../engine/change-runs.ts";
import type { Freezes } from "../engine/freezes.ts";
import type { RunEngine } from "../engine/run-engine.ts";
import type { AuditReaders, EventLog } from "../ports.ts";
import {
  type Asker,
  type CommandRefusal,
  isAmongAny,
  noteIfRefused,
  refusalToUse,
  type UseCaseDeps,
} from "./access.ts";

export type UseFreeze = {
  /** The freezes that hold in this channel. Only those who may freeze may look. */
  look(by: Asker): Promise<Result<readonly Freeze[], CommandRefusal>>;
  /** It is in force when this resolves to ok. `channel` null: everywhere. Rejects with PortError: then it may be in force. */
  freeze(by: Asker, channel: ChannelId | null, why: string): Promise<Result<Freeze, CommandRefusal>>;
  /** Lifts the freeze of this audit entry, or, with null, the one that holds in the channel. */
  lift(by: Asker, entry: number | null, why: string): Promise<Result<Freeze, CommandRefusal>>;
};

type Deps = UseCaseDeps & {
  readonly engine: Pick<RunEngine, "looksAfter">;
  readonly audit: AuditReaders;
  readonly freezes: Freezes;
  readonly log: EventLog;
};

export function createFreeze(deps: Deps): UseFreeze {
  const note = <Value>(by: Asker, result: Result<Value, CommandRefusal>) =>
    noteIfRefused(deps, by, result, { step: "freeze" });
  return {
    look: async (by) => note(by, await look(deps, by)),
    freeze: async (by, channel, why) => note(by, await freeze(deps, by, channel, why.trim())),
    lift: async (by, entry, why) => note(by, await lift(deps, by, entry, why.trim())),
  };
}

async function look(deps: Deps, by: Asker): Promise<Result<readonly Freeze[], CommandRefusal>> {
  const no = await refusalToFreeze(deps, by);
  if (no !== null) return err(no);
  return ok(deps.freezes.now().filter(({ channel }) => channel === null || channel === by.channel));
}

/** Null: they may freeze and lift. */
async function refusalToFreeze(deps: Deps, by: Asker): Promise<CommandRefusal | null> {
  const no = await refusalToUse(deps, by);
  if (no !== null || (deps.audit.admins.includes(by.user) && by.team === deps.audit.team)) return no;
  const { freezers } = deps.context().policy;
  return freezers === null ? { type: "not-freezer" } : isAmongAny(deps, by, [freezers], "not-freezer");
}

async function freeze(
  deps: Deps,
  by: Asker,
  channel: ChannelId | null,
  why: string,
): Promise<Result<Freeze, CommandRefusal>> {
  const no = await refusalToFreeze(deps, by);
  if (no !== null) return err(no);
  const same = (): Freeze | undefined => deps.freezes.now().find((each) => each.channel === channel);
  if (same() !== undefined) return err({ type: "already-frozen" });
  const { team, user } = by;
  const facts = { at: deps.context().now, what: "frozen", outcome: "frozen", channel, reason: why } as const;
  await deps.freezes.write(auditEntry(null, { ...facts, by: { team, user } }));
  const made = same();
  if (made === undefined) return err({ type: "not-frozen" });
  deps.log.warn({ by: user, channel }, "frozen: no run starts and no approval is sent");
  applyToRuns(deps);
  return ok(made);
}

async function lift(
  deps: Deps,
  by: Asker,
  entry: number | null,
  why: string,
): Promise<Result<Freeze, CommandRefusal>> {
  const no = await refusalToFreeze(deps, by);
  if (no !== null) return err(no);
  const found =
    entry === null
      ? freezeIn(deps.freezes.now(), by.channel)
      : (deps.freezes.now().find((each) => each.entry === entry) ?? null);
  if (found === null) return err({ type: "not-frozen" });
  if (found.by === by.user) return err({ type: "own-freeze", freeze: found });
  const { team, user } = by;
  const about = { channel: found.channel, refers: found.entry, reason: why };
  const facts = { at: deps.context().now, what: "freeze-lifted", outcome: "lifted", ...about } as const;
  await deps.freezes.write(auditEntry(null, { ...facts, by: { team, user } }));
  deps.log.warn({ by: user, channel: found.channel }, "a freeze is lifted");
  applyToRuns(deps);
  return ok(found);
}

/** The answer does not wait for the cards: the freeze holds already. A run that fails here is corrected at its next save. */
function applyToRuns(deps: Deps): void {
  applyBrakeToRuns(deps).catch((error: unknown) =>
    deps.log.error({ error }, "could not show a freeze, or its end, on every card; each run's next change does"),
  );
}
