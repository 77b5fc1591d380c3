// The endpoints of the agent-run service, exactly as the interface document specifies them.

import type { Answer, Incoming } from "./exchange.ts";
import { jsonObject } from "./request-json.ts";
import { createStaleReads, type Memory, type StaleReads } from "./service-memory.ts";
import type { Profile } from "./profile.ts";
import * as wire from "./records.ts";
import * as refusals from "./error-answers.ts";
import type { Refusal } from "./error-answers.ts";
import type { Route } from "./routes.ts";
import { type Approval, decide, type Decision, type Run } from "./service-run.ts";
import type { World } from "./service-world.ts";

export type AgentRoute = "health" | "create-run" | "read-run" | "decide";

export const agentRoutes: readonly Route<AgentRoute>[] = [
  { name: "health", method: "GET", path: "/v1/health" },
  { name: "create-run", method: "POST", path: "/v1/agent/runs" },
  { name: "read-run", method: "GET", path: "/v1/agent/runs/{run_id}" },
  { name: "decide", method: "POST", path: "/v1/agent/runs/{run_id}/approvals/{approval_id}" },
];

const serviceVersion = "1.4.2";

export type AgentApi = { readonly world: World; readonly memory: Memory };

type Request = Incoming<AgentRoute>;
type RequestContext = AgentApi & { readonly stale: StaleReads; readonly profile: Profile };
/** The result of an endpoint: a record with a success status, or a refusal. */
type Result = { readonly status: Profile["readStatus"]; readonly record: object } | Refusal;

export function createAgentApi(api: AgentApi): (request: Request) => Promise<Answer> {
  const stale = createStaleReads(api.memory);
  return async (request) => {
    const { profile } = api.memory.settings;
    const result = handle({ ...api, stale, profile }, request);
    // Answer only after the change is saved.
    if (request.method === "POST") await api.memory.saved();
    return "record" in result
      ? wire.success(profile, result.status, result.record)
      : refusals.refusalAnswer(profile, result, request.found.name);
  };
}

function handle(context: RequestContext, request: Request): Result {
  const { profile, memory, world } = context;
  const { found, key } = request;
  if (found.name === null) return refusals.noSuchEndpoint(found.allow);
  if (found.name === "health") {
    return { status: profile.healthStatus, record: { status: "ok", version: serviceVersion } };
  }
  if (key !== "right") return refusals.unauthorized(profile, key);
  if (found.name === "create-run") return createRun(context, request);
  const [runId = "", approvalId = ""] = found.ids;
  const run = memory.vanished.has(runId) ? undefined : world.get(runId);
  if (run === undefined) return refusals.unknown(profile, `There is no run '${runId}'.`);
  if (found.name === "decide") return decideOn(context, request, run, approvalId);
  return { status: profile.readStatus, record: wire.runRecord(context.stale.shown(run), profile) };
}

function createRun({ world, profile }: RequestContext, request: Request): Result {
  const body = jsonObject(request);
  if (!body.ok) return refusals.badBody(profile, body);
  const { input } = body.value;
  if (typeof input !== "string")
    return refusals.invalid(profile, "'input' is required and must be a string: the task's text.");
  if (input.trim() === "") return refusals.invalid(profile, "'input' must not be empty.");
  const extra = extraField(body.value, ["input"], profile);
  if (extra !== null) return refusals.invalid(profile, extra);

  const header = profile.honoursIdempotencyKey ? request.headers["idempotency-key"] : undefined;
  const key = typeof header === "string" && header !== "" ? header : undefined;
  const earlier = key === undefined ? undefined : world.madeWith(key);
  if (earlier !== undefined && earlier.input !== input) {
    const message = "This Idempotency-Key was used with another input.";
    return { kind: "conflict", status: 422, message };
  }
  const run = earlier ?? world.create(input, key);
  return { status: profile.createStatus, record: wire.createdRecord(run, profile) };
}

function decideOn(context: RequestContext, request: Request, run: Run, approvalId: string): Result {
  const { profile } = context;
  const body = jsonObject(request);
  if (!body.ok) return refusals.badBody(profile, body);
  const decision = decisionIn(body.value, profile);
  if (typeof decision === "string") return refusals.invalid(profile, decision);
  const approval = run.approvals.find(({ id }) => id === approvalId);
  if (approval === undefined) {
    return refusals.unknown(profile, `Run '${run.id}' has no approval '${approvalId}'.`);
  }
  const answer = (decided: Approval): Result => ({
    status: profile.decideStatus,
    record: wire.approvalRecord(decided, profile),
  });
  if (profile.sameDecisionAgain === "answered" && wasDecided(approval, decision)) return answer(approval);

  const moved = context.world.apply(run.id, (run, now) => decide(run, approvalId, decision, now));
  if (!moved.ok) return refusals.tooLate(profile, wire.noLongerPending(run, approval));
  context.stale.remember(run);
  return answer(moved.run.approvals.find(({ id }) => id === approvalId) ?? approval);
}

const wasDecided = ({ state }: Approval, { verdict }: Decision): boolean =>
  state.type === "decided" && state.verdict === verdict;

/** Returns the decision, or a message that says what is wrong with it. */
function decisionIn(body: Record<string, unknown>, profile: Profile): Decision | string {
  const { decision, reason = null } = body;
  if (decision !== "approve" && decision !== profile.denyWord) {
    return `'decision' is required and must be 'approve' or '${profile.denyWord}'.`;
  }
  if (typeof reason !== "string" && (reason !== null || "reason" in body))
    return "'reason' must be a string.";
  const verdict = decision === "approve" ? "approve" : "deny";
  const required =
    profile.reasonRequired === "always" || (profile.reasonRequired === "to deny" && verdict === "deny");
  if (required && (reason === null || reason.trim() === "")) return "'reason' is required.";
  return extraField(body, ["decision", "reason"], profile) ?? { verdict, reason };
}

function extraField(body: object, known: readonly string[], { extraFields }: Profile): string | null {
  if (extraFields === "ignored") return null;
  const extra = Object.keys(body).find((name) => !known.includes(name));
  return extra === undefined ? null : `'${extra}' is not a field of this request.`;
}
