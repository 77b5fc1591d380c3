// What the service says, taken in by the core itself, so that these values are exactly what the core makes of them.

import { createHash } from "node:crypto";
import type { Request } from "#src/domain/approval.ts";
import type { Context } from "#src/domain/context.ts";
import { ApprovalId, RunId } from "#src/domain/ids.ts";
import type { Json } from "#src/domain/json.ts";
import { BUILT_IN } from "#src/domain/policy/policy.ts";
import { observe, requestOf as observedRequest } from "#src/domain/observe.ts";
import { type Run, runId } from "#src/domain/run.ts";
import type { Ending } from "#src/domain/snapshot.ts";
import { aNonce, NOON } from "../../make/run.ts";

const ctx: Context = {
  now: NOON,
  monotonic: NOON,
  process: "this one",
  digest: (text) => createHash("sha256").update(text).digest("hex"),
  nonce: aNonce,
  slowestRetryMs: 15_000,
  policy: BUILT_IN,
  freezes: [],
};

export function requestOf(action: string | null, content: Json): Request {
  return observedRequest(
    RunId("run_7"),
    { id: ApprovalId("apr_1"), action, content, requestedAt: null },
    ctx,
  );
}

type Told = {
  readonly how: Ending;
  readonly output?: string | null;
  readonly extra?: { readonly [field: string]: Json };
  readonly completedAt?: string | null;
};

/** Returns the run after this end. The service must know the run, and it must still be watched. */
export function endedRun(run: Run, { how, output = null, extra = {}, completedAt = null }: Told): Run {
  const id = runId(run);
  if (id === null) throw new TypeError("the service does not know this run");
  const facts = { id, status: how, input: null, output, completedAt, extra, askedAt: NOON };
  const snapshot = { ...facts, pending: null, unreadable: [] };
  return observe(run, snapshot, ctx);
}
