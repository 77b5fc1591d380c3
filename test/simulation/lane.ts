// A lane plays histories in a thread of its own, as a history takes the timers of its thread for itself.

import { Worker } from "node:worker_threads";
import type { Asked, Told } from "./lane-thread.ts";

export type Lane = {
  /** Rejects only if the thread itself fails. One at a time. */
  play(asked: Asked): Promise<Told>;
  end(): Promise<unknown>;
};

export function startLane(): Lane {
  const thread = new Worker(new URL("./lane-thread.ts", import.meta.url));
  return {
    play(asked) {
      const { promise, resolve, reject } = Promise.withResolvers<Told>();
      thread.once("message", (told: Told) => {
        thread.off("error", reject);
        resolve(told);
      });
      thread.once("error", reject);
      thread.postMessage(asked);
      return promise;
    },
    end: () => thread.terminate(),
  };
}
