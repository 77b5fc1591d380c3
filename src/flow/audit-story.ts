// The audit of a run in words: for the shell, and for the evidence that is handed out in Slack. Everything that people or the
// service wrote is made visible and kept on its line.

import { headWords } from "../core/audit-chain.ts";
import { oneLine, visible } from "../core/text.ts";
import type { AuditEntry, KeptEntry, Moments } from "./audit-entry.ts";

/** Reasons and ids are told in full up to this length; the entry itself has them whole. */
const WORDS_CHARS = 4_000;
const DIGEST_CHARS = 12;

export function momentWords(at: number): string {
  return Number.isFinite(at) && Math.abs(at) < 8.64e15 ? new Date(at).toISOString() : "(no moment)";
}

/** One entry on one line, and its moments on a second where there are any. */
export function entryStory({ seq, link, entry }: KeptEntry): string {
  const { at, by, approval, reason, digest, policy, refers, moments } = entry;
  const who = by === null ? "Countersign" : `${by.team}:${by.user}`;
  const parts = [
    `${headWords({ seq, link })} · ${momentWords(at)} · ${who} ${didWords(entry)}`,
    approval === null ? null : `approval ${oneLine(approval, WORDS_CHARS)}`,
    digest === null ? null : `request ${oneLine(digest, DIGEST_CHARS)}`,
    policy === null ? null : policyWords(policy),
    refers === undefined ? null : `about entry ${refers}`,
    reason === null || reason === "" ? null : `reason: ${oneLine(reason, WORDS_CHARS)}`,
  ];
  const line = parts.filter((part) => part !== null).join(" · ");
  const times = moments === undefined ? "" : timesWords(moments);
  return times === "" ? line : `${line}\n    ${times}`;
}

function didWords({ what, outcome, verdict, refusal, step }: Omit<AuditEntry, "text">): string {
  const verb = verdict === null ? "" : verdict === "approve" ? " to approve" : " to deny";
  switch (what) {
    case "opened":
      return `opened the form${verb}`;
    case "voted":
      return "approved, as one of several";
    case "decided":
      return verdict === "approve" ? "approved" : "denied";
    case "refused":
      return `was refused at the ${step ?? "attempt"}${verb}: ${oneLine(refusal ?? outcome, WORDS_CHARS)}`;
    case "sent":
      return `decided; it is about to be sent`;
    case "settled":
      return `decided; what came of it: ${oneLine(outcome, WORDS_CHARS)}`;
    case "closed":
      return `closed it undecided: ${oneLine(outcome, WORDS_CHARS)}`;
    case "disputed":
      return "says «This was not me»";
    case "started":
      return "asked for the run";
    case "watched":
      return "had the run watched";
    case "unwatched":
      return "let the run go";
    case "audit-read":
      return "was given the audit of the run";
    case "key-changed":
      return `signs with another key: ${oneLine(outcome, WORDS_CHARS)}`;
  }
  // Of a newer program.
  return oneLine(String(what), WORDS_CHARS);
}

export function policyWords({ version, rule }: NonNullable<AuditEntry["policy"]>): string {
  return `policy ${oneLine(version, WORDS_CHARS)}, rule ${oneLine(rule, WORDS_CHARS)}`;
}

const MOMENTS = ["asked", "shown", "clicked", "submitted", "sent", "confirmed"] as const;

function timesWords(moments: Moments): string {
  return MOMENTS.flatMap((name) => {
    const at = moments[name];
    return at === undefined ? [] : [`${name} ${momentWords(at)}`];
  }).join(" · ");
}

/** All entries of a run, and each full request once. */
export async function runStory(
  entries: readonly KeptEntry[],
  textOf: (digest: string) => Promise<string | null>,
): Promise<string> {
  const lines = entries.map(entryStory);
  const digests = new Set(entries.flatMap(({ entry }) => entry.digest ?? []));
  for (const digest of digests) {
    const text = await textOf(digest);
    if (text !== null) lines.push("", `request ${digest}:`, visible(text));
  }
  return lines.join("\n");
}
