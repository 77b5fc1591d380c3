// What an answer to the POST of a decision proves (DESIGN.md, «Answers to a decision» and «When a decision gives way»).
// Only what cannot mean anything else confirms, and only what cannot have been applied is refused.

import { STATUS_CODES } from "node:http";
import { isRecord } from "../../domain/json.ts";
import type { DecisionAnswer } from "../../ports.ts";
import { readRecord, type SentDecision } from "./decision-record.ts";
import { readJson } from "./json-body.ts";
import type { Answer } from "./http-client.ts";
import { answerInWords, clean, retryAfterMs } from "./answer-words.ts";

export type Reader = { readonly who: string; readonly apiKey: string; readonly now: () => number };

/** Answers that say «not done», whoever gives them. 408 is none of them: the request may have been taken in. */
const NOT_APPLIED = new Set([
  400, 402, 403, 404, 405, 406, 410, 411, 413, 414, 415, 416, 417, 421, 422, 426, 428, 431, 451,
]);

export function surelyNotApplied(status: number): boolean {
  return NOT_APPLIED.has(status) || saysLater(status);
}

/** The key may be rotated back, the rate may fall: the same content may go again. */
export function saysLater(status: number): boolean {
  return status === 401 || status === 429;
}

export function readDecisionAnswer(answer: Answer, sent: SentDecision, reader: Reader): DecisionAnswer {
  const { status } = answer;
  if (status >= 200 && status < 300) return readSuccess(answer, sent, reader);
  const words = answerInWords(reader.who, answer, reader.apiKey);
  const code = `http_${status}`;
  if (saysLater(status))
    return { type: "later", afterMs: retryAfterMs(answer.retryAfter, reader.now()), why: words, code };
  if (status === 409 || NOT_APPLIED.has(status)) return { type: "refused", words, code };
  const afterMs = retryAfterMs(answer.retryAfter, reader.now());
  return { type: "unsure", why: words, afterMs, failedWith: status, code };
}

/** The service took the call in, and says that more is to come or that its parts ended differently. */
const UNFINISHED = new Set([202, 206, 207, 208]);

function readSuccess(answer: Answer, sent: SentDecision, reader: Reader): DecisionAnswer {
  const { status, body } = answer;
  const unclear = (what: string): DecisionAnswer => ({
    type: "unsure",
    why: `${reader.who} answered HTTP ${status}, but ${what}.`,
    afterMs: retryAfterMs(answer.retryAfter, reader.now()),
    answered: inItsWords(answer, reader),
    code: `http_${status}_unclear`,
  });
  if (UNFINISHED.has(status)) return unclear("that says neither yes nor no");
  if (body.trim() === "") return { type: "confirmed" };
  const json = readJson(body);
  if (!json.ok || !isRecord(json.value)) return unclear("not with a record of the approval");
  const { error, contrary, doubt } = readRecord(json.value, sent);
  if (error !== null) return unclear(`it ${error}`);
  if (contrary !== null) {
    const said = clean(contrary, reader.apiKey, 60);
    return { type: "elsewhere", words: `${reader.who} says of this approval: ${said}.` };
  }
  return doubt === null ? { type: "confirmed" } : unclear(`it ${doubt}`);
}

/** Of an answer that stands on the card (characters). */
const QUOTED_CHARS = 300;

function inItsWords({ status, body }: Answer, { apiKey }: Reader): string {
  const said = clean(body, apiKey, QUOTED_CHARS);
  if (said === "") return `HTTP ${status} ${STATUS_CODES[status] ?? ""}`.trim();
  return status === 200 ? said : `HTTP ${status}: ${said}`;
}
