// Answers the questions of people. Only members of its channel learn about a run; for others it is unknown. Only admins get the weekly
// report.

import { auditEntry } from "../audit/entry.ts";
import { type PersonFigures, weekByPerson } from "../audit/look-back.ts";
import type { Context } from "../domain/context.ts";
import type { CommandRefusal } from "../domain/command-refusal.ts";
import type { Freeze } from "../domain/freeze.ts";
import type { ChannelId, RunId, UserId, PersonId } from "../domain/ids.ts";
import { isList } from "../domain/json.ts";
import { DEFAULT_LOOK_BACK, lastWeek, type Week } from "../domain/policy/hours.ts";
import { err, ok, type Result } from "../domain/result.ts";
import type { Run } from "../domain/run.ts";
import type { Clock } from "../engine/clock.ts";
import { storeFaultWords } from "../engine/health.ts";
import type { Integrity, IntegrityState } from "../engine/integrity.ts";
import type { Poller } from "../engine/poller.ts";
import type { KeyCheck, ServiceKey } from "../engine/service-answers.ts";
import { isDown, type ServiceBreaker, type ServiceState } from "../engine/service-breaker.ts";
import type { UnreadableCounts, UnreadableRuns } from "../engine/unreadable-runs.ts";
import { entriesOf } from "../notifications/announce-look-back.ts";
import type { AgentService, Gateway, HealthReport } from "../ports.ts";
import type { AuditReaders } from "../ports/notification.ts";
import type { Health, PartHealth, PolicyReading, RunFigures } from "../ports/monitoring.ts";
import type { RunStore, Store } from "../ports/store.ts";
import type { AuditEvidence } from "../ports/audit-store.ts";
import { type Asker, channelsOf, isAdmin, noteIfRefused, refusalToUse, type UseCaseDeps } from "./access.ts";
import { type QueueDeps, readQueue, type WholeQueue } from "./read-queue.ts";

export type Queries = {
  /**
   * Resolves to null if there is no such run, or if this person may not know about it. Rejects with PortError if Slack or the store does
   * not answer.
   */
  status(user: UserId, id: RunId): Promise<Run | null>;
  /** Resolves to at most `limit` runs of the person's channels, newest first. `channel`: the channel in which they ask. */
  list(
    by: { readonly user: UserId; readonly channel: ChannelId },
    only: "unfinished" | "pending" | "all",
    limit: number,
  ): Promise<readonly Run[]>;
  /** Resolves to the person's queue. `channel`: the channel in which they ask. */
  pending(by: PersonId, channel: ChannelId): Promise<WholeQueue>;
  /** Resolves to the person's queue and to at most `limit` of their own runs, newest first. */
  home(by: PersonId, limit: number): Promise<HomeRuns>;
  /** Only ADMINS learn host names and addresses. Never rejects. */
  health(by: UserId): Promise<HealthAnswer>;
};

type HomeRuns = {
  readonly queue: WholeQueue;
  readonly own: readonly Run[];
};

export type HealthAnswer = {
  /** The version of Countersign. */
  readonly version: string;
  readonly service: HealthReport;
  readonly gateway: HealthReport;
  readonly poller: { readonly watched: number; readonly inFlight: number; readonly service: ServiceState };
  readonly unreadable: UnreadableCounts;
  /** `fault`: the reason why the database does not answer, or null. */
  readonly store: { readonly ok: boolean; readonly latencyMs: number; readonly fault: string | null };
  /** What the service just said about our key. */
  readonly key: KeyCheck;
  /** What waits for the service in this process: recorded decisions, and starts that failed at least once. */
  readonly waiting: { readonly decisions: RunFigures["undelivered"]; readonly starts: number };
  readonly parts: readonly PartHealth[];
  readonly policy: PolicyReading;
  /** The findings of tampering. */
  readonly audit: IntegrityState;
  /** The freeze of everything, if there is one, and the number of frozen channels. */
  readonly frozen: { readonly everywhere: Freeze | null; readonly channels: number };
};

type Deps = {
  store: RunStore & Pick<Store, "ping">;
  audit: Pick<AuditReaders, "admins">;
  health: Pick<Health, "parts">;
  key: Pick<ServiceKey, "check">;
  figures: () => RunFigures;
  policyReading: () => PolicyReading;
  version: string;
  people: QueueDeps["people"];
  context: () => Context;
  agents: Pick<AgentService, "health">;
  gateway: Gateway;
  poller: Pick<Poller, "counts">;
  breaker: Pick<ServiceBreaker, "state">;
  unreadable: Pick<UnreadableRuns, "counts">;
  integrity: Pick<Integrity, "state">;
  clock: Clock;
};

export function createQueries(deps: Deps): Queries {
  return { ...createLists(deps), health: createHealth(deps) };
}

function createLists({ store, people, context }: Deps): Omit<Queries, "health"> {
  async function status(user: UserId, id: RunId): Promise<Run | null> {
    const key = await store.byRunId(id);
    const run = key === null ? null : ((await store.load(key))?.run ?? null);
    if (run === null) return null;
    return (await channelsOf(people, user, run.channel)).has(run.channel) ? run : null;
  }

  async function list(
    { user, channel }: { user: UserId; channel: ChannelId },
    only: "unfinished" | "pending" | "all",
    limit: number,
  ): Promise<readonly Run[]> {
    const channels = await channelsOf(people, user, channel);
    return channels.size === 0 ? [] : store.list({ channels: [...channels], only, limit });
  }

  async function home(by: PersonId, limit: number): Promise<HomeRuns> {
    const queue = await readQueue({ store, people, context }, by);
    const filter = { channels: [...queue.channels], only: "all", asked: { by: by.user }, limit } as const;
    return { queue, own: queue.channels.size === 0 ? [] : await store.list(filter) };
  }

  const pending: Queries["pending"] = (by, channel) =>
    readQueue({ store, people, context }, by, { here: channel });

  return { status, list, home, pending };
}

function createHealth(deps: Deps): Queries["health"] {
  const { agents, gateway, poller, breaker, unreadable, integrity, context, key, figures } = deps;
  return async (by) => {
    const [service, gatewayReport, store, keyCheck] = await Promise.all([
      agents.health(),
      gateway.health(),
      pingStore(deps),
      key.check(0),
    ]);
    const { undelivered, retriedStarts } = figures();
    const answer: HealthAnswer = {
      version: deps.version,
      service,
      gateway: gatewayReport,
      unreadable: unreadable.counts(),
      poller: { ...poller.counts(), service: breaker.state() },
      key: keyCheck,
      waiting: { decisions: undelivered, starts: retriedStarts },
      store,
      parts: await deps.health.parts(),
      policy: deps.policyReading(),
      audit: integrity.state(),
      frozen: frozenNow(context()),
    };
    return deps.audit.admins.includes(by) ? answer : withoutAddresses(answer);
  };
}

async function pingStore({ store, clock }: Pick<Deps, "store" | "clock">): Promise<HealthAnswer["store"]> {
  const startedAt = clock.monotonic();
  const fault = await store.ping().then(() => null, storeFaultWords);
  return { ok: fault === null, fault, latencyMs: clock.monotonic() - startedAt };
}

/** Returns the answer for members, who do not need the addresses of our network. */
function withoutAddresses(answer: HealthAnswer): HealthAnswer {
  const { service, gateway, poller } = answer;
  const state = poller.service;
  return {
    ...answer,
    service: publicReport(service),
    gateway: publicReport(gateway),
    poller: { ...poller, service: isDown(state) ? { ...state, why: state.publicWhy } : state },
  };
}

function publicReport(report: HealthReport): HealthReport {
  const { endpoints = [] } = report.says;
  const paths = isList(endpoints)
    ? endpoints.filter((endpoint) => !JSON.stringify(endpoint).includes("://"))
    : [];
  const says = paths.length === 0 ? withoutEndpoints(report.says) : { ...report.says, endpoints: paths };
  return { ...report, fault: report.publicFault, says };
}

function withoutEndpoints({ endpoints: _addresses, ...says }: HealthReport["says"]): HealthReport["says"] {
  return says;
}

function frozenNow({ freezes }: Context): HealthAnswer["frozen"] {
  const everywhere = freezes.find(({ channel }) => channel === null) ?? null;
  return { everywhere, channels: freezes.filter(({ channel }) => channel !== null).length };
}

// `/agent report` shows an admin who decided and who was refused in the last week. Each delivery is an audit entry.

export type WeekReport = {
  readonly week: Week;
  readonly people: readonly PersonFigures[];
  /** True if older entries of the week are archived and not counted. */
  readonly incomplete: boolean;
};

/** Without a look back in the policy, the week ends on Monday at 08:00 UTC. Rejects with PortError. */
export type ReportWeek = (by: Asker) => Promise<Result<WeekReport, CommandRefusal>>;

type ReportDeps = UseCaseDeps & {
  readonly store: AuditEvidence;
  readonly audit: AuditReaders;
  readonly clock: Clock;
};

export function createReportWeek(deps: ReportDeps): ReportWeek {
  return async (by) => noteIfRefused(deps, by, await reportOf(deps, by), { step: "audit" });
}

async function reportOf(deps: ReportDeps, by: Asker): Promise<Result<WeekReport, CommandRefusal>> {
  const { store, audit, context } = deps;
  const refusal = await refusalToUse(deps, by);
  if (refusal !== null) return err(refusal);
  const { team, user, channel } = by;
  if (!isAdmin(audit, by)) return err({ type: "not-admin", asked: "report" });
  const { now, policy } = context();
  const week = lastWeek(policy.lookBack ?? DEFAULT_LOOK_BACK, now) ?? { from: now, to: now };
  const outcome = `who decided from ${new Date(week.from).toISOString()} to ${new Date(week.to).toISOString()}`;
  const facts = { at: now, what: "audit-read", outcome, by: { team, user }, channel } as const;
  await store.audit([auditEntry(null, facts)]);
  const { entries, incomplete } = await entriesOf(deps, week);
  return ok({ week, people: weekByPerson(entries), incomplete });
}
