// Policies as the domain represents them, and as files.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { lintPolicy } from "#src/adapters/policy-file/policy-holder.ts";
import type { Finding } from "#src/adapters/policy-file/read-policy.ts";
import type { GroupId, UserId } from "#src/domain/ids.ts";
import { BUILT_IN, BUILT_IN_RULE, type Policy, type Rule } from "#src/domain/policy/policy.ts";

/** Resolves to the linter's findings about this text. Expects that it is a valid policy. */
export async function doubtsAbout(text: string): Promise<readonly Finding[]> {
  const linted = await lintPolicy(policyFile(text).path);
  if (!linted.ok) throw new Error(JSON.stringify(linted.error));
  return linted.value.doubts;
}

export function aRule(facts: Partial<Rule> = {}): Rule {
  return { ...BUILT_IN_RULE, name: "a rule", ...facts };
}

export function aPolicy(...rules: readonly Partial<Rule>[]): Policy {
  return { ...BUILT_IN, version: "0123456789ab", rules: rules.map((facts) => aRule(facts)) };
}

export const these = (users: readonly UserId[], groups: readonly GroupId[] = []) => ({
  users,
  groups,
  channels: [],
});

export type PolicyFile = { readonly path: string; write(text: string): void };

/** Creates a policy file that is removed when the test ends. */
export function policyFile(
  text: string,
  { onTestFinished: end }: { onTestFinished: typeof onTestFinished } = { onTestFinished },
): PolicyFile {
  const folder = mkdtempSync(join(tmpdir(), "countersign-policy-"));
  end(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "policy.yaml");
  const write = (next: string): void => writeFileSync(path, next);
  write(text);
  return { path, write };
}
