// Direct messages and an audit channel for tests.

import { MessageTs, type UserId } from "#src/domain/ids.ts";
import type { Notification, NotificationFacts, NotificationSender } from "#src/ports/notification.ts";

/** Direct messages and an audit channel that do everything immediately. */
export type HandMail = NotificationSender & {
  readonly posted: { readonly notification: Notification; readonly facts: NotificationFacts }[];
  /** The receipts of each message. */
  readonly together: (readonly Notification["id"][])[];
  readonly given: {
    readonly to: UserId;
    readonly name: string;
    readonly text: string;
    readonly says: string;
  }[];
  post: NotificationSender["post"];
  postReceipts: NotificationSender["postReceipts"];
  find: NotificationSender["find"];
  remove: NotificationSender["remove"];
  file: NotificationSender["file"];
  /** The images in threads. */
  readonly pictures: { readonly ts: MessageTs; readonly alt: string; readonly bytes: Uint8Array }[];
  attach: NotificationSender["attach"];
};

export function handMail(): HandMail {
  const notificationSender: HandMail = {
    posted: [],
    together: [],
    given: [],
    postReceipts(_to, receipts) {
      notificationSender.together.push(receipts.map(({ receipt }) => receipt.id));
      const all = receipts.map(({ receipt, facts }) => ({ notification: receipt, facts }));
      notificationSender.posted.push(...all);
      return Promise.resolve(MessageTs("1700000001.000008"));
    },
    post(notification, facts) {
      notificationSender.posted.push({ notification, facts });
      return Promise.resolve(
        MessageTs(`1700000001.${String(notificationSender.posted.length).padStart(6, "0")}`),
      );
    },
    find: ({ id, to }) =>
      Promise.resolve(
        to.startsWith("C") && notificationSender.posted.some(({ notification }) => notification.id === id)
          ? [MessageTs("1700000001.000009")]
          : [],
      ),
    remove: () => Promise.resolve(),
    pictures: [],
    attach(_to, ts, { alt, bytes }) {
      notificationSender.pictures.push({ ts, alt, bytes });
      return Promise.resolve();
    },
    file(to, { name, text, says }) {
      notificationSender.given.push({ to, name, text, says });
      return Promise.resolve();
    },
  };
  return notificationSender;
}
