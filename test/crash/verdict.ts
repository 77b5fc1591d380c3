// What must hold whatever dies when. Judged by what Slack and the service recorded, never by the bot's database.

import type { Recorded } from "#sandbox/service/recorder.ts";
import type { Run } from "#sandbox/service/service-run.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { cardStateOf, isInState } from "../make/message-id.ts";
import { approversOf, type Evidence, isCard, isOutcome, type Life, messagesOf, openingsOf } from "./life.ts";

export type Verdict = {
  readonly broken: readonly string[];
  /** The number of decisions that the bot acknowledged to a person, and of those that never left it. */
  readonly acknowledged: number;
  readonly lost: number;
  /** The number of cards that say, correctly, that a decision was sent but not confirmed. */
  readonly unconfirmed: number;
  /** The number of decisions that left more than once, with the same content. */
  readonly resent: number;
};

export type Witness = { verdict(): Verdict; stop(): void };

/** Watches from now on, so that even what was visible only for a moment is judged. */
export function watch(world: Evidence, life: Life): Witness {
  const seen = new Map<string, Message>();
  const broken = new Set<string>();
  const look = (): void => {
    const messages = messagesOf(world, life);
    for (const message of messages) seen.set(message.ts, message);
    for (const each of [...twiceOpen(messages), ...claimedTooMuch(world, life, messages)]) broken.add(each);
  };
  const stop = world.slack.workspace.onChange(({ kind, channel }) => {
    if (kind === "message" && channel === life.channel) look();
  });
  return {
    stop,
    verdict: () => {
      look();
      const last = judge(world, life, [...seen.values()]);
      return { ...last, broken: [...broken, ...last.broken] };
    },
  };
}

/** Returns the digest on a card, which identifies its request. */
const digestOf = (message: Message): string =>
  /request ([0-9a-f]{12})/.exec(JSON.stringify(message.blocks))?.[1] ?? message.ts;

const canDecide = (message: Message): boolean =>
  JSON.stringify(message.blocks).includes('"action_id":"card_approve"');

function twiceOpen(messages: readonly Message[]): string[] {
  const open = messages.filter(canDecide).map(digestOf);
  return open.length === new Set(open).size ? [] : ["two messages at once can decide the same approval"];
}

/** The faults that leave the answer as the service meant it. */
const HARMLESS: readonly (string | null)[] = [null, "delay", "drip", "gate"];

/** Whether the whole answer was sent and means yes. A success without a body does, whatever else a fault did to it. */
const isYes = ({ status, lost, fault, empty }: Recorded): boolean =>
  status !== null && status >= 200 && status < 300 && !lost && (empty || HARMLESS.includes(fault));

/** A card may say "approved" or "denied" only after the bot has received the service's confirmation of one of our decisions. */
function claimedTooMuch(world: Evidence, life: Life, messages: readonly Message[]): string[] {
  const claims = messages.filter((each) => isInState(each, "approved", "denied"));
  const confirmed = new Set(
    decisionsOf(world, life)
      .filter(isYes)
      .map(({ path }) => path),
  );
  return claims.length > confirmed.size ? ["a card says that a decision is confirmed, and it is not"] : [];
}

function runsOf({ service }: Evidence, life: Life): Run[] {
  return service.runs.all().filter(({ input }) => input === life.task);
}

function decisionsOf(world: Evidence, life: Life): Recorded[] {
  const ids = runsOf(world, life).map(({ id }) => id);
  return world.service.requests
    .all({ route: "decide" })
    .filter(({ path }) => ids.some((id) => path.includes(id)));
}

/** Returns the runs that a thread shows. Another may exist whose creation was never answered; its thread says so. */
function shownRuns(world: Evidence, life: Life): Run[] {
  const openings = JSON.stringify(openingsOf(world, life).map(({ blocks }) => blocks));
  return runsOf(world, life).filter(({ id }) => openings.includes(id));
}

function judge(world: Evidence, life: Life, ever: readonly Message[]): Verdict {
  const broken = [...judgeThread(world, life, ever), ...judgeRuns(world, life, ever)];
  const sent = Map.groupBy(decisionsOf(world, life), ({ path }) => path);
  for (const posts of sent.values()) broken.push(...judgeDecision(life, posts));
  const lost = lostOf(life, [...sent.values()].flat());
  broken.push(
    ...lost.map((reason) => `"${reason}" was acknowledged, and another decision left the bot or none`),
  );
  const cards = messagesOf(world, life).filter(isCard);
  broken.push(...judgeCards(life, cards, [...sent.values()]));
  if (cards.some(canDecide)) broken.push("at rest a card can still be decided");
  return {
    broken,
    acknowledged: life.attempts.filter(({ kept }) => kept).length,
    lost: lost.length,
    unconfirmed: cards.filter((each) => isInState(each, "unconfirmed")).length,
    resent: [...sent.values()].filter((posts) => posts.length > 1).length,
  };
}

/** How long the bot may take to store an answer that it has received (ms). A loaded machine is slow. */
const STORED_MS = 1_000;

/** Whether the bot must know that the service said yes: it was not struck before it could store the answer. */
const mustBeKnown = (life: Life, post: Recorded): boolean =>
  isYes(post) && life.strikes.every(({ from, to }) => post.at < from - STORED_MS || post.at > to);

/** At rest a card says what was decided, or that this is not confirmed if the bot cannot know it. */
function judgeCards(life: Life, cards: readonly Message[], sent: readonly (readonly Recorded[])[]): string[] {
  const right = life.verdict === "approve" ? "approved" : "denied";
  const wrong = cards.filter((each) => !isInState(each, right, "unconfirmed"));
  const modest = cards.filter((each) => isInState(each, "unconfirmed")).length;
  const unknown = sent.filter((posts) => !posts.some((post) => mustBeKnown(life, post))).length;
  return [
    ...wrong.map((each) => `at rest a card says "${cardStateOf(each)}" in place of "${right}"`),
    ...(modest <= unknown
      ? []
      : [`unconfirmed cards: ${modest}; decisions without a clear answer: ${unknown}`]),
  ];
}

function judgeThread(world: Evidence, life: Life, ever: readonly Message[]): string[] {
  const wanted = 1 + life.again;
  const count = (what: string, found: number, most = wanted): string[] =>
    found === most ? [] : [`${found} ${what} in place of ${most}`];
  const openings = ever.filter(({ thread }) => thread === null);
  const creates = world.service.requests
    .all({ route: "create-run" })
    .filter((each) => each.body === JSON.stringify({ input: life.task }) && !wasRefused(each));
  const files = ever.filter((each) => each.files.length > 0).length;
  return [
    ...count("opening messages", openings.length),
    ...count("outcomes", ever.filter(isOutcome).length),
    ...count("files", files, life.task.startsWith("huge") ? 1 : 0),
    ...(creates.length > wanted
      ? [`${creates.length} times a run was created for ${wanted} intentions`]
      : []),
  ];
}

function judgeRuns(world: Evidence, life: Life, ever: readonly Message[]): string[] {
  const shown = shownRuns(world, life);
  const asked = shown.flatMap(({ approvals }) => approvals);
  const cards = ever.filter(isCard).length;
  const decided = asked.every(
    ({ state }) => state.type === "decided" && state.verdict === life.verdict && isGiven(life, state.reason),
  );
  return [
    ...(shown.length === 1 ? [] : [`${shown.length} runs are shown instead of one`]),
    ...(shown.every(({ ending }) => ending !== null) ? [] : ["a run never ended"]),
    ...(cards === asked.length ? [] : [`${cards} cards for ${asked.length} approvals`]),
    ...(decided ? [] : ["an approval was not decided as the approver did"]),
  ];
}

/** Returns whether each person whom the rule needs typed one of these reasons, and there is no other reason. */
function isGiven(life: Life, reason: string | null): boolean {
  const wanted = life.verdict === "deny" ? 1 : approversOf(life).length;
  const givers = reasonsOf(reason).map((said) => life.attempts.find((each) => each.reason === said)?.by);
  return givers.length === wanted && new Set(givers).size === wanted && !givers.includes(undefined);
}

/** The service said that it did nothing. A 409 may also mean that an earlier POST took effect. */
const wasRefused = ({ status }: Recorded): boolean =>
  status !== null && status >= 400 && status < 500 && status !== 408 && status !== 409;

function judgeDecision({ attempts, holdMs }: Life, posts: readonly Recorded[]): string[] {
  const contents = new Set(posts.filter((each) => !wasRefused(each)).map(({ body }) => body));
  const typed = posts.map(({ at, body }) => ({ at, by: givers(attempts, body) }));
  const earlyMs = Math.max(0, ...typed.map(({ at, by }) => (by.at(-1)?.at ?? 0) + holdMs - at));
  return [
    ...(contents.size <= 1 ? [] : [`${contents.size} contents of one decision left the bot`]),
    ...(typed.some(({ by }) => by.includes(undefined)) ? ["a decision left the bot that no one typed"] : []),
    ...(earlyMs > 0 ? [`an approval left the bot ${earlyMs} ms before its hold was over`] : []),
  ];
}

const givers = (attempts: Life["attempts"], body: string | null) =>
  reasonsIn(body).map((said) => attempts.find(({ reason }) => reason === said));

/**
 * Returns the decisions that the app called recorded but that never left. With two approvals, the answer to one may be lost while the
 * other's is received, so each reason counts by itself.
 */
function lostOf({ attempts }: Life, posts: readonly Recorded[]): string[] {
  const said = new Set(posts.flatMap(({ body }) => reasonsIn(body)));
  return attempts.flatMap(({ kept, reason }) => (kept && !said.has(reason) ? [reason] : []));
}

/** Returns the reasons in a decision's body: the service gets those of all approvers. */
const reasonsIn = (body: string | null): readonly string[] =>
  reasonsOf((JSON.parse(body ?? "{}") as { readonly reason?: string }).reason);

const reasonsOf = (reason: string | null | undefined): readonly string[] => (reason ?? "").split("\n\n");
