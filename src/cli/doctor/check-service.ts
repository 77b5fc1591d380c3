// Checks that the agent service and the gateway answer, and that the service accepts our key. It fetches a run that cannot exist, with our
// key and with a wrong one, so it reads and changes nothing.

import { randomUUID } from "node:crypto";
import { createAgentService } from "../../adapters/agents/agent-service.ts";
import { createGateway } from "../../adapters/agents/health-endpoints.ts";
import type { Config } from "../../config.ts";
import { RunId } from "../../domain/ids.ts";
import { oneLine } from "../../domain/text/excerpt.ts";
import { createOpen } from "../../outbound.ts";
import { type HealthReport, PortError } from "../../ports.ts";
import { bad, type Finding, good, note, todoAfter } from "./finding.ts";

const SERVICE = "Agent service";
const KEY = "Agent service key";
const GATEWAY = "Token gateway";

const NEW_KEY = "Set AGENT_API_KEY to a current key from the service's operator.";
const NOT_TRIED = "The key could not be checked. Fix the service first.";
const OTHER_PROGRAM =
  "Check that AGENT_BASE_URL names the agent service. If it does, the service accepts any key, and its operator must fix that.";

const monotonic = (): number => performance.now();

function openService({ agents, proxies }: Config, apiKey = agents.apiKey) {
  const given = { ...agents, apiKey: () => apiKey, open: createOpen(proxies) };
  return createAgentService({ ...given, now: Date.now, monotonic, connections: 1 });
}

function openGateway({ gatewayUrl, proxies }: Config) {
  return createGateway({ baseUrl: gatewayUrl, open: createOpen(proxies), monotonic });
}

export async function checkService(config: Config): Promise<Finding[]> {
  const agents = openService(config);
  try {
    const [health, key] = await Promise.all([agents.health(), checkKey(config)]);
    const found = healthFinding(SERVICE, health, "Check AGENT_BASE_URL, and that the service is up.");
    return [found, key, ...checkEncryption(config)];
  } finally {
    await agents.close();
  }
}

export async function checkGateway(config: Config): Promise<Finding> {
  const gateway = openGateway(config);
  try {
    const todo = "Check GATEWAY_URL, which defaults to AGENT_BASE_URL. Only /agent health uses it.";
    return healthFinding(GATEWAY, await gateway.health(), todo);
  } finally {
    await gateway.close();
  }
}

function healthFinding(what: string, { fault, latencyMs, says }: HealthReport, todo: string): Finding {
  if (fault !== null) return bad(what, fault, todoAfter(fault, todo));
  const { version } = says;
  const named = typeof version === "string" ? `, version ${oneLine(version, 40)}` : "";
  return good(what, `answers within ${Math.ceil(latencyMs)} ms${named}`);
}

/** A 404 alone proves nothing, because any web server may answer 404. The service must also refuse a wrong key. */
async function checkKey(config: Config): Promise<Finding> {
  const ours = await answerFor(config, config.agents.apiKey);
  if (ours.type === "refused") return bad(KEY, ours.words, NEW_KEY);
  if (ours.type === "failed") return bad(KEY, ours.words, todoAfter(ours.words, NOT_TRIED));
  const wrong = await answerFor(config, `countersign-doctor-${randomUUID()}`);
  if (wrong.type === "refused") return good(KEY, "is accepted, and a wrong one is refused");
  if (wrong.type === "failed")
    return bad(KEY, `could not be compared with a wrong key: ${wrong.words}`, NOT_TRIED);
  return bad(KEY, "gets the same answer (HTTP 404) as a wrong key", OTHER_PROGRAM);
}

type Answer =
  | { readonly type: "no such run" }
  | { readonly type: "refused" | "failed"; readonly words: string };

async function answerFor(config: Config, apiKey: string): Promise<Answer> {
  const agents = openService(config, apiKey);
  try {
    const { type } = await agents.fetchRun(RunId(`countersign-doctor-${randomUUID()}`));
    if (type === "missing") return { type: "no such run" };
    return { type: "failed", words: "the service returned a run that cannot exist" };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const isRefused = error.code === "http_401" || error.code === "http_403";
    return { type: isRefused ? "refused" : "failed", words: error.message };
  } finally {
    await agents.close();
  }
}

function checkEncryption({ agents: { baseUrl } }: Config): Finding[] {
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol === "https:" || /^(localhost|127\.|\[::1\])/.test(hostname)) return [];
  const says = `and all decisions go to ${hostname} unencrypted, as PLAIN_HTTP_HOSTS allows`;
  return [note(KEY, says, "Use https:// if the service offers it.")];
}
