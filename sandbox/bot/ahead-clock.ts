// Loaded into a kept bot before the bot's own code, which does not know of it: its clocks and timers can be set ahead of the machine's.
// The time in between passes fast, in small steps, so that the bot lives through it instead of finding that it was suspended. Only
// global timers take part; time limits of Node's own (AbortSignal.timeout, sockets) keep the machine's time.

import { promisify } from "node:util";

/** What passes in one turn of the event loop (ms), and how long a turn waits for answers (ms): 200 times as fast as usual. */
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
  /** Null: it rings once. */
  readonly every: number | null;
  readonly ring: () => void;
  /** Rings earlier than the machine's timer would, after the clock was set ahead. */
  early: NodeJS.Timeout | null;
};

const timers = new Map<NodeJS.Timeout, Timer>();
let ahead = 0;
let target = 0;
let moving = false;
const elapsed = (): number => machine.elapsed() + ahead;

/** How far the clocks shall be ahead of the machine's (ms). They never go back. */
export function setAhead(ms: number): void {
  target = Math.max(ms, target);
  if (!moving && ahead < target) {
    moving = true;
    step();
  }
}

/** For a process that begins when the clocks are ahead already. */
export function beginAhead(ms: number): void {
  [ahead, target] = [ms, ms];
}

function step(): void {
  ahead = Math.min(ahead + STEP_MS, target);
  for (const [timer, { due }] of [...timers].toSorted(([, a], [, b]) => a.due - b.due))
    if (due <= elapsed()) ring(timer);
  moving = ahead < target;
  if (moving) machine.setTimeout(step, TURN_MS);
  else for (const [timer, entry] of timers) ringInTime(timer, entry);
}

function ring(timer: NodeJS.Timeout): void {
  const entry = timers.get(timer);
  if (entry === undefined) return;
  if (entry.every === null) forget(timer);
  // Rings that were missed in a step are not made up for.
  else entry.due = Math.max(entry.due, elapsed() - entry.every) + entry.every;
  entry.ring();
}

function ringInTime(timer: NodeJS.Timeout, entry: Timer): void {
  if (entry.early !== null) machine.clearTimeout(entry.early);
  entry.early = machine.setTimeout(() => {
    ring(timer);
    if (timers.has(timer)) ringInTime(timer, entry);
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
  const timer: NodeJS.Timeout = machine.setTimeout(() => ring(timer), ms);
  return keep(timer, ms, { every: null, ring: () => callback(...args) });
}

function setAheadInterval(callback: Callback, ms = 1, ...args: unknown[]): NodeJS.Timeout {
  const timer: NodeJS.Timeout = machine.setInterval(() => ring(timer), ms);
  return keep(timer, ms, { every: ms, ring: () => callback(...args) });
}

function clear(timer?: NodeJS.Timeout | string | number): void {
  if (typeof timer === "object" && timers.has(timer)) forget(timer);
  else machine.clearTimeout(timer);
}

class AheadDate extends MachineDate {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [machine.now() + ahead] : given) as [number]));
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
