// Loads everything that a start reads before it opens anything: the environment, the files that it names, and the policy. All faults are
// reported at once.

import { findingLine, loadPolicy } from "./adapters/policy-file/policy-holder.ts";
import { isReadOnce } from "./adapters/policy-file/watch-files.ts";
import {
  type Config,
  type ConfigFault,
  type Environment,
  type ReadConfig,
  readConfig,
  readGiven,
} from "./config.ts";

export async function loadConfig(env: Environment): Promise<ReadConfig<Config>> {
  const read = readConfig(env);
  const given = readGiven(env, "POLICY_FILE");
  const ofPolicy = await policyFaults("value" in given ? given.value : null);
  if (ofPolicy.length === 0) return read;
  return { ok: false, error: [...(read.ok ? [] : read.error), ...ofPolicy] };
}

/** A pipe is left to the start, which reads the policy once. */
async function policyFaults(path: string | null): Promise<ConfigFault[]> {
  const policy = path === null || isReadOnce(path) ? null : await loadPolicy(path);
  if (path === null || policy === null || policy.ok) return [];
  return policy.error.map((finding) => {
    const wrong = `names a policy that can't be used: ${findingLine(path, finding)}`;
    return { variable: "POLICY_FILE", wrong, example: "" };
  });
}
