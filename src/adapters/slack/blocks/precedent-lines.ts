// What was decided before on the same request, on its card and in the forms: the newest denial with its reason, then the approvals. Facts
// in plain type: no colour, no icon and no button, because they are no advice.

import type { Block, RichTextElement, RichTextSection } from "@slack/types";
import { NO_PRECEDENTS, PRECEDENT_DAYS, type Precedent, type Precedents } from "../../../domain/precedent.ts";
import { partWithId } from "./message-id.ts";
import { count, day, line, person, rich, span, untrustedSpan } from "./rich.ts";

/** The store holds less of it. */
const REASON_CHARS = 200;

const HEADING = span("Same request before: ");

/** None: nothing is drawn. */
export function precedentBlocks({ denied, approved }: Precedents = NO_PRECEDENTS): Block[] {
  if (denied === null && approved === null) return [];
  const which = denied === null ? "approved" : approved === null ? "denied" : "both";
  return [partWithId(`before:${which}`, rich(...precedentLines({ denied, approved })))];
}

export function precedentLines({ denied, approved }: Precedents): RichTextSection[] {
  const lines = [
    ...(denied === null ? [] : [deniedWords(denied)]),
    ...(approved === null ? [] : [[...toldWords("Approved", approved), span(".")]]),
  ];
  return lines.map((words, at) => line(...(at === 0 ? [HEADING] : []), ...words));
}

/** The reason ends its line and alone is slanted, so nothing in it passes for our words. Slack draws code in red, so it is no code. */
function deniedWords({ reason, ...denied }: NonNullable<Precedents["denied"]>): RichTextElement[] {
  const quoted =
    reason.trim() === ""
      ? [span(".")]
      : [span(': "'), untrustedSpan(reason, REASON_CHARS, { italic: true }), span('".')];
  return [...toldWords("Denied", denied), ...quoted];
}

function toldWords(verdict: string, { times, more, by, at }: Precedent): RichTextElement[] {
  const many = `${more ? "at least " : ""}${count(times)} ${times === 1 ? "time" : "times"}`;
  const said = times === 1 && !more ? `${verdict} ` : `${verdict} ${many} in ${PRECEDENT_DAYS} days, last `;
  return [span(said), day(at), span(" by "), person(by)];
}
