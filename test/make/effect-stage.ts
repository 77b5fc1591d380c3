// An effect executor whose store, engine, Slack and service are controlled by the test.

import { MessageTs } from "#src/domain/ids.ts";
import { type Effect, effectKey, type Outcome } from "#src/domain/effect.ts";
import type { Person } from "#src/domain/authorization.ts";
import type { Run } from "#src/domain/run.ts";
import { createEffectExecutor } from "#src/engine/effect-executor.ts";
import type { EngineHandle, ExecutorDeps } from "#src/engine/execution.ts";
import type { SideWrites } from "#src/ports/store.ts";
import { createHandClock } from "./clock.ts";
import { aSnapshot, contextAt } from "./history.ts";
import { anAuditEntry, NOON } from "./run.ts";

/** The last freeze that the stage knows. */
export const KNOWN = { seq: 7, link: "the link of entry 7" };

/**
 * Creates the executor and everything that it depends on. `fails` lists the errors of the next saves. Null means that the run is not held.
 */
export function createEffectStage(start: Run) {
  const clock = createHandClock();
  const told: string[] = [];
  const saved: SideWrites[] = [];
  const fails: (Error | null | undefined)[] = [];
  const ctx = () => contextAt(clock.monotonic() - NOON);
  const transact: EngineHandle["transact"] = async (key, apply) => {
    await clock.rest();
    if (stage.other?.key === key) return apply(stage.other);
    const failing = fails.shift();
    if (failing === null) return null;
    if (failing !== undefined) throw failing;
    const { run, value, sideWrites } = apply(stage.run);
    if (sideWrites !== undefined) saved.push(sideWrites);
    stage.run = run;
    return { run, value };
  };
  const change: EngineHandle["change"] = async (key, apply) => {
    stage.changes += 1;
    const applied = (before: Run) => {
      const next = apply(before);
      return "sideWrites" in next ? { ...next, value: null } : { run: next, value: null };
    };
    return (await transact(key, applied))?.run ?? null;
  };
  const back: EngineHandle = {
    transact,
    change,
    changeAnywhere: change,
    reconcileAfter: (_key, afterMs) => void told.push(`again ${afterMs}`),
    onIdle: () => void told.push("idle"),
    holdsShard: () => stage.ours,
  };
  const line =
    (level: string) =>
    ({ effect }: { readonly effect?: string }, message: string): void =>
      void told.push(`${level} ${effect} ${message}`);
  const log = { debug: line("debug"), info: line("info"), warn: line("warn"), error: line("error") };
  const stage = {
    clock,
    told,
    saved,
    fails,
    /** How often the run was changed, or read by an empty change. */
    changes: 0,
    run: start,
    ours: true,
    holds: () => true,
    wanted: [] as (boolean | undefined)[],
    performed: [] as string[],
    logged: [] as Outcome[],
    perform: (): Promise<Outcome> => Promise.resolve({ type: "posted", ts: MessageTs("2.2"), shows: "" }),
    turn: (): Promise<void> => Promise.resolve(),
    /** Reads the freezes. */
    refresh: (): Promise<void> => Promise.resolve(),
    /** Reads everything that other processes have written. */
    catchUp: (): Promise<void> => Promise.resolve(),
    /** What Slack returns for every person. */
    lookUp: (): Promise<Pick<Person, "kind" | "seesChannel">> =>
      Promise.resolve({ kind: "member", seesChannel: true }),
    /** Another run that is already watched under the id that the service gives to this one. */
    other: null as Run | null,
    executor: null as unknown as ReturnType<typeof createEffectExecutor>,
    /** Starts the effect, and waits until everything has happened that needs no time. */
    async act(effect: Effect): Promise<void> {
      stage.executor.start(stage.run, effect, back);
      await stage.settle();
    },
    async settle(): Promise<void> {
      for (let round = 0; round < 9; round += 1) await clock.rest();
    },
  };
  const deps = {
    agents: {
      fetchRun: () =>
        Promise.resolve({
          type: "snapshot",
          snapshot: aSnapshot(start, ["apr_1"], { askedAt: clock.monotonic() }),
        }),
    },
    chat: {
      waitForTurn: (_turn, isWanted) => {
        stage.wanted.push(isWanted?.());
        return stage.turn();
      },
      raiseUrgency: ({ kind }) => void told.push(`raiseUrgency ${kind}`),
      notifyIfQueued: (_run, { kind }) => Promise.resolve(void told.push(`queued ${kind}`)),
    },
    people: {
      lookUp: async (team, user) => ({ team, user, ...(await stage.lookUp()) }),
      memberOf: () => Promise.resolve(new Map()),
    },
    store: {
      byRunId: () => Promise.resolve(stage.other?.key ?? null),
      load: () => Promise.resolve({ run: stage.run, revision: 1 }),
      provenEntry: (seq) => {
        const [approval] = start.approvals;
        if (approval?.state.type !== "decided") throw new Error("nothing is decided");
        const { verdict, reason, by, digest } = approval.state.decision;
        const id = start.creation.type === "created" ? start.creation.id : null;
        const facts = {
          what: "decided",
          runId: id,
          approval: approval.id,
          verdict,
          reason,
          by,
          digest,
        } as const;
        return Promise.resolve({ ok: true, kept: { seq, entry: anAuditEntry(start, facts) } } as never);
      },
      settledAfter: () => Promise.resolve({ entries: [], damage: [] }),
    },
    integrity: { found: () => undefined, state: () => ({ code: null }) as never },
    perform: (_run, effect) => {
      stage.performed.push(effectKey(effect));
      return stage.perform();
    },
    holdsLease: () => stage.holds(),
    freezes: {
      knownTo: () => KNOWN,
      refresh: () => {
        told.push("freezes read");
        return stage.refresh();
      },
    },
    catchUp: () => {
      told.push("catch up");
      return stage.catchUp();
    },
    context: ctx,
    clock,
    log,
    logEffect: (_run, _effect, outcome) => void stage.logged.push(outcome),
  } as ExecutorDeps;
  stage.executor = createEffectExecutor(deps);
  return stage;
}
