// When an effect that failed is tried again, for the log.

import type { Effect } from "./effect.ts";
import { findApproval, type Run } from "./run.ts";

/** `tries`: so far. `at`: monotonic; null: not known, or never. */
export type NextTry = { readonly tries: number | null; readonly at: number | null };

const UNKNOWN: NextTry = { tries: null, at: null };

/** `run`: as it is after the failure. */
export function nextTryOf(run: Run, effect: Effect): NextTry {
  switch (effect.type) {
    case "create-run":
      return facts(run.creation);
    case "send-decision": {
      const state = findApproval(run, effect.approval)?.state;
      return state?.type === "decided" ? facts(state.delivery) : UNKNOWN;
    }
    case "post":
    case "find":
    case "update":
    case "sweep":
      return facts(run.posts[effect.slot]);
    case "upload":
    case "share":
    case "find-file":
      return facts(run.uploads[effect.slot]);
    case "tell":
      return facts(run.notices.find(({ id }) => id === effect.tell));
    case "find-people":
      return facts(findApproval(run, effect.approval)?.calls?.find(({ n }) => n === effect.call));
    case "count-approvers":
    case "look-up-precedents":
    case "look-up-requester":
      return UNKNOWN;
  }
}

type Waiting = {
  readonly tries?: number;
  readonly notBefore?: number;
  readonly lookAt?: number;
  readonly retryAt?: number;
};

function facts(state: object | undefined): NextTry {
  const { tries, notBefore, lookAt, retryAt }: Waiting = state ?? {};
  return { tries: tries ?? null, at: lookAt ?? retryAt ?? notBefore ?? null };
}
