// Limits the requests per minute of each key, in a sliding window.

export type RateLimit = {
  /** Admits and counts a request, and returns null. If the limit is reached, returns how long to wait (ms). */
  readonly take: (key: string) => number | null;
};

const minuteMs = 60_000;

/** Creates a limit. If `perMinute` is null, there is none. */
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
