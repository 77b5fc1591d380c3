// Checks that a control request comes from a script on this machine or from the sandbox's own page.

import type { IncomingMessage } from "node:http";
import { fromElsewhere, isOurs } from "../slack/http-request.ts";

/** A page of another site cannot send these headers without a CORS preflight, which we never answer. */
const OWN_HEADERS = ["x-sandbox-control", "x-sandbox-page"];

export type Refusal = { readonly status: number; readonly error: string };

/** Returns why the request is refused, or null if it is allowed. */
export function forbidden(request: IncomingMessage): Refusal | null {
  const { method = "", headers } = request;
  if (!isOurs(request))
    return {
      status: 421,
      error: "The sandbox answers only at 127.0.0.1 and localhost.",
    };
  if (fromElsewhere(request))
    return { status: 403, error: "A page of another origin may not control the sandbox." };
  if (headers["sec-fetch-site"] === "cross-site")
    return { status: 403, error: "A page of another site may not control the sandbox." };
  if (method === "GET") return null;
  if (method !== "POST") return { status: 405, error: "Only GET, and POST to /control/do, are allowed." };
  if (!OWN_HEADERS.some((name) => headers[name] === "1"))
    return {
      status: 403,
      error: 'Acts need the header "x-sandbox-control: 1", which pages of other sites cannot send.',
    };
  return null;
}
