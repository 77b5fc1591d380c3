// Loaded into a bot of the sandbox before the bot's own code, which does not notice it. Sets the bot's clocks and timers ahead of the
// machine's. The time in between passes quickly, in small steps, so the bot does not conclude that it was suspended. Only global timers
// are affected; Node's own time limits (AbortSignal.timeout, sockets) keep the machine's time.

import { promisify } from "node:util";

/** How much time passes in one step (ms), and how long a step waits for answers (ms). Time passes 200 times as fast as normal. */
const STEP_MS = 1_000;
const TURN_MS = 5;

const MachineDate = Date;
const machine = {
  now: Date.now.bind(Date),
  elapsed: performance.now.bind(performance),
  setTimeout,
  clearTimeout,
  setInterval,
  clearInterval,
};

type Timer = {
  due: number;
  /** The interval (ms). Null for a timer that fires once. */
  readonly every: number | null;
  readonly fire: () => void;
  /** A timer that fires earlier than the machine's timer would, after the clock was set ahead. */
  early: NodeJS.Timeout | null;
};

const timers = new Map<NodeJS.Timeout, Timer>();
let ahead = 0;
let target = 0;
let moving = false;
let arrived: (ms: number) => void = () => undefined;
const elapsed = (): number => machine.elapsed() + ahead;

/** Moves the clocks this far ahead of the machine's (ms), step by step. They never go back. */
export function setAhead(ms: number): void {
  target = Math.max(ms, target);
  if (!moving && ahead < target) {
    moving = true;
    step();
  }
}

/** Calls the listener with how far the clocks are ahead (ms), each time they arrive there. */
export function onArrival(listener: (ms: number) => void): void {
  arrived = listener;
}

/** Sets the clocks ahead at once. For a process that starts when the sandbox's clock is already ahead. */
export function beginAhead(ms: number): void {
  ahead = ms;
  target = ms;
}

function step(): void {
  ahead = Math.min(ahead + STEP_MS, target);
  for (const [timer, { due }] of [...timers].toSorted(([, a], [, b]) => a.due - b.due))
    if (due <= elapsed()) fire(timer);
  moving = ahead < target;
  if (moving) return void machine.setTimeout(step, TURN_MS);
  for (const [timer, entry] of timers) fireWhenDue(timer, entry);
  arrived(ahead);
}

function fire(timer: NodeJS.Timeout): void {
  const entry = timers.get(timer);
  if (entry === undefined) return;
  if (entry.every === null) forget(timer);
  // An interval does not catch up on what it missed during a step.
  else entry.due = Math.max(entry.due, elapsed() - entry.every) + entry.every;
  entry.fire();
}

function fireWhenDue(timer: NodeJS.Timeout, entry: Timer): void {
  if (entry.early !== null) machine.clearTimeout(entry.early);
  entry.early = machine.setTimeout(() => {
    fire(timer);
    if (timers.has(timer)) fireWhenDue(timer, entry);
  }, entry.due - elapsed());
  if (!timer.hasRef()) entry.early.unref();
}

function forget(timer: NodeJS.Timeout): void {
  const early = timers.get(timer)?.early ?? null;
  if (early !== null) machine.clearTimeout(early);
  timers.delete(timer);
  machine.clearTimeout(timer);
}

function keep(timer: NodeJS.Timeout, ms: number, entry: Omit<Timer, "due" | "early">): NodeJS.Timeout {
  const kept: Timer = { ...entry, due: elapsed() + ms, early: null };
  timers.set(timer, kept);
  const refresh = timer.refresh.bind(timer);
  timer.refresh = () => {
    if (kept.early !== null) machine.clearTimeout(kept.early);
    kept.early = null;
    kept.due = elapsed() + ms;
    timers.set(timer, kept);
    return refresh();
  };
  return timer;
}

type Callback = (...args: unknown[]) => void;

function setAheadTimeout(callback: Callback, ms = 1, ...args: unknown[]): NodeJS.Timeout {
  const timer: NodeJS.Timeout = machine.setTimeout(() => fire(timer), ms);
  return keep(timer, ms, { every: null, fire: () => callback(...args) });
}

function setAheadInterval(callback: Callback, ms = 1, ...args: unknown[]): NodeJS.Timeout {
  const timer: NodeJS.Timeout = machine.setInterval(() => fire(timer), ms);
  return keep(timer, ms, { every: ms, fire: () => callback(...args) });
}

function clear(timer?: NodeJS.Timeout | string | number): void {
  if (typeof timer === "object" && timers.has(timer)) forget(timer);
  else machine.clearTimeout(timer);
}

class AheadDate extends MachineDate {
  constructor(...args: unknown[]) {
    super(...((args.length === 0 ? [machine.now() + ahead] : args) as [number]));
  }

  static override now(): number {
    return machine.now() + ahead;
  }
}

Object.assign(globalThis, {
  Date: AheadDate,
  setTimeout: Object.assign(setAheadTimeout, {
    [promisify.custom]: (ms: number, value: unknown) =>
      new Promise((resolve) => void setAheadTimeout(() => resolve(value), ms)),
  }),
  setInterval: setAheadInterval,
  clearTimeout: clear,
  clearInterval: clear,
});
performance.now = elapsed;
