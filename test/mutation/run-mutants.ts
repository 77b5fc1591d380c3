// `npm run mutants -- TARGET...`: changes the code of a target in one place at a time (mutants, made by Stryker), and runs its tests on
// each. A mutant that no test notices survives. docs/development/mutants.md says which of them change nothing.

import { spawnSync } from "node:child_process";
import { parseArgs } from "node:util";
import { type Target, TARGETS } from "./targets.ts";

const TABLE: { readonly [name: string]: Target } = TARGETS;
const { positionals } = parseArgs({ allowPositionals: true });
const targets = positionals.flatMap((name) => TABLE[name] ?? []);
if (targets.length === 0 || targets.length < positionals.length) {
  console.error(`Usage: npm run mutants -- TARGET...\nTargets: ${Object.keys(TABLE).join(", ")}`);
  process.exit(2);
}
const failed = targets.map(run).some((status) => status !== 0);
process.exit(failed ? 1 : 0);

function run({ mutate, tests }: Target): number {
  const env = { ...process.env, MUTANTS_TESTS: tests.join("\n") };
  const command = ["stryker", "run", "--mutate", mutate.join(",")];
  return spawnSync("npx", command, { stdio: "inherit", env }).status ?? 1;
}
