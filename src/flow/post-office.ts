// Sends the letters, each as surely as Slack lets us: marked before it goes, looked for when its answer was lost, and its late
// copies removed. In a direct
// message nobody can look without a further scope, so a letter whose answer was lost there goes again: two receipts tell the
// same and do the same, while a missing one would be silent.

import { type Post, POST_LINGER_MS, REFUSED_TRIES } from "../core/post.ts";
import { settlePost, triesOf } from "../core/settle-post.ts";
import type { Outcome } from "../core/effect.ts";
import { ChannelId, parsed } from "../core/ids.ts";
import type { Clock } from "./clock.ts";
import type { Letter, Mail } from "./letter.ts";
import { outcomeOf } from "./perform.ts";
import { type Chat, PortError } from "./ports.ts";
import { createLetterWriter, factsOf, type WriteDeps } from "./write-letters.ts";

export type PostOffice = {
  start(): void;
  /** Starts nothing more and waits for what is under way, at most `ms`. */
  stop(ms: number): Promise<void>;
};

type Deps = WriteDeps & { readonly mail: Mail; readonly chat: Pick<Chat, "turn">; readonly clock: Clock };

const ROUND_EVERY_MS = 1_000;
/** So many letters that wait for something are looked at in one round. */
const AT_ONCE = 500;

export function createPostOffice(deps: Deps): PostOffice {
  const { clock, log, store } = deps;
  const writer = createLetterWriter(deps);
  const postmen = createPostmen(deps);
  let stopped = false;
  let cancel = (): void => undefined;

  async function again(): Promise<void> {
    try {
      await writer.write();
      postmen.send(await store.letters(AT_ONCE));
    } catch (error) {
      log.error({ error }, "could not look after the letters of the audit");
    }
    if (!stopped) cancel = clock.after(ROUND_EVERY_MS, () => void again());
  }

  async function stop(ms: number): Promise<void> {
    stopped = true;
    cancel();
    await postmen.stop(ms);
  }

  return { start: () => void again(), stop };
}

/** So many at once: each letter is two commits to the disk, and a burst of receipts must not hold up decisions. */
const POSTMEN = 2;

type Postmen = { send(letters: readonly Letter[]): void; stop(ms: number): Promise<void> };

/** The same letter is never under way twice. */
function createPostmen(deps: Deps): Postmen {
  const { clock, log } = deps;
  const underWay = new Map<Letter["id"], Promise<void>>();
  let stopped = false;

  let waiting: Letter[] = [];

  function send(letters: readonly Letter[]): void {
    const isAlert = ({ kind }: Letter): boolean => kind === "dispute";
    waiting = [...letters.filter(isAlert), ...letters.filter((each) => !isAlert(each))];
    next();
  }

  function next(): void {
    while (underWay.size < POSTMEN) {
      const letter = stopped ? undefined : waiting.shift();
      if (letter === undefined) return;
      const act = nextAct(letter.post, clock.monotonic());
      if (act !== null && !underWay.has(letter.id)) begin(letter, act);
    }
  }

  function begin(letter: Letter, act: Act): void {
    const { id, kind, entry } = letter;
    const sending = carry(deps, letter, act, () => stopped)
      .catch((error: unknown) => log.error({ letter: kind, entry, error }, "not sent yet"))
      .finally(() => {
        underWay.delete(id);
        next();
      });
    underWay.set(id, sending);
  }

  async function stop(ms: number): Promise<void> {
    stopped = true;
    const late = new Promise<void>((resolve) => void clock.after(ms, resolve));
    await Promise.race([Promise.allSettled(underWay.values()), late]);
  }

  return { send, stop };
}

type Act = "post" | "find" | "sweep";

/** A mark that this process did not make is a dead one's: its answer is lost. */
function nextAct(post: Post, now: number): Act | null {
  switch (post.is) {
    case "planned":
      return post.notBefore <= now ? "post" : null;
    case "sending":
      return post.at + POST_LINGER_MS <= now ? "find" : null;
    case "unsure":
      return post.lookAt <= now ? "find" : null;
    case "refused":
      return post.retryAt <= now && post.tries < REFUSED_TRIES ? "post" : null;
    case "up":
      return post.sweepAt !== null && post.sweepAt <= now ? "sweep" : null;
  }
}

async function carry(deps: Deps, read: Letter, due: Act, stopping: () => boolean): Promise<void> {
  const { store, chat, clock } = deps;
  const kind = due === "post" ? "post" : "read";
  await chat.turn({ channel: read.to, kind, urgency: read.kind === "dispute" ? 0 : 2 });
  // It may have been sent between the reading and now.
  const letter = stopping() ? null : await store.letter(read.id);
  const act = letter === null ? null : nextAct(letter.post, clock.monotonic());
  if (letter === null || act === null) return;
  const marked = { ...letter, post: begun(letter.post, act, clock.monotonic()) };
  // Where nobody can look it goes again without its answer, marked or not: so a commit is saved.
  if (parsed(ChannelId, letter.to) !== null) await store.saveLetter(marked, true);
  const outcome = await performed(deps, marked, act);
  const post = settlePost(act, marked.post, outcome, clock.monotonic());
  const over =
    (post.is === "up" && !sweeps(letter, post)) || (post.is === "refused" && post.tries >= REFUSED_TRIES);
  await store.saveLetter({ ...letter, post }, !over);
  if (act !== "sweep") tellLog(deps, letter, post);
}

/** A copy that arrives late stays in a channel unless it is looked for; in a direct message nobody can look. */
function sweeps({ to }: Letter, post: Extract<Post, { is: "up" }>): boolean {
  return post.sweepAt !== null && parsed(ChannelId, to) !== null;
}

function begun(post: Post, act: Act, now: number): Post {
  if (act === "sweep") return post;
  const tries = triesOf(post);
  return act === "post"
    ? { is: "sending", at: now, tries: tries + 1 }
    : { is: "unsure", lookAt: now, tries: Math.max(tries, 1) };
}

async function performed({ store, mail }: Deps, letter: Letter, act: Act): Promise<Outcome> {
  try {
    if (act === "find") return { is: "found", copies: await mail.find(letter) };
    if (act === "sweep") return await sweep(mail, letter);
    const facts = await factsOf(store, letter);
    if (facts === null) return { is: "refused", words: "the audit has no such entry" };
    return { is: "posted", ts: await mail.post(letter, facts), shows: letter.kind };
  } catch (error) {
    if (error instanceof PortError) return outcomeOf(error);
    throw error;
  }
}

async function sweep(mail: Mail, letter: Letter): Promise<Outcome> {
  const { post } = letter;
  for (const copy of post.is === "up" ? await mail.find(letter) : [])
    if (post.is === "up" && copy !== post.ts) await mail.remove(letter, copy);
  return { is: "swept" };
}

function tellLog({ log }: Deps, { kind, entry, to }: Letter, post: Post): void {
  const facts = { letter: kind, entry, to, is: post.is };
  if (post.is === "refused")
    log.error({ ...facts, words: post.words }, "Slack refuses a letter of the audit");
  else log.info(facts, "a letter of the audit");
}
