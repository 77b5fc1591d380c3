// Faults between a client and a server, for the next requests that match.

import { matches } from "./recorder.ts";
import type { RequestMatch } from "./recorder.ts";

/** With `effect: true` the request takes effect before the fault; by default it takes none. */
export type Fault =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly body?: string | object;
      readonly headers?: Readonly<Record<string, string>>;
      readonly effect?: boolean;
    }
  | { readonly kind: "delay"; readonly ms: number }
  /** Held until released: before the effect, or with `effect` between the effect and the answer. */
  | { readonly kind: "gate"; readonly effect?: boolean }
  /** No answer, ever; the connection stays open. */
  | { readonly kind: "hang"; readonly effect?: boolean }
  /** The connection is reset. With `effect`, only the answer is lost. */
  | { readonly kind: "drop"; readonly effect?: boolean }
  /** The effect takes place, and half of the answer's body arrives. */
  | { readonly kind: "cut" }
  /** The effect takes place, and the success status comes with a body that is not JSON. */
  | { readonly kind: "garbage" }
  /** The effect takes place, and the body has this many characters (of valid JSON). */
  | { readonly kind: "huge"; readonly length?: number }
  /** The effect takes place, and the answer's body arrives character by character, one every so many milliseconds. */
  | { readonly kind: "drip"; readonly everyMs: number }
  | { readonly kind: "redirect"; readonly to: string; readonly status?: 301 | 302 | 303 | 307 | 308 };

export type FaultHandle = {
  /** How many requests it has struck. */
  readonly hits: () => number;
  /** Lets go of the requests a gate holds; later ones pass as if there were no gate. */
  readonly release: () => void;
  /** Strikes no more requests. Those held stay held. */
  readonly clear: () => void;
};

export type Struck = { readonly fault: Fault; readonly released: Promise<void> };

export type Faults = {
  readonly add: (match: RequestMatch, fault: Fault, times?: number | "all") => FaultHandle;
  /** The oldest fault that matches, counted as a hit. */
  readonly take: (request: { readonly method: string; readonly route: string | null }) => Struck | null;
  readonly list: () => readonly {
    readonly match: RequestMatch;
    readonly fault: Fault;
    readonly left: number;
  }[];
  /** No fault strikes any more, and all gates open. */
  readonly clear: () => void;
};

type Standing = {
  readonly match: RequestMatch;
  readonly fault: Fault;
  left: number;
  hits: number;
  readonly gate: PromiseWithResolvers<void>;
};

export function createFaults(): Faults {
  const standing = new Set<Standing>();
  /** A gate holds its requests also when it catches no more of them. */
  const gates = new Set<Standing>();

  function release(one: Standing) {
    one.gate.resolve();
    if (gates.delete(one)) standing.delete(one);
  }

  return {
    add(match, fault, times = 1) {
      const left = times === "all" ? Infinity : times;
      const one: Standing = { match, fault, left, hits: 0, gate: Promise.withResolvers() };
      standing.add(one);
      if (fault.kind === "gate") gates.add(one);
      return {
        hits: () => one.hits,
        release: () => release(one),
        clear: () => void standing.delete(one),
      };
    },
    take(request) {
      for (const one of standing) {
        if (!matches(request, one.match)) continue;
        one.hits += 1;
        one.left -= 1;
        if (one.left <= 0) standing.delete(one);
        return { fault: one.fault, released: one.gate.promise };
      }
      return null;
    },
    list: () => [...standing],
    clear() {
      for (const one of Array.from(gates)) release(one);
      standing.clear();
    },
  };
}
