// The campaign: `node test/audit/tamper.ts <tamperings> --seed <n>`. Prints a line for each way of tampering, and
// every tampering that was not found. Exits with 1 if there is any.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { chance, tamper, TAMPERINGS, verify, writeAudit } from "./tampering.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { seed: { type: "string", default: "1" } },
});
const size = Number(positionals[0] ?? "100");
const seed = Number(values.seed);
if (!Number.isInteger(size) || size < 1 || !Number.isInteger(seed)) {
  console.error("Usage: node test/audit/tamper.ts <how many> --seed <whole number>");
  process.exit(2);
}

const folder = mkdtempSync(join(tmpdir(), "tamper-"));
const random = chance(seed);
const counts = new Map<string, { done: number; faults: Map<string, number> }>();
let missed = 0;
try {
  const original = await writeAudit(join(folder, "audit.db"), random, 60);
  const clean = await verify(original, original.witnesses);
  if (!clean.ok) throw new Error(`the unchanged audit is reported as broken: ${JSON.stringify(clean)}`);
  for (let n = 0; n < size; n += 1) {
    const tampering = TAMPERINGS[n % TAMPERINGS.length];
    if (tampering === undefined) throw new Error("no tampering");
    const verdict = await tamper(original, tampering, random, true);
    const count = counts.get(tampering.name) ?? { done: 0, faults: new Map<string, number>() };
    counts.set(tampering.name, count);
    count.done += 1;
    const found = verdict.ok ? "NOT FOUND" : verdict.fault;
    count.faults.set(found, (count.faults.get(found) ?? 0) + 1);
    if (verdict.ok) {
      missed += 1;
      console.error(`not found: ${tampering.name} (number ${n} of seed ${seed})`);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
for (const [name, { done, faults }] of counts)
  console.log(`${String(done).padStart(5)}  ${name}: ${[...faults].map(([f, n]) => `${f} ${n}`).join(", ")}`);
console.log(`${size} tamperings, seed ${seed}: ${size - missed} found, ${missed} not found`);
process.exitCode = missed === 0 ? 0 : 1;
