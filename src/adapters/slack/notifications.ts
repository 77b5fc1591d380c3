// Notifications in Slack. The `NotificationSender` port sends them to people's direct messages and to the audit channel. This file also
// handles clicks on a receipt's button.

import { isUndo, type KeptEntry } from "../../audit/entry.ts";
import { ChannelId, Nonce, parsed } from "../../domain/ids.ts";
import { PortError } from "../../ports.ts";
import {
  isReceipt,
  type Notification,
  type NotificationFacts,
  type NotificationSender,
  type Reach,
  SEVERAL_RECEIPTS,
} from "../../ports/notification.ts";
import type { Disputed } from "../../usecases/dispute-decision.ts";
import { postedChannel } from "./answers.ts";
import { type Deployment, named } from "./blocks/deployment.ts";
import { notificationMessage } from "./blocks/notification-message.ts";
import { entryShownIn, type ReceiptFacts, severalReceipts } from "./blocks/receipts.ts";
import { escaped, type Message } from "./blocks/rich.ts";
import { type Answer, showAnswer } from "./clicks.ts";
import type { Call } from "./clients.ts";
import type { Files } from "./files.ts";
import type { ListenerDeps } from "./listener-deps.ts";
import {
  emptyOn,
  findMarked,
  linkAt,
  LITERAL,
  paced,
  postMarked,
  readChannel,
  removeMessage,
  type Self,
  TOO_MANY,
} from "./own-messages.ts";
import type { ClickPayload } from "./payloads.ts";
import type { RateLimiter } from "./rate-limiter.ts";

type Deps = {
  readonly call: Call;
  readonly limiter: Pick<RateLimiter, "rest">;
  readonly files: Files;
  readonly self: Self;
  readonly deployment: Deployment;
  readonly command: string;
  readonly digest: (text: string) => string;
};

/** The notifications that link to the card, like receipts. */
const LINKED: ReadonlySet<Notification["kind"]> = new Set(["dispute", "answered", "expired"]);

export function createNotificationSender(deps: Deps): NotificationSender {
  const { call, files, self, deployment, command, digest } = deps;
  const markOf = ({ id }: Notification): string => digest(`letter ${id}`).slice(0, 32);
  return {
    async post(notification, facts) {
      const isAboutCard = LINKED.has(notification.kind) || isReceipt(notification);
      const link = isAboutCard ? await linkToCard(call, facts) : null;
      return paced(deps, notification.to, "post", () =>
        postMarked(
          call,
          { mark: markOf(notification) },
          {
            channel: notification.to,
            ...named(notificationMessage(notification, facts, { link, deployment, command }), deployment),
          },
        ),
      );
    },

    postReceipts: (to, receipts) => paced(deps, to, "post", () => postReceipts(deps, to, receipts)),

    async find(notification) {
      const channel = parsed(ChannelId, notification.to);
      if (channel === null) return [];
      const { post, madeAt } = notification;
      const read = () => readChannel(call, channel, post.lostAt ?? madeAt);
      const messages = await paced(deps, channel, "read", () => emptyOn(isHopelessRead, read()));
      return findMarked(messages, markOf(notification), self);
    },

    remove: ({ to }, ts) => paced(deps, to, "other", () => removeMessage(call, to, ts)),

    ...createFileSending(call, files),
  };
}

/**
 * Whether a read can never succeed: Slack refuses it, or there are too many messages, whose number only grows. The notification then counts
 * as not found and is posted again, which shows whether Slack takes it. A second copy of an alarm is better than none.
 */
const isHopelessRead = ({ retry, code }: PortError): boolean => retry === "never" || code === TOO_MANY;

function createFileSending(call: Call, files: Files): Pick<NotificationSender, "attach" | "file"> {
  return {
    async attach(to, ts, { name, bytes, alt }) {
      const file = { id: await files.put(name, bytes, alt), title: name };
      await call("files.completeUploadExternal", { files: [file], channel_id: to, thread_ts: ts });
    },

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

/** Posts several receipts as one message. A direct message cannot be read back, so the mark only identifies it as ours. */
async function postReceipts(
  { call, deployment, digest }: Deps,
  ...[to, receipts]: Parameters<NotificationSender["postReceipts"]>
): ReturnType<NotificationSender["postReceipts"]> {
  const drawn: ReceiptFacts[] = [];
  for (const decision of receipts) drawn.push({ ...decision, link: await linkToCard(call, decision.facts) });
  const mark = digest(`receipts ${receipts.map(({ receipt }) => receipt.id).join(" ")}`).slice(0, 32);
  return postMarked(
    call,
    { mark },
    { channel: to, ...named(severalReceipts(drawn, deployment), deployment) },
  );
}

/** Resolves to null if there is no card or Slack gives no link. Never rejects, because an alarm must not depend on the link. */
async function linkToCard(call: Call, { channel, card }: NotificationFacts): Promise<string | null> {
  if (channel === null || card === null) return null;
  const found = await call("chat.getPermalink", { channel, message_ts: card }).catch(() => null);
  const { permalink } = { permalink: null, ...found };
  return typeof permalink === "string" ? permalink : null;
}

// "This was not me": records the report and removes the button from the receipt.

export async function onNotMe(deps: ListenerDeps, payload: ClickPayload): Promise<void> {
  const reported = await report(deps, payload);
  if (reported === null) return;
  const heading = reported.again ? "Already reported" : "Reported";
  const id = reported.again ? "answer:reported-before" : "answer:reported";
  try {
    await showAnswer(deps, payload, { id, heading, text: disputeWords(reported) });
  } finally {
    await removeButton(deps, payload, reported);
  }
}

/** Resolves to null if nothing was reported. Then the person has an answer that says so. */
async function report(deps: ListenerDeps, payload: ClickPayload): Promise<Disputed | null> {
  const [{ block_id, value }] = payload.actions;
  let answer = NOT_REPORTED_YET;
  try {
    const by = { team: deps.team, user: payload.user.id };
    const disputed = await deps.dispute(by, parsed<Nonce>(Nonce, value), entryShownIn(block_id));
    if (disputed.ok) return disputed.value;
    answer = disputed.error === "unknown" ? NOT_YOUR_RECEIPT : NOT_PROVEN;
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.error({ error }, 'could not record "This was not me"');
  }
  await showAnswer(deps, payload, answer);
  return null;
}

const NOT_REPORTED_YET: Answer = {
  id: "answer:report-not-recorded",
  heading: "Not reported yet",
  text: "Countersign could not record this just now. Press the button again, and tell the people who operate Countersign.",
};
const NOT_YOUR_RECEIPT: Answer = {
  id: "answer:not-your-receipt",
  heading: "Nothing was reported",
  text: "This button does not belong to a receipt of yours.",
};
const NOT_PROVEN: Answer = {
  id: "answer:decision-not-proven",
  heading: "Tell an admin now",
  text: "Countersign cannot verify what its audit says about this decision, so the decision does not count as disputed. If you did not decide this, tell an admin of Countersign *right away*. Sign out of all your Slack sessions and change your password.",
};

/**
 * Removes this receipt's button from its message. If Slack refuses the update, the button stays, but pressing it again reports nothing new.
 */
async function removeButton(
  deps: ListenerDeps,
  { response_url }: ClickPayload,
  reported: Disputed,
): Promise<void> {
  const message = await withoutButton(deps, reported);
  if (message === null) return;
  try {
    const drawn = named(message, deps.deployment);
    await deps.answerAt(response_url, { replace_original: true, ...drawn });
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    deps.log.warn(
      { code: error.code },
      "could not remove the button of a receipt; pressing it again reports nothing new",
    );
  }
}

/** Resolves to null if it is not known what the receipt shows, or which receipts share its message, because their buttons must stay. */
async function withoutButton(
  deps: ListenerDeps,
  { receipt, facts, reportedAt, together }: Disputed,
): Promise<Message | null> {
  if (receipt.post.type !== "up" || facts === null) return null;
  const { deployment } = deps;
  if (receipt.post.shows !== SEVERAL_RECEIPTS) {
    const link = await linkAt(deps, facts.channel, facts.card);
    return notificationMessage(receipt, facts, { link, reportedAt, deployment });
  }
  if (together.length === 0) return null;
  const linked = await Promise.all(
    together.map(async (shared) => ({
      ...shared,
      link: await linkAt(deps, shared.facts.channel, shared.facts.card),
    })),
  );
  return severalReceipts(linked, deployment);
}

function disputeWords({ notified, entry: { entry }, reach }: Disputed): string {
  return `${becameWords(entry, reach)} Sign out of all your Slack sessions and change your password. Your report is in the audit${alertWords(notified)}`;
}

function becameWords(entry: KeptEntry["entry"], reach: Reach): string {
  if (isUndo(entry)) return NOT_BACK;
  return entry.verdict === "deny" && reach !== "never" ? DENIED : REACH_WORDS[reach];
}

/** Ends the sentence about the report. The alerts are sent after this answer. */
function alertWords({ admins, channel }: Disputed["notified"]): string {
  if (admins > 0) return ", and the admins are being alerted.";
  return channel
    ? ", and the audit channel is being alerted. But no admin is named, so *tell the people who operate Countersign right away*."
    : ". But no admin is named in Countersign's configuration, so *tell the people who operate Countersign right away*.";
}

const NOT_BACK =
  "You reported that someone else took your approval back. The approval does not come back by itself: the card shows where the request stands now.";
/** No one can deny what is denied, and a denial has no consequences that anyone could stop. */
const DENIED = "You reported a denial that was not yours. Your report does not undo it.";
const REACH_WORDS = {
  never:
    "You reported a decision that was not yours. It was never sent to the service, and it no longer counts.",
  // What the person must do at once comes first.
  "not-yet":
    "*Deny the request on its card now*, if the card has a Deny button: the decision you reported has not been sent yet, and your report does not undo it.",
  maybe:
    "You reported a decision that was not yours. Your report does not undo it: it may already have reached the service.",
} as const satisfies { [Known in Reach]: string };
