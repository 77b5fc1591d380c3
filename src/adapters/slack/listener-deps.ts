// What the listeners use: the use cases, the clients, and the memory of clicks.

import type { TeamId, UserId } from "../../domain/ids.ts";
import type { CardChecks } from "../../engine/card-check.ts";
import type { CloseOrphans } from "../../engine/close-orphans.ts";
import type { Clock } from "../../engine/clock.ts";
import type { EventLog } from "../../ports.ts";
import type { FormStore } from "../../ports/store.ts";
import type { AdoptRun } from "../../usecases/adopt-run.ts";
import type { AskRequester } from "../../usecases/ask-requester.ts";
import type { Acknowledge, ExportEvidence } from "../../usecases/audit-commands.ts";
import type { ClaimRequest } from "../../usecases/claim-request.ts";
import type { CloseDispute } from "../../usecases/close-dispute.ts";
import type { Dispute } from "../../usecases/dispute-decision.ts";
import type { OpenForm } from "../../usecases/open-form.ts";
import type { Queries, ReportWeek } from "../../usecases/queries.ts";
import type { NoteRefusal } from "../../usecases/refusals.ts";
import type { CheckReviewPress } from "../../usecases/review-press.ts";
import type { Review } from "../../usecases/review.ts";
import type { StartRun } from "../../usecases/start-run.ts";
import type { StopRun, UseFreeze } from "../../usecases/stop-and-freeze.ts";
import type { SubmitDecision, UndoDecision } from "../../usecases/submit-decision.ts";
import type { SubmitReview } from "../../usecases/submit-review.ts";
import type { Deployment } from "./blocks/deployment.ts";
import type { CardReplacements, OpenedForms } from "./click-memory.ts";
import type { Call, Responder } from "./clients.ts";
import type { LiveHomes } from "./live-homes.ts";

export type ListenerDeps = {
  readonly team: TeamId;
  /** The user id of our own bot. */
  readonly self: UserId;
  readonly command: string;
  readonly deployment: Deployment;
  readonly startRun: StartRun;
  readonly adoptRun: AdoptRun;
  readonly queries: Queries;
  readonly stopRun: StopRun;
  readonly freeze: UseFreeze;
  readonly openForm: OpenForm;
  readonly submitDecision: SubmitDecision;
  readonly undoDecision: UndoDecision;
  readonly claimRequest: ClaimRequest;
  readonly askRequester: AskRequester;
  readonly checkReviewPress: CheckReviewPress;
  readonly review: Review;
  readonly submitReview: SubmitReview;
  readonly noteRefusal: NoteRefusal;
  readonly exportEvidence: ExportEvidence;
  readonly reportWeek: ReportWeek;
  readonly dispute: Dispute;
  readonly closeDispute: CloseDispute;
  readonly cards: Pick<CardChecks, "deleted" | "appJoined" | "lookNow">;
  readonly orphans: Pick<CloseOrphans, "pressed">;
  readonly acknowledge: Acknowledge;
  /** For calls that a person waits for, such as views and links. */
  readonly quick: Call;
  readonly answerAt: Responder;
  readonly forms: OpenedForms;
  readonly homes: LiveHomes;
  readonly replacements: CardReplacements;
  readonly nonce: () => string;
  readonly macOf: FormStore["macOf"];
  readonly clock: Clock;
  readonly log: EventLog;
};
