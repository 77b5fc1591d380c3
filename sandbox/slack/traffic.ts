// The traffic, for the Traffic panel and for tests: only the newest lines, with secrets masked.

import { createChanges } from "../base/changes.ts";
import type { Traffic } from "./model.ts";

const kept = 2000;

/** Foreign tokens are masked too: someone may have configured a real one by mistake. */
const foreignToken = /(xox[a-z]|xapp)-[\w-]+/g;

export type TrafficLog = ReturnType<typeof createTraffic>;

type More = Partial<Pick<Traffic, "ms" | "answers" | "lost">>;

export const createTraffic = ({ now, secrets }: { now: () => number; secrets: readonly string[] }) => {
  const lines: Traffic[] = [];
  const added = createChanges<Traffic>();
  let number = 0;
  const masked = (detail: unknown): unknown => {
    let text = JSON.stringify(detail) ?? "null";
    for (const secret of secrets) text = text.replaceAll(secret, `${secret.slice(0, 5)}…`);
    return JSON.parse(text.replace(foreignToken, "$1…")) as unknown;
  };
  return {
    lines: (): readonly Traffic[] => lines,
    /** The lines after the one with this number; 0: all that are kept. */
    after: (seen: number): readonly Traffic[] => lines.filter((line) => line.number > seen),
    /** `refused`: why the receiver did not accept it; null if it did. Returns the line's number. */
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
      const told = { from, what, detail: masked(detail), refused, ms, answers, lost };
      const line: Traffic = { number, at: now(), ...told };
      lines.push(line);
      if (lines.length > kept) lines.shift();
      added.changed(line);
      return number;
    },
    onLine: added.subscribe,
  };
};
