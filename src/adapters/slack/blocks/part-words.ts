// The parts of a rule that have not approved yet, in words.

import { missingParts } from "../../../domain/part-seats.ts";
import { type Part, partName } from "../../../domain/policy/named-people.ts";
import type { Approval } from "../../../domain/approval.ts";
import type { KeptRule } from "../../../domain/policy/policy.ts";

/** "operations and security". */
export function partsInWords(parts: readonly Part[]): string {
  const names = parts.map(partName);
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1) ?? ""}`;
}

/** Empty: no part is missing, or the rule has none. */
export function missingInWords(
  approval: Pick<Approval, "votes">,
  rule: Pick<KeptRule, "parts" | "needs">,
): string {
  return partsInWords(missingParts(approval, rule));
}
