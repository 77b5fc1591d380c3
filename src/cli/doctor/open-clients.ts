// The doctor's connections to the outside. The findings say what fails, so the logs of the packages are silent.

import { createAgentService } from "../../adapters/agents/agent-service.ts";
import { createGateway } from "../../adapters/agents/health.ts";
import { type Call, createClients } from "../../adapters/slack/clients.ts";
import type { Config } from "../../config.ts";
import { createLog, slackLogger } from "../../log.ts";
import { createOpen, openSlack } from "../../outbound.ts";

export const monotonic = (): number => performance.now();

export function openService({ agents, proxies }: Config, apiKey = agents.apiKey) {
  const given = { ...agents, apiKey: () => apiKey, open: createOpen(proxies) };
  return createAgentService({ ...given, now: Date.now, monotonic, connections: 1 });
}

export function openGateway({ gatewayUrl, proxies }: Config) {
  return createGateway({ baseUrl: gatewayUrl, open: createOpen(proxies), monotonic });
}

/** Calls Slack's Web API with this token. */
export function openSlackCalls({ slack, proxies }: Config): (token: string) => Call {
  const through = openSlack(proxies);
  const logger = slackLogger(createLog({ level: "silent", pretty: false }));
  return (token) => createClients(token, slack.apiUrl, logger, through).background;
}
