// What an answer to the POST of a decision proves. An answer confirms only if it cannot mean anything else, and counts as refused only if
// the decision cannot have been applied.

import { isRecord } from "../../domain/json.ts";
import type { DecisionAnswer } from "../../ports.ts";
import { readRecord, type SentDecision } from "./decision-record.ts";
import { type Answer, answerInWords, clean, retryAfterMs, statusName } from "./http-client.ts";
import { readJson } from "./json-body.ts";

export type Reader = { readonly who: string; readonly apiKey: string; readonly now: () => number };

/** Statuses that prove that nothing was done. Not 408: the service may have taken the request. */
const NOT_APPLIED = new Set([
  400, 402, 403, 404, 405, 406, 410, 411, 413, 414, 415, 416, 417, 421, 422, 426, 428, 431, 451,
]);

export function certainlyNotApplied(status: number): boolean {
  return NOT_APPLIED.has(status) || saysLater(status);
}

/** Matches temporary refusals (a wrong key, too many calls), after which the same content may be sent again. */
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

/** With these statuses the service took the call, but says that it is not finished or that its parts ended differently. */
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
    return { type: "elsewhere", words: `${reader.who} says of this approval: ${said}.`, said };
  }
  return doubt === null ? { type: "confirmed" } : unclear(`it ${doubt}`);
}

/** The maximum number of characters of an answer that a card quotes. */
const QUOTED_CHARS = 300;

function inItsWords({ status, body }: Answer, { apiKey }: Reader): string {
  const said = clean(body, apiKey, QUOTED_CHARS);
  if (said === "") return `HTTP ${status} ${statusName(status) ?? ""}`.trim();
  return status === 200 ? said : `HTTP ${status}: ${said}`;
}
