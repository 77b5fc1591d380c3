// The state of the service, and the file that stores it.

import { type Changes, createChanges } from "../base/changes.ts";
import { mintKey, nameOfKey } from "./api-keys.ts";
import { checkProfile } from "./profile-table.ts";
import { plainProfile, type Profile } from "./profile.ts";
import type { Run } from "./service-run.ts";
import { emptyState, readState, type ServiceState } from "./service-state.ts";
import { createStateFile, loadState } from "./state-file.ts";
import { owning } from "./state-lock.ts";

export type Memory = {
  readonly runs: Map<string, Run>;
  /** Idempotency-Key → run id. */
  readonly keys: Map<string, string>;
  /** Runs that exist and are no longer shown. */
  readonly vanished: Set<string>;
  /** By run: what a read shows instead of the truth, and how often still. */
  readonly stale: Map<string, { readonly run: Run; readonly left: number }>;
  readonly settings: { key: string; profile: Profile };
  readonly changes: Changes;
  /** Must be called after every change of the fields above. */
  readonly changed: () => void;
  /** Resolves when all that happened so far would survive the end of this process. */
  readonly saved: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type Wishes = {
  readonly statePath: string | null;
  /** A key that was rotated stays right while the same one is given at the start. */
  readonly apiKey: string | undefined;
  /** Wins over what the file has. */
  readonly profile: Partial<Profile>;
};

/** Rejects, in words, when another process has the file. */
export const openMemory = (wishes: Wishes): Promise<Memory> =>
  owning(wishes.statePath, () => readMemory(wishes));

async function readMemory({ statePath, apiKey, profile }: Wishes): Promise<Memory> {
  const before = statePath === null ? emptyState : readState(statePath, await loadState(statePath));
  const given = apiKey === undefined ? null : nameOfKey(apiKey);
  const settings = {
    key: keyFrom(before, apiKey),
    profile: { ...plainProfile, ...before.profile, ...checkProfile(profile) },
  };
  const kept = {
    runs: new Map(before.runs.map((run) => [run.id, run])),
    keys: new Map(before.keys),
    vanished: new Set(before.vanished),
    stale: new Map(before.stale.map((one) => [one.run.id, one])),
    settings,
  };
  const state = (): ServiceState => ({
    version: 2,
    runs: [...kept.runs.values()],
    keys: [...kept.keys],
    vanished: [...kept.vanished],
    stale: [...kept.stale.values()],
    profile: settings.profile,
    apiKey: { right: settings.key, given },
  });
  const file = statePath === null ? null : createStateFile(statePath, state);
  const changes = createChanges();
  // A place that cannot be written to shows itself here, not at the first run.
  await file?.saved();

  return {
    ...kept,
    changes,
    changed() {
      // Callers that must be sure await `saved` again and get the error there.
      file?.saved().catch((error: unknown) => console.error("state not saved:", error));
      changes.changed();
    },
    saved: async () => file?.saved(),
    close: async () => file?.close(),
  };
}

function keyFrom({ apiKey: before }: ServiceState, given: string | undefined): string {
  if (given === undefined) return before?.right ?? mintKey();
  return before !== null && before.given === nameOfKey(given) ? before.right : given;
}

// Reads that still show a run as it was before a decision.

export type StaleReads = {
  /** What a read shows now. It uses up one stale read. */
  readonly shown: (run: Run) => Run;
  readonly remember: (run: Run) => void;
};

export function createStaleReads({ stale, settings, changed }: Memory): StaleReads {
  return {
    shown(run) {
      const old = stale.get(run.id);
      if (old === undefined) return run;
      if (old.left > 1) stale.set(run.id, { run: old.run, left: old.left - 1 });
      else stale.delete(run.id);
      changed();
      return old.run;
    },
    remember(run) {
      const left = settings.profile.staleReads;
      if (left === 0) return;
      stale.set(run.id, { run, left });
      changed();
    },
  };
}
