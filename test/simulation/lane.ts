// A lane plays histories in a thread of its own, because a history replaces the timers of its thread.

import { Worker } from "node:worker_threads";
import type { LaneTask, LaneResult } from "./lane-thread.ts";

export type Lane = {
  /** Plays one task at a time. Rejects only if the thread itself fails. */
  play(task: LaneTask): Promise<LaneResult>;
  end(): Promise<unknown>;
};

export function startLane(): Lane {
  const thread = new Worker(new URL("./lane-thread.ts", import.meta.url));
  return {
    play(task) {
      const { promise, resolve, reject } = Promise.withResolvers<LaneResult>();
      thread.once("message", (result: LaneResult) => {
        thread.off("error", reject);
        resolve(result);
      });
      thread.once("error", reject);
      thread.postMessage(task);
      return promise;
    },
    end: () => thread.terminate(),
  };
}
