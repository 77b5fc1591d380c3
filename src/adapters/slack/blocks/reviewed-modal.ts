// The window with the results of a form with several requests. It leads to the next form if not all requests fitted in one.

import type { Block, RichTextSection, View } from "@slack/types";
import type { Request } from "../../../domain/approval.ts";
import type { Refusal } from "../../../domain/authorization.ts";
import type { UserId } from "../../../domain/ids.ts";
import { contextBehind } from "../../../domain/run-context.ts";
import type { Run } from "../../../domain/run.ts";
import { cardMarks } from "../../../domain/text/card-layout.ts";
import { askedIn } from "../../../domain/text/headline.ts";
import type { RefusedLine, Reviewed } from "../../../usecases/submit-review.ts";
import { REVIEW_NEXT_MODAL } from "../names.ts";
import { withId } from "./message-id.ts";
import { askedWithMarks } from "./pending-card.ts";
import { refusalPlain } from "./refusal-words.ts";
import { approvalOf } from "./request-blocks.ts";
import { TITLE_CHARS } from "./review-modal.ts";
import { count, line, note, plain, plural, rich, span, untrustedQuote } from "./rich.ts";
import { typedPart } from "./typed-text.ts";

/** `waiting`: how many requests of the group still wait. `metadata` is that of the form, so that the next one begins behind it. */
export type NextReview = { readonly metadata: string; readonly waiting: number };

/** `link` leads to the request's card. Absent or null if Slack gave none. */
export type RefusedWithLink = RefusedLine & { readonly link?: string | null };
/** `asker`: the person who submitted the form. */
type Results = Pick<Reviewed, "recorded"> & {
  readonly refused: readonly RefusedWithLink[];
  readonly asker?: UserId;
};

/**
 * Says how many decisions are recorded, and lists each refused one with the reason. `typed`: the reasons that the person typed, which they
 * may need for the refused ones.
 */
export function reviewedModal(
  { recorded, refused, asker }: Results,
  next: NextReview | null,
  typed: readonly string[] = [],
): View {
  return withId("form:reviewed", {
    type: "modal",
    title: plain(titleOf({ recorded, refused })),
    ...(next === null
      ? {}
      : {
          callback_id: REVIEW_NEXT_MODAL,
          private_metadata: next.metadata,
          submit: plain("Review the next"),
        }),
    close: plain("Close"),
    blocks: [
      rich(line(span(recordedWords(recorded)))),
      ...(refused.length === 0
        ? []
        : [
            rich(line(span("Not recorded:", { bold: true }))),
            ...refused.map((each) => refusedLine(each, asker)),
            ...typedPart(typed),
          ]),
      ...(next === null ? [] : [note(waitingWords(next.waiting))]),
    ],
  });
}

function titleOf({ recorded: { approve, deny }, refused }: Results): string {
  if (approve + deny === 0) return "Nothing new recorded";
  return refused.length === 0 ? "Recorded" : "Not all were recorded";
}

const waitingWords = (waiting: number): string =>
  `${count(waiting)} more ${plural(waiting, "waits", "wait")} for you and can be reviewed next.`;

function recordedWords({ approve, deny }: Reviewed["recorded"]): string {
  // An earlier press of this form may have been recorded, and sent, although its answer got lost.
  if (approve + deny === 0) return "This press recorded nothing new.";
  const parts = [
    ...(approve === 0 ? [] : [approve === 1 ? "1 approval" : `${count(approve)} approvals`]),
    ...(deny === 0 ? [] : [deny === 1 ? "1 denial" : `${count(deny)} denials`]),
  ];
  return `Recorded: ${parts.join(" and ")}. The cards say what becomes of them.`;
}

function refusedLine(
  { request, run, refusal, link = null }: RefusedWithLink,
  asker: UserId | undefined,
): Block {
  const what = request === null ? "A request" : askedIn(request, TITLE_CHARS);
  return rich(
    untrustedQuote(what, TITLE_CHARS),
    line(
      span(refusedWords(refusal, asker)),
      ...(link === null ? [] : [span(" "), { type: "link" as const, url: link, text: "Open the card" }]),
    ),
    ...(refusal.type === "changed" ? [nowLine(run, refusal.now)] : []),
  );
}

function refusedWords(refusal: Refusal, asker: UserId | undefined): string {
  if (refusal.type !== "already-decided" || asker === undefined || refusal.decision.by?.user !== asker)
    return refusalPlain(refusal);
  const what = refusal.decision.verdict === "approve" ? "approved" : "denied";
  return `You already ${what} this. This press did not change that; the card says what became of your decision.`;
}

function nowLine(run: Run | null, now: Request): RichTextSection {
  const names = run === null ? undefined : approvalOf(run, now)?.appliedRule.card;
  const marks = cardMarks(now, contextBehind(run?.context ?? null, now), names);
  return line(span("Now: "), ...askedWithMarks(askedIn(now, TITLE_CHARS), TITLE_CHARS, marks));
}
