// What `npm run bench` measures, and in which order.

import { auditAppends } from "./audit-appends.ts";
import { brakeTimes } from "./brake.ts";
import { buttonsOff } from "./buttons-off.ts";
import { crowd } from "./crowd.ts";
import { decisionOverhead } from "./decision-overhead.ts";
import { failover } from "./failover.ts";
import type { FigureName, Measured } from "./figures.ts";
import { hostileStalls } from "./hostile-text.ts";
import { ackTimes, modalOpenTimes } from "./interactive.ts";
import { manyRuns } from "./many-runs.ts";
import { RIVAL, watching } from "./memory.ts";
import { pollRatio } from "./poll-ratio.ts";
import { ANSWER_MS, replicaScaling } from "./replica-scaling.ts";
import { startRatio } from "./start-ratio.ts";
import { stormRatio } from "./storm-ratio.ts";
import { submitFeedback } from "./submit-feedback.ts";

/** How long to measure: about 25 minutes in all, or the same figures in a fraction of that. */
export type Size = "full" | "quick";

export type Result = {
  readonly figures: Measured;
  /** Further values to print. */
  readonly notes?: readonly (readonly [what: string, value: string])[];
};

export type Measurement = {
  readonly gives: readonly FigureName[];
  readonly measure: (size: Size) => Promise<Result>;
};

const pick =
  (size: Size) =>
  <Value>(full: Value, quick: Value): Value =>
    size === "full" ? full : quick;
const ms = (value: number): string => `${value.toFixed(0)} ms`;

const polls: Measurement = {
  gives: ["poll_ratio"],
  async measure(size) {
    const of = pick(size);
    const { ratio, ours, plain } = await pollRatio({
      runs: of(10_000, 2_000),
      engine: of(7, 3),
      roundMs: of(3_000, 1_000),
    });
    return {
      figures: { poll_ratio: ratio },
      notes: [
        ["polls/s, ours", ours.toFixed(0)],
        ["polls/s, undici and JSON.parse", plain.toFixed(0)],
      ],
    };
  },
};

const tenThousand: Measurement = {
  gives: ["rss_mb_10k_runs", "writes_per_idle_poll", "card_latency_over_interval_p99_ms"],
  async measure(size) {
    const of = pick(size);
    const found = await watching({ runs: 10_000, ms: of(60_000, 5_000), cards: of(100, 20) });
    return {
      figures: {
        rss_mb_10k_runs: found.rssMb,
        writes_per_idle_poll: found.writesPerPoll,
        card_latency_over_interval_p99_ms: found.latencyP99Ms,
      },
    };
  },
};

const twentyThousand: Measurement = {
  gives: ["rss_mb_20k_runs"],
  async measure(size) {
    const found = await watching({ runs: 20_000, ms: pick(size)(60_000, 5_000), cards: 0 });
    return { figures: { rss_mb_20k_runs: found.rssMb } };
  },
};

const rivalWatching: Measurement = {
  gives: ["rival_rss_mb_10k_runs", "rival_card_latency_over_interval_p99_ms"],
  async measure(size) {
    const of = pick(size);
    const found = await watching({ runs: 10_000, ms: of(60_000, 5_000), cards: of(100, 20) }, true);
    return {
      figures: {
        rival_rss_mb_10k_runs: found.rssMb,
        rival_card_latency_over_interval_p99_ms: found.latencyP99Ms,
      },
    };
  },
};

const deciding: Measurement = {
  gives: ["decision_overhead_p99_ms", "rival_decision_overhead_p99_ms"],
  async measure(size) {
    const of = pick(size);
    const ours = await decisionOverhead(of(1_000, 80));
    const rival = await decisionOverhead(of(200, 40), RIVAL);
    return {
      figures: { decision_overhead_p99_ms: ours.p99Ms, rival_decision_overhead_p99_ms: rival.p99Ms },
      notes: [
        ["decision overhead, p50", ms(ours.p50Ms)],
        ["direct call, p50", ms(ours.directMs)],
        ["decisions", String(ours.decisions)],
      ],
    };
  },
};

const acknowledging: Measurement = {
  gives: ["ack_p99_ms", "rival_ack_p99_ms"],
  async measure(size) {
    const seconds = pick(size)(20, 3);
    return {
      figures: { ack_p99_ms: await ackTimes(seconds), rival_ack_p99_ms: await ackTimes(seconds, RIVAL) },
    };
  },
};

const opening: Measurement = {
  gives: ["modal_open_p99_ms"],
  measure: async (size) => ({ figures: { modal_open_p99_ms: await modalOpenTimes(pick(size)(100, 15)) } }),
};

const starting: Measurement = {
  gives: ["start_ratio"],
  async measure(size) {
    const { ratio, oursMs, bareMs } = await startRatio(pick(size)(15, 5));
    return {
      figures: { start_ratio: ratio },
      notes: [
        ["start to socket, ours", ms(oursMs)],
        ["start to socket, bare Bolt app", ms(bareMs)],
      ],
    };
  },
};

const feedback: Measurement = {
  gives: ["submit_feedback_p99_ms"],
  async measure() {
    const { p50Ms, p99Ms } = await submitFeedback();
    return {
      figures: { submit_feedback_p99_ms: p99Ms },
      notes: [["submit to first feedback, p50", ms(p50Ms)]],
    };
  },
};

const brake: Measurement = {
  gives: ["brake_p99_ms"],
  async measure(size) {
    const { p99Ms, late, presses } = await brakeTimes(pick(size)(50, 8));
    return {
      figures: { brake_p99_ms: p99Ms },
      notes: [["approvals that left after Stop", `${late} of ${presses}`]],
    };
  },
};

const off: Measurement = {
  gives: ["buttons_off_max_ms"],
  async measure(size) {
    const { p50Ms, longestMs } = await buttonsOff(size === "full");
    return {
      figures: { buttons_off_max_ms: longestMs },
      notes: [["decision to buttons off, p50", ms(p50Ms)]],
    };
  },
};

const storm: Measurement = {
  gives: ["storm_ratio"],
  async measure() {
    const found = await stormRatio();
    return {
      figures: { storm_ratio: found.ratio },
      notes: [["100 requests at once, all reachable", `after ${ms(found.ms)}, ${found.messages} messages`]],
    };
  },
};

const people: Measurement = {
  gives: ["crowd_of_100_pressed_again"],
  async measure() {
    const found = await crowd(true);
    return {
      figures: { crowd_of_100_pressed_again: found.again },
      notes: [["100 people at once, all decided", `after ${ms(found.ms)}, ${found.presses} presses`]],
    };
  },
};

const runsAtOnce: Measurement = {
  gives: ["storm_of_runs_reachable_ms"],
  async measure(size) {
    const found = await manyRuns(pick(size)(100, 30));
    return {
      figures: { storm_of_runs_reachable_ms: found.reachableMs },
      notes: [["messages for runs that ask at once", String(found.messages)]],
    };
  },
};

const dying: Measurement = {
  gives: ["failover_ms"],
  async measure(size) {
    const found = await failover(pick(size)(5, 1));
    return {
      figures: { failover_ms: found.ms },
      notes: [
        ["fail-over, last click answered", ms(found.clickedMs)],
        ["fail-over, last run polled again", `${ms(found.polledMs)}, the longest of ${found.trials}`],
      ],
    };
  },
};

const scaling: Measurement = {
  gives: ["replica_scaling"],
  async measure(size) {
    const found = await replicaScaling(pick(size)(5_000, 2_000));
    return {
      figures: { replica_scaling: found.scaling },
      notes: [
        ["polls/s, one replica", `${found.one.toFixed(0)}; the service answers in ${ANSWER_MS} ms`],
        ["polls/s, three replicas", found.three.toFixed(0)],
      ],
    };
  },
};

const stalls: Measurement = {
  gives: ["hostile_text_block_ms"],
  async measure(size) {
    const found = await hostileStalls(pick(size)(3_000, 150));
    return {
      figures: { hostile_text_block_ms: Math.max(...found.map((each) => each.ms)) },
      notes: found.map((each) => [`stall, ${each.text}`, ms(each.ms)] as const),
    };
  },
};

const appends: Measurement = {
  gives: ["audit_appends_per_s_pg"],
  async measure(size) {
    const { perSecond } = await auditAppends(pick(size)(8_000, 2_000));
    return { figures: { audit_appends_per_s_pg: perSecond } };
  },
};

/** These mostly wait for Slack's limits, so they run side by side. */
const WAITING = [off, storm, people, runsAtOnce];

/** The groups run one after the other. The lanes of a group run side by side, and the measurements of a lane one after the other. */
type Group = readonly (readonly Measurement[])[];

const alone = (measurement: Measurement): Group => [[measurement]];
const sideBySide = (...measurements: readonly Measurement[]): Group => measurements.map((each) => [each]);

export const GROUPS: { readonly [Of in Size]: readonly Group[] } = {
  full: [
    alone(polls),
    alone(tenThousand),
    alone(twentyThousand),
    alone(rivalWatching),
    alone(deciding),
    alone(acknowledging),
    alone(starting),
    alone(stalls),
    alone(appends),
    alone(feedback),
    alone(brake),
    alone(opening),
    alone(dying),
    alone(scaling),
    sideBySide(...WAITING),
  ],
  quick: [
    alone(polls),
    // `deciding` mostly waits: for the cards of each of its bots, and until the bot has settled.
    [[deciding], [tenThousand, starting]],
    alone(acknowledging),
    alone(stalls),
    alone(appends),
    alone(scaling),
    sideBySide(twentyThousand, rivalWatching, brake),
    sideBySide(feedback, opening, dying),
    sideBySide(...WAITING),
  ],
};
