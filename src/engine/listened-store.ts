// The store as the bot uses it: its faults are heard, and what it writes into the audit is logged.

import type { Counters, EventLog } from "../ports.ts";
import type { Store } from "../ports/store.ts";
import { logAudit } from "./audit-lines.ts";
import type { Clock } from "./clock.ts";
import { hearStoreFaults, type StoreFaults } from "./store-faults.ts";

type Ears = {
  readonly clock: Pick<Clock, "monotonic">;
  readonly metrics: Pick<Counters, "storeFault">;
  readonly log: Pick<EventLog, "info">;
};

export function listenTo(
  opened: Store,
  { clock, metrics, log }: Ears,
): { readonly store: Store; readonly storeFaults: StoreFaults } {
  const { store, faults } = hearStoreFaults(opened, { clock, metrics });
  return { store: logAudit(store, log), storeFaults: faults };
}
