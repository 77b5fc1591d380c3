// What the service and the gateway were asked, for the Traffic panel: each request once, when it is over.

import type { Recorded, Requests } from "./service/recorder.ts";
import type { TrafficLog } from "./slack/traffic.ts";

type Told = { readonly traffic: Pick<TrafficLog, "add">; readonly now: () => number };

/** `by` stands before the line, for a server that is not the service. Requests end in another order than they begin in. */
export function tellRequests({ traffic, now }: Told, requests: Requests, by = ""): void {
  /** All up to this number are told, and of the later ones these. */
  let upTo = 0;
  const told = new Set<number>();
  requests.subscribe(() => {
    const later = requests.after(upTo);
    for (const entry of later) {
      if (!entry.done || told.has(entry.number)) continue;
      told.add(entry.number);
      tell(entry);
    }
    // Those before the first have been forgotten by the recorder.
    for (const first = later[0]?.number ?? 0; upTo + 1 < first; upTo += 1) told.delete(upTo + 1);
    while (told.delete(upTo + 1)) upTo += 1;
  });
  function tell({ method, path, status, key, body, fault, lost, at }: Recorded): void {
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
    traffic.add("service", `${by}${method} ${path} → ${answer}`, { key, body, fault }, failed, { ms });
  }
}
