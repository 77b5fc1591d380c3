// The traffic as envelopes between three stations: the app's calls to Slack, Slack's payloads to the app, and the app's calls to the
// service. Acknowledgements and lines about sockets are not envelopes.
import type { Traffic } from "../../slack/model.ts";
import { record } from "./read-blocks.ts";

export type Way = (typeof WAYS)[number];

export const WAYS = ["app-slack", "slack-app", "app-service"] as const;

export type Envelope = {
  readonly number: number;
  readonly way: Way;
  readonly what: string;
  readonly lost: boolean;
};

/** What one view has seen since it was opened. */
export type Seen = {
  /** The newest envelopes, oldest first. */
  readonly newest: readonly Envelope[];
  /** How many more arrived together with them. */
  readonly more: number;
  readonly counts: Readonly<Record<Way, number>>;
  readonly lost: number;
  readonly lastLost: Envelope | null;
};

/** How many dots are shown at once. More would be costly and hard to see. */
const SHOWN = 20;

/** Returns a function that counts the lines since its previous call. Its first call only sets the starting point. */
export function createEnvelopes(): (lines: readonly Traffic[]) => Seen {
  let upTo: number | null = null;
  let seen: Seen = {
    newest: [],
    more: 0,
    counts: { "app-slack": 0, "slack-app": 0, "app-service": 0 },
    lost: 0,
    lastLost: null,
  };
  return (lines) => {
    const last = lines.at(-1)?.number ?? 0;
    const from = upTo ?? last;
    upTo = last;
    if (last > from)
      seen = withNews(seen, lines.slice(lines.findLastIndex(({ number }) => number <= from) + 1));
    return seen;
  };
}

function withNews(before: Seen, lines: readonly Traffic[]): Seen {
  const counts = { ...before.counts };
  const dots: Envelope[] = [];
  const unacknowledged = new Set<number>();
  for (const line of lines) {
    const envelope = envelopeOf(line) ?? lossOf(line);
    if (envelope === null) continue;
    dots.push(envelope);
    if (lossOf(line) === null) counts[envelope.way] += 1;
    else unacknowledged.add(line.answers ?? 0);
  }
  const lost = dots.filter((one) => one.lost);
  // If an envelope and its loss are both new, they become one dot, not two.
  const all = [...before.newest, ...dots].filter(({ number }) => !unacknowledged.has(number));
  return {
    newest: all.slice(-SHOWN),
    more: Math.max(0, dots.length - SHOWN),
    counts,
    lost: before.lost + lost.length,
    lastLost: lost.at(-1) ?? before.lastLost,
  };
}

/** Calls of the app that are not Web API methods. */
const OTHER_CALLS: ReadonlySet<string> = new Set(["response_url", "file upload"]);

function envelopeOf({ number, from, what, detail, ms, answers, lost }: Traffic): Envelope | null {
  if (from === "service") return { number, way: "app-service", what, lost };
  if (from === "slack") return "payload" in record(detail) ? { number, way: "slack-app", what, lost } : null;
  const isCall = from === "app" && answers === null && (ms !== null || OTHER_CALLS.has(what));
  return isCall ? { number, way: "app-slack", what, lost } : null;
}

/** The envelope of a line that reports a missing acknowledgement. Null for other lines. */
function lossOf({ number, from, what, detail, answers, lost }: Traffic): Envelope | null {
  if (from !== "slack" || !lost || answers === null || "payload" in record(detail)) return null;
  return { number, way: "slack-app", what, lost };
}
