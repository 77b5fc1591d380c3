// This program, the environment and the policy: what can be judged without asking anyone.

import { readFileSync } from "node:fs";
import { lintPolicy, loadPolicy, findingLine } from "../../adapters/policy-file/policy-holder.ts";
import { type Config, type Environment, findMisspelt, misspeltWords, variables } from "../../config.ts";
import type { Policy } from "../../domain/policy/policy.ts";
import { bad, type Finding, good, note } from "./finding.ts";
import { programVersion } from "../../version.ts";

const PROGRAM = "Program";
const CONFIGURATION = "Configuration";
const POLICY = "Policy";
const CERTIFICATES = "Certificates";

/** `package.json` says the same for npm. */
const NEEDED_NODE = [24, 15] as const;

export function checkProgram(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const says = `Countersign ${programVersion()} on Node ${process.versions.node}`;
  const isNew = major > NEEDED_NODE[0] || (major === NEEDED_NODE[0] && minor >= NEEDED_NODE[1]);
  return isNew ? good(PROGRAM, says) : bad(PROGRAM, says, `Use Node ${NEEDED_NODE.join(".")} or newer.`);
}

/** Values that must be the same in other people's systems, which do not tell us. */
export function checkWords({ slack, agents }: Config): Finding[] {
  const command = `${slack.command}; Slack does not say which commands an app has: the manifest must name it`;
  const deny = `${agents.denyWord}; the first denial shows whether the service knows it`;
  return [
    ...(slack.command === USUAL.command ? [] : [good("Slack command", command)]),
    ...(agents.denyWord === USUAL.denyWord ? [] : [good("Word for deny", deny)]),
  ];
}

const usual = (name: string): string | null => variables.find((each) => each.name === name)?.default ?? null;
const USUAL = { command: usual("SLACK_COMMAND"), denyWord: usual("AGENT_DENY_DECISION") };

export function checkEnvironment(env: Environment): Finding[] {
  const misspelt = findMisspelt(env).map((each) =>
    bad(CONFIGURATION, misspeltWords(each), "Rename it, or remove it."),
  );
  return [good(CONFIGURATION, "can be read"), ...misspelt, ...checkCertificates(env)];
}

function checkCertificates(env: Environment): Finding[] {
  const found: Finding[] = [];
  if (env["NODE_TLS_REJECT_UNAUTHORIZED"] === "0") {
    const says = "NODE_TLS_REJECT_UNAUTHORIZED=0: whose server answers is not checked, so keys can be stolen";
    found.push(bad(CERTIFICATES, says, "Remove it. For a private authority set NODE_EXTRA_CA_CERTS."));
  }
  const extra = env["NODE_EXTRA_CA_CERTS"] ?? "";
  if (extra !== "" && !holdsCertificate(extra)) {
    const says = `NODE_EXTRA_CA_CERTS names ${extra}, which holds no certificate that can be read`;
    found.push(bad(CERTIFICATES, says, "Set it to a PEM file. Node ignores it otherwise."));
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

/** The policy of a configuration that could be read, so the file can be used. */
export async function checkPolicy({ policyFile }: Config): Promise<CheckedPolicy> {
  if (policyFile === null) {
    const says = "there is none, so every full member who sees a card may decide, except the requester";
    return { findings: [good(POLICY, says)], policy: null };
  }
  const loaded = await loadPolicy(policyFile);
  if (!loaded.ok) return { findings: [], policy: null };
  const { version, rules } = loaded.value;
  const doubts = (await lintPolicy(policyFile)).map((each) =>
    note(
      POLICY,
      findingLine(policyFile, each),
      "Is that what it should mean? npm run policy -- explain FILE",
    ),
  );
  const says = `${policyFile} can be used: version ${version ?? ""}, rules: ${rules.length}`;
  return { findings: [good(POLICY, says), ...doubts], policy: loaded.value };
}
