// What we remember about clicks and commands: which ones have acted, and the URL through which the clicked card may change. It is kept in
// memory only, so a restart forgets it, and only the newest entries are kept.

import type { ChannelId, MessageTs, Nonce, UserId } from "../../domain/ids.ts";
import type { ClickPayload } from "./payloads.ts";

/** The most entries of each kind. */
const REMEMBERED = 1_000;

/** Adds an entry, and drops the oldest if there are too many. */
function remember<Key, Value>(to: Map<Key, Value>, key: Key, value: Value): void {
  to.delete(key);
  to.set(key, value);
  const [oldest] = to.keys();
  if (to.size > REMEMBERED && oldest !== undefined) to.delete(oldest);
}

// Clicks that have opened a form, and commands that freeze or lift. Slack documents no second delivery of either, but whatever lies between it
// and this process may cause one. Slack lets each click open one form, so a second delivery must not tell the person that no form was
// opened. A repeated command must not lift a later freeze. An accepted risk: after a restart, or in another replica, it still can.

export type Once = {
  /** Resolves to "again" if this click or command has already acted. Rejects with the error of `act`. */
  act(trigger: string, act: () => Promise<unknown>): Promise<"done" | "again">;
};

export function createOnce(): Once {
  const acts = new Map<string, Promise<unknown>>();
  return {
    async act(trigger, act) {
      const before = acts.get(trigger);
      if (before !== undefined && (await succeeds(before))) return "again";
      const acting = act();
      remember(acts, trigger, acting);
      await acting;
      return "done";
    },
  };
}

async function succeeds(act: Promise<unknown>): Promise<boolean> {
  return act.then(
    () => true,
    () => false,
  );
}

// The `response_url` of the click behind each open form. With it, the card changes at once when the person decides, because replacing the
// clicked message does not count as a `chat.update`. Without a URL, for example after a restart, the card waits for its paced update. The
// URLs are never logged, because anyone who has one can write in the channel.

/** docs.slack.dev, handling user interaction: a response_url lasts 30 minutes. We use it for less, so that none expires on the way (ms). */
const LASTS_MS = 29 * 60_000;
/** How long after the person's action the next change of the card may use the URL (ms). */
const READY_MS = 60_000;

type Kept = {
  readonly user: UserId;
  readonly channel: ChannelId;
  readonly ts: MessageTs;
  readonly url: string;
  /** When the entry expires (monotonic ms). */
  readonly until: number;
};

export type CardReplacements = {
  /** Remembers the click that opens this form. */
  keep(form: Nonce, click: ClickPayload): void;
  /** Passes the click on to another form of the same person, which replaces the first. */
  handOver(from: Nonce, to: Nonce): void;
  /**
   * The person submits the form, so the next change of the clicked message may use the URL of the click. Call the returned function once
   * the decision is stored: it releases an update that is already waiting for its turn. Released earlier, the update would show the old
   * state.
   */
  ready(form: Nonce, user: UserId): () => void;
  /** Like `ready`, for a click that changes the message by itself. */
  readyByClick(click: ClickPayload): () => void;
  isReady(channel: string, ts: MessageTs): boolean;
  /** Returns the URL once, for the first change. Later changes are paced updates, whose results Slack confirms as documented. */
  take(channel: string, ts: MessageTs): string | null;
};

type Deps = {
  readonly monotonic: () => number;
  /** Releases an update of this message that waits for its turn. */
  readonly releaseUpdate: (channel: ChannelId, ts: MessageTs) => void;
};

export function createCardReplacements({ monotonic, releaseUpdate }: Deps): CardReplacements {
  const forms = new Map<Nonce, Kept>();
  const waiting = new Map<string, Kept>();
  const unexpired = (kept: Kept | undefined): Kept | null =>
    kept !== undefined && monotonic() < kept.until ? kept : null;

  function makeReady(kept: Kept): () => void {
    const until = Math.min(kept.until, monotonic() + READY_MS);
    remember(waiting, place(kept.channel, kept.ts), { ...kept, until });
    return () => {
      if (isReady(kept.channel, kept.ts)) releaseUpdate(kept.channel, kept.ts);
    };
  }
  const isReady = (channel: string, ts: MessageTs): boolean =>
    unexpired(waiting.get(place(channel, ts))) !== null;

  const fromClick = (click: ClickPayload): Kept => ({ ...keptOf(click), until: monotonic() + LASTS_MS });

  return {
    keep: (form, click) => remember(forms, form, fromClick(click)),
    handOver: (from, to) => {
      const kept = forms.get(from);
      forms.delete(from);
      if (kept !== undefined) remember(forms, to, kept);
    },
    ready: (form, user) => {
      const kept = unexpired(forms.get(form));
      if (kept?.user !== user) return () => undefined;
      forms.delete(form);
      return makeReady(kept);
    },
    readyByClick: (click) => makeReady(fromClick(click)),
    isReady,
    take: (channel, ts) => {
      const kept = unexpired(waiting.get(place(channel, ts)));
      waiting.delete(place(channel, ts));
      return kept?.url ?? null;
    },
  };
}

const place = (channel: string, ts: string): string => `${channel} ${ts}`;

const keptOf = ({ user, channel, message, response_url }: ClickPayload): Omit<Kept, "until"> => ({
  user: user.id,
  channel: channel.id,
  ts: message.ts,
  url: response_url,
});
