// One call from a process to the outside, and what may become of it and of the process on the way.

import { PortError } from "#src/ports.ts";
import type { Host } from "./setting.ts";

export type Fate =
  | "done"
  /** Its answer takes some seconds. */
  | "slow"
  /** It never arrives, and the connection breaks. */
  | "lost"
  /** It arrives, and the connection breaks before the answer. */
  | "unanswered"
  /** The connection breaks, and it arrives later. */
  | "late"
  /** It arrives, and no answer comes until the time limit. */
  | "hung"
  /** It arrives twice. */
  | "twice"
  /** 429. */
  | "busy"
  /** It is refused, and would be again. */
  | "refused"
  /** The process dies right before it leaves. */
  | "dies"
  /** The process dies once it has arrived. */
  | "dies-sent"
  /** The process stands still while the answer comes. */
  | "stalls";

export type Call<Answer> = {
  readonly place: string;
  readonly fates: readonly [Fate, ...Fate[]];
  /** What it does at the far end. */
  act(): Answer;
  /** Left out: it changes nothing, so a lost answer means that it was not applied. */
  readonly changes?: true;
  readonly limitMs?: number;
  /** The answer has reached the process. */
  heard?(answer: Answer): void;
};

export const LATE_MS = 3_500;
const LIMIT_MS = 10_000;
const SLOW_MS = 2_500;
const STALL_MS = [5_000, 40_000] as const;
export const BUSY_MS = 2_000;

/** The longest way there (ms), and back. */
const WAY_MS = [5, 120] as const;

/** Settles as the port does, or never, if the process dies. */
export function callOut<Answer>(from: Host, call: Call<Answer>): Promise<Answer> {
  if (!from.alive) return NEVER;
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
      call.heard?.(answer);
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
      arrives(LATE_MS);
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
      arrives(there, answers(back));
      from.stall(fortune.within(...STALL_MS));
      break;
  }
  return promise;
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
  return NEVER;
}

export const NEVER: Promise<never> = new Promise(() => undefined);
