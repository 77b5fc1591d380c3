// Delivers payloads to the app, over a socket or HTTP.

import type { Json } from "./json-object.ts";
import type { TrafficLog } from "./traffic.ts";

export type Payload = {
  readonly kind: "slash_commands" | "interactive" | "events_api";
  readonly body: Json;
  /** Set when an event is sent again. `of` is the number of the first delivery in the traffic log. */
  readonly retry?: { readonly attempt: number; readonly reason: string; readonly of: number };
};

/** `ack` is the app's answer, possibly empty. `last` is true if the app asked for no more attempts. */
export type Outcome =
  | { readonly ok: true; readonly ack: Json }
  | { readonly ok: false; readonly why: "timeout" | "unreachable" }
  | { readonly ok: false; readonly why: "http_error"; readonly status: number; readonly last: boolean };

export type Deliver = (payload: Payload) => Promise<Outcome>;

/** A delivery recorded in the traffic log. `number` is the line of the envelope. */
export type Sent = { readonly number: number; readonly outcome: Promise<Outcome> };

/** The name of a payload in the traffic log. */
function nameOf({ kind, body }: Payload): string {
  if (kind === "interactive") return String(body["type"]);
  return kind;
}

/** Adds one line to the traffic log when a payload is sent, and one when it is acknowledged or has failed. */
export const traced =
  (traffic: TrafficLog, deliver: Deliver) =>
  (payload: Payload): Sent => {
    const what = nameOf(payload);
    const { retry = null } = payload;
    const again = retry === null ? {} : { answers: retry.of };
    const number = traffic.add("slack", what, { payload, ...(retry && { redelivery: retry }) }, null, again);
    const began = performance.now();
    const outcome = deliver(payload).then((result) => {
      const more = { answers: number, ms: Math.round(performance.now() - began) };
      if (result.ok) traffic.add("app", `acknowledges ${what}`, { answered: result.ack }, null, more);
      else traffic.add("slack", `no acknowledgement of ${what}`, result, result.why, { ...more, lost: true });
      return result;
    });
    return { number, outcome };
  };
