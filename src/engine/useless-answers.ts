// A service can be useless without failing: it answers, but the answers are unusable. For one run this says nothing about others; for
// most runs it is a fault of the service.

import type { RunId } from "../domain/ids.ts";
import type { PortError } from "../ports.ts";

/** `why` describes the newest of these answers, for people; `code` is for the log; `runs` is how many runs. */
export type Useless = {
  readonly why: string;
  readonly publicWhy: string;
  readonly code: string;
  readonly runs: number;
};

export type UselessAnswers = {
  /** The failure of a fetch of the run; null: the answer is usable. */
  record(run: RunId, failure: PortError | null): void;
  /** The run is no longer polled. */
  forget(run: RunId): void;
  /** Null: the newest answers about most runs are usable. */
  ofService(): Useless | null;
};

/** 401 is an outage, 404 an answer, 429 a request to wait. 403 may concern one run only; for most runs it is as good as no answer. */
export function isUseless({ code }: PortError): boolean {
  return code === "garbled" || code === "too_large" || /^http_4(?!01|04|29)/.test(code);
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
    record(run, failure) {
      set(run, failure !== null);
      if (failure === null || count * 2 <= asked.size) return;
      service = { why: failure.message, publicWhy: failure.publicMessage, code: failure.code, runs: count };
    },
    forget: (run) => set(run, undefined),
    ofService: () => service,
  };
}
