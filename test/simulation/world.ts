// A whole world in one process, in virtual time.
//
//   random-history / scenarios ─► world ─► timeline (all timers)      people ─► process.bot (use cases) ─┐
//        seed or script ─► fortune          │                                                            ▼
//                                           ├─► process 1..3: createBot ─► gated-store ─► shared-database (real store, SQLite)
//                                           │                          ├─► service-ports ─► call-out ─► service   (truth, recorder)
//                                           │                          └─► slack-ports ──► call-out ─► slack     (truth, recorder)
//                                           └─► judge: compares what people did and saw with what reached the service
//
// The judge reads none of our tables except the audit, and the audit only for I8.

import { createHash } from "node:crypto";
import { Nonce } from "#src/domain/ids.ts";
import type { Policy, Rule } from "#src/domain/policy/policy.ts";
import { BUILT_IN } from "#src/domain/policy/policy.ts";
import { aPolicy } from "../make/policy.ts";
import type { Fortune } from "./fortune.ts";
import { Judge } from "./judge.ts";
import { SimulatedPeople } from "./people.ts";
import { SimulatedProcess } from "./process.ts";
import { Records } from "./records.ts";
import type { Host, Setting } from "./setting.ts";
import { SimulatedService } from "./service.ts";
import { openSharedDatabase, type SharedDatabase } from "./shared-database.ts";
import { SimulatedSlack } from "./slack.ts";
import { takeTimers, Timeline } from "./timeline.ts";

export type WorldOptions = {
  readonly replicas: 1 | 2 | 3;
  /** Fields of the only rule. Left out if there is no policy file. */
  readonly rule?: Partial<Rule>;
  /** How long finished runs are kept (ms). */
  readonly keepFinishedMs?: number;
  /** Whether repeated reads are compared with the database. */
  readonly distrustful?: boolean;
};

/** How long a supervisor waits before it restarts a dead process (ms). */
const RESTART_MS = 1_000;
const DAY_MS = 24 * 60 * 60_000;

export class SimulatedWorld implements Setting {
  readonly timeline = new Timeline();
  readonly fortune: Fortune;
  readonly service = new SimulatedService((words) => this.note(words));
  readonly slack = new SimulatedSlack();
  readonly records = new Records();
  readonly people = new SimulatedPeople(this);
  readonly judge = new Judge(this);
  readonly replicas: number;
  readonly keepFinishedMs: number;
  readonly states = new Map<string, number>();
  readonly notes: string[] = [];
  processes: SimulatedProcess[] = [];
  /** Whether calls to the database may go wrong. */
  isShaky = false;
  /** When faults ended (ms). Null while they go on. */
  healedAt: number | null = null;
  steps = 0;
  /** How far the wall clocks of new processes are ahead (ms). */
  #ahead = 0;
  #database: SharedDatabase | null = null;
  #lives = 0;
  #made = 0;
  #ended = false;
  readonly #isDistrustful: boolean;
  /** All policies that were in force, the newest last. `from`: since when (ms). */
  readonly #policies: { readonly from: number; readonly policy: Policy }[] = [];

  constructor(
    fortune: Fortune,
    { replicas, rule, keepFinishedMs = 30 * DAY_MS, distrustful = false }: WorldOptions,
  ) {
    this.keepFinishedMs = keepFinishedMs;
    this.#isDistrustful = distrustful;
    this.fortune = fortune;
    this.replicas = replicas;
    this.#putInForce(rule === undefined ? BUILT_IN : aPolicy(rule));
  }

  get database(): SharedDatabase {
    if (this.#database === null) throw new Error("the database is not open");
    return this.#database;
  }

  get policy(): Policy {
    const newest = this.#policies.at(-1);
    if (newest === undefined) throw new Error("no policy is in force");
    return newest.policy;
  }

  rulesWithin(from: number, to: number): readonly Rule[] {
    return this.#policies
      .filter((each, index) => each.from <= to && (this.#policies[index + 1]?.from ?? Infinity) >= from)
      .flatMap(({ policy }) => policy.rules);
  }

  #putInForce(policy: Policy): void {
    this.#policies.push({ from: this.timeline.now, policy: { ...policy, lookBack: null } });
  }

  /** Replaces the policy file, which all processes read at once. Does nothing if there is none. */
  changePolicy(rule: Partial<Rule>): void {
    if (this.policy.version === null) return;
    this.#made += 1;
    this.#putInForce({ ...aPolicy(rule), version: `version ${this.#made}` });
    this.note(`the policy changes to ${JSON.stringify(rule)}`);
    this.reached("the policy changes");
    for (const { bot } of this.ready)
      bot
        ?.policyChanged()
        .catch((error: unknown) => this.judge.logged(error instanceof Error ? error : null));
  }

  /** The processes that accept requests. */
  get ready(): readonly SimulatedProcess[] {
    return this.processes.filter(({ alive, ready }) => alive && ready);
  }

  async begin(): Promise<void> {
    this.#database = await openSharedDatabase(this.timeline, { distrustful: this.#isDistrustful });
    for (let count = 0; count < this.replicas; count += 1) this.startProcess();
    await this.pass(100);
  }

  startProcess(): void {
    this.#lives += 1;
    const started = new SimulatedProcess(this, `p${this.#lives}`);
    started.ahead = this.#ahead;
    this.processes.push(started);
    this.note(`${started.name} starts`);
    started.start().catch((error: unknown) => {
      this.note(`${started.name} could not start: ${String(error)}`);
      started.die("its start failed");
    });
  }

  /** Moves all wall clocks by `ms`. */
  stepClocks(ms: number): void {
    this.note(`the wall clocks step by ${ms} ms`);
    this.reached("a wall clock jumps");
    this.steps += 1;
    this.#ahead += ms;
    for (const process of this.processes) process.ahead += ms;
  }

  onDeath(dead: Host): void {
    this.processes = this.processes.filter((each) => each !== dead);
    this.timeline.after(RESTART_MS, () => {
      if (!this.#ended) this.startProcess();
    });
  }

  /** Ends the history. Later alarms do nothing. */
  async end(): Promise<void> {
    this.#ended = true;
    for (const each of this.processes) each.alive = false;
    await this.timeline.rest();
    await this.#database?.close();
  }

  /** Lets time pass. Rejects with the first broken invariant. */
  async pass(ms: number): Promise<void> {
    await this.timeline.pass(ms);
    if (this.judge.broken !== null) throw this.judge.broken;
  }

  /** Lets time pass until the act is done, at most `mostMs`. Resolves to null if it is not done by then. */
  async finish<Value>(act: Promise<Value>, mostMs = 20_000): Promise<Value | null> {
    const state: { done: boolean; value: Value | null; error: unknown } = {
      done: false,
      value: null,
      error: null,
    };
    act.then(
      (value) => void Object.assign(state, { done: true, value }),
      (error: unknown) => void Object.assign(state, { done: true, error }),
    );
    const until = this.timeline.now + mostMs;
    await this.pass(0);
    while (!state.done && this.timeline.now < until) await this.pass(50);
    if (state.error !== null) throw state.error;
    return state.value;
  }

  note(words: string): void {
    this.notes.push(`${this.timeline.now} ${words}`);
  }

  /** A named state that must occur somewhere in a campaign. */
  reached(state: string): void {
    this.states.set(state, (this.states.get(state) ?? 0) + 1);
  }

  nonce(): Nonce {
    this.#made += 1;
    return Nonce(`nonce-${String(this.#made).padStart(12, "0")}`);
  }

  key(): string {
    this.#made += 1;
    return `key${String(this.#made).padStart(9, "0")}`;
  }

  /** Returns the same digest for equal histories. */
  digest(): string {
    return createHash("sha256").update(this.notes.join("\n")).digest("hex");
  }
}

/** Plays a history in a world of its own, in virtual time. Rejects with FailedHistory if an invariant is broken. */
export async function inWorld(
  fortune: Fortune,
  options: WorldOptions,
  play: (world: SimulatedWorld) => Promise<void>,
): Promise<SimulatedWorld> {
  const world = new SimulatedWorld(fortune, options);
  const restoreTimers = takeTimers(world.timeline);
  try {
    await world.begin();
    await play(world);
  } catch (error) {
    world.note(`FAILED ${String(error)}`);
    throw new FailedHistory(world, error);
  } finally {
    await world.end();
    restoreTimers();
  }
  return world;
}

export class FailedHistory extends Error {
  override readonly name = "FailedHistory";
  readonly world: SimulatedWorld;
  constructor(world: SimulatedWorld, cause: unknown) {
    super(String(cause), { cause });
    this.world = world;
  }
}
