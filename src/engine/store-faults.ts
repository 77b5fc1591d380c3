// The store, with an ear on its faults. A fault of any call is told for a minute, because the next write may succeed all the same.

import { type Counters, PortError } from "../ports.ts";
import type { Store } from "../ports/store.ts";
import type { Clock } from "./clock.ts";

export type StoreFaults = {
  /** Since this moment (monotonic): how many, and the code of the newest. */
  since(at: number): { readonly count: number; readonly code: string };
};

type Hearing = { readonly clock: Pick<Clock, "monotonic">; readonly metrics: Pick<Counters, "storeFault"> };

type Method = (...args: readonly unknown[]) => unknown;

/** More faults than this within a minute are not told apart. */
const MOST_KEPT = 1_000;

export function hearStoreFaults(
  store: Store,
  { clock, metrics }: Hearing,
): { readonly store: Store; readonly faults: StoreFaults } {
  const heard: { readonly at: number; readonly code: string }[] = [];
  const hear = (error: unknown): never => {
    if (error instanceof PortError && error.code.startsWith("store_")) {
      metrics.storeFault(error.code);
      heard.push({ at: clock.monotonic(), code: error.code });
      if (heard.length > MOST_KEPT) heard.shift();
    }
    throw error;
  };
  const methods = Object.entries(store as unknown as { readonly [name: string]: Method });
  const listening = methods.map(([name, method]): [string, Method] => [
    name,
    (...args) => {
      const answer = method(...args);
      return answer instanceof Promise ? answer.catch(hear) : answer;
    },
  ]);
  return {
    store: Object.fromEntries(listening) as unknown as Store,
    faults: {
      since: (at) => {
        const recent = heard.filter((each) => each.at >= at);
        return { count: recent.length, code: recent.at(-1)?.code ?? "" };
      },
    },
  };
}
