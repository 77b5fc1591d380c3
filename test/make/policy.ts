// Policies as the domain represents them, and as files.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { GroupId, UserId } from "#src/domain/ids.ts";
import { BUILT_IN, BUILT_IN_RULE, type Policy, type Rule } from "#src/domain/policy/policy.ts";

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
