// Who may control the sandbox: scripts on this machine and its own page. Loopback alone keeps nobody out: any web page can send
// requests here through its visitor's browser.

import type { IncomingMessage } from "node:http";

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"]);
/** Another site's page cannot send these without asking first, and nobody here answers that question. */
const OWN_HEADERS = ["x-sandbox-control", "x-sandbox-page"];

export type No = { readonly status: number; readonly told: string };

/** Why the request must not go further; null: it may. */
export function forbidden({ method = "", headers }: IncomingMessage): No | null {
  const { host = "", origin } = headers;
  // A foreign name that resolves to this machine (DNS rebinding) would make the answers part of that site.
  if (!LOOPBACK.has(host.replace(/:\d+$/, "")))
    return {
      status: 421,
      told: "This address is not the sandbox's: it answers to 127.0.0.1 and localhost only.",
    };
  if (origin !== undefined && origin !== `http://${host}`)
    return { status: 403, told: "A page of another origin may not control the sandbox." };
  if (headers["sec-fetch-site"] === "cross-site")
    return { status: 403, told: "A page of another site may not control the sandbox." };
  if (method === "GET") return null;
  if (method !== "POST") return { status: 405, told: "Only GET, and POST to /control/do." };
  if (!OWN_HEADERS.some((name) => headers[name] === "1"))
    return {
      status: 403,
      told: "Acts need the header «x-sandbox-control: 1», which no foreign page can send.",
    };
  return null;
}
