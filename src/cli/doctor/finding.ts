// The result of one check of the doctor.

import { oneLine } from "../../domain/text/excerpt.ts";

/** Its texts never contain a secret. */
export type Finding = {
  readonly what: string;
  /** `note`: Countersign starts, but something may not be as intended. `wrong`: it does not start, or does not work. */
  readonly level: "ok" | "note" | "wrong";
  /** The finding, in plain words. */
  readonly says: string;
  /** What to do about it. Empty if there is nothing to do. */
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

/** Texts of other systems are printed on one line, with control characters spelled out, and cut after this many characters. */
const MAX_CHARS = 600;
const COLUMN = 22;
const LABELS = { ok: "ok   ", note: "note ", wrong: "WRONG" } as const;

/** Returns the finding as it is printed on the terminal. */
export function line({ what, level, says, todo }: Finding): string {
  const first = `${LABELS[level]}  ${what.padEnd(COLUMN)} ${says}`;
  return todo === "" ? first : `${first}\n       ${" ".repeat(COLUMN)} → ${todo}`;
}

// Says what to do when a certificate is refused.

/** Node's TLS error codes for a certificate of an unknown authority. */
const UNTRUSTED =
  /UNABLE_TO_VERIFY_LEAF_SIGNATURE|UNABLE_TO_GET_ISSUER_CERT|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT/;
const AUTHORITY =
  "If a private authority signed its certificate, set NODE_EXTRA_CA_CERTS to that authority's PEM file, for the bot too.";

/** Node's TLS error codes for a certificate that is not valid at the time of this machine. */
const UNTIMELY = /CERT_NOT_YET_VALID|CERT_HAS_EXPIRED/;
const CLOCK_FIRST =
  "Check this machine's clock first. If it is right, that certificate, or its authority's, must be renewed.";

/** `words` contain the code of a failed connection. Returns `otherwise` if the failure is not about a certificate. */
export function todoAfter(words: string, otherwise: string): string {
  if (UNTIMELY.test(words)) return CLOCK_FIRST;
  return UNTRUSTED.test(words) ? AUTHORITY : otherwise;
}
