// `npm run bench`: how fast, how big, how late, each against its target. `--json` ends in one line of JSON.

import { parseArgs } from "node:util";
import { auditAppends } from "./audit-appends.ts";
import { brakeTimes } from "./brake.ts";
import { buttonsOff } from "./buttons-off.ts";
import { crowd } from "./crowd.ts";
import { decisionOverhead } from "./decision-overhead.ts";
import { failover } from "./failover.ts";
import { hostileStalls } from "./hostile-text.ts";
import { manyRuns } from "./many-runs.ts";
import { memoryOf } from "./memory.ts";
import { pollRatio } from "./poll-ratio.ts";
import { ANSWER_MS, replicaScaling } from "./replica-scaling.ts";
import { stormRatio } from "./storm-ratio.ts";
import { submitFeedback } from "./submit-feedback.ts";

const RUNS = 10_000;
const FULL = {
  poll: { runs: RUNS, engine: 7, roundMs: 3_000 },
  memoryMs: 45_000,
  decisions: 200,
  hostileMs: 3_000,
  presses: 50,
  appendsMs: 8_000,
  kills: 5,
  scalingMs: 5_000,
};
const QUICK = {
  poll: { runs: RUNS, engine: 3, roundMs: 1_000 },
  memoryMs: 20_000,
  decisions: 40,
  hostileMs: 1_500,
  presses: 15,
  appendsMs: 3_000,
  kills: 3,
  scalingMs: 2_000,
};

const { values } = parseArgs({
  options: { json: { type: "boolean", default: false }, quick: { type: "boolean", default: false } },
});
const size = values.quick ? QUICK : FULL;

const polls = await pollRatio(size.poll);
row("polls/s, ours", polls.ours.toFixed(0), "");
row("polls/s, undici and JSON.parse", polls.plain.toFixed(0), "");
row("ratio", polls.ratio.toFixed(2), verdict(polls.ratio >= 0.7, "≥ 0.7"));

const memory = await memoryOf({ runs: RUNS, ms: size.memoryMs });
row(`RSS with ${RUNS} runs (MB)`, memory.rssMb.toFixed(0), verdict(memory.rssMb <= 200, "≤ 200"));
row("polls in that time", String(memory.polls), "");

const late = await decisionOverhead(size.decisions);
row("decision overhead, p50 (ms)", late.p50Ms.toFixed(1), "");
row("decision overhead, p99 (ms)", late.p99Ms.toFixed(1), verdict(late.p99Ms <= 50, "≤ 50"));
row("a direct call (ms)", late.directMs.toFixed(1), `${late.decisions} decisions`);

const feedback = await submitFeedback();
row("submit to first feedback, p50 (ms)", feedback.p50Ms.toFixed(0), "");
row(
  "submit to first feedback, p99 (ms)",
  feedback.p99Ms.toFixed(0),
  verdict(feedback.p99Ms <= 1_000, "≤ 1000"),
);

const brake = await brakeTimes(size.presses);
row("stop to the last approval, p99 (ms)", brake.p99Ms.toFixed(0), verdict(brake.p99Ms <= 1_000, "≤ 1000"));
row("approvals that left after the press", String(brake.late), `of ${brake.presses}`);

const off = await buttonsOff(!values.quick);
row("decision to buttons off, p50 (ms)", off.p50Ms.toFixed(0), `${off.decisions} decisions in 5 s`);
row("longest", off.longestMs.toFixed(0), verdict(off.longestMs <= 5_000, "≤ 5000"));

const storm = await stormRatio();
row("a storm of 100, all reachable after (ms)", storm.ms.toFixed(0), `${storm.messages} messages`);
row("ratio to one message a second", storm.ratio.toFixed(2), verdict(storm.ratio <= 1.1, "≤ 1.1"));

const people = await crowd(true);
row("100 people at once, decided after (ms)", people.ms.toFixed(0), `${people.presses} presses`);
row("of them had to press again", String(people.again), verdict(people.again === 0, "0"));

const runs = await manyRuns();
row(
  "100 runs ask at once, all reachable after (ms)",
  runs.reachableMs.toFixed(0),
  `${runs.messages} messages`,
);

const over = await failover(size.kills);
row("a replica dies: last click answered (ms)", over.clickedMs.toFixed(0), `longest of ${over.trials}`);
row("last run polled again (ms)", over.polledMs.toFixed(0), `longest of ${over.trials}`);
row("failover (ms)", over.ms.toFixed(0), verdict(over.ms <= 5_000, "≤ 5000"));

const replicas = await replicaScaling(size.scalingMs);
const slowly = `the service takes ${ANSWER_MS} ms`;
row("polls/s, one replica", replicas.one.toFixed(0), slowly);
row("polls/s, three replicas", replicas.three.toFixed(0), slowly);
row("of three times one", replicas.scaling.toFixed(2), verdict(replicas.scaling >= 0.8, "≥ 0.8"));

const stalls = await hostileStalls(size.hostileMs);
const longest = Math.max(...stalls.map(({ ms }) => ms));
for (const { text, ms } of stalls) row(`stall, ${text} (ms)`, ms.toFixed(0), "");
row("longest stall, hostile text (ms)", longest.toFixed(0), verdict(longest <= 100, "≤ 100"));

const appends = await auditAppends(size.appendsMs);
row(
  "audit entries/s, two replicas, PostgreSQL",
  appends.perSecond.toFixed(0),
  verdict(appends.perSecond >= 500, "≥ 500"),
);

if (values.json) {
  const rounded = (value: number, digits: number): number => Number(value.toFixed(digits));
  console.log(
    JSON.stringify({
      poll_ratio: rounded(polls.ratio, 3),
      rss_mb_10k_runs: rounded(memory.rssMb, 1),
      decision_overhead_p99_ms: rounded(late.p99Ms, 1),
      submit_feedback_p99_ms: rounded(feedback.p99Ms, 1),
      brake_p99_ms: rounded(brake.p99Ms, 1),
      storm_ratio: rounded(storm.ratio, 3),
      crowd_of_100_pressed_again: people.again,
      storm_of_runs_reachable_ms: rounded(runs.reachableMs, 1),
      buttons_off_max_ms: rounded(off.longestMs, 1),
      audit_appends_per_s_pg: rounded(appends.perSecond, 1),
      failover_ms: rounded(over.ms, 1),
      replica_scaling: rounded(replicas.scaling, 3),
      hostile_text_block_ms: rounded(longest, 1),
    }),
  );
}
process.exit(0);

function row(what: string, value: string, note: string): void {
  console.log(`${what.padEnd(40)} ${value.padStart(10)}  ${note}`.trimEnd());
}

function verdict(met: boolean, target: string): string {
  return `${met ? "met" : "MISSED"}, target ${target}`;
}
