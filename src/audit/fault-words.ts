// What is wrong with an audit, in plain words. Each follows on «entry 12:».

import type { AuditFault } from "../domain/audit/verify-chain.ts";

export const FAULT_WORDS: Readonly<Record<AuditFault, string>> = {
  gap: "the number before it is missing, or its own comes twice. Entries were removed or put in.",
  altered: "it is not what was linked. It, or its place, was changed.",
  forged: "its signature is not by the key that it names. It was written by somebody without the key.",
  "unknown-key":
    "it is signed with a key that is not vouched for. It was forged, or this is the audit of another key.",
  "key-order":
    "it is signed with a key whose turn it is not. No entry of the key before hands over to it, or that key was retired.",
  "not-pinned":
    "a public key that was given has signed nothing of this audit. Either the key is another audit's, or all was written anew.",
  unpaired: "something was sent that no entry decides so. The database was changed before it was sent.",
  stray: "there are rows whose numbers no entry can have. They were put in.",
  columns: "what the table says of it is not what the entry says. The table was changed.",
  "text-missing":
    "a text that it names by its digest was removed: a request, a task, a policy or a configuration.",
  "text-altered":
    "a text that it names by its digest was changed: a request, a task, a policy or a configuration.",
  "cut-short": "a witnessed head is not in the audit. The newest entries were cut off.",
  rewritten: "a witnessed head is another than the one there. The audit was written anew.",
};
