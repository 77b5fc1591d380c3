// One process of Countersign: the real bot on test doubles of its ports. After its death, nothing from it reaches the outside.

import { createHash } from "node:crypto";
import { type Bot, createBot } from "#src/bot.ts";
import type { Context } from "#src/domain/context.ts";
import type { Clock } from "#src/engine/clock.ts";
import { createFreezes } from "#src/engine/freezes.ts";
import { ALONE, type LeaseTimes } from "#src/engine/lease-keeper.ts";
import { slowestProbeMs } from "#src/engine/service-breaker.ts";
import type { EventLog } from "#src/ports.ts";
import type { SlackHealth } from "#src/ports/monitoring.ts";
import type { Store } from "#src/ports/store.ts";
import { quietMetrics } from "../make/quiet.ts";
import { TEAM } from "../make/run.ts";
import { ADMIN, AUDIT_CHANNEL, LEAD } from "./cast.ts";
import { gatedStore } from "./gated-store.ts";
import { slackPorts } from "./slack-ports.ts";
import { agentService } from "./service-ports.ts";
import type { Host, Setting } from "./setting.ts";

/** Slower than in production, in the same proportion, so that a history needs fewer renewals. */
const SHARED: LeaseTimes = { leaseMs: 12_000, renewEveryMs: 3_000, isShared: true };
const LIMITS = { minMs: 1_000, maxMs: 5_000, maxInFlight: 4 };
const FINE = { ok: true, latencyMs: 1, fault: null, publicFault: null, says: {} };

const digest = (text: string): string => createHash("sha256").update(text, "utf8").digest("hex");

const HEALTHY: SlackHealth = {
  connection: () => "connected",
  tokenRefusal: () => null,
  unanswered: () => null,
  checkToken: () => Promise.resolve(),
  queues: () => ({ post: 0, update: 0, read: 0, sweep: 0, other: 0 }),
};

export class SimulatedProcess implements Host {
  readonly world: Setting;
  readonly name: string;
  alive = true;
  /** Whether it has claimed its runs. */
  ready = false;
  /** Whether it cannot reach the database. */
  cutOff = false;
  stalledUntil = 0;
  storing = { since: 0, until: 0 };
  /** How far its wall clock is ahead (ms). */
  ahead = 0;
  bot: Bot | null = null;
  readonly died: Promise<void>;
  #resolveDied = (): void => undefined;
  #monotonicAhead = 0;

  constructor(world: Setting, name: string) {
    this.world = world;
    this.name = name;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.died = promise;
    this.#resolveDied = resolve;
  }

  readonly clock: Clock = {
    now: () => this.world.timeline.now + this.ahead,
    monotonic: () => this.world.timeline.now + this.#monotonicAhead,
    after: (ms, what) => this.later(ms, what),
  };

  /** Resolves once it has claimed its share of the runs. Rejects as the real start does. */
  async start(): Promise<void> {
    const { world, clock } = this;
    const { database } = world;
    const alone = world.replicas === 1;
    if (alone) this.#monotonicAhead = this.ahead;
    const continueAfter = (stored: number): void =>
      void (this.#monotonicAhead += Math.max(stored - clock.monotonic(), 0));
    const store = alone
      ? await world.timeline.during(() =>
          database.ownedBy(this.name, { now: clock.monotonic, continueAfter }),
        )
      : database.sharedBy(this.name, clock.monotonic);
    const gated = gatedStore(this, store);
    this.bot = createBot(this.#deps(gated, alone), LIMITS);
    await this.bot.start();
    this.ready = true;
  }

  /** Sets an alarm of this process. It never rings after its death, nor while it is suspended. */
  later(ms: number, what: () => void): () => void {
    const { timeline } = this.world;
    const ring = (): void => {
      const stillMs = this.stalledUntil - timeline.now;
      if (!this.alive) return;
      if (stillMs > 0) cancel = timeline.after(stillMs, ring);
      else what();
    };
    let cancel = timeline.after(ms, ring);
    return () => cancel();
  }

  stall(ms: number): void {
    this.world.note(`${this.name} is suspended for ${ms} ms`);
    this.world.reached("a process is suspended");
    this.stalledUntil = Math.max(this.stalledUntil, this.world.timeline.now + ms);
  }

  die(when: string): void {
    if (!this.alive) return;
    this.world.reached("a process dies");
    this.restart(when);
  }

  /** Ends it, as its death does, but counts as no fault. */
  restart(when: string): void {
    this.alive = false;
    this.world.note(`${this.name} dies: ${when}`);
    this.#resolveDied();
    this.world.onDeath(this);
  }

  #deps(store: Store, alone: boolean): Parameters<typeof createBot>[0] {
    const { world, clock } = this;
    const freezes = createFreezes(store, this.#log());
    const context = (): Context => ({
      now: clock.now(),
      monotonic: clock.monotonic(),
      process: this.name,
      digest,
      nonce: () => world.nonce(),
      slowestRetryMs: slowestProbeMs(LIMITS.maxMs),
      policy: world.policy,
      freezes: freezes.now(),
    });
    return {
      store,
      storeFaults: { since: () => ({ count: 0, code: "" }) },
      slackHealth: HEALTHY,
      freezes,
      agents: agentService(this),
      gateway: { health: () => Promise.resolve(FINE) },
      ...slackPorts(this),
      drawLookBack: () => Promise.resolve(new Uint8Array()),
      audit: { team: TEAM, channel: AUDIT_CHANNEL, admins: [ADMIN, LEAD] },
      auditSink: null,
      clock,
      context,
      leaseTimes: alone ? ALONE : SHARED,
      followPolicy: () => Promise.resolve(false),
      policyReading: () => "in force",
      keepFinishedMs: world.keepFinishedMs,
      newKey: () => world.key(),
      random: () => world.fortune.random(),
      log: this.#log(),
      metrics: { ...quietMetrics([], []), tampered: (findings) => world.judge.tampered(findings) },
      version: "0.0.0",
    };
  }

  #log(): EventLog {
    const nothing = (): void => undefined;
    const logsError = (fields: object, message: string): void => {
      const error = "error" in fields && fields.error instanceof Error ? fields.error : null;
      this.world.note(`${this.name} logs: ${message}${error === null ? "" : ` (${error.message})`}`);
      this.world.judge.logged(error);
    };
    const warns = (fields: object): void => {
      if ("code" in fields && fields.code === "lease_lost")
        this.world.reached("a lease is lost while an effect is under way");
    };
    return { debug: nothing, info: nothing, warn: warns, error: logsError };
  }
}
