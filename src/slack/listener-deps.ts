import type { TeamId, UserId } from "../core/ids.ts";
import type { Acknowledge } from "../flow/acknowledge.ts";
import type { AdoptRun } from "../flow/adopt-run.ts";
import type { Clock } from "../flow/clock.ts";
import type { Dispute } from "../flow/dispute.ts";
import type { FlowLog } from "../flow/flow-log.ts";
import type { KeepCards } from "../flow/keep-cards.ts";
import type { GiveAudit } from "../flow/give-audit.ts";
import type { OpenModal } from "../flow/open-modal.ts";
import type { Questions } from "../flow/questions.ts";
import type { RecordDecision } from "../flow/record-decision.ts";
import type { NoteRefusal } from "../flow/refuse.ts";
import type { StartRun } from "../flow/start-run.ts";
import type { UndoDecision } from "../flow/undo-decision.ts";
import type { AnswerAt } from "./answer-url.ts";
import type { Call } from "./clients.ts";
import type { OpenedForms } from "./opened-forms.ts";

/** What the listeners may use: the use cases, and two ways to answer a person. */
export type ListenerDeps = {
  readonly team: TeamId;
  /** Our own bot. */
  readonly self: UserId;
  readonly command: string;
  readonly startRun: StartRun;
  readonly adoptRun: AdoptRun;
  readonly questions: Questions;
  readonly openModal: OpenModal;
  readonly recordDecision: RecordDecision;
  readonly undoDecision: UndoDecision;
  readonly noteRefusal: NoteRefusal;
  readonly giveAudit: GiveAudit;
  readonly dispute: Dispute;
  readonly cards: Pick<KeepCards, "deleted" | "letIn" | "lookNow">;
  readonly acknowledge: Acknowledge;
  /** For views and links: what a person is waiting for. */
  readonly quick: Call;
  readonly answerAt: AnswerAt;
  readonly forms: OpenedForms;
  readonly nonce: () => string;
  readonly clock: Clock;
  readonly log: FlowLog;
};
