// What the parts of a simulated world know of each other.

import type { Bot } from "#src/bot.ts";
import type { Nonce } from "#src/domain/ids.ts";
import type { Policy, Rule } from "#src/domain/policy/policy.ts";
import type { Run } from "#src/domain/run.ts";
import type { Slot } from "#src/domain/slot.ts";
import type { Snapshot } from "#src/domain/snapshot.ts";
import type { Clock } from "#src/engine/clock.ts";
import type { Fortune } from "./fortune.ts";
import type { Records, Sent, SentCreate, Submit } from "./records.ts";
import type { SimulatedService } from "./service.ts";
import type { SharedDatabase } from "./shared-database.ts";
import type { SimulatedSlack } from "./slack.ts";
import type { Timeline } from "./timeline.ts";

export type Setting = {
  readonly timeline: Timeline;
  readonly fortune: Fortune;
  readonly service: SimulatedService;
  readonly slack: SimulatedSlack;
  readonly records: Records;
  readonly judge: JudgeListener;
  readonly database: SharedDatabase;
  readonly policy: Policy;
  /** The rules that were in force at some time from `from` to `to` (ms), the oldest first. */
  rulesWithin(from: number, to: number): readonly Rule[];
  readonly replicas: number;
  /** How long finished runs are kept (ms). */
  readonly keepFinishedMs: number;
  /** Whether calls to the database may go wrong. */
  readonly isShaky: boolean;
  /** How often the wall clocks were set. */
  readonly steps: number;
  /** A line of the history. Equal histories have equal lines. */
  note(words: string): void;
  /** A named state that must occur somewhere in a campaign. */
  reached(state: string): void;
  nonce(): Nonce;
  key(): string;
  onDeath(dead: Host): void;
};

/** A process, as the test doubles of its ports see it. */
export type Host = {
  readonly world: Setting;
  readonly name: string;
  readonly alive: boolean;
  /** Whether it has claimed its runs. */
  readonly ready: boolean;
  /** Whether it cannot reach the database. */
  readonly cutOff: boolean;
  /** When its newest suspension ends or ended (ms). 0 if there was none. */
  readonly stalledUntil: number;
  /** When its newest uninterrupted series of reads and writes of runs began and ended (ms). What arrives meanwhile may wait for them. */
  storing: { readonly since: number; readonly until: number };
  readonly clock: Clock;
  readonly bot: Bot | null;
  readonly died: Promise<void>;
  /** Sets an alarm of this process. It never rings after its death, nor while it is suspended. */
  later(ms: number, what: () => void): () => void;
  stall(ms: number): void;
  die(when: string): void;
};

/** Events that the judge is notified of as they happen. */
export type JudgeListener = {
  must(invariant: string, holds: boolean, words: string): void;
  receivesSnapshot(by: Host, snapshot: Snapshot): void;
  creates(creation: SentCreate): void;
  sends(sent: Sent): void;
  answered(sent: Sent): void;
  recorded(submit: Submit): void;
  shows(run: Run, slot: Slot): void;
  tampered(findings: number): void;
  logged(error: Error | null): void;
};
