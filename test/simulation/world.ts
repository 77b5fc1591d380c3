// A whole world in one process and one virtual time.
//
//   random-history / scenarios ─► world ─► timeline (all timers)      people ─► process.bot (use cases) ─┐
//        seed or script ─► fortune          │                                                            ▼
//                                           ├─► process 1..3: createBot ─► gated-store ─► shared-database (real store, SQLite)
//                                           │                          ├─► service-ports ─► call-out ─► service   (truth, recorder)
//                                           │                          └─► slack-ports ──► call-out ─► slack     (truth, recorder)
//                                           └─► judge: compares what people did and saw with what reached the service
//
// The judge reads none of our tables except the audit, and that only for I8.

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
  /** Of the one rule; left out: there is no policy file. */
  readonly rule?: Partial<Rule>;
  /** Finished runs are forgotten after so long (ms). */
  readonly keepFinishedMs?: number;
  /** Repeated reads are compared with the database. */
  readonly distrustful?: boolean;
};

/** How long a supervisor waits before it starts a dead process again (ms). */
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
  readonly policy: Policy;
  readonly replicas: number;
  readonly keepFinishedMs: number;
  readonly states = new Map<string, number>();
  readonly notes: string[] = [];
  processes: SimulatedProcess[] = [];
  /** Calls of the database may go wrong. */
  isShaky = false;
  /** Since when everything obeys (ms); null: not yet. */
  healedAt: number | null = null;
  steps = 0;
  /** So far the wall clocks of new processes are ahead (ms). */
  #ahead = 0;
  #database: SharedDatabase | null = null;
  #lives = 0;
  #made = 0;
  #ended = false;
  readonly #isDistrustful: boolean;

  constructor(
    fortune: Fortune,
    { replicas, rule, keepFinishedMs = 30 * DAY_MS, distrustful = false }: WorldOptions,
  ) {
    this.keepFinishedMs = keepFinishedMs;
    this.#isDistrustful = distrustful;
    this.fortune = fortune;
    this.replicas = replicas;
    this.policy = { ...(rule === undefined ? BUILT_IN : aPolicy(rule)), lookBack: null };
  }

  get database(): SharedDatabase {
    if (this.#database === null) throw new Error("the database is not open");
    return this.#database;
  }

  get rule(): Rule {
    const [rule] = this.policy.rules;
    if (rule === undefined) throw new Error("a policy without a rule");
    return rule;
  }

  /** Those that take requests. */
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

  /** Someone sets the wall clocks. */
  stepClocks(ms: number): void {
    this.note(`the wall clocks step by ${ms} ms`);
    this.saw("a wall clock steps");
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

  /** Ends the history. Later alarms find nothing. */
  async end(): Promise<void> {
    this.#ended = true;
    for (const each of this.processes) each.alive = false;
    await this.timeline.rest();
    await this.#database?.close();
  }

  /** Time passes; stops early where an invariant is broken. */
  async pass(ms: number): Promise<void> {
    await this.timeline.pass(ms);
    if (this.judge.broken !== null) throw this.judge.broken;
  }

  /** Lets time pass until it is done, at most so long (ms). */
  async finish<Value>(act: Promise<Value>, mostMs = 20_000): Promise<Value | null> {
    const heard: { done: boolean; value: Value | null; error: unknown } = {
      done: false,
      value: null,
      error: null,
    };
    act.then(
      (value) => void Object.assign(heard, { done: true, value }),
      (error: unknown) => void Object.assign(heard, { done: true, error }),
    );
    const until = this.timeline.now + mostMs;
    await this.pass(0);
    while (!heard.done && this.timeline.now < until) await this.pass(50);
    if (heard.error !== null) throw heard.error;
    return heard.value;
  }

  note(words: string): void {
    this.notes.push(`${this.timeline.now} ${words}`);
  }

  /** A named state that must occur somewhere in a campaign. */
  saw(state: string): void {
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

  /** Equal for equal histories. */
  digest(): string {
    return createHash("sha256").update(this.notes.join("\n")).digest("hex");
  }
}

/** Plays a history in a world of its own, in virtual time. Rejects with what was broken. */
export async function inWorld(
  fortune: Fortune,
  options: WorldOptions,
  play: (world: SimulatedWorld) => Promise<void>,
): Promise<SimulatedWorld> {
  const world = new SimulatedWorld(fortune, options);
  const giveBack = takeTimers(world.timeline);
  try {
    await world.begin();
    await play(world);
  } catch (error) {
    world.note(`FAILED ${String(error)}`);
    throw new FailedHistory(world, error);
  } finally {
    await world.end();
    giveBack();
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
