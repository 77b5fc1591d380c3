// The traffic log, for the Traffic panel and for tests. It keeps only the newest lines, and masks secrets.

import { createChanges } from "../base/changes.ts";
import type { Traffic } from "./model.ts";

const maxLines = 2000;

/** Any other Slack token is masked, too, because someone may have configured a real one by mistake. */
const anyToken = /(xox[a-z]|xapp)-[\w-]+/g;

export type TrafficLog = ReturnType<typeof createTraffic>;

type More = Partial<Pick<Traffic, "ms" | "answers" | "lost">>;

export function createTraffic({ now, secrets }: { now: () => number; secrets: readonly string[] }) {
  const lines: Traffic[] = [];
  const added = createChanges<Traffic>();
  let number = 0;
  const masked = (detail: unknown): unknown => {
    let text = JSON.stringify(detail) ?? "null";
    for (const secret of secrets) text = text.replaceAll(secret, `${secret.slice(0, 5)}…`);
    return JSON.parse(text.replace(anyToken, "$1…")) as unknown;
  };
  return {
    lines: (): readonly Traffic[] => lines,
    /** Returns the lines with a higher number. 0 returns all kept lines. */
    after: (seen: number): readonly Traffic[] => lines.filter((line) => line.number > seen),
    /** Adds a line, and returns its number. `refused` says why the receiver did not accept the message. Null if it did. */
    add: (
      from: Traffic["from"],
      what: string,
      detail: unknown,
      ...[refused = null, { ms = null, answers = null, lost = false } = {}]: [
        refused?: string | null,
        more?: More,
      ]
    ): number => {
      number += 1;
      const result = { detail: masked(detail), refused, ms, answers, lost };
      const line: Traffic = { number, at: now(), from, what, ...result };
      lines.push(line);
      if (lines.length > maxLines) lines.shift();
      added.changed(line);
      return number;
    },
    onLine: added.subscribe,
  };
}
