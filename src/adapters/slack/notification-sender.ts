// The `NotificationSender` port over Slack's Web API: sends notifications to people's direct messages and to the audit channel.

import { ChannelId, type MessageTs, MessageTs as toTs, parsed } from "../../domain/ids.ts";
import { type Notification, type NotificationSender, PortError } from "../../ports.ts";
import { postedChannel, postedTs } from "./answers.ts";
import { notificationMessage } from "./blocks/notification-message.ts";
import { escaped } from "./blocks/rich.ts";
import { isOurs, LITERAL, pages, removeMessage, type Self } from "./chat.ts";
import type { Call } from "./clients.ts";
import type { Files } from "./files.ts";
import { METADATA_EVENT } from "./names.ts";
import type { RateLimiter } from "./rate-limiter.ts";

type Deps = {
  readonly call: Call;
  readonly limiter: RateLimiter;
  readonly files: Files;
  readonly self: Self;
  readonly digest: (text: string) => string;
};

/** Our clock and Slack's may differ by this much (ms). */
const SKEW_MS = 60_000;

export function createNotificationSender(deps: Deps): NotificationSender {
  const { call, files, self } = deps;
  const markOf = ({ id }: Notification): string => deps.digest(`letter ${id}`).slice(0, 32);
  return {
    post: (notification, facts) =>
      paced(deps, notification, async () => {
        const metadata = { event_type: METADATA_EVENT, event_payload: { mark: markOf(notification) } };
        const args = {
          channel: notification.to,
          ...notificationMessage(notification, facts),
          ...LITERAL,
          metadata,
        };
        return postedTs(await call("chat.postMessage", args));
      }),

    async find(notification) {
      const channel = parsed(ChannelId, notification.to);
      if (channel === null) return [];
      const oldest = String((notification.madeAt - SKEW_MS) / 1_000);
      const messages = await pages(call, "conversations.history", { channel, oldest });
      const mark = markOf(notification);
      const isMine = (each: (typeof messages)[number]): boolean =>
        isOurs(each, self) && each.metadata?.event_payload["mark"] === mark;
      return timestampsOf(messages.filter(isMine));
    },

    remove: ({ to }, ts) => removeMessage(call, to, ts),

    async file(to, { name, text, says }) {
      const file = await files.put(name, text);
      const args = { channel: to, text: escaped(says), ...LITERAL };
      const channel = postedChannel(await call("chat.postMessage", args));
      await call("files.completeUploadExternal", {
        files: [{ id: file, title: name }],
        channel_id: channel,
      });
    },
  };
}

function timestampsOf(messages: readonly { readonly ts?: unknown }[]): readonly MessageTs[] {
  return messages
    .map(({ ts }) => parsed<MessageTs>(toTs, ts))
    .filter((ts) => ts !== null)
    .sort();
}

/** After a 429 the next posts to the same place wait as long as Slack asks. */
async function paced<T>({ limiter }: Deps, { to }: Notification, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof PortError && error.retryAfterMs !== null)
      limiter.rest("post", to, error.retryAfterMs);
    throw error;
  }
}
