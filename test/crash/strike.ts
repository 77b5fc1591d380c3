// Kills the bot at one named point of a life, and starts the next process.

import { hold, holdPoll, type Place } from "./hold.ts";
import type { Lane } from "./lane.ts";
import { type Before, isCard, type Life, messagesOf, noteStrike } from "./life.ts";

/** Where in a life the process dies. */
export type Point = {
  /** The hold is set up just before people do this. */
  readonly before: "command" | "click" | "submit" | "end";
  /** Null if the process dies right there, not in a known call. */
  readonly place: Place | null;
  readonly task?: string;
  readonly verdict?: "approve" | "deny";
  /** Whether all requests are decided in one form. */
  readonly together?: true;
  /** Whether the process has just started, and has no recent look-up of anyone. */
  readonly fresh?: boolean;
};

export type Strike = { readonly before: Before; readonly done: Promise<void> };

/** A place that is not reached within this time (ms) does not occur in this life. A loaded machine is slow. */
const REACHED_MS = 40_000;

export function planStrike(lane: Lane, life: Life, point: Point): Strike {
  const { promise: done, resolve, reject } = Promise.withResolvers<void>();
  let struck = false;
  const before: Before = async (act) => {
    if (struck || act !== (point.before === "end" ? "submit" : point.before)) return;
    struck = true;
    const dying = strike(lane, life, point);
    await dying.armed;
    dying.over.then(resolve, reject);
    // If no call is held, people wait until the next process is up.
    if (point.place === null && point.before !== "end") await dying.over;
  };
  return { before, done };
}

function strike(lane: Lane, life: Life, point: Point): { armed: Promise<void>; over: Promise<void> } {
  const armed = Promise.withResolvers<void>();
  const { place, before } = point;
  const run = async (): Promise<void> => {
    if (point.fresh === true) await again(lane);
    // If a process dies while it counts who can approve, the next one counts again, and its look-ups would be recent enough for the form.
    if (point.fresh === true && before === "submit") await lane.quiet();
    const poll = await quietPoll(lane, point);
    if (before === "end") {
      armed.resolve();
      await decidedAndOver(lane, life);
    }
    const held = place === null ? null : hold(lane.world, place);
    armed.resolve();
    if (before === "end" && place !== null) poll?.release();
    await reached(held?.reached, place);
    const isBack = noteStrike(lane.world, life);
    await lane.kill();
    poll?.release();
    if (place?.cut !== "late") held?.release();
    await lane.restart();
    isBack();
    // The worst moment for an old state of a card is when the newest one is already there.
    if (place?.call === "chat.update" && before === "submit") await decidedCard(lane, life);
    held?.release();
  };
  const over = run();
  over.catch((error: unknown) => armed.reject(error));
  return { armed: armed.promise, over };
}

async function again(lane: Lane): Promise<void> {
  await lane.kill();
  await lane.restart();
}

/** Holds the poll, which would take the place of a decision's own reads, and change the thread between its steps. */
async function quietPoll(lane: Lane, { before, place }: Point) {
  const wanted = before === "end" || (before === "submit" && place !== null);
  return wanted ? holdPoll(lane.world) : null;
}

async function decidedCard({ world }: Lane, life: Life): Promise<void> {
  const decided = (): boolean =>
    messagesOf(world, life).some((message) => isCard(message) && /^(?:✅|⛔|❓)/u.test(message.text));
  await world.slack.workspace.until(decided, { timeoutMs: REACHED_MS, what: "a decided card" });
}

async function decidedAndOver(lane: Lane, life: Life): Promise<void> {
  const { world } = lane;
  await decidedCard(lane, life);
  const run = world.service.runs.all().find(({ input }) => input === life.task);
  if (run === undefined) throw new Error(`${life.name}: the service has no such run`);
  await world.service.runs.until(run.id, ({ ending }) => ending !== null);
}

async function reached(held: Promise<void> | undefined, place: Place | null): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const never = `never came to ${place?.call} #${place?.nth}`;
  const timer = setTimeout(() => reject(new Error(never)), REACHED_MS);
  await Promise.race([held, promise]).finally(() => clearTimeout(timer));
}
