// Notices about a run to one person or to a channel.

import { type ChannelId, parsed, UserId } from "../../domain/ids.ts";
import type { NoticeContent } from "../../domain/notice.ts";
import type { Run } from "../../domain/run.ts";
import { type PacedEffect, PortError } from "../../ports.ts";
import { type Deployment, named, UNNAMED } from "./blocks/deployment.ts";
import { cardsOfNotice, privateNotice, queuedNotice } from "./blocks/private-notice.ts";
import type { Message } from "./blocks/rich.ts";
import type { Call, Responder } from "./clients.ts";
import { linksTo, LITERAL } from "./own-messages.ts";
import type { RateLimiter } from "./rate-limiter.ts";

const EPHEMERAL = { parse: "none", link_names: false };

type Deps = {
  readonly call: Call;
  readonly limiter: Pick<RateLimiter, "queueBefore" | "waitForTurn" | "rest">;
  readonly answerAt: Responder;
  readonly deployment?: Deployment;
  readonly monotonic: () => number;
};

/**
 * Sends a notice to a channel as a message, or to a person as a direct message. Slack shows an ephemeral message only to people who are
 * active (docs.slack.dev, chat.postEphemeral), so one is sent only if Slack refuses the direct message for good.
 */
export async function sendNotice(
  deps: Deps,
  run: Run,
  to: UserId | ChannelId,
  notice: NoticeContent,
): Promise<void> {
  const { call, deployment = UNNAMED } = deps;
  const links = await linksTo(call, run.channel, cardsOfNotice(notice, run));
  const message = named(privateNotice(notice, run, deployment, links), deployment);
  const user = parsed(UserId, to);
  const answers =
    user !== null && notice.type === "cannot-post" && (await answerCommand(deps, run, user, message));
  if (answers) return;
  try {
    await call("chat.postMessage", { channel: to, ...message, ...LITERAL });
  } catch (error) {
    if (user === null || !(error instanceof PortError) || error.retry === "later") throw error;
    await postEphemeral(call, run, user, message);
  }
}

/** Answers the person's command while Slack still accepts an answer. Resolves to false if no answer was sent. */
async function answerCommand(
  { answerAt, monotonic }: Deps,
  run: Run,
  to: UserId,
  message: Message,
): Promise<boolean> {
  if (run.answer === null || to !== run.requester || monotonic() >= run.answer.until) return false;
  try {
    await answerAt(run.answer.url, message);
    return true;
  } catch (error) {
    // If the answer may have arrived, the person would read it twice.
    if (!(error instanceof PortError) || error.applied === "maybe") throw error;
    return false;
  }
}

const postEphemeral = (call: Call, { channel }: Run, user: UserId, message: Message): Promise<unknown> =>
  call("chat.postEphemeral", { channel, user, ...message, ...EPHEMERAL });

/** After a longer wait (ms), a person would think that nothing happened. */
const LONG_WAIT_MS = 2_000;

export async function notifyIfQueued(deps: Deps, run: Run, effect: PacedEffect): Promise<void> {
  const { calls, ms } = deps.limiter.queueBefore(effect);
  if (ms < LONG_WAIT_MS) return;
  const { channel } = run;
  try {
    if (run.answer === null) await deps.limiter.waitForTurn({ kind: "other", channel, urgency: 1 });
    const message = named(queuedNotice(calls), deps.deployment ?? UNNAMED);
    const answers = await answerCommand(deps, run, run.requester, message);
    if (!answers) await postEphemeral(deps.call, run, run.requester, message);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    if (error.retryAfterMs !== null) deps.limiter.rest("other", channel, error.retryAfterMs);
  }
}
