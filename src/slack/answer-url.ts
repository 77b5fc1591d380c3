// Private answers through a `response_url`. The address comes out of a payload, so it is only used when it is Slack's own host,
// or, in a sandbox or behind a proxy, the host of SLACK_API_URL.

import { request } from "undici";
import { PortError } from "../flow/ports.ts";
import type { Message } from "./blocks/rich.ts";

/** Slack serves response URLs from here (docs.slack.dev, handling user interaction). */
const SLACK_HOST = "hooks.slack.com";
const TIMEOUT_MS = 5_000;

/** Rejects with PortError. Redirects are not followed. */
export type AnswerAt = (url: string, message: { text: string; blocks?: Message["blocks"] }) => Promise<void>;

export function createAnswerAt(apiUrl: string | null): AnswerAt {
  const ownHost = apiUrl === null ? null : new URL(apiUrl).hostname;
  return async (url, message) => {
    if (!isSlacks(url, ownHost)) {
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

export function isSlacks(url: string, ownHost: string | null): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, hostname, port, username, password } = new URL(url);
  if (username !== "" || password !== "") return false;
  if (protocol === "https:" && hostname === SLACK_HOST && port === "") return true;
  return ownHost !== null && hostname === ownHost && (protocol === "https:" || protocol === "http:");
}
