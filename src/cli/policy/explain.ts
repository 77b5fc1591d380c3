// What a policy says, or what it makes of one run: lines for the terminal.

import { existsSync } from "node:fs";
import { explainFaults, readAuditConfig } from "../../config.ts";
import { BUILT_IN, type Policy } from "../../domain/policy/policy.ts";
import { findingLine, loadPolicy } from "../../adapters/policy-file/policy-holder.ts";
import { readRun } from "../../adapters/store/audit-file.ts";
import { explainedPolicy } from "./explain-policy.ts";
import { explainedRun } from "./explain-run.ts";

type Environment = { readonly [name: string]: string | undefined };
/** `well` false: the lines say what is wrong. */
export type Explained = { readonly well: boolean; readonly lines: readonly string[] };

const no = (...lines: readonly string[]): Explained => ({ well: false, lines });
const yes = (lines: readonly string[]): Explained => ({ well: true, lines });

/** `what`: a file, or else a run by the service's id. Without a policy file the built-in policy applies. */
export async function explain(what: string, file: string | undefined, env: Environment): Promise<Explained> {
  if (existsSync(what)) return underFile(what, (policy) => yes(explainedPolicy(policy)));
  const policyFile = file ?? env["POLICY_FILE"];
  if (policyFile === undefined) return ofRun(what, BUILT_IN, env);
  return underFile(policyFile, (policy) => ofRun(what, policy, env));
}

async function underFile(
  file: string,
  then: (policy: Policy) => Explained | Promise<Explained>,
): Promise<Explained> {
  const loaded = await loadPolicy(file);
  return loaded.ok ? then(loaded.value) : no(...loaded.error.map((each) => findingLine(file, each)));
}

async function ofRun(id: string, policy: Policy, env: Environment): Promise<Explained> {
  const config = readAuditConfig(env);
  if (!config.ok) return no(explainFaults(config.error));
  try {
    const run = await readRun(config.value.database, id);
    return run === null
      ? no(`There is no file and no run "${id}" in the database.`)
      : yes(explainedRun(run, policy));
  } catch (error) {
    return no(`The database can't be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}
