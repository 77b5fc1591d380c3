// `npm run campaign:ingress -- [size] [seed]`. docs/development/ingress-campaign.md has a result.

import { campaign } from "./campaign.ts";

const [size = 100_000, seed = Date.now() % 1_000_000] = process.argv.slice(2).map(Number);
if (!Number.isSafeInteger(size) || size < 1 || !Number.isSafeInteger(seed)) {
  console.error("Usage: npm run campaign:ingress -- [requests] [seed]");
  process.exit(2);
}

const began = Date.now();
const { sent, controls, controlsTaken, kinds, passed, effects } = await campaign({ size, seed });
const took = (Date.now() - began) / 1_000;

console.log(`${sent} requests with seed ${seed} in ${took.toFixed(0)} s (${(sent / took).toFixed(0)}/s)\n`);
for (const [kind, answers] of kinds) {
  const counts = [...answers]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([answer, times]) => `${answer} × ${times}`);
  console.log(`${kind.padEnd(30)} ${counts.join(", ")}`);
}
const taken = [...kinds.values()]
  .flatMap((answers) => [...answers])
  .filter(([answer]) => !answer.startsWith("4"));
const well = taken.length === 0 && passed === controls && controlsTaken === controls && effects === 0;
console.log(`\nvalid requests among them: ${controls}, accepted: ${controlsTaken}`);
console.log(`passed the verifier: ${passed}; effects: ${effects}; spoiled, but not refused: ${taken.length}`);
process.exitCode = well ? 0 : 1;
