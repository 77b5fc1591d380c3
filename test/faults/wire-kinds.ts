// Sixteen kinds of fault on the wire, each as it looks from the service and from Slack. "before": the call takes no effect. "after": the
// call takes effect, but its answer is spoiled. A kind that exists on only one side says why.

import type { Fault as ServiceFault } from "#sandbox/service/request-faults.ts";
import type { Fault as SlackFault } from "#sandbox/slack/injected-faults.ts";

export type When = "before" | "after";

export type KindName =
  | "latency"
  | "hang"
  | "reset"
  | "4xx"
  | "5xx"
  | "429 in seconds"
  | "429 as a date"
  | "HTML"
  | "cut JSON"
  | "wrong type"
  | "empty"
  | "redirect"
  | "drip"
  | "huge"
  | "outage"
  | "key rotated";

type Kind = {
  readonly whens: readonly When[];
  readonly service: (when: When) => ServiceFault;
  readonly slack: (when: When) => SlackFault;
  /** How long the server answers nothing from the faulty call on (ms). */
  readonly awayMs?: number;
  /**
   * If set, the service accepts only another key from then on, and the operator replaces the bot's after this time (ms). Slack refuses the
   * bot's token for this time.
   */
  readonly newKeyMs?: number;
};

/** Longer than a person waits, shorter than any time limit of the bot (ms). */
const LATE_MS = 1_500;
const AWAY_MS = 2_000;
const DRIP_MS = 10;
const HUGE_CHARS = 32 * 1024 * 1024;

const both: readonly When[] = ["before", "after"];
const JSON_TYPE = { "content-type": "application/json" };

/** Replaces the server's answer. */
function answering(
  whens: readonly When[],
  status: number,
  body: string,
  headers: () => { readonly [name: string]: string } = () => JSON_TYPE,
): Kind {
  return {
    whens,
    service: (when) => ({
      type: "answer",
      status,
      body,
      headers: { ...headers() },
      effect: when === "after",
    }),
    slack: (when) => ({ answer: { status, body, headers: headers() }, when }),
  };
}

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const inTwoSeconds = (): string => new Date(Date.now() + 2_000).toUTCString();

export const KINDS: { readonly [Name in KindName]: Kind } = {
  latency: {
    whens: both,
    service: (when) => ({ type: "delay", ms: LATE_MS, effect: when === "after" }),
    // Read at the moment of the call, so the fault begins then.
    slack: (when) => ({
      get until() {
        return later(LATE_MS);
      },
      when,
    }),
  },
  hang: {
    whens: both,
    service: (when) => ({ type: "hang", effect: when === "after" }),
    slack: (when) => ({ hang: when }),
  },
  reset: {
    whens: both,
    service: (when) => ({ type: "drop", effect: when === "after" }),
    slack: (when) => ({ drop: when }),
  },
  // "after" is left out: the interface says that a 4xx did nothing, so the service would lie.
  "4xx": answering(["before"], 400, '{"ok":false,"error":{"code":"invalid_request","message":"no"}}'),
  "5xx": answering(both, 503, '{"ok":false,"error":"service_unavailable"}'),
  "429 in seconds": answering(["before"], 429, '{"ok":false,"error":"ratelimited"}', () => ({
    ...JSON_TYPE,
    "retry-after": "1",
  })),
  "429 as a date": answering(["before"], 429, '{"ok":false,"error":"ratelimited"}', () => ({
    ...JSON_TYPE,
    "retry-after": inTwoSeconds(),
  })),
  HTML: answering(both, 200, "<!doctype html><title>Sign in</title>", () => ({
    "content-type": "text/html",
  })),
  "cut JSON": {
    whens: ["after"],
    service: () => ({ type: "cut" }),
    slack: () => ({ cut: true }),
  },
  "wrong type": answering(both, 200, '[{"ok":1,"id":7,"status":[],"ts":null}]'),
  empty: answering(both, 200, ""),
  redirect: answering(["before"], 307, "", () => ({ location: "http://127.0.0.1:9/elsewhere" })),
  drip: {
    whens: ["after"],
    service: () => ({ type: "drip", everyMs: DRIP_MS }),
    slack: () => ({ drip: DRIP_MS }),
  },
  huge: {
    whens: ["after"],
    service: () => ({ type: "huge", length: HUGE_CHARS }),
    slack: () => ({
      answer: { status: 200, headers: JSON_TYPE, body: `{"ok":true,"padding":"${"x".repeat(HUGE_CHARS)}"}` },
      when: "after",
    }),
  },
  outage: {
    whens: both,
    service: (when) => ({ type: "drop", effect: when === "after" }),
    slack: (when) => ({ drop: when }),
    awayMs: AWAY_MS,
  },
  "key rotated": {
    whens: ["before"],
    service: answering(["before"], 401, '{"error":{"code":"unauthorized","message":"no"}}').service,
    // The bot reads its token only at its start, so a new one needs a restart, which the kills play. Here the token is valid again later.
    slack: () => ({ error: "invalid_auth" }),
    newKeyMs: AWAY_MS,
  },
};
