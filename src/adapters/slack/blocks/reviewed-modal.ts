// The window with the results of a form with several requests. It leads to the next form if not all requests fitted in one.

import type { Block, View } from "@slack/types";
import { headline } from "../../../domain/text/headline.ts";
import type { RefusedLine, Reviewed } from "../../../usecases/submit-review.ts";
import { REVIEW_NEXT_MODAL } from "../names.ts";
import { withId } from "./message-id.ts";
import { refusalPlain } from "./refusal-words.ts";
import { TITLE_CHARS } from "./review-modal.ts";
import { count, line, note, plain, plural, rich, span, untrustedSpan } from "./rich.ts";
import { typedPart } from "./typed-text.ts";

/** `waiting`: how many requests of the group still wait. `metadata` is that of the form, so that the next one begins behind it. */
export type NextReview = { readonly metadata: string; readonly waiting: number };

/**
 * Says how many decisions are recorded, and lists each refused one with the reason. `typed`: the reasons that the person typed, which they
 * may need for the refused ones.
 */
export function reviewedModal(
  { recorded, refused }: Reviewed,
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
            ...refused.map(refusedLine),
            ...typedPart(typed),
          ]),
      ...(next === null ? [] : [note(waitingWords(next.waiting))]),
    ],
  });
}

function titleOf({ recorded: { approve, deny }, refused }: Reviewed): string {
  if (approve + deny === 0) return "Nothing was recorded";
  return refused.length === 0 ? "Recorded" : "Not all were recorded";
}

const waitingWords = (waiting: number): string =>
  `${count(waiting)} more ${plural(waiting, "waits", "wait")} for you and can be reviewed next.`;

function recordedWords({ approve, deny }: Reviewed["recorded"]): string {
  if (approve + deny === 0) return "Nothing was recorded, and nothing was sent.";
  const parts = [
    ...(approve === 0 ? [] : [approve === 1 ? "1 approval" : `${count(approve)} approvals`]),
    ...(deny === 0 ? [] : [deny === 1 ? "1 denial" : `${count(deny)} denials`]),
  ];
  return `Recorded: ${parts.join(" and ")}. The cards say what becomes of them.`;
}

function refusedLine({ request, refusal }: RefusedLine): Block {
  const what = request === null ? "A request" : headline(request, TITLE_CHARS).text;
  return rich(line(untrustedSpan(what, TITLE_CHARS, { bold: true })), line(span(refusalPlain(refusal))));
}
