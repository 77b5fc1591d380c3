// Collects what the store finds in its database that this program did not write. It keeps findings until there is a listener, so that
// none is lost while the store opens.

import type { Finding } from "../../ports/store.ts";

export type Findings = {
  readonly report: (finding: Finding) => void;
  /** Sets the only listener, and calls it at once with the findings so far. */
  readonly hear: (listener: (finding: Finding) => void) => void;
};

export function createFindings(): Findings {
  const early: Finding[] = [];
  let hears = (finding: Finding): void => void early.push(finding);
  return {
    report: (finding) => hears(finding),
    hear(listener) {
      hears = listener;
      for (const finding of early.splice(0)) listener(finding);
    },
  };
}
