// The figures that `npm run bench -- --json` promises, each with its target. The bench fails if one of them was not measured.

export type Target = { readonly most: number } | { readonly least: number } | { readonly rival: true };

/** `rival`: a figure of the bot that most people write first (rival-bot.ts), for comparison, without a target. */
export const FIGURES = {
  /** Our polls per second, divided by those of undici and JSON.parse alone. */
  poll_ratio: { least: 0.85 },
  rss_mb_10k_runs: { most: 190 },
  rss_mb_20k_runs: { most: 280 },
  /** Commits of the store for each poll of a run without changes. */
  writes_per_idle_poll: { most: 0.02 },
  /**
   * Time from the request at the service to its card in Slack, minus one polling interval, with 10,000 runs. Includes the polls' jitter.
   */
  card_latency_over_interval_p99_ms: { most: 150 },
  /** Time from the submit to the decision at the service, minus a direct call. */
  decision_overhead_p99_ms: { most: 25 },
  /** Time from the press to the form, while 500 posts wait for Slack's limits. */
  modal_open_p99_ms: { most: 300 },
  /** Time from the command to its acknowledgement, at 50 commands a second. */
  ack_p99_ms: { most: 300 },
  submit_feedback_p99_ms: { most: 1_000 },
  /** Time until 100 simultaneous requests can be decided, divided by what one message a second allows. */
  storm_ratio: { most: 1.1 },
  /** Time from the start of the process to its socket, divided by that of a Bolt app that does nothing. */
  start_ratio: { most: 1.3 },
  failover_ms: { most: 5_000 },
  /**
   * Polls per second of three replicas, divided by three times those of one. The service answers slowly, because the machine has two cores.
   */
  replica_scaling: { least: 0.8 },
  audit_appends_per_s_pg: { least: 500 },
  brake_p99_ms: { most: 1_000 },
  buttons_off_max_ms: { most: 5_000 },
  crowd_of_100_pressed_again: { most: 0 },
  storm_of_runs_reachable_ms: { most: 30_000 },
  hostile_text_block_ms: { most: 100 },
  rival_rss_mb_10k_runs: { rival: true },
  rival_card_latency_over_interval_p99_ms: { rival: true },
  rival_decision_overhead_p99_ms: { rival: true },
  rival_ack_p99_ms: { rival: true },
} as const satisfies { readonly [name: string]: Target };

export type FigureName = keyof typeof FIGURES;
export type Measured = { readonly [Name in FigureName]?: number };

export const FIGURE_NAMES = Object.keys(FIGURES) as readonly FigureName[];

/** Returns "met, at most 190", "MISSED, at least 0.85" or "for comparison". */
export function judged(name: FigureName, value: number): string {
  const target: Target = FIGURES[name];
  if ("rival" in target) return "for comparison";
  const met = "most" in target ? value <= target.most : value >= target.least;
  const words = "most" in target ? `at most ${target.most}` : `at least ${target.least}`;
  return `${met ? "met" : "MISSED"}, ${words}`;
}

/** Returns the promised figures that were not measured. */
export const missing = (measured: Measured): readonly FigureName[] =>
  FIGURE_NAMES.filter((name) => !Number.isFinite(measured[name]));
