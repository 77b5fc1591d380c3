// Delivery of payloads to the app, by socket or by HTTP.

import type { Json } from "./json.ts";
import type { TrafficLog } from "./traffic.ts";

export type Payload = {
  readonly kind: "slash_commands" | "interactive" | "events_api";
  readonly body: Json;
  /** Set when an event is sent again. `of`: the number of the first delivery in the traffic. */
  readonly retry?: { readonly attempt: number; readonly reason: string; readonly of: number };
};

/** `ack`: the app's answer, possibly empty. `last`: the app asked for no more attempts. */
export type Outcome =
  | { readonly ok: true; readonly ack: Json }
  | { readonly ok: false; readonly why: "timeout" | "unreachable" }
  | { readonly ok: false; readonly why: "http_error"; readonly status: number; readonly last: boolean };

export type Deliver = (payload: Payload) => Promise<Outcome>;

/** A delivery that is recorded in the traffic. `number`: the line of the envelope. */
export type Sent = { readonly number: number; readonly outcome: Promise<Outcome> };

/** The name of a payload in the traffic. */
const nameOf = ({ kind, body }: Payload): string => {
  if (kind === "interactive") return String(body["type"]);
  return kind;
};

/** Adds one line when a payload is sent, and one when it is acknowledged or given up. */
export const traced =
  (traffic: TrafficLog, deliver: Deliver) =>
  (payload: Payload): Sent => {
    const what = nameOf(payload);
    const { retry = null } = payload;
    const again = retry === null ? {} : { answers: retry.of };
    const number = traffic.add("slack", what, { payload, ...(retry && { redelivery: retry }) }, null, again);
    const began = performance.now();
    const outcome = deliver(payload).then((came) => {
      const more = { answers: number, ms: Math.round(performance.now() - began) };
      if (came.ok) traffic.add("app", `acknowledges ${what}`, { answered: came.ack }, null, more);
      else traffic.add("slack", `no acknowledgement of ${what}`, came, came.why, { ...more, lost: true });
      return came;
    });
    return { number, outcome };
  };
