// Links to our messages. A link never changes, so each client asks Slack once for each message.

import type { ChannelId, MessageTs } from "../../domain/ids.ts";
import { OPENING, type Run, type Slot } from "../../domain/run.ts";
import type { Deployment } from "./blocks/deployment.ts";
import type { Call } from "./clients.ts";

type Asking = { readonly quick: Call; readonly deployment: Deployment };
type WithLink = { readonly run: Run; readonly link: string | null; readonly deployment: Deployment };

/** The oldest go when there are more than this. */
const MOST_KEPT = 2_000;
const kept = new WeakMap<Call, Map<string, string>>();

/** With a link to the run's thread. */
export const linked = (deps: Asking, run: Run): Promise<WithLink> => linkTo(deps, run, OPENING);

/** With a link to one of its messages; null while that is not posted, or if Slack gives none. Never rejects. */
export async function linkTo({ quick, deployment }: Asking, run: Run, slot: Slot): Promise<WithLink> {
  const post = run.posts[slot];
  return { run, link: post?.type === "up" ? await permalink(quick, run.channel, post.ts) : null, deployment };
}

/** To the message at this place; null: there is no such place, or Slack gives no link. Never rejects. */
export async function linkAt(
  { quick }: Asking,
  channel: ChannelId | null,
  ts: MessageTs | null,
): Promise<string | null> {
  return channel === null || ts === null ? null : permalink(quick, channel, ts);
}

async function permalink(quick: Call, channel: ChannelId, ts: MessageTs): Promise<string | null> {
  const links = kept.get(quick) ?? new Map<string, string>();
  kept.set(quick, links);
  const known = links.get(`${channel} ${ts}`);
  if (known !== undefined) return known;
  const found = await quick("chat.getPermalink", { channel, message_ts: ts }).catch(() => ({}));
  const { permalink: link } = { permalink: null, ...found };
  if (typeof link !== "string") return null;
  links.set(`${channel} ${ts}`, link);
  const [oldest] = links.keys();
  if (links.size > MOST_KEPT && oldest !== undefined) links.delete(oldest);
  return link;
}
