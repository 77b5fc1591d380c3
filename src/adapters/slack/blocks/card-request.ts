// The request on a card that waits: short fields side by side, long ones in boxes, of a very long request an overview of all fields.

import type { Block } from "@slack/types";
import type { Approval } from "../../../domain/approval.ts";
import { fileState } from "../../../domain/render-key.ts";
import { requestSlot, type Run } from "../../../domain/run.ts";
import { cardFields, type CardMarks, type Risk, type ShortField } from "../../../domain/text/card-layout.ts";
import { needsFile, requestParts } from "../../../domain/text/request-text.ts";
import type { PartId } from "./message-id.ts";
import { fieldBoxes, fitsCard, NO_ACTION, secretsInWhole } from "./request-blocks.ts";
import { requestOverview } from "./request-overview.ts";
import { drawnBoxes, line, localTime, rich, span } from "./rich.ts";

/** Slack takes ten texts in a section: five names with their values. */
const ROWS = 5;

/** Of a request that does not fit the card whole. */
const ROOM = { chars: 1_800, most: 4_000 };

const WHERE_IN_FILE = {
  coming: "The whole request is being attached to this thread as a file.",
  there: "The whole request is attached to this thread as a file.",
  refused: "The whole request could not be attached; the service has it.",
};

type Drawn = {
  readonly blocks: Block[];
  /** How many secrets are masked in it. */
  readonly secrets: number;
  /** How much of the request it shows. */
  readonly id: PartId;
};

/** `inTitle`: the title holds the whole action. */
export function cardRequest(run: Run, approval: Approval, marks: CardMarks, inTitle: boolean): Drawn {
  const { request } = approval;
  if (!fitsCard(request)) {
    const file = needsFile(request) ? fileState(run, requestSlot(approval)) : null;
    const where = file === null ? '"Read in full" shows the whole request.' : WHERE_IN_FILE[file];
    const { block, secrets } = requestOverview(request, ROOM, where, "masked");
    return { blocks: [block], secrets, id: file === null ? "request:shortened" : `request:file-${file}` };
  }
  const { action } = requestParts(request, "masked");
  const { short, long } = cardFields(request, marks, approval.appliedRule.card, approval.seenAt);
  const asked =
    action === null
      ? [rich(line(span(NO_ACTION, { italic: true })))]
      : inTitle
        ? []
        : [rich(...drawnBoxes(action))];
  const boxes = long.length === 0 ? [] : [rich(...fieldBoxes(long))];
  return {
    blocks: [...asked, ...sections(short), ...boxes],
    secrets: secretsInWhole(request),
    id: "request:whole",
  };
}

/** Names on the left, values on the right. A value is plain text, in which Slack reads no markup. */
function sections(fields: readonly ShortField[]): Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < fields.length; at += ROWS) {
    const texts = fields
      .slice(at, at + ROWS)
      .flatMap(({ label, value, at: moment }) => [
        { type: "mrkdwn", text: `*${label}*`, verbatim: true },
        moment === null
          ? { type: "plain_text", text: value, emoji: false }
          : { type: "mrkdwn", text: localTime(moment), verbatim: true },
      ]);
    blocks.push({ type: "section", fields: texts } as Block);
  }
  return blocks;
}

/** The risk and the places, as separate words. */
export function wordsOfMarks({ risk, where }: CardMarks): readonly string[] {
  return [...(risk === null ? [] : [riskWords(risk)]), ...where];
}

/** The same for a person who decides: a risk that the service does not state must not pass for a low one. */
export function wordsForDeciders(marks: CardMarks): readonly string[] {
  return marks.risk === null ? ["Risk not stated", ...marks.where] : wordsOfMarks(marks);
}

const MARKS = { critical: "🟥", high: "🟧", medium: "🟨", low: "🟩", other: "⬜" } as const;

export const riskMark = ({ level }: Risk): string => MARKS[level];

/** "High risk"; of a word that is no level, "Risk 7/10". */
export function riskWords({ level, words }: Risk): string {
  if (level === "other") return `Risk ${words}`;
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} risk`;
}
