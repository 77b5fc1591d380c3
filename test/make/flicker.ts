// An agent that asks for an approval and withdraws it, again and again, without any person involved.

import type { AuditEntry } from "#src/audit/entry.ts";
import { auditOfChange, limitUncausedEntries, withPlaces } from "#src/audit/run-diff.ts";
import { observe } from "#src/domain/observe.ts";
import type { Run } from "#src/domain/run.ts";
import { aSnapshot, contextAt } from "./history.ts";
import { aRunId, aWatchedRun } from "./run.ts";

export type Step = { readonly after: number; readonly id: string; readonly chars: number };

/** When the service is read after an approval disappears (ms). After the last read, the approval counts as gone. */
const LOOKS_MS = [1, 6_000, 12_000];
export type Flickering = {
  readonly told: readonly AuditEntry[];
  ask(step: Step): void;
  /** It asks, and does not withdraw. */
  askAndWait(step: Step): void;
  /** The run ends. */
  end(): void;
  run(): Run;
};

/** Returns a copy as the store would return it, like a JSON round trip. Texts are shared, because a run may contain megabytes of them. */
function storedCopy(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(storedCopy);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).filter(([, held]) => held !== undefined);
  return Object.fromEntries(fields.map(([name, held]) => [name, storedCopy(held)]));
}

export function aFlickering(): Flickering {
  const told: AuditEntry[] = [];
  let run = aWatchedRun(aRunId(), { input: "task" });
  let at = 0;
  let asked = 0;
  const see = (pending: Parameters<typeof aSnapshot>[1], status?: string): void => {
    const ctx = contextAt(at);
    const facts = { askedAt: ctx.now, ...(status === undefined ? {} : { status }) };
    const next = observe(run, aSnapshot(run, pending, facts), ctx);
    const limited = limitUncausedEntries(run, next, auditOfChange(run, next, ctx), ctx.now);
    const marks = limited.audit.map((_, index) => ({ seq: told.length + index + 1, link: "" }));
    run = storedCopy(withPlaces(limited.run, limited.audit, marks)) as Run;
    told.push(...limited.audit);
  };
  const askAndWait = ({ after, id, chars }: Step): void => {
    at += after;
    asked += 1;
    see([{ id, content: { action: `${asked} ${"x".repeat(chars)}` } }]);
  };
  return {
    told,
    run: () => run,
    askAndWait,
    ask(step) {
      askAndWait(step);
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

/** Returns all audit entries of these steps and of the end of the run. */
export function flicker(steps: readonly Step[]): readonly AuditEntry[] {
  const agent = aFlickering();
  for (const step of steps) agent.ask(step);
  agent.end();
  return agent.told;
}
