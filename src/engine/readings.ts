// What the metrics read at each scrape.

import type { Context } from "../domain/context.ts";
import type { Readings, RunFigures, SlackHealth } from "../ports/monitoring.ts";
import type { Store } from "../ports/store.ts";
import type { HealthMonitor } from "./health.ts";
import type { Poller } from "./poller.ts";
import type { ServiceBreaker } from "./service-breaker.ts";

type Read = {
  readonly store: Pick<Store, "auditHead">;
  readonly slackHealth: SlackHealth;
  readonly context: () => Context;
  readonly figures: () => RunFigures;
  readonly health: Pick<HealthMonitor, "parts">;
  readonly watch: Pick<Poller, "lagMs">;
  readonly guard: Pick<ServiceBreaker, "isOpen">;
};

/** Never rejects. */
export async function readingsOf(read: Read): Promise<Readings> {
  const { store, slackHealth, context, figures, health, watch, guard } = read;
  const parts = await health.parts();
  const head = await store.auditHead().catch(() => null);
  return {
    ...figures(),
    parts,
    pollLagMs: watch.lagMs(),
    circuitOpen: guard.isOpen(),
    slackConnected: slackHealth.connection() === "connected",
    slackQueues: slackHealth.queues(),
    policyVersion: context().policy.version,
    auditHead: head?.seq ?? null,
  };
}
