// The service's answers inside our sentences. The adapter writes them with their speaker ("The agent service answered HTTP 409
// (conflict): Not now."); a sentence that names the service already needs only the rest.

import { oneLine } from "../../../domain/text/excerpt.ts";

const ANSWERED = /^The agent service answered HTTP (\d{3})(?: \(([^()]*)\))?(?:: ([^]*)|\.)$/;
const SAYS = /^The agent service says of this approval: ([^]*)$/;

/** " (HTTP 409): Not now.", " (HTTP 409, conflict)." or ": any other words." Untrusted text, on one line and with a full stop. */
export function answerAfter(words: string, max: number): string {
  const [answered, status, name, message] = ANSWERED.exec(words) ?? [];
  if (answered === undefined) return `: ${sentence(withoutSpeaker(words), max)}`;
  if (message === undefined)
    return ` (HTTP ${status}${name === undefined ? "" : `, ${oneLine(name, max)}`}).`;
  return ` (HTTP ${status}): ${sentence(message, max)}`;
}

/** For a quotation below "The service said:". */
export function withoutSpeaker(words: string): string {
  const says = SAYS.exec(words)?.[1];
  if (says !== undefined) return says;
  return ANSWERED.test(words) ? words.replace("The agent service answered ", "") : words;
}

function sentence(words: string, max: number): string {
  const text = oneLine(words, max);
  return /[.!?…)]$/.test(text) ? text : `${text}.`;
}
