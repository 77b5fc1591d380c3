import type { Approval } from "../core/approval.ts";
import type { ChannelId, MessageTs, Nonce, TeamId, UserId } from "../core/ids.ts";
import { err, ok, type Result } from "../core/result.ts";
import { cardSlot, findApproval, type Run } from "../core/run.ts";
import type { DecideDeps, No } from "./refuse.ts";

/** Nothing in it is believed but who clicked what where. */
export type Click = {
  readonly team: TeamId;
  readonly user: UserId;
  readonly channel: ChannelId;
  readonly ts: MessageTs;
  /** Null: the button carried something that is none. */
  readonly nonce: Nonce | null;
};

/** `version`: of the card that was clicked, which may be an older one. */
export type Found = { readonly run: Run; readonly approval: Approval; readonly version: number };

export async function findCard(
  { store }: Pick<DecideDeps, "store">,
  click: Click,
): Promise<Result<Found, No>> {
  const button = click.nonce === null ? null : await store.byButton(click.nonce);
  const run = button === null ? null : ((await store.load(button.run))?.run ?? null);
  const approval = run === null || button === null ? null : findApproval(run, button.approval);
  if (run === null || button === null || approval === null)
    return err({ refusal: { because: "unknown" }, run: null });
  const post = run.posts[cardSlot(approval.id)];
  const ours = run.team === click.team && run.channel === click.channel;
  if (ours && (post?.is === "sending" || post?.is === "unsure"))
    return err({ refusal: { because: "being-posted" }, run });
  // The nonce is bound to its message: the same value under another message, channel or team is nobody's button.
  if (!ours || post?.is !== "up" || post.ts !== click.ts)
    return err({ refusal: { because: "unknown" }, run: null });
  return ok({ run, approval, version: button.version });
}
