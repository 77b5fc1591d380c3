// Errors of the gateway, in a format that fits both conventions and the error record of the interface document.

import type { Answer } from "./exchange.ts";

export class GatewayRefusal extends Error {
  readonly status: keyof typeof kinds;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  constructor(
    status: keyof typeof kinds,
    message: string,
    more: { readonly code?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.status = status;
    this.code = more.code ?? kinds[status].code;
    this.headers = more.headers ?? {};
  }
}

/** `type` is the error type of the two conventions. `code` is the code of the interface document, or similar. */
const kinds = {
  400: { type: "invalid_request_error", code: "invalid_request" },
  401: { type: "authentication_error", code: "unauthorized" },
  404: { type: "not_found_error", code: "not_found" },
  405: { type: "invalid_request_error", code: "method_not_allowed" },
  413: { type: "request_too_large", code: "invalid_request" },
  415: { type: "invalid_request_error", code: "invalid_request" },
  429: { type: "rate_limit_error", code: "rate_limited" },
} as const;

export function refusalAnswer({ status, code, message, headers }: GatewayRefusal, requestId: string): Answer {
  const error = { type: kinds[status].type, code, message, param: null };
  return { status, headers, body: JSON.stringify({ type: "error", error, request_id: requestId }) };
}
