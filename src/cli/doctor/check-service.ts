// Does the agent service answer, and does it accept our key? Fetches a run that cannot exist, so nothing is read or changed.

import { randomUUID } from "node:crypto";
import { createAgentService } from "../../adapters/agents/agent-service.ts";
import { createGateway } from "../../adapters/agents/health.ts";
import type { Config } from "../../config.ts";
import { RunId } from "../../domain/ids.ts";
import { oneLine } from "../../domain/text/excerpt.ts";
import { type AgentService, type HealthReport, PortError } from "../../ports.ts";
import { bad, type Finding, good } from "./finding.ts";

const monotonic = (): number => performance.now();

const SERVICE = "Agent service";
const KEY = "Agent service key";
const GATEWAY = "Token gateway";

export async function checkService({ agents: { baseUrl, apiKey, denyWord } }: Config): Promise<Finding[]> {
  const agents = createAgentService({ baseUrl, apiKey, denyWord, now: Date.now, monotonic, connections: 1 });
  try {
    const [health, key] = await Promise.all([agents.health(), checkKey(agents)]);
    return [healthFinding(SERVICE, health, "Is AGENT_BASE_URL right, and is the service up?"), key];
  } finally {
    await agents.close();
  }
}

export async function checkGateway({ gatewayUrl }: Config): Promise<Finding> {
  const gateway = createGateway({ baseUrl: gatewayUrl, monotonic });
  try {
    const todo = "Is GATEWAY_URL right? Left out, it is AGENT_BASE_URL. Only /agent health needs it.";
    return healthFinding(GATEWAY, await gateway.health(), todo);
  } finally {
    await gateway.close();
  }
}

function healthFinding(what: string, { fault, latencyMs, says }: HealthReport, todo: string): Finding {
  if (fault !== null) return bad(what, oneLine(fault, 400), todo);
  const { version } = says;
  const named = typeof version === "string" ? `, version ${oneLine(version, 40)}` : "";
  return good(what, `answers within ${Math.ceil(latencyMs)} ms${named}`);
}

async function checkKey(agents: AgentService): Promise<Finding> {
  try {
    await agents.fetchRun(RunId(`countersign-doctor-${randomUUID()}`));
    return good(KEY, "is accepted");
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const refused = error.code === "http_401";
    const todo = refused
      ? "Set AGENT_API_KEY to a key that the service's operator gave out and has not replaced."
      : "The key could not be tried. Put the service right first.";
    return bad(KEY, oneLine(error.message, 400), todo);
  }
}
