// Counts the faults of the store's calls. They are kept for a while, because the next write may succeed even though other calls fail.

import { type Counters, PortError } from "../ports.ts";
import { KEY_RETIRED, type Store } from "../ports/store.ts";
import type { Clock } from "./clock.ts";

type Deps = {
  readonly clock: Pick<Clock, "monotonic">;
  readonly metrics: Pick<Counters, "storeFault">;
  /** Called if the store refuses this process for good. Only a restart helps. */
  readonly onRefused: (error: PortError) => void;
};

export type StoreFaults = {
  /** Returns the number of faults since this moment (monotonic ms), and the code of the newest. */
  since(at: number): { readonly count: number; readonly code: string };
};

type Method = (...args: readonly unknown[]) => unknown;

/** The number of faults that are kept. If there are more, the oldest are dropped. */
const MAX_KEPT = 1_000;

/** Returns a store whose faults are counted. */
export function countStoreFaults(
  store: Store,
  { clock, metrics, onRefused }: Deps,
): { readonly store: Store; readonly storeFaults: StoreFaults } {
  const faults: { readonly at: number; readonly code: string }[] = [];
  const noteAndRethrow = (error: unknown): never => {
    if (error instanceof PortError && error.code.startsWith("store_")) {
      metrics.storeFault(error.code);
      faults.push({ at: clock.monotonic(), code: error.code });
      if (faults.length > MAX_KEPT) faults.shift();
      if (error.code === KEY_RETIRED) onRefused(error);
    }
    throw error;
  };
  const methods = Object.entries(store as unknown as { readonly [name: string]: Method });
  const wrapped = methods.map(([name, method]): [string, Method] => [
    name,
    (...args) => {
      const answer = method(...args);
      return answer instanceof Promise ? answer.catch(noteAndRethrow) : answer;
    },
  ]);
  return {
    store: Object.fromEntries(wrapped) as unknown as Store,
    storeFaults: {
      since: (at) => {
        const recent = faults.filter((fault) => fault.at >= at);
        return { count: recent.length, code: recent.at(-1)?.code ?? "" };
      },
    },
  };
}
