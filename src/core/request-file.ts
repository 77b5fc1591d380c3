// The file that holds a request which is too long for a form, in the run's thread.

import type { Request, RunContext } from "./approval.ts";
import { requestText, secretsIn } from "./request-text.ts";
import { drawnContext, secretsInContext } from "./run-context.ts";
import { visible } from "./text.ts";

/** Beyond so much (characters) the form could not repeat what the file masks, so nothing is masked in it. */
const MASKED_IN_FILE_CHARS = 15_000;

/** Whatever is masked in it stands in the form of whoever decides. `context`: the run's own fields. */
export function fileText(request: Request, context: RunContext | null = null): string {
  const as = maskedByFile(request, context) === null ? "open" : "masked";
  const text = requestText(request, as);
  return context === null
    ? text
    : `${text}\n\nThe run, as the service tells of it:\n${drawnContext(context, as)}`;
}

/** What the file masks, in its order of fields. Null: too much of it, so it masks nothing. */
export function maskedByFile(request: Request, context: RunContext | null): readonly string[] | null {
  const secrets = [...secretsIn(request), ...(context === null ? [] : secretsInContext(context))];
  return visible(secrets.join("\n")).length <= MASKED_IN_FILE_CHARS ? secrets : null;
}
