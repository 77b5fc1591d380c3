// Faults between a client and a server, for the next matching requests.

import { matches } from "./recorder.ts";
import type { RequestMatch } from "./recorder.ts";

/** With `effect: true`, the request takes effect before the fault. By default, it has no effect. */
export type Fault =
  | {
      readonly type: "answer";
      readonly status: number;
      readonly body?: string | object;
      readonly headers?: Readonly<Record<string, string>>;
      readonly effect?: boolean;
    }
  | { readonly type: "delay"; readonly ms: number; readonly effect?: boolean }
  /** Holds the request until released, before its effect or, with `effect`, between the effect and the answer. */
  | { readonly type: "gate"; readonly effect?: boolean }
  /** Never answers. The connection stays open. */
  | { readonly type: "hang"; readonly effect?: boolean }
  /** Resets the connection. With `effect`, only the answer is lost. */
  | { readonly type: "drop"; readonly effect?: boolean }
  /** The request takes effect, but only half of the answer's body arrives. */
  | { readonly type: "cut" }
  /** The request takes effect, but the body of the successful answer is not JSON. */
  | { readonly type: "garbage" }
  /** The request takes effect, and the body is valid JSON of this length (characters). */
  | { readonly type: "huge"; readonly length?: number }
  /** The request takes effect, and the body arrives character by character, with this pause before each. */
  | { readonly type: "drip"; readonly everyMs: number }
  | { readonly type: "redirect"; readonly to: string; readonly status?: 301 | 302 | 303 | 307 | 308 };

export type FaultHandle = {
  /** Returns how many requests the fault has affected. */
  readonly hits: () => number;
  /** Releases the requests that a gate holds. Later requests pass as if there were no gate. */
  readonly release: () => void;
  /** Stops affecting requests. A gate keeps the requests that it holds. */
  readonly clear: () => void;
};

export type TakenFault = { readonly fault: Fault; readonly released: Promise<void> };

export type Faults = {
  readonly add: (match: RequestMatch, fault: Fault, times?: number | "all") => FaultHandle;
  /** Returns the oldest matching fault, and counts a hit. Returns null if none matches. */
  readonly take: (request: { readonly method: string; readonly route: string | null }) => TakenFault | null;
  readonly list: () => readonly {
    readonly match: RequestMatch;
    readonly fault: Fault;
    readonly left: number;
  }[];
  /** Ends all faults, and opens all gates. */
  readonly clear: () => void;
};

type ActiveFault = {
  readonly match: RequestMatch;
  readonly fault: Fault;
  left: number;
  hits: number;
  readonly gate: PromiseWithResolvers<void>;
};

export function createFaults(): Faults {
  const active = new Set<ActiveFault>();
  /** All closed gates, including those that no longer hold new requests. */
  const gates = new Set<ActiveFault>();

  function release(one: ActiveFault) {
    one.gate.resolve();
    if (gates.delete(one)) active.delete(one);
  }

  return {
    add(match, fault, times = 1) {
      const left = times === "all" ? Infinity : times;
      const one: ActiveFault = { match, fault, left, hits: 0, gate: Promise.withResolvers() };
      active.add(one);
      if (fault.type === "gate") gates.add(one);
      return {
        hits: () => one.hits,
        release: () => release(one),
        clear: () => void active.delete(one),
      };
    },
    take(request) {
      for (const one of active) {
        if (!matches(request, one.match)) continue;
        one.hits += 1;
        one.left -= 1;
        if (one.left <= 0) active.delete(one);
        return { fault: one.fault, released: one.gate.promise };
      }
      return null;
    },
    list: () => [...active],
    clear() {
      for (const one of Array.from(gates)) release(one);
      active.clear();
    },
  };
}
