// The words of the private notices to people about what became of a decision.

import type { Approval } from "../../../domain/approval.ts";
import type { DecisionNotice, NoticeContent } from "../../../domain/notice.ts";
import { endWithoutDecision, type OtherOutcome } from "../../../domain/service-word.ts";
import { afterRefusal } from "./delivery-words.ts";

/** `ending` is ": " if the rest completes the sentence of the title. */
type DecisionWords = {
  readonly title: string;
  readonly ending: ". " | ": ";
  readonly rest: string;
  readonly quoted?: string;
  readonly after?: string;
};

export function decisionWords(notice: DecisionNotice, approval: Approval | undefined): DecisionWords {
  switch (notice.type) {
    case "decision-void":
      if (notice.cause === "restored") return RESTORED;
      // The service may have turned it away, such as with 429.
      return { title: "Your decision did not take effect", ending: ": ", rest: voidWords(notice.cause) };
    case "decision-stopped":
      return {
        title: "Your decision is not sent again",
        ending: ". ",
        rest: "It was sent, but not confirmed, and it no longer counts here: its card says why. Check in the agent service whether it took effect.",
      };
    case "decision-unconfirmed":
      return {
        title: "❓ Your decision was sent, but not confirmed",
        ending: ". ",
        rest: "It may or may not have taken effect, and it is not sent again. Look it up in the agent service.",
      };
    case "decision-still-listed":
      return stillListedWords(approval);
    case "decision-refused":
      return {
        title: "The service refused your decision",
        ending: ". ",
        rest: "It did not take effect. The service said:",
        quoted: notice.words,
        after: afterRefusal(approval),
      };
    case "decision-elsewhere":
      return elsewhereWords(notice);
  }
}

function elsewhereWords(outcome: OtherOutcome): DecisionWords {
  const end = endWithoutDecision(outcome);
  return {
    title: "Your decision was not applied",
    ending: ". ",
    rest: `The service says that the request ${end === null ? "was decided outside Countersign:" : `${end}.`}`,
    ...(end === null ? { quoted: outcome.said ?? outcome.words } : {}),
    after: "Its card shows where it stands.",
  };
}

/** A short title for a lock screen, so that it shows the action too. */
export function beginningOf(notice: DecisionNotice): string {
  switch (notice.type) {
    case "decision-void":
      return notice.cause === "restored" ? "Approval no longer counts" : "Decision not applied";
    case "decision-stopped":
      return "❓ Sent, no longer counts";
    case "decision-unconfirmed":
      return "❓ Decision not confirmed";
    case "decision-still-listed":
      return "⚠️ Decided, still pending";
    case "decision-refused":
      return "Your decision was refused";
    case "decision-elsewhere":
      return "Decision not applied";
  }
}

const RESTORED: DecisionWords = {
  title: "Your approval no longer counts here",
  ending: ". ",
  rest: "Countersign was restored from an older copy of its database, and can't tell whether the approval was sent. If its card is open, approve again. If it is closed, look it up in the agent service.",
};

const MAY_WAIT =
  "so the run may be waiting. Countersign sends nothing more for it. Look it up there. If it stays pending, ask the people who operate the service to resolve it or to end the run.";

function stillListedWords(approval: Approval | undefined): DecisionWords {
  const { state } = approval ?? {};
  if (state?.type !== "decided" || state.decision.by !== null)
    return {
      title: "⚠️ The request that you decided is still listed as pending",
      ending: ". ",
      rest: `The agent service lists it more than a minute after your decision was sent, ${MAY_WAIT}`,
    };
  const why = state.decision.stoppedBy === undefined ? "its time was up" : "the run was stopped";
  return {
    title: "⚠️ A request is still listed as pending after its denial",
    ending: ". ",
    rest: `It was denied because ${why}. The agent service lists it more than a minute after the denial was sent, ${MAY_WAIT}`,
  };
}

type VoidCause = Exclude<Extract<NoticeContent, { type: "decision-void" }>["cause"], "restored">;

function voidWords(cause: VoidCause): string {
  switch (cause) {
    case "request-changed":
      return "the request changed first. Its card shows the new request.";
    case "no-longer-listed":
      return "the service no longer lists the request as pending. It may have been withdrawn, or decided outside Countersign. If it is listed again, its card opens again.";
    case "run-missing":
      return "the service no longer knows the run. If it knows the run again, the card opens again.";
    case "given-up":
      return "the service no longer knows the run, and Countersign no longer asks for it.";
    case "unreadable":
      return "the service now sends the request in a format that Countersign can't read. The run's thread says why.";
    case "run-over":
      return "the run ended first.";
    case "voter-may-not":
      return "you are no longer allowed to decide this. Unless its deadline has passed, others can, on its card.";
    case "rule-changed":
      return "it no longer meets the rule, because the policy or an approver's groups changed. If its card is still open and you are still allowed to, approve the request again there.";
    case "others-needed":
      return "the request no longer has enough approvals. Unless its deadline has passed, yours still counts, and the card waits for others.";
    case "denied":
      return "someone denied the request while your approval was on hold. Its card says who.";
    case "stopped":
      return "the run was stopped first. Everything it asks for is denied until the stop is lifted.";
    case "frozen":
      return "Countersign was frozen first. If its card is still open once the freeze is lifted, approve it again there.";
    case "tampered":
      return "it does not match the audit. The database was changed outside Countersign: tell the people who operate Countersign. Decide again when the card opens again.";
  }
}
