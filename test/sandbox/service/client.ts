// A minimal client of the service, for tests: one request, one answer, and no retries.

import type { Service } from "#sandbox/service/start-service.ts";

export type Answered = {
  readonly status: number;
  readonly text: string;
  readonly json: Record<string, unknown>;
};

export async function send(
  service: Service,
  method: string,
  path: string,
  init: RequestInit = {},
): Promise<Answered> {
  const headers = {
    authorization: `Bearer ${service.apiKey}`,
    ...(init.body === undefined ? {} : { "content-type": "application/json" }),
    ...(init.headers as Record<string, string> | undefined),
  };
  const response = await fetch(`${service.url}${path}`, { redirect: "manual", ...init, method, headers });
  const text = await response.text();
  return {
    status: response.status,
    text,
    json: text.startsWith("{") ? (JSON.parse(text) as Answered["json"]) : {},
  };
}

export async function create(service: Service, input: string): Promise<string> {
  const { json } = await send(service, "POST", "/v1/agent/runs", { body: JSON.stringify({ input }) });
  return String(json["id"]);
}

export const pathOf = (runId: string): string => `/v1/agent/runs/${encodeURIComponent(runId)}`;

export const read = (service: Service, runId: string): Promise<Answered> =>
  send(service, "GET", pathOf(runId));

export function decide(service: Service, runId: string, approvalId: string, body: object): Promise<Answered> {
  const path = `${pathOf(runId)}/approvals/${encodeURIComponent(approvalId)}`;
  return send(service, "POST", path, { body: JSON.stringify(body) });
}

/** Starts a run, and waits until it requests an approval. */
export async function asking(service: Service, input = "Deploy the billing service") {
  const id = await create(service, input);
  const run = await service.runs.until(id, ({ phase }) => phase === "awaiting_approval");
  return { id, approvals: run.approvals.map((approval) => approval.id) as [string, ...string[]] };
}

export const ended = (service: Service, id: string) =>
  service.runs.until(id, ({ ending }) => ending !== null);
