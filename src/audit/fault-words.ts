// What is wrong with an audit, in plain words. Each follows "entry 12:".

import type { AuditFault } from "../domain/audit/verify-chain.ts";

export const FAULT_WORDS: Readonly<Record<AuditFault, string>> = {
  gap: "the number before it is missing, or its own number is repeated. Entries were removed or inserted.",
  altered: "it does not match its link. The entry or its place was changed.",
  forged: "its signature is not by the key that it names. Somebody without the key wrote it.",
  "unknown-key": "it is signed with an unknown key. It was forged, or this is the audit of another key.",
  "key-order":
    "it is signed with a key out of turn. No entry of the previous key hands over to it, or the key was retired.",
  "not-pinned":
    "a given public key has signed nothing in this audit. Either the key belongs to another audit, or everything was rewritten.",
  unpaired: "something was sent without a matching decision. The database was changed before it was sent.",
  stray: "there are rows with impossible numbers. They were inserted.",
  columns: "its columns differ from the entry. The table was changed.",
  "text-missing":
    "a text that it names by its digest was removed: a request, a task, a policy or a configuration.",
  "text-altered":
    "a text that it names by its digest was changed: a request, a task, a policy or a configuration.",
  "cut-short": "a witnessed head is not in the audit. The newest entries were cut off.",
  rewritten: "a witnessed head differs from the stored entry. The audit was rewritten.",
};
