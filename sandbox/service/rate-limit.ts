// Limits the requests per minute of each key, in a sliding window.

export type RateLimit = {
  /** Null: the request is admitted, and counts. Otherwise how long to wait until one would be (ms). */
  readonly take: (key: string) => number | null;
};

const minuteMs = 60_000;

/** `perMinute` null: no limit. */
export function createRateLimit(now: () => number, perMinute: number | null): RateLimit {
  const admitted = new Map<string, number[]>();
  return {
    take(key) {
      if (perMinute === null) return null;
      const at = now();
      const recent = (admitted.get(key) ?? []).filter((time) => time > at - minuteMs);
      admitted.set(key, recent);
      if (recent.length >= perMinute) return (recent[0] ?? at) + minuteMs - at;
      recent.push(at);
      return null;
    },
  };
}
