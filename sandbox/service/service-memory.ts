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
  /** The ids of runs that exist, but answer 404. */
  readonly vanished: Set<string>;
  /** For each run, the outdated state that reads show, and how many reads still show it. */
  readonly stale: Map<string, { readonly run: Run; readonly left: number }>;
  readonly settings: { key: string; profile: Profile };
  readonly changes: Changes;
  /** Must be called after every change of the fields above. */
  readonly changed: () => void;
  /** Resolves when everything that has happened so far is on disk. */
  readonly saved: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type MemoryOptions = {
  readonly statePath: string | null;
  /** The key at the start. If the same key was given before, a rotated key stays valid. */
  readonly apiKey: string | undefined;
  /** Overrides the profile in the file. */
  readonly profile: Partial<Profile>;
};

/** Opens the state. Rejects if another process uses the file. */
export const openMemory = (options: MemoryOptions): Promise<Memory> =>
  owning(options.statePath, () => readMemory(options));

async function readMemory({ statePath, apiKey, profile }: MemoryOptions): Promise<Memory> {
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
  // Report a file that cannot be written now, not at the first run.
  await file?.saved();

  return {
    ...kept,
    changes,
    changed() {
      // Callers that need certainty await `saved`, and get the error there.
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

// Stale reads, which still show a run as it was before a decision.

export type StaleReads = {
  /** Returns what a read shows now, and uses up one stale read. */
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
