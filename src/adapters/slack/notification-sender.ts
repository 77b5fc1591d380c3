// The `NotificationSender` port over Slack's Web API: sends notifications to people's direct messages and to the audit channel.

import { ChannelId, parsed } from "../../domain/ids.ts";
import type { Notification, NotificationFacts, NotificationSender } from "../../ports.ts";
import { postedChannel } from "./answers.ts";
import { named } from "./blocks/deployment.ts";
import { notificationMessage } from "./blocks/notification-message.ts";
import { escaped } from "./blocks/rich.ts";
import type { Call } from "./clients.ts";
import type { Files } from "./files.ts";
import {
  findMarked,
  LITERAL,
  paced,
  postMarked,
  readChannel,
  removeMessage,
  type Self,
} from "./marked-messages.ts";
import type { RateLimiter } from "./rate-limiter.ts";

type Deps = {
  readonly call: Call;
  readonly limiter: Pick<RateLimiter, "rest">;
  readonly files: Files;
  readonly self: Self;
  /** Which of several Countersigns this is; empty: it has no name. */
  readonly deployment: string;
  readonly digest: (text: string) => string;
};

export function createNotificationSender(deps: Deps): NotificationSender {
  const { call, files, self, deployment } = deps;
  const markOf = ({ id }: Notification): string => deps.digest(`letter ${id}`).slice(0, 32);
  return {
    async post(notification, facts) {
      const link = notification.kind === "dispute" ? await linkToCard(call, facts) : null;
      return paced(deps, notification.to, "post", () =>
        postMarked(call, markOf(notification), {
          channel: notification.to,
          ...named(notificationMessage(notification, facts, { link }), deployment),
        }),
      );
    },

    async find(notification) {
      const channel = parsed(ChannelId, notification.to);
      if (channel === null) return [];
      const messages = await paced(deps, channel, "read", () =>
        readChannel(call, channel, notification.madeAt),
      );
      return findMarked(messages, markOf(notification), self);
    },

    remove: ({ to }, ts) => paced(deps, to, "other", () => removeMessage(call, to, ts)),

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

/** Null: Slack gave none. An alarm does not wait for it. */
async function linkToCard(call: Call, { channel, card }: NotificationFacts): Promise<string | null> {
  if (channel === null || card === null) return null;
  const found = await call("chat.getPermalink", { channel, message_ts: card }).catch(() => null);
  const { permalink } = { permalink: null, ...found };
  return typeof permalink === "string" ? permalink : null;
}
