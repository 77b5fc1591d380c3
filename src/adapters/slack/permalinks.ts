import { OPENING, type Run, type Slot } from "../../domain/run.ts";
import type { Linked } from "./blocks/command-answers.ts";
import type { ListenerDeps } from "./listener-deps.ts";

/** With a link to the run's thread. */
export function linked(deps: Pick<ListenerDeps, "quick">, run: Run): Promise<Linked> {
  return linkedTo(deps, run, OPENING);
}

/** If Slack gives no link, the row is shown without one. */
export async function linkedTo(
  { quick }: Pick<ListenerDeps, "quick">,
  run: Run,
  slot: Slot,
  linkWords?: string,
): Promise<Linked> {
  const post = run.posts[slot];
  if (post?.type !== "up") return { run, link: null };
  const message = { channel: run.channel, message_ts: post.ts };
  const found = await quick("chat.getPermalink", message).catch(() => ({ permalink: null }));
  const { permalink } = { permalink: null, ...found };
  return { run, link: typeof permalink === "string" ? permalink : null, ...(linkWords && { linkWords }) };
}
