// The `NotificationSender` port over Slack's Web API: sends notifications to people's direct messages and to the audit channel.

import { ChannelId, parsed } from "../../domain/ids.ts";
import {
  isReceipt,
  type Notification,
  type NotificationFacts,
  type NotificationSender,
} from "../../ports.ts";
import { postedChannel } from "./answers.ts";
import { type Deployment, named } from "./blocks/deployment.ts";
import { notificationMessage } from "./blocks/notification-message.ts";
import { type ReceiptFacts, severalReceipts } from "./blocks/receipts.ts";
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
} from "./own-messages.ts";
import type { RateLimiter } from "./rate-limiter.ts";

type Deps = {
  readonly call: Call;
  readonly limiter: Pick<RateLimiter, "rest">;
  readonly files: Files;
  readonly self: Self;
  readonly deployment: Deployment;
  readonly digest: (text: string) => string;
};

/** These link to the card, as receipts do. */
const LINKED: ReadonlySet<Notification["kind"]> = new Set(["dispute", "answered", "expired"]);

export function createNotificationSender(deps: Deps): NotificationSender {
  const { call, files, self, deployment, digest } = deps;
  const markOf = ({ id }: Notification): string => digest(`letter ${id}`).slice(0, 32);
  return {
    async post(notification, facts) {
      const isAboutCard = LINKED.has(notification.kind) || isReceipt(notification);
      const link = isAboutCard ? await linkToCard(call, facts) : null;
      return paced(deps, notification.to, "post", () =>
        postMarked(call, markOf(notification), {
          channel: notification.to,
          ...named(notificationMessage(notification, facts, { link, deployment }), deployment),
        }),
      );
    },

    postReceipts: (to, receipts) => paced(deps, to, "post", () => postReceipts(deps, to, receipts)),

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

/** They are in a direct message, which cannot be read back, so its mark is of no use but to tell our messages from others. */
async function postReceipts(
  { call, deployment, digest }: Deps,
  ...[to, receipts]: Parameters<NotificationSender["postReceipts"]>
): ReturnType<NotificationSender["postReceipts"]> {
  const drawn: ReceiptFacts[] = [];
  for (const each of receipts) drawn.push({ ...each, link: await linkToCard(call, each.facts) });
  const mark = digest(`receipts ${receipts.map(({ receipt }) => receipt.id).join(" ")}`).slice(0, 32);
  return postMarked(call, mark, { channel: to, ...named(severalReceipts(drawn, deployment), deployment) });
}

/** Null: Slack gave none. An alarm does not wait for it. */
async function linkToCard(call: Call, { channel, card }: NotificationFacts): Promise<string | null> {
  if (channel === null || card === null) return null;
  const found = await call("chat.getPermalink", { channel, message_ts: card }).catch(() => null);
  const { permalink } = { permalink: null, ...found };
  return typeof permalink === "string" ? permalink : null;
}
