// What people may know: of a run only those hear who are members of its channel; to others it is an unknown run.

import type { RunId, UserId } from "../core/ids.ts";
import type { Run } from "../core/run.ts";
import type { Clock } from "./clock.ts";
import type { AgentService, Gateway, HealthReport, People, Store } from "./ports.ts";
import type { ServiceGuard, ServiceState } from "./service-guard.ts";
import type { Watch } from "./watch.ts";

export type Questions = {
  /** Null: no such run, or not for this person. Rejects with PortError when Slack or the store does not answer. */
  status(user: UserId, id: RunId): Promise<Run | null>;
  /** Newest first, at most `limit`. */
  list(user: UserId, only: "unfinished" | "pending" | "all", limit: number): Promise<readonly Run[]>;
  /** Never rejects. */
  health(): Promise<Health>;
};

export type Health = {
  readonly service: HealthReport;
  readonly gateway: HealthReport;
  readonly poller: { readonly watched: number; readonly inFlight: number; readonly service: ServiceState };
  readonly store: { readonly ok: boolean; readonly latencyMs: number };
};

type Deps = {
  store: Store;
  people: Pick<People, "channelsOf">;
  agents: Pick<AgentService, "health">;
  gateway: Gateway;
  watch: Pick<Watch, "counts">;
  guard: Pick<ServiceGuard, "state">;
  clock: Clock;
};

/** Membership may be this old (ms) for reading. */
const MEMBERSHIP_AGE_MS = 60_000;

export function createQuestions({ store, people, agents, gateway, watch, guard, clock }: Deps): Questions {
  async function status(user: UserId, id: RunId): Promise<Run | null> {
    const key = await store.byRunId(id);
    const run = key === null ? null : ((await store.load(key))?.run ?? null);
    if (run === null) return null;
    return (await people.channelsOf(user, MEMBERSHIP_AGE_MS)).has(run.channel) ? run : null;
  }

  async function list(
    user: UserId,
    only: "unfinished" | "pending" | "all",
    limit: number,
  ): Promise<readonly Run[]> {
    const mine = await people.channelsOf(user, MEMBERSHIP_AGE_MS);
    return mine.size === 0 ? [] : store.list({ channels: [...mine], only, limit });
  }

  async function pingStore(): Promise<Health["store"]> {
    const startedAt = clock.now();
    const answered = await store.ping().then(
      () => true,
      () => false,
    );
    return { ok: answered, latencyMs: clock.now() - startedAt };
  }

  async function health(): Promise<Health> {
    const [service, gatewayReport, stored] = await Promise.all([
      agents.health(),
      gateway.health(),
      pingStore(),
    ]);
    return {
      service,
      gateway: gatewayReport,
      poller: { ...watch.counts(), service: guard.state() },
      store: stored,
    };
  }

  return { status, list, health };
}
