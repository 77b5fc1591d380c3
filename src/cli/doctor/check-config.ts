// Checks this program, the environment and the policy, without a network.

import { readFileSync } from "node:fs";
import { getCACertificates } from "node:tls";
import { findingLine, type LintedPolicy, lintPolicy } from "../../adapters/policy-file/policy-holder.ts";
import { isReadOnce } from "../../adapters/policy-file/watch-files.ts";
import {
  type Config,
  type Environment,
  findMisspelled,
  describeMisspelled,
  variables,
} from "../../config.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { bad, type Finding, good, note } from "./finding.ts";
import { programVersion } from "../../version.ts";

const PROGRAM = "Program";
const CONFIGURATION = "Configuration";
const POLICY = "Policy";
const CERTIFICATES = "Certificates";

/** Must match `engines` in `package.json`. */
const NEEDED_NODE = [24, 15] as const;

export function checkProgram(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const says = `is Countersign ${programVersion()} on Node ${process.versions.node}`;
  const isNew = major > NEEDED_NODE[0] || (major === NEEDED_NODE[0] && minor >= NEEDED_NODE[1]);
  return isNew ? good(PROGRAM, says) : bad(PROGRAM, says, `Use Node ${NEEDED_NODE.join(".")} or newer.`);
}

/** Reports values that must match Slack and the service, and that neither lets us check. */
export function checkWords({ slack, agents }: Config): Finding[] {
  const command = `is ${slack.command}; it must be in the app's manifest too, which cannot be checked from here`;
  const deny = `is "${agents.denyWord}"; the first denial shows whether the service accepts it`;
  return [
    ...(slack.command === DEFAULTS.command ? [] : [good("Slack command", command)]),
    ...(agents.denyWord === DEFAULTS.denyWord ? [] : [good("Word for deny", deny)]),
  ];
}

const defaultOf = (name: string): string | null =>
  variables.find((variable) => variable.name === name)?.default ?? null;
const DEFAULTS = { command: defaultOf("SLACK_COMMAND"), denyWord: defaultOf("AGENT_DENY_DECISION") };

export function checkEnvironment(env: Environment): Finding[] {
  const misspelt = findMisspelled(env).map((name) =>
    bad(CONFIGURATION, describeMisspelled(name), "Rename it, or remove it."),
  );
  return [good(CONFIGURATION, "is valid"), ...misspelt, ...checkCertificates(env)];
}

function checkCertificates(env: Environment): Finding[] {
  const found: Finding[] = [];
  if (env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0") {
    const says =
      "are not checked, because NODE_TLS_REJECT_UNAUTHORIZED=0; another server can pose as ours and steal keys";
    found.push(
      bad(CERTIFICATES, says, "Remove that variable. For a private authority, set NODE_EXTRA_CA_CERTS."),
    );
  }
  const extra = env["NODE_EXTRA_CA_CERTS"] ?? "";
  if (extra !== "" && !holdsCertificate(extra)) {
    const says = `NODE_EXTRA_CA_CERTS names ${extra}, which contains no readable certificate, so Node ignores it`;
    found.push(bad(CERTIFICATES, says, "Set it to a PEM file that this user can read."));
  } else if (extra !== "" && getCACertificates("extra").length === 0) {
    const says = `NODE_EXTRA_CA_CERTS names ${extra}, but Node has not loaded it, because Node does not take this variable from --env-file; so a connection that works for the bot may be WRONG here`;
    found.push(bad(CERTIFICATES, says, `Set it before the command: NODE_EXTRA_CA_CERTS=${extra} node …`));
  }
  return found;
}

function holdsCertificate(file: string): boolean {
  try {
    return readFileSync(file, "utf8").includes("-----BEGIN CERTIFICATE-----");
  } catch {
    return false;
  }
}

export type CheckedPolicy = { readonly findings: readonly Finding[]; readonly policy: Policy | null };

/** The path of a file that is already open in this process. Reading it takes nothing from a start of the bot. */
const OWN_PIPE = /^\/(dev\/(stdin|fd\/\d+)|proc\/\w+\/fd\/\d+)$/;

/** `loadConfig` has already refused a broken policy, unless it comes from a pipe. */
export async function checkPolicy({ policyFile }: Config): Promise<CheckedPolicy> {
  if (policyFile === null) {
    const says =
      "no POLICY_FILE is set, so every full member who sees a card may decide, except the requester";
    return { findings: [good(POLICY, says)], policy: null };
  }
  if (isReadOnce(policyFile) && !OWN_PIPE.test(policyFile)) {
    const says = `${policyFile} is a pipe, which can be read only once; it is left to the start`;
    return { findings: [note(POLICY, says, "Check the policy before it is written there.")], policy: null };
  }
  const linted = await lintPolicy(policyFile);
  if (linted.ok) return validPolicy(policyFile, linted.value);
  const todo = "Correct it. Countersign does not start with a policy that can't be used.";
  const faults = linted.error.map((fault) =>
    bad(POLICY, `can't be used: ${findingLine(policyFile, fault)}`, todo),
  );
  return { findings: faults, policy: null };
}

function validPolicy(file: string, { policy, doubts }: LintedPolicy): CheckedPolicy {
  const notes = doubts.map((doubt) =>
    note(
      POLICY,
      findingLine(file, doubt),
      `Is that intended? To see what the policy means: npm run policy -- explain ${file}`,
    ),
  );
  const says = `${file} is valid: version ${policy.version ?? ""}, rules: ${policy.rules.length}`;
  return { findings: [good(POLICY, says), ...notes], policy };
}
