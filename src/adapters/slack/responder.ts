// Sends private answers through a `response_url`.

import { request } from "undici";
import { PortError } from "../../ports.ts";
import type { Message } from "./blocks/rich.ts";

const TIMEOUT_MS = 5_000;

/** Rejects with PortError. Redirects are not followed. */
export type Responder = (url: string, message: { text: string; blocks?: Message["blocks"] }) => Promise<void>;

export function createResponder(apiUrl: string | null): Responder {
  return async (url, message) => {
    if (!isSlacks(url, ANSWER_HOSTS, apiUrl)) {
      throw new PortError("not Slack's address", {
        applied: "no",
        retry: "never",
        code: "foreign_response_url",
      });
    }
    const body = JSON.stringify({ response_type: "ephemeral", replace_original: false, ...message });
    const headers = { "content-type": "application/json" };
    const answer = await request(url, {
      method: "POST",
      headers,
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch((error: unknown) => {
      throw new PortError("Slack did not take the answer", {
        applied: "maybe",
        retry: "never",
        code: "no_answer",
        cause: error,
      });
    });
    await answer.body.dump();
    if (answer.statusCode >= 200 && answer.statusCode < 300) return;
    const code = `http_${answer.statusCode}`;
    throw new PortError("Slack did not take the answer", { applied: "no", retry: "never", code });
  };
}

// We do not trust an address from a payload or an answer. It must be on a host of Slack's, or on the host of SLACK_API_URL, which
// sandboxes and proxies set.

/** Slack serves response URLs from here (docs.slack.dev, handling user interaction). */
export const ANSWER_HOSTS = /^hooks\.slack\.com$/;
/** Slack chooses the upload host, always below its own domain. */
export const UPLOAD_HOSTS = /^[a-z0-9-]+(\.[a-z0-9-]+)*\.slack\.com$/;

/** `apiUrl` is SLACK_API_URL. Its host is accepted on any port, but never over a weaker protocol than its own. */
export function isSlacks(url: string, hosts: RegExp, apiUrl: string | null): boolean {
  const { protocol = "", hostname = "", port, username, password } = URL.parse(url) ?? {};
  if (username !== "" || password !== "") return false;
  if (protocol === "https:" && hosts.test(hostname) && port === "") return true;
  const own = apiUrl === null ? null : URL.parse(apiUrl);
  return own !== null && hostname === own.hostname && (protocol === "https:" || protocol === own.protocol);
}
