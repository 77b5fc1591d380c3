// An agent that asks for an approval and takes it back, again and again, with no person in between.

import type { AuditEntry } from "#src/audit/entry.ts";
import { auditOfChange, capUndecidedEntries } from "#src/audit/run-diff.ts";
import { observe } from "#src/domain/observe.ts";
import type { Run } from "#src/domain/run.ts";
import { aSnapshot, contextAt } from "./history.ts";
import { aRunId, aWatchedRun } from "./run.ts";

export type Step = { readonly after: number; readonly id: string; readonly chars: number };

/** Looks at the service before an approval that is gone is taken for gone (ms after it went). */
const LOOKS_MS = [1, 6_000, 12_000];
export type Flickering = {
  readonly told: readonly AuditEntry[];
  ask(step: Step): void;
  /** The run ends. */
  end(): void;
  run(): Run;
};

export function aFlickering(): Flickering {
  const told: AuditEntry[] = [];
  let run = aWatchedRun(aRunId(), { input: "task" });
  let at = 0;
  let asked = 0;
  const see = (pending: Parameters<typeof aSnapshot>[1], status?: string): void => {
    const ctx = contextAt(at);
    const facts = { askedAt: ctx.now, ...(status === undefined ? {} : { status }) };
    const next = observe(run, aSnapshot(run, pending, facts), ctx);
    const capped = capUndecidedEntries(run, next, auditOfChange(run, next, ctx), ctx.now);
    // As the store gives it back.
    run = JSON.parse(JSON.stringify(capped.run)) as Run;
    told.push(...capped.audit);
  };
  return {
    told,
    run: () => run,
    ask({ after, id, chars }) {
      at += after;
      asked += 1;
      see([{ id, content: { action: `${asked} ${"x".repeat(chars)}` } }]);
      const listed = at;
      for (const ms of LOOKS_MS) {
        at = listed + ms;
        see([]);
      }
    },
    end() {
      at += 1;
      see([], "succeeded");
    },
  };
}

/** All audit entries of these steps and of the run's end. */
export function flicker(steps: readonly Step[]): readonly AuditEntry[] {
  const agent = aFlickering();
  for (const step of steps) agent.ask(step);
  agent.end();
  return agent.told;
}
