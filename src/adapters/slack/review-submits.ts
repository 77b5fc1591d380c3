// Handles the submitted form of several requests. What is recorded is in the store before the form is answered.

import type { Verdict } from "../../domain/approval.ts";
import { Nonce, parsed } from "../../domain/ids.ts";
import { PortError } from "../../ports.ts";
import type { ReviewKind } from "../../usecases/review.ts";
import type { Choice } from "../../usecases/submit-review.ts";
import { refusedModal } from "./blocks/decision-modal.ts";
import { refusalPlain, refusalTitle, refusalWords } from "./blocks/refusal-words.ts";
import { reviewedModal, reviewSeveralModal } from "./blocks/review-modal.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import {
  APPROVE_REASON_BLOCK,
  DENY_REASON_BLOCK,
  REASON_INPUT,
  REVIEW_BLOCK,
  VERDICT_INPUT,
} from "./names.ts";
import { chosenIn, type SubmitPayload, typedInto } from "./payloads.ts";
import { apartOf } from "./queue-clicks.ts";
import { FIELD_ERRORS, type SubmitAnswer } from "./submits.ts";

export async function reviewAnswer(deps: ListenerDeps, payload: SubmitPayload): Promise<SubmitAnswer> {
  const [bundle = "", kind = "", value = "", later = ""] = payload.view.private_metadata.split(" ");
  const choices = choicesIn(payload);
  const [firstBlock] = Object.keys(payload.view.state.values).filter((each) => each.startsWith(REVIEW_BLOCK));
  if (choices.length === 0) return inField(firstBlock ?? DENY_REASON_BLOCK, FIELD_ERRORS["nothing-chosen"]);
  const by = { team: deps.team, user: payload.user.id };
  const reasons = {
    approve: typedInto(payload, APPROVE_REASON_BLOCK, REASON_INPUT),
    deny: typedInto(payload, DENY_REASON_BLOCK, REASON_INPUT),
  };
  try {
    const reviewed = await deps.submitReview(by, parsed<Nonce>(Nonce, bundle), choices, reasons);
    if (!reviewed.ok) return inField(REASON_OF[reviewed.error.verdict], refusalPlain(reviewed.error.refusal));
    const more = /^\d{1,4}$/.test(later) ? Number(later) : 0;
    if (reviewed.value.refused.length === 0 && more === 0) return undefined;
    return { response_action: "update", view: reviewedModal(reviewed.value, { kind, value, later: more }) };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "could not record all decisions of a form");
    const [first = { verdict: null }] = choices;
    return inField(REASON_OF[first.verdict ?? "deny"], FIELD_ERRORS["decisions-maybe-recorded"]);
  }
}

const REASON_OF: { readonly [Each in Verdict]: string } = {
  approve: APPROVE_REASON_BLOCK,
  deny: DENY_REASON_BLOCK,
};

function inField(block: string, words: string): SubmitAnswer {
  return { response_action: "errors", errors: { [block]: words } };
}

/** Requests that are left are no choice. A word that the form does not offer is a choice that nobody can make. */
function choicesIn(payload: SubmitPayload): Choice[] {
  return Object.keys(payload.view.state.values).flatMap((block) => {
    if (!block.startsWith(REVIEW_BLOCK)) return [];
    const word = chosenIn(payload, block, VERDICT_INPUT);
    if (word === "leave") return [];
    const nonce = parsed<Nonce>(Nonce, block.slice(REVIEW_BLOCK.length));
    return [{ nonce, verdict: word === "approve" || word === "deny" ? word : null }];
  });
}

/** "Review the next", in the window that says what was recorded: the next form takes its place. */
export async function nextReviewAnswer(deps: ListenerDeps, payload: SubmitPayload): Promise<SubmitAnswer> {
  const [kind = "", value = ""] = payload.view.private_metadata.split(" ");
  const by = { team: deps.team, user: payload.user.id };
  const wanted: Exclude<ReviewKind, "one"> = kind === "run" ? "run" : "rule";
  try {
    const opened = await deps.review.openSeveral(by, wanted, value);
    if (opened.ok) {
      const apart = await apartOf(deps, opened.value);
      return { response_action: "update", view: reviewSeveralModal(opened.value, apart) };
    }
    const { refusal } = opened.error;
    const words = refusalWords(refusal, payload.user.id);
    const view = refusedModal(refusalTitle(refusal), words, `refusal:${refusal.type}`);
    return { response_action: "update", view };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "could not open the next requests");
    return {
      response_action: "update",
      view: refusedModal("Try again", NOT_OPENED, "answer:review-not-opened"),
    };
  }
}

const NOT_OPENED =
  "Countersign could not open the next requests just now. What you decided before is recorded. Close this window and press Review again.";
