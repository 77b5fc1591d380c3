// Logs the requests to the service and the gateway for the Traffic panel. Each request appears once, when it ends.

import type { Recorded, Requests } from "../service/recorder.ts";
import type { TrafficLog } from "../slack/traffic.ts";

type TrafficTarget = { readonly traffic: Pick<TrafficLog, "add">; readonly now: () => number };

/** Logs requests as they end, which may be in any order. `by` is a prefix for the lines of a server other than the service. */
export function logRequests({ traffic, now }: TrafficTarget, requests: Requests, by = ""): void {
  /** All requests up to this number have been logged, and so have those in `logged`. */
  let upTo = 0;
  const logged = new Set<number>();
  requests.subscribe(() => {
    const later = requests.after(upTo);
    for (const entry of later) {
      if (!entry.done || logged.has(entry.number)) continue;
      logged.add(entry.number);
      log(entry);
    }
    // The recorder keeps only the latest requests, so everything before its first one counts as logged.
    for (const first = later[0]?.number ?? 0; upTo + 1 < first; upTo += 1) logged.delete(upTo + 1);
    while (logged.delete(upTo + 1)) upTo += 1;
  });
  function log({ method, path, status, key, body, fault, lost, at }: Recorded): void {
    const answer = status === null ? "no answer" : `${status}${lost ? ", lost" : ""}`;
    const failed =
      status === null
        ? "no answer came"
        : lost
          ? "the answer was lost"
          : status >= 400
            ? `HTTP ${status}`
            : null;
    const ms = Math.max(0, Math.round(now() - at));
    const isLost = status === null || lost || status >= 500 || status === 429;
    const more = { ms, lost: isLost };
    traffic.add("service", `${by}${method} ${path} → ${answer}`, { key, body, fault }, failed, more);
  }
}
