// What an answer to the POST of a decision proves (DESIGN.md, «Answers to a decision» and «When a decision gives way»).
// Only what cannot mean anything else confirms, and only what cannot have been applied is refused.

import { z } from "zod";
import type { Verdict } from "../core/approval.ts";
import type { ApprovalId, RunId } from "../core/ids.ts";
import type { DecisionAnswer } from "../flow/ports.ts";
import { ServiceId } from "./address.ts";
import { readJson } from "./json-body.ts";
import type { Answer } from "./line.ts";
import { answerInWords, clean, retryAfterMs } from "./words.ts";

export type SentDecision = {
  readonly run: RunId;
  readonly approval: ApprovalId;
  readonly verdict: Verdict;
  readonly denyWord: string;
};

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
  if (saysLater(status))
    return { is: "later", afterMs: retryAfterMs(answer.retryAfter, reader.now()), why: words };
  if (status === 409 || NOT_APPLIED.has(status)) return { is: "refused", words };
  return { is: "unsure", why: words };
}

const Word = z
  .string()
  .transform((word) => word.trim().toLowerCase())
  .catch("");

const Record = z.object({
  id: ServiceId.optional(),
  run_id: ServiceId.optional(),
  status: Word,
  decision: Word,
  error: z.unknown().optional(),
});

const APPROVED = ["approve", "approved", "accepted", "allowed", "granted"];
const DENIED = ["deny", "denied", "reject", "rejected", "decline", "declined"];
/** Neither approved nor denied. «Canceled» may be a service's word for denied. */
const LAPSED = ["expired", "withdrawn"];
const CANCELED = ["canceled", "cancelled"];
const UNDECIDED = ["pending", "error", "failed"];

function readSuccess({ status, body }: Answer, sent: SentDecision, reader: Reader): DecisionAnswer {
  if (body.trim() === "") return { is: "confirmed" };
  const unsure = (what: string): DecisionAnswer => ({
    is: "unsure",
    why: `${reader.who} answered HTTP ${status}, but ${what}.`,
  });
  const json = readJson(body);
  const parsed = Record.safeParse(json.ok ? json.value : undefined);
  if (!parsed.success) return unsure("not with a record of the approval");
  const { id, run_id, error } = parsed.data;
  // Some services answer with the run in the place of the approval.
  if (id !== undefined && id !== sent.approval && id !== sent.run) return unsure("told of another approval");
  if (run_id !== undefined && run_id !== sent.run) return unsure("told of another run");
  if (error !== undefined && error !== null) return unsure("told of an error");
  const words = [parsed.data.status, parsed.data.decision];
  const against = contrary(sent);
  const contradicts = words.find((word) => against.includes(word));
  if (contradicts !== undefined) {
    const said = clean(contradicts, reader.apiKey, 60);
    return { is: "elsewhere", words: `${reader.who} says of this approval: ${said}.` };
  }
  const undecided = words.find((word) => UNDECIDED.includes(word));
  return undecided === undefined ? { is: "confirmed" } : unsure(`called the approval ${undecided}`);
}

function contrary({ verdict, denyWord }: SentDecision): readonly string[] {
  if (verdict === "deny") return [...APPROVED, ...LAPSED];
  return [...DENIED, denyWord.toLowerCase(), ...LAPSED, ...CANCELED];
}
