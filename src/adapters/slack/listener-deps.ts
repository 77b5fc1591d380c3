import type { TeamId, UserId } from "../../domain/ids.ts";
import type { Acknowledge } from "../../usecases/acknowledge-tampering.ts";
import type { AdoptRun } from "../../usecases/adopt-run.ts";
import type { Clock } from "../../engine/clock.ts";
import type { Dispute } from "../../usecases/dispute.ts";
import type { ExportEvidence } from "../../usecases/export-evidence.ts";
import type { CardSweep } from "../../engine/card-sweep.ts";
import type { OpenForm } from "../../usecases/open-form.ts";
import type { EventLog } from "../../ports.ts";
import type { Queries } from "../../usecases/queries.ts";
import type { SubmitDecision } from "../../usecases/submit-decision.ts";
import type { NoteRefusal } from "../../usecases/refusals.ts";
import type { StartRun } from "../../usecases/start-run.ts";
import type { UndoDecision } from "../../usecases/undo.ts";
import type { Responder } from "./responder.ts";
import type { Call } from "./clients.ts";
import type { OpenedForms } from "./opened-forms.ts";

/** What the listeners may use. */
export type ListenerDeps = {
  readonly team: TeamId;
  /** The user id of our own bot. */
  readonly self: UserId;
  readonly command: string;
  readonly startRun: StartRun;
  readonly adoptRun: AdoptRun;
  readonly queries: Queries;
  readonly openForm: OpenForm;
  readonly submitDecision: SubmitDecision;
  readonly undoDecision: UndoDecision;
  readonly noteRefusal: NoteRefusal;
  readonly exportEvidence: ExportEvidence;
  readonly dispute: Dispute;
  readonly cards: Pick<CardSweep, "deleted" | "letIn" | "lookNow">;
  readonly acknowledge: Acknowledge;
  /** For views and links, which a person is waiting for. */
  readonly quick: Call;
  readonly answerAt: Responder;
  readonly forms: OpenedForms;
  readonly nonce: () => string;
  readonly clock: Clock;
  readonly log: EventLog;
};
