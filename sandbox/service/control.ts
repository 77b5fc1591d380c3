// Controls the service: what tests and the sandbox's panel can do to it in addition to its endpoints.

import type { Clock, ManualClock } from "../base/sandbox-clock.ts";
import type { Fault, FaultHandle, Faults } from "./request-faults.ts";
import type { Listener } from "./listener.ts";
import { mintKey } from "./api-keys.ts";
import type { Memory } from "./service-memory.ts";
import type { Profile } from "./profile.ts";
import { checkProfile } from "./profile-table.ts";
import type { RequestMatch } from "./recorder.ts";
import * as runs from "./service-run.ts";
import type { Ask, Decision, Moved, Run } from "./service-run.ts";
import type { World } from "./service-world.ts";

export type Control = {
  /** Adds a fault for the next matching request, for several or for all. */
  readonly fault: (match: RequestMatch, fault: Fault, times?: number | "all") => FaultHandle;
  faults: Faults["list"];
  readonly clearFaults: () => void;
  readonly down: () => Promise<void>;
  readonly up: () => Promise<void>;
  /** Replaces the key. From then on, the service accepts only the new key. */
  readonly rotateKey: (key?: string) => string;
  readonly profile: (change?: Partial<Profile>) => Readonly<Profile>;
  /** Moves the time forward. Throws unless the service was started with a manual clock. */
  readonly advance: (ms: number) => void;

  readonly createRun: (input: string) => Run;
  /** Adds an approval, and returns its id. */
  readonly addApproval: (
    runId: string,
    ask: { readonly action: string; readonly details?: Ask["details"] },
  ) => string;
  readonly changeApproval: (runId: string, approvalId: string, to: Partial<Ask>) => void;
  readonly withdrawApproval: (runId: string, approvalId: string) => void;
  /** Makes a resolved or withdrawn approval pending again, under the same id. */
  readonly returnApproval: (runId: string, approvalId: string) => void;
  /** Decides an approval outside Countersign. */
  readonly resolveElsewhere: (runId: string, approvalId: string, decision: Decision) => void;
  readonly finish: (runId: string, output: string) => void;
  readonly fail: (runId: string, message: string) => void;
  readonly cancel: (runId: string, reason: string) => void;
  /** Makes the run answer 404 until it reappears. */
  readonly vanish: (runId: string) => void;
  readonly reappear: (runId: string) => void;
  /** Returns the ids of the vanished runs. */
  readonly vanished: () => readonly string[];
};

export type ControlParts = {
  readonly world: World;
  readonly faults: Faults;
  readonly listener: Listener;
  readonly clock: Clock | ManualClock;
  readonly memory: Memory;
};

export function createControl(parts: ControlParts): Control {
  return { ...createServerControl(parts), ...createRunControl(parts) };
}

function createServerControl({ faults, listener, clock, memory }: ControlParts) {
  const { settings } = memory;
  return {
    fault: faults.add,
    faults: faults.list,
    clearFaults: faults.clear,
    down: listener.down,
    up: listener.up,
    rotateKey(key: string = mintKey()) {
      settings.key = key;
      memory.changed();
      return key;
    },
    profile(change: Partial<Profile> = {}) {
      settings.profile = { ...settings.profile, ...checkProfile(change) };
      memory.changed();
      return settings.profile;
    },
    advance(ms: number) {
      if (!("advance" in clock))
        throw new Error("this clock cannot be advanced: start the service with a manual clock");
      clock.advance(ms);
    },
  };
}

function createRunControl({ world, memory }: ControlParts) {
  function applyMove(runId: string, move: (run: Run, now: number) => Moved): Run {
    const moved = world.apply(runId, move);
    if (!moved.ok) throw new Error(`run ${runId}: ${moved.because}`);
    return moved.run;
  }
  const end = (runId: string, ending: runs.Ending) =>
    void applyMove(runId, (run, now) => runs.end(run, ending, now));

  return {
    createRun: (input: string) => world.create(input),
    addApproval(runId: string, { action, details = {} }: { action: string; details?: Ask["details"] }) {
      const id = world.newApprovalId();
      applyMove(runId, (run, now) => runs.ask(run, [{ id, action, details }], now));
      return id;
    },
    changeApproval: (runId: string, id: string, to: Partial<Ask>) =>
      void applyMove(runId, (run) => runs.change(run, id, to)),
    withdrawApproval: (runId: string, id: string) =>
      void applyMove(runId, (run, now) => runs.withdraw(run, id, now)),
    returnApproval: (runId: string, id: string) => void applyMove(runId, (run) => runs.reopen(run, id)),
    resolveElsewhere: (runId: string, id: string, decision: Decision) =>
      void applyMove(runId, (run, now) => runs.decide(run, id, decision, now)),
    finish: (runId: string, output: string) => end(runId, { type: "succeeded", output }),
    fail: (runId: string, message: string) => end(runId, { type: "failed", code: "operator", message }),
    cancel: (runId: string, reason: string) => end(runId, { type: "canceled", reason }),
    vanish(runId: string) {
      memory.vanished.add(runId);
      memory.changed();
    },
    reappear(runId: string) {
      memory.vanished.delete(runId);
      memory.changed();
    },
    vanished: () => [...memory.vanished],
  };
}
