// One call from a process to the outside, and what may happen to the call and to the process.

import { PortError } from "#src/ports.ts";
import type { Host } from "./setting.ts";

export type Fate =
  | "done"
  /** The answer takes some seconds. */
  | "slow"
  /** The connection breaks, and the call never arrives. */
  | "lost"
  /** The call arrives, but the connection breaks before the answer. */
  | "unanswered"
  /** The connection breaks, but the call arrives later. */
  | "late"
  /** The call arrives, but no answer comes within the time limit. */
  | "hung"
  /** The call arrives twice. */
  | "twice"
  /** The answer is 429. */
  | "busy"
  /** The call is refused, and would be refused again. */
  | "refused"
  /** The process dies right before the call leaves. */
  | "dies"
  /** The process dies once the call has arrived. */
  | "dies-sent"
  /** The process is suspended while the answer arrives. */
  | "stalls"
  /** The same, for longer than a lease. */
  | "outlasts";

export type Call<Answer> = {
  readonly place: string;
  readonly fates: readonly [Fate, ...Fate[]];
  /** What the call does at the far end. */
  act(): Answer;
  /** Left out if the call changes nothing. Then a lost answer means that it was not applied. */
  readonly changes?: true;
  readonly limitMs?: number;
  /** How long the call is under way if it is late. */
  readonly lateMs?: number;
  /** Called when the answer has reached the process. */
  onAnswer?(answer: Answer): void;
};

export const LATE_MS = 3_500;
const LIMIT_MS = 10_000;
const SLOW_MS = 2_500;
export const BUSY_MS = 2_000;

/** The shortest and longest time that a call, or its answer, is under way (ms). */
const WAY_MS = [5, 120] as const;

/** Settles as the port would, or never if the process dies. */
export function callOut<Answer>(from: Host, call: Call<Answer>): Promise<Answer> {
  if (!from.alive) return never();
  const { fortune, timeline } = from.world;
  const fate = fortune.way(call.place, call.fates);
  from.world.note(`${from.name} ${call.place}${fate === "done" ? "" : `: ${fate}`}`);
  if (fate === "dies") return dead(from);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const [there, back] = [fortune.within(...WAY_MS), fortune.within(...WAY_MS)];
  const { limitMs = LIMIT_MS } = call;
  const fails = (ms: number, error: Error): void => void from.later(ms, () => reject(error));
  const arrives = (ms: number, then: (answer: Answer) => void = () => undefined): void =>
    void timeline.after(ms, () => then(call.act()));
  const answers = (ms: number) => (answer: Answer) =>
    void from.later(ms, () => {
      call.onAnswer?.(answer);
      resolve(answer);
    });
  switch (fate) {
    case "done":
      arrives(there, answers(back));
      break;
    case "slow":
      if (SLOW_MS < limitMs) arrives(there, answers(SLOW_MS));
      else {
        arrives(there);
        fails(limitMs, failure(call, "timeout"));
      }
      break;
    case "twice":
      arrives(there, answers(back));
      arrives(there + 800);
      break;
    case "lost":
      fails(there, failure(call, "reset"));
      break;
    case "unanswered":
      arrives(there);
      fails(there + back, failure(call, "reset"));
      break;
    case "late":
      arrives(call.lateMs ?? LATE_MS);
      fails(there, failure(call, "reset"));
      break;
    case "hung":
      arrives(there);
      fails(limitMs, failure(call, "timeout"));
      break;
    case "busy":
    case "refused":
      fails(there + back, refusal(fate));
      break;
    case "dies-sent":
      arrives(there, () => from.die(`${call.place} has arrived`));
      break;
    case "stalls":
    case "outlasts":
      arrives(there, answers(back));
      suspend(from, fate);
      break;
  }
  return promise;
}

/** How long a process is suspended (ms). At the end of the longer suspensions, another may have taken its runs over. */
const SUSPENDED_MS: { readonly [How in "stalls" | "outlasts"]: readonly [least: number, most: number] } = {
  stalls: [1_000, 10_000],
  outlasts: [15_000, 40_000],
};

export function suspend(from: Host, how: "stalls" | "outlasts"): void {
  from.stall(from.world.fortune.within(...SUSPENDED_MS[how]));
}

function failure({ place, changes }: Pick<Call<unknown>, "place" | "changes">, code: string): PortError {
  return new PortError(`${place}: ${code}`, {
    applied: changes ? "maybe" : "no",
    retry: "later",
    code,
  });
}

function refusal(fate: "busy" | "refused"): PortError {
  return fate === "busy"
    ? new PortError("wait", { applied: "no", retry: "later", code: "http_429", retryAfterMs: BUSY_MS })
    : new PortError("no", { applied: "no", retry: "never", code: "http_400" });
}

function dead(from: Host): Promise<never> {
  from.die("a call is about to leave");
  return never();
}

/** A promise of its own each time: one that all histories share would keep every one of them in memory. */
export const never = (): Promise<never> => new Promise(() => undefined);
