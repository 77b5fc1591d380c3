// Private answers through a `response_url`.

import { request } from "undici";
import { PortError } from "../flow/ports.ts";
import type { Message } from "./blocks/rich.ts";
import { ANSWER_HOSTS, isSlacks } from "./slack-address.ts";

const TIMEOUT_MS = 5_000;

/** Rejects with PortError. Redirects are not followed. */
export type AnswerAt = (url: string, message: { text: string; blocks?: Message["blocks"] }) => Promise<void>;

export function createAnswerAt(apiUrl: string | null): AnswerAt {
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
