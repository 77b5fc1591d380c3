// The value of the button that starts a suggested run. It contains the task, so any process can start the run, also after a restart. It
// comes back from Slack as untrusted text, so a MAC binds it to the person and the channel for whom it was made.

import type { Asker } from "../../usecases/access.ts";
import type { ListenerDeps } from "./listener-deps.ts";

/** docs.slack.dev, button element: the most characters of a value. */
const MAX_VALUE_CHARS = 2_000;

/** Returns null if the task is too long for a button. */
export function suggestionValue(
  deps: Pick<ListenerDeps, "macOf" | "nonce">,
  by: Asker,
  task: string,
): string | null {
  // Encoded, because Slack may write & < > as entities.
  const content = `${deps.nonce()}.${Buffer.from(task).toString("base64url")}`;
  const value = `${content}.${macFor(deps, by, content)}`;
  return value.length > MAX_VALUE_CHARS ? null : value;
}

/** Presses with the same nonce start one run, as long as that run is kept. */
type SuggestedRun = { readonly nonce: string; readonly task: string };

/** Returns null if we did not make this value for this person in this channel. */
export function suggestedRun(
  deps: Pick<ListenerDeps, "macOf">,
  by: Asker,
  value: string,
): SuggestedRun | null {
  const [nonce = "", task = "", mac] = value.split(".");
  if (mac !== macFor(deps, by, `${nonce}.${task}`)) return null;
  return { nonce, task: Buffer.from(task, "base64url").toString() };
}

const macFor = (
  { macOf }: Pick<ListenerDeps, "macOf">,
  { team, user, channel }: Asker,
  content: string,
): string => macOf(["suggested run", team, user, channel, content]);
