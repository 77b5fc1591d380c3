// The result of one check of the doctor.

import { oneLine } from "../../domain/text/excerpt.ts";

/** None of its texts holds a secret. */
export type Finding = {
  readonly what: string;
  /** `note`: Countersign starts, but something may not be as meant. `wrong`: it does not start, or does not work. */
  readonly level: "ok" | "note" | "wrong";
  /** The finding, in plain words. */
  readonly says: string;
  /** What to do about it; empty where nothing is to be done. */
  readonly todo: string;
};

export function good(what: string, says: string): Finding {
  return { what, level: "ok", says: oneLine(says, MAX_CHARS), todo: "" };
}

export function note(what: string, says: string, todo: string): Finding {
  return { what, level: "note", says: oneLine(says, MAX_CHARS), todo };
}

export function bad(what: string, says: string, todo: string): Finding {
  return { what, level: "wrong", says: oneLine(says, MAX_CHARS), todo };
}

/** Words of another side reach the terminal on one line, with their control characters spelt out. */
const MAX_CHARS = 600;
const COLUMN = 22;
const LABELS = { ok: "ok   ", note: "note ", wrong: "WRONG" } as const;

/** For the terminal. */
export function line({ what, level, says, todo }: Finding): string {
  const seen = `${LABELS[level]}  ${what.padEnd(COLUMN)} ${says}`;
  return todo === "" ? seen : `${seen}\n       ${" ".repeat(COLUMN)} → ${todo}`;
}

// What to do when a certificate is not trusted.

/** Node's codes of TLS for a certificate whose authority it does not know. */
const UNTRUSTED =
  /UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT/;

export const isUntrusted = (words: string): boolean => UNTRUSTED.test(words);

export const AUTHORITY =
  "If a private authority signs its certificate, set NODE_EXTRA_CA_CERTS to the PEM file of that authority, for npm start too.";
