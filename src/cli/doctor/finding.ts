// The result of one check. None of its texts holds a secret.

export type Finding = {
  readonly what: string;
  readonly ok: boolean;
  /** The finding, in plain words. */
  readonly says: string;
  /** What to do about it; empty where nothing is to be done. */
  readonly todo: string;
};

export function good(what: string, says: string): Finding {
  return { what, ok: true, says, todo: "" };
}

export function bad(what: string, says: string, todo: string): Finding {
  return { what, ok: false, says, todo };
}
