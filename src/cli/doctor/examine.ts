// Runs all checks. Changes nothing and posts nothing.

import { type Call, createClients } from "../../adapters/slack/clients.ts";
import { type Config, type Environment, explainFaults, findMisspelt, secretsOf } from "../../config.ts";
import { keepSecrets } from "../../domain/text/own-secrets.ts";
import { loadConfig } from "../../load-config.ts";
import { createLog, slackLogger } from "../../log.ts";
import { openSlack } from "../../outbound.ts";
import { checkEnvironment, checkPolicy, checkProgram, checkWords } from "./check-config.ts";
import { checkDatabase } from "./check-database.ts";
import { checkPlaces } from "./check-places.ts";
import { checkPort, findRunningBot } from "./check-port.ts";
import { checkGateway, checkService } from "./check-service.ts";
import { checkSink } from "./check-sink.ts";
import { checkSlack } from "./check-slack.ts";
import { type Finding, line } from "./finding.ts";

/** As `npm start` exits for a faulty configuration. */
const BAD_CONFIG = 2;

/** `code`: 0, nothing is wrong; 1, something is; 2, the configuration is faulty. */
export type Diagnosis = {
  readonly code: number;
  readonly findings: readonly Finding[];
  readonly lines: readonly string[];
};

export async function diagnose(env: Environment): Promise<Diagnosis> {
  const read = await loadConfig(env);
  if (!read.ok)
    return { code: BAD_CONFIG, findings: [], lines: [explainFaults(read.error, findMisspelt(env))] };
  // What the service and others answer may repeat one of them.
  keepSecrets(secretsOf(read.value));
  const bot = await findRunningBot(read.value);
  const policy = await checkPolicy(read.value);
  const parts = await Promise.all([
    checkSlackAndPlaces(read.value, policy.policy),
    checkDatabase(read.value, bot),
    checkPort(read.value, bot),
    checkService(read.value),
    checkGateway(read.value),
    checkSink(read.value),
  ]);
  const here = [checkProgram(), ...checkEnvironment(env), ...policy.findings, ...checkWords(read.value)];
  const findings = [...here, ...parts.flat()];
  const wrong = findings.filter(({ level }) => level === "wrong").length;
  const lines = [...findings.map(line), "", summary(findings, wrong, bot?.url ?? null)];
  return { code: wrong === 0 ? 0 : 1, findings, lines };
}

async function checkSlackAndPlaces(
  config: Config,
  policy: Parameters<typeof checkPlaces>[1],
): Promise<readonly Finding[]> {
  const through = openSlack(config.proxies).dispatcher;
  const { findings, bot } = await checkSlack(config, openSlackCalls(config), through);
  return bot === null ? findings : [...findings, ...(await checkPlaces(config, policy, bot))];
}

/** Calls Slack's Web API with this token. The findings say what fails, so the logs of the packages are silent. */
function openSlackCalls({ slack, proxies }: Config): (token: string) => Call {
  const through = openSlack(proxies);
  const logger = slackLogger(createLog({ level: "silent", pretty: false }));
  return (token) => createClients(token, slack.apiUrl, logger, through).background;
}

/** Says "All is well" only where `npm start` starts. */
function summary(findings: readonly Finding[], wrong: number, bot: string | null): string {
  if (wrong > 0) return `${wrong} of ${findings.length} are wrong.`;
  const notes = findings.filter(({ level }) => level === "note").length;
  const well = notes === 0 ? "All is well" : `Nothing is wrong; ${notes} to look at`;
  return bot === null ? `${well}: npm start.` : `${well}, and the bot at ${bot} runs.`;
}
