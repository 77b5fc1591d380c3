// Payloads on their way to the app, by socket or by HTTP.

import type { Json } from "./rules-check.ts";

export type Payload = {
  readonly kind: "slash_commands" | "interactive" | "events_api";
  readonly body: Json;
  /** Given when an event is sent again. */
  readonly retry?: { readonly attempt: number; readonly reason: string };
};

/** `ack`: what the app answered with, possibly nothing. `last`: the app asked for no more attempts. */
export type Outcome =
  | { readonly ok: true; readonly ack: Json }
  | { readonly ok: false; readonly why: "timeout" | "unreachable" }
  | { readonly ok: false; readonly why: "http_error"; readonly status: number; readonly last: boolean };

export type Deliver = (payload: Payload) => Promise<Outcome>;
