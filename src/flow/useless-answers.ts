// A service can be of no use without failing: it answers, and nobody can do anything with what it says. Of one run that says nothing
// about others; when most runs are answered so, it is the service.

import type { RunId } from "../core/ids.ts";
import type { PortError } from "./ports.ts";

/** `why` is the newest of these answers, for people; `code` for the log; of how many `runs`. */
export type Useless = { readonly why: string; readonly code: string; readonly runs: number };

export type UselessAnswers = {
  /** What a look at the run came to; null: something useful. */
  heard(run: RunId, failure: PortError | null): void;
  /** The run is asked for no more. */
  forget(run: RunId): void;
  /** Null: the newest answers about most runs are useful. */
  ofService(): Useless | null;
};

/** 401 and 403 are our key's, 404 is an answer, 429 a request to wait. */
export function isUseless({ code }: PortError): boolean {
  return code === "garbled" || code === "too_large" || /^http_4(?!01|03|04|29)/.test(code);
}

export function createUselessAnswers(): UselessAnswers {
  const asked = new Map<RunId, boolean>();
  let count = 0;
  let service: Useless | null = null;

  function set(run: RunId, useless: boolean | undefined): void {
    count += Number(useless === true) - Number(asked.get(run) === true);
    if (useless === undefined) asked.delete(run);
    else asked.set(run, useless);
    if (count * 2 <= asked.size) service = null;
  }

  return {
    heard(run, failure) {
      set(run, failure !== null);
      if (failure === null || count * 2 <= asked.size) return;
      service = { why: failure.message, code: failure.code, runs: count };
    },
    forget: (run) => set(run, undefined),
    ofService: () => service,
  };
}
