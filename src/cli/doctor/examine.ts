// Runs all checks. Changes nothing and posts nothing.

import { type Call, createClients } from "../../adapters/slack/clients.ts";
import { type Config, type Environment, explainFaults, findMisspelled, secretsOf } from "../../config.ts";
import { keepSecrets } from "../../domain/text/own-secrets.ts";
import { loadConfig } from "../../load-config.ts";
import { createLog, slackLogger } from "../../log.ts";
import { openSlack } from "../../outbound.ts";
import { checkEnvironment, checkPolicy, checkProgram, checkWords } from "./check-config.ts";
import { checkDatabase, saysLost } from "./check-database.ts";
import { checkPlaces } from "./check-places.ts";
import { checkPort, findRunningBot, type RunningBot } from "./check-port.ts";
import { checkGateway, checkService } from "./check-service.ts";
import { checkSink } from "./check-sink.ts";
import { checkSlack } from "./check-slack.ts";
import { type Finding, line } from "./finding.ts";

/** The exit code of `npm start` for an invalid configuration. */
const BAD_CONFIG = 2;

/** `code` is 0 if nothing is wrong, 1 if something is, and 2 if the configuration is invalid. */
export type Diagnosis = {
  readonly code: number;
  readonly findings: readonly Finding[];
  readonly lines: readonly string[];
};

export async function diagnose(env: Environment): Promise<Diagnosis> {
  const loaded = await loadConfig(env);
  if (!loaded.ok)
    return { code: BAD_CONFIG, findings: [], lines: [explainFaults(loaded.error, findMisspelled(env))] };
  const config = loaded.value;
  // The answers of the service and of others may repeat a secret.
  keepSecrets(secretsOf(config));
  const bot = await findRunningBot(config);
  const policy = await checkPolicy(config);
  const parts = await Promise.all([
    checkSlackAndPlaces(config, policy.policy),
    checkDatabaseAndPort(config, bot),
    checkService(config),
    checkGateway(config),
    checkSink(config),
  ]);
  const here = [checkProgram(), ...checkEnvironment(env), ...policy.findings, ...checkWords(config)];
  const findings = [...here, ...parts.flat()];
  const wrong = findings.filter(({ level }) => level === "wrong").length;
  const lines = [...findings.map(line), "", summary(findings, wrong, bot?.url ?? null)];
  return { code: wrong === 0 ? 0 : 1, findings, lines };
}

async function checkDatabaseAndPort(config: Config, bot: RunningBot | null): Promise<readonly Finding[]> {
  const findings = await checkDatabase(config, bot);
  return [...findings, await checkPort(config, bot, saysLost(findings))];
}

async function checkSlackAndPlaces(
  config: Config,
  policy: Parameters<typeof checkPlaces>[1],
): Promise<readonly Finding[]> {
  const through = openSlack(config.proxies).dispatcher;
  const { findings, bot } = await checkSlack(config, openSlackCalls(config), through);
  return bot === null ? findings : [...findings, ...(await checkPlaces(config, policy, bot))];
}

/** Calls Slack's Web API with a token. The findings report what fails, so the packages' own logs are silenced. */
function openSlackCalls({ slack, proxies }: Config): (token: string) => Call {
  const through = openSlack(proxies);
  const logger = slackLogger(createLog({ level: "silent", pretty: false }));
  return (token) => createClients(token, slack.apiUrl, logger, { through }).background;
}

/** Says "All is well" only if `npm start` would start. */
function summary(findings: readonly Finding[], wrong: number, bot: string | null): string {
  if (wrong > 0) return `${wrong} of ${findings.length} checks failed.`;
  const notes = findings.filter(({ level }) => level === "note").length;
  const well =
    notes === 0
      ? "All is well"
      : `Nothing is wrong; read the ${notes === 1 ? "note" : `${notes} notes`} above`;
  return bot === null ? `${well}. To start the bot: npm start` : `${well}. The bot at ${bot} is running.`;
}
