// What we remember of clicks: which ones have opened a form, through which URL the clicked card may change, and which runs their buttons
// start. In memory only, and of each the newest only: a restart forgets it.

import { type ChannelId, type MessageTs, Nonce, type UserId } from "../../domain/ids.ts";
import type { Asker } from "../../usecases/access.ts";
import type { ClickPayload } from "./payloads.ts";

/** How many of each kind we remember. Tasks are the longest; each is at most as long as a command. */
const REMEMBERED = 1_000;

/** The oldest goes when there are more. */
function remember<Key, Value>(to: Map<Key, Value>, key: Key, value: Value): void {
  to.delete(key);
  to.set(key, value);
  const [oldest] = to.keys();
  if (to.size > REMEMBERED && oldest !== undefined) to.delete(oldest);
}

// The clicks that have opened a form. Slack lets each click open one form, and delivers a click again when its
// acknowledgement is lost. The second delivery must not tell the person that no form was opened.

export type OpenedForms = {
  /** "again": this click has opened a form before. Rejects with the error of `act`. */
  open(trigger: string, act: () => Promise<unknown>): Promise<"opened" | "again">;
};

export function createOpenedForms(): OpenedForms {
  const forms = new Map<string, Promise<unknown>>();
  return {
    async open(trigger, act) {
      const before = forms.get(trigger);
      if (before !== undefined && (await succeeds(before))) return "again";
      const acting = act();
      remember(forms, trigger, acting);
      await acting;
      return "opened";
    },
  };
}

async function succeeds(act: Promise<unknown>): Promise<boolean> {
  return act.then(
    () => true,
    () => false,
  );
}

// The `response_url` of the click behind each open form, so that the card changes at once when its person decides: Slack counts a
// replacement of the clicked message as no `chat.update`. Without a URL, as after a restart, the card waits for its paced update. The URLs
// are never logged: with one, anyone can write in the channel.

/** docs.slack.dev, handling user interaction: a response_url lasts 30 minutes. Less, so that none lapses on its way (ms). */
const LASTS_MS = 29 * 60_000;
/** How long after the person has acted the next change of the card may still use the URL (ms). */
const READY_MS = 60_000;

type Kept = {
  readonly user: UserId;
  readonly channel: ChannelId;
  readonly ts: MessageTs;
  readonly url: string;
  /** Monotonic. */
  readonly until: number;
};

export type CardReplacements = {
  /** A click opens this form. */
  keep(form: Nonce, click: ClickPayload): void;
  /** The form gives way to another one of the same person. */
  handOver(from: Nonce, to: Nonce): void;
  /**
   * The person submits the form: the next change of the clicked message may use the URL of the click. Call the function once it is
   * stored: an update that already waits for its turn then goes. Before that it would still show the old state.
   */
  ready(form: Nonce, user: UserId): () => void;
  /** The click itself changes the message. The same otherwise. */
  readyByClick(click: ClickPayload): () => void;
  isReady(channel: string, ts: MessageTs): boolean;
  /** Each URL is given out once, for the first change; the later ones are paced, so Slack confirms what it documents. */
  take(channel: string, ts: MessageTs): string | null;
};

type Deps = {
  readonly monotonic: () => number;
  /** An update of this message that waits for its turn need not wait any more. */
  readonly excuse: (channel: ChannelId, ts: MessageTs) => void;
};

export function createCardReplacements({ monotonic, excuse }: Deps): CardReplacements {
  const forms = new Map<Nonce, Kept>();
  const waiting = new Map<string, Kept>();
  const alive = (kept: Kept | undefined): Kept | null =>
    kept !== undefined && monotonic() < kept.until ? kept : null;

  function makeReady(kept: Kept): () => void {
    const until = Math.min(kept.until, monotonic() + READY_MS);
    remember(waiting, place(kept.channel, kept.ts), { ...kept, until });
    return () => {
      if (isReady(kept.channel, kept.ts)) excuse(kept.channel, kept.ts);
    };
  }
  const isReady = (channel: string, ts: MessageTs): boolean =>
    alive(waiting.get(place(channel, ts))) !== null;

  const fromClick = (click: ClickPayload): Kept => ({ ...keptOf(click), until: monotonic() + LASTS_MS });

  return {
    keep: (form, click) => remember(forms, form, fromClick(click)),
    handOver: (from, to) => {
      const kept = forms.get(from);
      forms.delete(from);
      if (kept !== undefined) remember(forms, to, kept);
    },
    ready: (form, user) => {
      const kept = alive(forms.get(form));
      if (kept?.user !== user) return () => undefined;
      forms.delete(form);
      return makeReady(kept);
    },
    readyByClick: (click) => makeReady(fromClick(click)),
    isReady,
    take: (channel, ts) => {
      const kept = alive(waiting.get(place(channel, ts)));
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

// The runs that Countersign has offered to start, by the nonce of the button. After a restart such a button starts nothing.

type SuggestedRun = { readonly user: UserId; readonly channel: ChannelId; readonly task: string };

export type SuggestedRuns = {
  /** The nonce of the button. */
  keep(run: SuggestedRun): Nonce;
  /** Null: unknown, or suggested to someone else or in another channel. */
  find(nonce: string, by: Asker): SuggestedRun | null;
};

export function createSuggestedRuns(nonce: () => string): SuggestedRuns {
  const kept = new Map<string, SuggestedRun>();
  return {
    keep(run) {
      const key = Nonce(nonce());
      remember(kept, key, run);
      return key;
    },
    find(key, by) {
      const found = kept.get(key) ?? null;
      return found?.user === by.user && found.channel === by.channel ? found : null;
    },
  };
}
