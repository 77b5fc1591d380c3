// `npm run simulate -- --seeds N [--from SEED]`: plays random histories and judges them. `--seed S --verbose` plays one and prints it.
// Exit code 1: an invariant was broken.

import { parseArgs } from "node:util";
import { playSeed } from "./random-history.ts";
import { FailedHistory } from "./world.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    seed: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});

const TELL_EVERY = 500;
/** So many failing seeds are shown before it gives up. */
const MOST_FAILURES = 5;
const states = new Map<string, number>();
const began = performance.now();
let failures = 0;
let notes = 0;

const first = Number(values.seed ?? values.from);
const count = values.seed === undefined ? Number(values.seeds) : 1;

for (let seed = first; seed < first + count && failures < MOST_FAILURES; seed += 1) {
  await playOne(seed);
  const played = seed - first + 1;
  if (played % TELL_EVERY === 0)
    console.log(`${played} of ${count} seeds, ${failures} failed, ${speed(played)}`);
}

for (const [state, times] of [...states].sort(([a], [b]) => a.localeCompare(b)))
  console.log(`${times}\t${state}`);
const seconds = (performance.now() - began) / 1_000;
console.log(
  `seeds ${first} to ${first + count - 1}: ${failures} failed; ${notes} events, ${states.size} named states, ${seconds.toFixed(1)} s, ${speed(count)}`,
);
process.exit(failures > 0 ? 1 : 0);

async function playOne(seed: number): Promise<void> {
  try {
    const world = await playSeed(seed);
    for (const [state, times] of world.states) states.set(state, (states.get(state) ?? 0) + times);
    notes += world.notes.length;
    if (values.verbose) console.log(`${world.notes.join("\n")}\ndigest ${world.digest()}`);
  } catch (error) {
    failures += 1;
    console.log(`seed ${seed} FAILED: ${String(error)}`);
    if (error instanceof FailedHistory && (values.verbose || failures === 1))
      console.log(error.world.notes.join("\n"));
    else if (!(error instanceof FailedHistory)) console.log(error);
  }
}

function speed(played: number): string {
  return `${((played * 1_000) / (performance.now() - began)).toFixed(1)} seeds/s`;
}
