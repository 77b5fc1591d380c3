// The context of a run's approvals: the run's own fields (`plan`, `environment`, `agent`, `input`…). They are part of what is decided,
// except the fields that always change while a run works.

import type { Request, RunContext } from "./approval.ts";
import type { Context } from "./context.ts";
import { canonicalJson, plainName } from "./json.ts";
import { volatileIn, withoutFields } from "./policy/policy.ts";
import type { Snapshot } from "./snapshot.ts";
import {
  type Field,
  requestChars,
  requestParts,
  secretsIn,
  sentParts,
  type SentRequest,
} from "./text/request-text.ts";
import type { Drawing } from "./text/secrets.ts";

type Fields = RunContext["fields"];

/** In a policy, a field of the run is named like `run.plan`. */
const PREFIX = "run.";

/** Fields that are shown elsewhere or differ at every fetch. Compared by `plainName`, so `created_at` covers `createdAt` too. */
const NEVER_CONTEXT = new Set(
  `id status output pending_approvals created_at queued_at started_at updated_at modified_at last_modified
  completed_at finished_at ended_at failed_at canceled_at cancelled_at paused_at resumed_at last_seen_at
  last_activity_at last_heartbeat_at heartbeat_at heartbeat now time timestamp server_time elapsed elapsed_ms
  elapsed_seconds duration duration_ms duration_seconds uptime`
    .split(/\s+/)
    .map(plainName),
);

/** Returns the fields that are shown, and compared between snapshots. */
export function contextFields({ input, extra }: Pick<Snapshot, "input" | "extra">): Fields {
  const all = input === null ? extra : { input, ...extra };
  return Object.fromEntries(Object.entries(all).filter(([name]) => !NEVER_CONTEXT.has(plainName(name))));
}

/** Returns null if the service reports only the run's state. Returns the same object if nothing has changed. */
export function contextOf(before: RunContext | null, snapshot: Snapshot, ctx: Context): RunContext | null {
  const fields = contextFields(snapshot);
  if (Object.keys(fields).length === 0) return null;
  const volatile = volatileIn(fields, ofRun(ctx.policy.volatile));
  const digest = ctx.digest(contextText({ fields, volatile }));
  if (before?.digest === digest && before.volatile.join() === volatile.join()) return before;
  return { fields, volatile, digest, chars: requestChars(asRequest({ fields, volatile })) };
}

/** Returns the text that the digest is computed over. */
export function contextText({ fields, volatile }: Pick<RunContext, "fields" | "volatile">): string {
  return canonicalJson(["run", withoutFields(fields, volatile)]);
}

/** Returns the policy's paths that name fields of the run. */
function ofRun(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => path.startsWith(PREFIX)).map((path) => path.slice(PREFIX.length));
}

/** Returns the policy's paths that name fields of requests. */
export function ofRequests(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !path.startsWith(PREFIX));
}

/** Returns the context in which the request was seen. Returns null if there was none, or if we no longer know it. */
export function contextBehind(context: RunContext | null, request: Request): RunContext | null {
  if (request.shownContext !== undefined) return request.shownContext;
  return context !== null && context.digest === request.context ? context : null;
}

/** Returns the request as a person sees it now, with the run's own fields, which the run may replace later. */
export const asShown = ({ context }: { readonly context: RunContext | null }, request: Request): Request => ({
  ...request,
  shownContext: contextBehind(context, request),
});

/** Returns the fields as the service sent them. */
export function contextParts({ fields }: Shown): readonly Field[] {
  return sentParts(asRequest({ fields })).fields;
}

/** Returns all fields, drawn. Takes time proportional to their length. */
export function drawnContext(shown: Shown, as: Drawing): readonly Field[] {
  return requestParts(asRequest(shown), as).fields;
}

export function secretsInContext(shown: Shown): readonly string[] {
  return secretsIn(asRequest(shown));
}

type Shown = Pick<RunContext, "fields"> & { readonly volatile?: readonly string[] };

function asRequest({ fields, volatile = [] }: Shown): SentRequest {
  return { action: null, content: fields, volatile };
}
