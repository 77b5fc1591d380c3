// The forms behind Review, in which people decide from the queue. Opens them, handles their submits, and opens the next form.

import type { Refusal } from "../../domain/authorization.ts";
import { Nonce, parsed } from "../../domain/ids.ts";
import { cardSlot } from "../../domain/slot.ts";
import { endedWithin } from "../../engine/clock.ts";
import { PortError } from "../../ports.ts";
import type { OpenedReview } from "../../usecases/review.ts";
import type { Choice, Reviewed } from "../../usecases/submit-review.ts";
import { messageModal } from "./blocks/decision-modal.ts";
import { refusalPlain } from "./blocks/refusal-words.ts";
import { type Apart, presetsOfSeveral, reviewSeveralModal, reviewView } from "./blocks/review-modal.ts";
import { type NextReview, type RefusedWithLink, reviewedModal } from "./blocks/reviewed-modal.ts";
import { logNotOpened, NOTHING_OPENED, openModal, showAnswer, showRefusal } from "./clicks.ts";
import {
  drawAgain,
  FIELD_ERRORS,
  filledWith,
  inField,
  NOT_FILLED,
  refusedForm,
  type SubmitAnswer,
} from "./form-answers.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import {
  APPROVE_REASON_BLOCK,
  DENY_REASON_BLOCK,
  QUEUE_REVIEW_RUN,
  REASON_INPUT,
  REVIEW_BLOCK,
  VERDICT_INPUT,
} from "./names.ts";
import { linkTo } from "./own-messages.ts";
import {
  type ChoicePayload,
  chosenIn,
  type QueueClickPayload,
  reasonBlockOf,
  type SubmitPayload,
  typedInto,
} from "./payloads.ts";
import { carriedBy } from "./review-metadata.ts";

/** Opens the form for one request. */
export async function onReview(deps: ListenerDeps, payload: QueueClickPayload): Promise<void> {
  const [{ value = "" }] = payload.actions;
  const by = { team: deps.team, user: payload.user.id };
  const opened = await deps.review.open(by, value).catch((error: unknown) => logNotOpened(deps, error));
  if (opened === null) return showAnswer(deps, answerable(payload), NOTHING_OPENED);
  if (!opened.ok) return showRefusal(deps, answerable(payload), opened.error.refusal);
  await openModal(deps, answerable(payload), reviewView(opened.value, deps.deployment));
}

/** Opens the form for several requests. */
export async function onReviewSeveral(deps: ListenerDeps, payload: QueueClickPayload): Promise<void> {
  const [{ action_id, value = "" }] = payload.actions;
  const kind = action_id === QUEUE_REVIEW_RUN ? "run" : "rule";
  const by = { team: deps.team, user: payload.user.id };
  const opened = await deps.review
    .openSeveral(by, kind, value)
    .catch((error: unknown) => logNotOpened(deps, error));
  if (opened === null) return showAnswer(deps, answerable(payload), NOTHING_OPENED);
  if (!opened.ok) return showRefusal(deps, answerable(payload), opened.error.refusal);
  const apart = await apartOf(deps, opened.value);
  await openModal(deps, answerable(payload), reviewSeveralModal(opened.value, apart));
}

const answerable = ({ user, trigger_id, response_url }: QueueClickPayload) => ({
  user,
  trigger_id,
  response_url: response_url ?? null,
});

/** The most links to requests that have to be decided in their own form. */
const MAX_LINKS = 10;
/** How long a form waits for them (ms): it must open within 3 s of the click, and its look-ups need most of that if Slack is slow. */
const LINKS_MS = 300;

async function apartOf(deps: ListenerDeps, opened: OpenedReview): Promise<readonly Apart[]> {
  const apart: Apart[] = opened.apart.slice(0, MAX_LINKS).map((item) => ({ item, link: null }));
  const looked = apart.map(async ({ item }, at) => {
    const { link } = await linkTo(deps, item.run, cardSlot(item.approval.id));
    apart[at] = { item, link };
  });
  await endedWithin(deps.clock, LINKS_MS, looked);
  return [...apart];
}

async function withLinks(
  deps: ListenerDeps,
  refused: Reviewed["refused"],
): Promise<readonly RefusedWithLink[]> {
  const lines: RefusedWithLink[] = [...refused];
  const looked = refused.map(async (each, at) => {
    if (each.run === null || each.approval === null) return;
    const { link } = await linkTo(deps, each.run, cardSlot(each.approval));
    lines[at] = { ...each, link };
  });
  await endedWithin(deps.clock, LINKS_MS, looked);
  return [...lines];
}

// Submits. Decisions are stored before the form is answered.

export async function onReviewSubmit(deps: ListenerDeps, payload: SubmitPayload): Promise<SubmitAnswer> {
  const { bundle, later } = carriedBy(payload.view);
  const denyBlock = reasonBlockOf(payload, DENY_REASON_BLOCK) ?? DENY_REASON_BLOCK;
  const reasonOf = { approve: APPROVE_REASON_BLOCK, deny: denyBlock };
  const choices = choicesIn(payload);
  const blocks = Object.keys(payload.view.state.values).filter((block) => block.startsWith(REVIEW_BLOCK));
  const waiting = later + blocks.length - choices.length;
  const next: NextReview | null = later === 0 ? null : { metadata: payload.view.private_metadata, waiting };
  const by = { team: deps.team, user: payload.user.id };
  const reasons = {
    approve: typedInto(payload, APPROVE_REASON_BLOCK, REASON_INPUT),
    deny: typedInto(payload, denyBlock, REASON_INPUT),
  };
  try {
    if (choices.length === 0) {
      const isTyped = `${reasons.approve}${reasons.deny}`.trim() !== "";
      if (next !== null && !isTyped)
        return { response_action: "update", view: reviewedModal(NOTHING_DECIDED, next) };
      await deps.noteRefusal(by, "verdict-needed", { step: "submit" });
      const error = next === null ? "nothing-chosen" : "nothing-chosen-but-typed";
      return inField(blocks[0] ?? denyBlock, FIELD_ERRORS[error]);
    }
    const reviewed = await deps.submitReview(by, bundle, choices, reasons);
    if (!reviewed.ok) return inField(reasonOf[reviewed.error.verdict], refusalPlain(reviewed.error.refusal));
    const silence = unverifiedOnly(reviewed.value);
    if (silence !== null) return inField(reasonOf[choices[0]?.verdict ?? "deny"], refusalPlain(silence));
    if (reviewed.value.refused.length === 0 && next === null) return undefined;
    const refused = await withLinks(deps, reviewed.value.refused);
    const results = { ...reviewed.value, refused, asker: by.user };
    return { response_action: "update", view: reviewedModal(results, next, [reasons.approve, reasons.deny]) };
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "could not record all decisions of a form");
    const [first = { verdict: null }] = choices;
    return inField(reasonOf[first.verdict ?? "deny"], FIELD_ERRORS["decisions-maybe-recorded"]);
  }
}

const NOTHING_DECIDED = { recorded: { approve: 0, deny: 0 }, refused: [] };

/** Returns the refusal if Slack's silence kept every decision from being recorded. The form then stays open, with all that was typed. */
function unverifiedOnly({ recorded, refused }: Reviewed): Refusal | null {
  if (recorded.approve + recorded.deny > 0) return null;
  return refused.every(({ refusal }) => refusal.type === "unverified") ? (refused[0]?.refusal ?? null) : null;
}

/** The nonces of the form's requests, in order. Null for a text that is not a nonce. */
function shownRequests({ view }: Pick<SubmitPayload, "view">): (Nonce | null)[] {
  return Object.keys(view.state.values).flatMap((block) =>
    block.startsWith(REVIEW_BLOCK) ? [parsed<Nonce>(Nonce, block.slice(REVIEW_BLOCK.length))] : [],
  );
}

/** The choices of a form. Requests that are left as they are do not count. A value that the form does not offer has a null verdict. */
function choicesIn(payload: SubmitPayload): Choice[] {
  return Object.keys(payload.view.state.values).flatMap((block) => {
    if (!block.startsWith(REVIEW_BLOCK)) return [];
    const word = chosenIn(payload, block, VERDICT_INPUT);
    if (word === "leave") return [];
    const nonce = parsed<Nonce>(Nonce, block.slice(REVIEW_BLOCK.length));
    return [{ nonce, verdict: word === "approve" || word === "deny" ? word : null }];
  });
}

/** Fills in a chosen reason for denials. The reason applies to each request that is denied in the form. */
export async function onReviewDenyReason(deps: ListenerDeps, payload: ChoicePayload): Promise<void> {
  const { view, user, actions } = payload;
  const by = { team: deps.team, user: user.id };
  const { bundle, ...opener } = carriedBy(view);
  const { value: preset } = actions[0].selected_option;
  try {
    const opened = await deps.review.severalOfPerson(by, bundle, shownRequests(payload), opener);
    if (opened === null || !presetsOfSeveral(opened).includes(preset))
      return await deps.noteRefusal(by, "unknown", { step: "click" });
    const filled = filledWith(preset, payload, DENY_REASON_BLOCK);
    await drawAgain(deps, payload, reviewSeveralModal(opened, await apartOf(deps, opened), filled));
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn({ code: error.code }, NOT_FILLED);
  }
}

/** Handles "Review the next" in the window with the results, which the next form replaces. */
export async function onNextReviewSubmit(deps: ListenerDeps, payload: SubmitPayload): Promise<SubmitAnswer> {
  const { kind, value, last } = carriedBy(payload.view);
  const by = { team: deps.team, user: payload.user.id };
  try {
    const opened = await deps.review.openSeveral(by, kind, value, last);
    if (opened.ok) {
      const apart = await apartOf(deps, opened.value);
      return { response_action: "update", view: reviewSeveralModal(opened.value, apart) };
    }
    const { refusal, run } = opened.error;
    // These refusals are about the one request by which the button names its group.
    if (run !== null && ABOUT_THE_NAMED.has(refusal.type))
      return {
        response_action: "update",
        view: messageModal("Nothing more to review", NOTHING_MORE, "answer:nothing-more"),
      };
    return refusedForm(refusal, payload.user.id);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, "could not open the next requests");
    return {
      response_action: "update",
      view: messageModal("Try again", NOT_OPENED, "answer:review-not-opened"),
    };
  }
}

const ABOUT_THE_NAMED: ReadonlySet<Refusal["type"]> = new Set([
  "unknown",
  "already-decided",
  "already-voted",
]);
const NOTHING_MORE =
  "Countersign found no more requests of this group that you can decide now. What was recorded before stays recorded; the cards show it. The Home tab shows what else waits for you.";
const NOT_OPENED =
  "Countersign could not open the next requests just now. What you decided before is recorded. Close this window and press Review again.";
