// The endpoints of the agent-run service, as the interface document has them and no wider.

import type { Answer, Incoming } from "./exchange.ts";
import { jsonObject } from "./json-body.ts";
import type { Profile } from "./profile.ts";
import type { Route } from "./routes.ts";
import { decide } from "./run.ts";
import type { Decision, Run } from "./run.ts";
import * as wire from "./wire.ts";
import type { Refused } from "./wire.ts";
import type { World } from "./world.ts";

export type AgentRoute = "health" | "create-run" | "read-run" | "decide";

export const agentRoutes: readonly Route<AgentRoute>[] = [
  { name: "health", method: "GET", path: "/v1/health" },
  { name: "create-run", method: "POST", path: "/v1/agent/runs" },
  { name: "read-run", method: "GET", path: "/v1/agent/runs/{run_id}" },
  { name: "decide", method: "POST", path: "/v1/agent/runs/{run_id}/approvals/{approval_id}" },
];

const serviceVersion = "1.4.2";

export type AgentApi = {
  readonly world: World;
  readonly profile: () => Profile;
  /** Runs that exist and are no longer shown. */
  readonly vanished: ReadonlySet<string>;
};

type Request = Incoming<AgentRoute>;

export function createAgentApi(api: AgentApi): (request: Request) => Promise<Answer> {
  /** What a read shows instead of the truth, and how often still. */
  const stale = new Map<string, { readonly run: Run; left: number }>();

  function shown(run: Run): Run {
    const old = stale.get(run.id);
    if (old === undefined) return run;
    old.left -= 1;
    if (old.left <= 0) stale.delete(run.id);
    return old.run;
  }

  function remember(run: Run) {
    const left = api.profile().staleReads;
    if (left > 0) stale.set(run.id, { run, left });
  }

  function readRun(profile: Profile, run: Run | undefined, id: string): Answer {
    if (run === undefined) return wire.errorAnswer(profile, unknownRun(id, "not_found"));
    return wire.success(profile, profile.readStatus, wire.runRecord(shown(run), profile));
  }

  async function decideOn(request: Request, run: Run | undefined, ids: Ids): Promise<Answer> {
    if (run === undefined) return wire.errorAnswer(api.profile(), unknownRun(ids.run, "invalid_request"));
    const answer = resolveApproval(api, request, run, ids.approval);
    if (api.world.get(run.id) !== run) remember(run);
    await api.world.saved();
    return answer;
  }

  return async (request) => {
    const profile = api.profile();
    const { found, key } = request;
    if (found.name === null) return noSuchEndpoint(profile, found.allow);
    if (found.name === "health") return health(profile);
    if (key !== "right") return unauthorized(profile, key);
    if (found.name === "create-run") return createRun(api, request);
    const ids = { run: found.ids[0] ?? "", approval: found.ids[1] ?? "" };
    const run = api.vanished.has(ids.run) ? undefined : api.world.get(ids.run);
    return found.name === "read-run" ? readRun(profile, run, ids.run) : decideOn(request, run, ids);
  };
}

type Ids = { readonly run: string; readonly approval: string };

function health(profile: Profile): Answer {
  return wire.success(profile, profile.healthStatus, { status: "ok", version: serviceVersion });
}

function noSuchEndpoint(profile: Profile, allow: readonly string[]): Answer {
  if (allow.length === 0) {
    return wire.errorAnswer(profile, {
      status: 404,
      code: "not_found",
      message: "There is no such endpoint.",
    });
  }
  const message = `This endpoint takes ${allow.join(" or ")} only.`;
  return wire.errorAnswer(
    profile,
    { status: 405, code: "method_not_allowed", message },
    { allow: allow.join(", ") },
  );
}

function unauthorized(profile: Profile, key: "wrong" | "none"): Answer {
  const message =
    key === "none" ? "An API key is required: Authorization: Bearer <API_KEY>." : "The API key is not valid.";
  return wire.errorAnswer(
    profile,
    { status: 401, code: "unauthorized", message },
    { "www-authenticate": "Bearer" },
  );
}

function unknownRun(id: string, code: Refused["code"]): Refused {
  return { status: 404, code, message: `There is no run '${id}'.` };
}

const invalid = (message: string, status = 400): Refused => ({ status, code: "invalid_request", message });

async function createRun({ world, profile: current }: AgentApi, request: Request): Promise<Answer> {
  const profile = current();
  const body = jsonObject(request);
  if (!body.ok) return wire.errorAnswer(profile, invalid(body.message, body.status));
  const { input } = body.value;
  if (typeof input !== "string")
    return wire.errorAnswer(profile, invalid("'input' is required and must be a string."));
  if (input.trim() === "") return wire.errorAnswer(profile, invalid("'input' must not be empty."));

  const header = profile.honoursIdempotencyKey ? request.headers["idempotency-key"] : undefined;
  const key = typeof header === "string" && header !== "" ? header : undefined;
  const earlier = key === undefined ? undefined : world.madeWith(key);
  if (earlier !== undefined && earlier.input !== input) {
    return wire.errorAnswer(profile, invalid("This Idempotency-Key was used with another input.", 422));
  }
  const run = earlier ?? world.create(input, key);
  await world.saved();
  return wire.success(profile, profile.createStatus, wire.createdRecord(run));
}

function resolveApproval(api: AgentApi, request: Request, run: Run, approvalId: string): Answer {
  const profile = api.profile();
  const refuse = (refused: Refused) => wire.errorAnswer(profile, refused);
  const body = jsonObject(request);
  if (!body.ok) return refuse(invalid(body.message, body.status));
  const decision = decisionIn(body.value, profile);
  if (typeof decision === "string") return refuse(invalid(decision));
  const approval = run.approvals.find(({ id }) => id === approvalId);
  if (approval === undefined) return refuse(invalid(`Run '${run.id}' has no approval '${approvalId}'.`, 404));

  const moved = api.world.apply(run.id, (run, now) => decide(run, approvalId, decision, now));
  if (!moved.ok) return refuse(invalid(wire.noLongerPending(run, approval), 409));
  const resolved = moved.run.approvals.find(({ id }) => id === approvalId) ?? approval;
  return wire.success(profile, profile.decideStatus, wire.approvalRecord(resolved, profile));
}

/** The decision, or what is wrong with it. */
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
  return { verdict, reason };
}
