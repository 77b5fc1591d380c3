// What the store finds in its database that this program did not write. Kept until somebody listens, so that nothing that is
// found while the store opens is lost.

import type { Finding } from "../../ports/store.ts";

export type Findings = {
  readonly report: (finding: Finding) => void;
  /** One listener; it hears at once what was found before. */
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
