// The classes of attack that the suite covers. SECURITY.md has the same table.

import type { Message } from "#sandbox/slack/model.ts";
import type { Stage } from "../make/world.ts";

export const CLASSES = [
  "Signature bypass by ssl_check",
  "Empty or known signing secret",
  "A way around the verification",
  "Replay",
  "Payloads of another app or workspace",
  "Forged button value or form metadata",
  "Oversized, slow, malformed requests",
  "Buttons or forms that skip the check",
  "An empty list that means everyone",
  "Self-approval",
  "Confused deputy: approving by text",
  "Decisions by outsiders, guests, bots or deactivated people",
  "Identity by name or look-alike id",
  "Channels and groups as authority",
  "Stolen Slack account",
  "Approval bound to a name, not to content",
  "Changed between view and submit",
  "Hidden tail",
  "Invisible or reordered characters",
  "Slack markup injection",
  "Forged status or fake card",
  "Requests that lie",
  "Approval fatigue",
  "Approval by link fetch",
  "Pending state lost with the process",
  "False success",
  "Fail open without a decision",
  "Follow-up on the wrong run",
  "Two deciders, double submit",
  "Reason lost or changed",
  "Buttons that outlive the decision",
  "Secrets in logs and errors",
  "SSRF and key leak by redirect",
  "Poisoned dependency",
  "Denial of service",
  "Tampering with the database",
  "A brake that does not hold",
] as const;

type Digit = 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9;
/** The class and the number of an attack: "A07-03". */
export type AttackId = `A${Digit}${Digit}-${Digit}${Digit}`;

export type Attack<On = void> = {
  readonly id: AttackId;
  readonly what: string;
  /** Makes the attack, and expects the right answer to it. The caller checks that it had no other effect. */
  readonly run: (on: On) => void | Promise<void>;
};

/** A run that belongs to one attack and waits for its approval. */
export type Story = {
  readonly world: Stage;
  readonly opening: Message;
  readonly card: Message;
  readonly run: string;
  readonly approval: string;
  /** Expects that the audit, when the attack is over, has a refusal of this person (by default Ben). */
  refused(because: string, user?: string): void;
  /** Returns the decisions that the service received for this run. */
  decisions(): readonly { decision: string; reason: string }[];
};

/** Makes one attack for each row, numbered from `from` in the order of the rows. */
export function attacks<On, Row extends readonly [what: string, ...unknown[]]>(
  kind: number,
  from: number,
  rows: readonly Row[],
  run: (on: On, row: Row) => void | Promise<void>,
): Attack<On>[] {
  const two = (value: number): string => String(value).padStart(2, "0");
  return rows.map((row, at) => ({
    id: `A${two(kind)}-${two(from + at)}` as AttackId,
    what: row[0],
    run: (on) => run(on, row),
  }));
}
