// How many sockets Slack counts for our app. It hands each click to one of them, so a second program with the same app token, such as
// a test installation, takes half of the clicks and knows none of the cards.

import type { SocketModeReceiver } from "@slack/bolt";
import { z } from "zod";
import type { EventLog } from "../../ports.ts";

const Greeting = z.object({ type: z.literal("hello"), num_connections: z.number().int() });
/** Slack's greeting is shorter, and payloads are not parsed a second time (characters). */
const GREETING_CHARS = 2_000;

/**
 * Slack greets a socket once, at its beginning. So the program that comes second is told at once, and the first one when it connects
 * again. `alone`: the installation has one process, so a second socket is another program's; then the log says so.
 */
export function watchSocketCount(
  client: Pick<SocketModeReceiver["client"], "on">,
  { alone, log }: { readonly alone: boolean; readonly log: EventLog },
): void {
  let newest: number | null = null;
  client.on("ws_message", (data: unknown) => {
    const said = typeof data === "string" && data.length <= GREETING_CHARS ? greetingIn(data) : null;
    if (said === null) return;
    const before = newest;
    newest = said;
    // At a reconnection Slack can still count the socket that has just ended, so then it must say so twice.
    if (alone && said > 1 && (before === null || before > 1)) log.warn({ sockets: said }, OTHERS);
  });
}

const OTHERS =
  "Slack counts other sockets on this app. If another program uses its tokens, clicks go to that one and are refused: give each installation an app of its own. After a crash it is the old socket, for a minute";

function greetingIn(data: string): number | null {
  if (!data.includes('"hello"')) return null;
  try {
    return Greeting.safeParse(JSON.parse(data)).data?.num_connections ?? null;
  } catch {
    return null;
  }
}
