// Warnings that repeat while something is down: one for each cause and minute, with the number of those left out.

import type { EventLog } from "../ports.ts";
import type { Clock } from "./clock.ts";

const QUIET_MS = 60_000;
/** So many causes are remembered; when there are more, the oldest may be told twice within a minute. */
const MOST_CAUSES = 10_000;

/** `cause` names what happens again and again. Fields hold ids, never texts of people or secrets. */
export type WarnQuietly = (cause: string, fields: object, message: string) => void;

export function createQuietWarnings({
  log,
  clock,
}: {
  readonly log: Pick<EventLog, "warn" | "debug">;
  readonly clock: Pick<Clock, "monotonic">;
}): WarnQuietly {
  const told = new Map<string, { readonly at: number; unlogged: number }>();
  return (cause, fields, message) => {
    const last = told.get(cause);
    if (last !== undefined && clock.monotonic() - last.at < QUIET_MS) {
      last.unlogged += 1;
      return log.debug(fields, message);
    }
    const more = last === undefined || last.unlogged === 0 ? {} : { unlogged: last.unlogged };
    log.warn({ ...fields, ...more }, message);
    told.delete(cause);
    told.set(cause, { at: clock.monotonic(), unlogged: 0 });
    const [oldest] = told.keys();
    if (told.size > MOST_CAUSES && oldest !== undefined) told.delete(oldest);
  };
}
