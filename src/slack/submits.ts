// Submitted modals. A decision is in the store before its modal is acknowledged; what can't be accepted leaves the modal open, or
// exchanges it for one that says why.

import type { View } from "@slack/types";
import { ChannelId, Nonce, parsed } from "../core/ids.ts";
import { PortError } from "../flow/ports.ts";
import type { No } from "../flow/refuse.ts";
import { changedModal, refusedModal } from "./blocks/decision-modal.ts";
import { noRunWords, refusalPlain, refusalWords } from "./blocks/refusal-words.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import { REASON_BLOCK, REASON_INPUT, TASK_BLOCK, TASK_INPUT } from "./names.ts";
import { type SubmitPayload, typedInto } from "./payloads.ts";

/** Nothing: the modal closes. */
export type SubmitAnswer =
  | undefined
  | { readonly response_action: "errors"; readonly errors: { [block: string]: string } }
  | { readonly response_action: "update"; readonly view: View };

const NOT_RECORDED =
  "Not recorded: Countersign could not write it down just now. Nothing was sent. Try again.";

export async function decisionAnswer(deps: ListenerDeps, payload: SubmitPayload): Promise<SubmitAnswer> {
  const nonce = parsed<Nonce>(Nonce, payload.view.private_metadata);
  if (nonce === null)
    return { response_action: "update", view: refusedModal(refusalWords({ because: "unknown" })) };
  const reason = typedInto(payload, REASON_BLOCK, REASON_INPUT);
  try {
    const by = { team: deps.team, user: payload.user.id };
    const recorded = await deps.recordDecision(by, nonce, reason);
    return recorded.ok ? undefined : refusalAnswer(recorded.error);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "a decision could not be recorded");
    return inField(REASON_BLOCK, NOT_RECORDED);
  }
}

function refusalAnswer({ refusal, run }: No): SubmitAnswer {
  switch (refusal.because) {
    case "reason-needed":
    case "reason-too-long":
    case "unverified":
      return inField(REASON_BLOCK, refusalPlain(refusal));
    case "changed":
      if (run !== null)
        return { response_action: "update", view: changedModal(run, refusal.was, refusal.is) };
      return { response_action: "update", view: refusedModal(refusalWords(refusal)) };
    default:
      return { response_action: "update", view: refusedModal(refusalWords(refusal)) };
  }
}

export async function formAnswer(deps: ListenerDeps, payload: SubmitPayload): Promise<SubmitAnswer> {
  const [nonce = "", place = ""] = payload.view.private_metadata.split(" ");
  const channel = parsed<ChannelId>(ChannelId, place);
  const intention = parsed<Nonce>(Nonce, nonce);
  if (channel === null || intention === null)
    return inField(TASK_BLOCK, "This form is not one of ours. Open it again with the command.");
  const input = typedInto(payload, TASK_BLOCK, TASK_INPUT);
  const by = { team: deps.team, user: payload.user.id, channel };
  const started = await deps.startRun.start(by, { input, intention: `form ${intention}`, answerUrl: null });
  return started.ok ? undefined : inField(TASK_BLOCK, noRunWords(started.error, deps.command));
}

function inField(block: string, words: string): SubmitAnswer {
  return { response_action: "errors", errors: { [block]: words } };
}
