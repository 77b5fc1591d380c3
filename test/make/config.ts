// A valid configuration and its reader, for tests of the variables.

import { type Config, explainFaults, readConfig } from "#src/config.ts";

export const SOCKET = {
  SLACK_BOT_TOKEN: "xoxb-1-abc",
  SLACK_APP_TOKEN: "xapp-1-abc",
  AGENT_BASE_URL: "http://127.0.0.1:4010",
  AGENT_API_KEY: "key",
};

/** Reads a configuration. Throws an error with all faults. */
export function config(env: Record<string, string | undefined>): Config {
  const read = readConfig(env);
  if (!read.ok) throw new Error(explainFaults(read.error));
  return read.value;
}
