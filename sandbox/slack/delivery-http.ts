// HTTP delivery: sends signed requests to the app's request URL. The answer is the acknowledgement.

import { createHmac } from "node:crypto";

import type { Deliver, Outcome, Payload } from "./delivery.ts";
import { parseJson } from "../base/read-body.ts";
import { isJson } from "./json-object.ts";

type Options = {
  /** A function if the address is not known at the start. */
  readonly requestUrl: string | (() => string);
  readonly signingSecret: string;
  readonly ackMs: number;
  readonly now: () => number;
};

/** docs.slack.dev, verifying requests: HMAC-SHA256 over version, timestamp and raw body. */
const signature = (secret: string, timestamp: string, body: string): string =>
  `v0=${createHmac("sha256", secret).update(`v0:${timestamp}:${body}`).digest("hex")}`;

function encoded({ kind, body }: Payload): { type: string; text: string } {
  if (kind === "events_api") return { type: "application/json", text: JSON.stringify(body) };
  const fields =
    kind === "interactive"
      ? { payload: JSON.stringify(body) }
      : Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value)]));
  return { type: "application/x-www-form-urlencoded", text: new URLSearchParams(fields).toString() };
}

const retryHeaders = ({ retry }: Payload): Record<string, string> =>
  retry ? { "x-slack-retry-num": String(retry.attempt), "x-slack-retry-reason": retry.reason } : {};

async function outcomeOf(response: Response): Promise<Outcome> {
  const text = await response.text();
  const last = response.headers.get("x-slack-no-retry") === "1";
  if (!response.ok) return { ok: false, why: "http_error", status: response.status, last };
  const value = parseJson(text);
  if (isJson(value)) return { ok: true, ack: value };
  return { ok: true, ack: text.trim() === "" ? {} : { text } };
}

export function createHttpDelivery({ requestUrl, signingSecret, ackMs, now }: Options): Deliver {
  return async (payload) => {
    const { type, text } = encoded(payload);
    const timestamp = String(Math.floor(now() / 1000));
    const headers = {
      "content-type": type,
      "user-agent": "Slackbot 1.0 (+https://api.slack.com/robots)",
      "x-slack-request-timestamp": timestamp,
      "x-slack-signature": signature(signingSecret, timestamp, text),
      ...retryHeaders(payload),
    };
    const signal = AbortSignal.timeout(ackMs);
    const url = typeof requestUrl === "string" ? requestUrl : requestUrl();
    try {
      return await outcomeOf(
        await fetch(url, { method: "POST", headers, body: text, signal, redirect: "manual" }),
      );
    } catch {
      return { ok: false, why: signal.aborted ? "timeout" : "unreachable" };
    }
  };
}
