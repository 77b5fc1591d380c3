// Every choice that the interface document leaves open («not shown»), so that a client can be tried against all of them.

export type SuccessStatus = 200 | 201 | 202 | 204;

export type Profile = {
  /** The word that denies; `approve` is documented. */
  denyWord: string;
  /** An answer with 204 has no body, whatever the endpoint. */
  healthStatus: SuccessStatus;
  createStatus: SuccessStatus;
  readStatus: SuccessStatus;
  decideStatus: SuccessStatus;
  /** The state between `queued` and the first request; null: there is none, it stays `queued`. */
  runningState: string | null;
  /** The state after the last decision; null: the same as before the request. */
  resumedState: string | null;
  /**
   * An item of `pending_approvals`: the Approval record, the record with the tool's details, `{ id, action }`, the
   * record without action and status, or the id alone.
   */
  pendingShape: "full" | "extra" | "id and action" | "lacking" | "bare id";
  /** What a resolved approval's `status` says. */
  approvedStatus: string;
  deniedStatus: string;
  reasonRequired: "never" | "to deny" | "always";
  /** So many reads after a decision still show the run as it was before. */
  staleReads: number;
  /** GET also carries `input` and `created_at`, which the document shows only in the create response. */
  readEchoesInput: boolean;
  /** A failed run has an `error` record, a canceled one a `reason`. */
  tellsWhyItEnded: boolean;
  errorBody: "record" | "other json" | "text" | "empty";
  successBody: "json" | "text";
  honoursIdempotencyKey: boolean;
  /** `odd`: ids with slashes, spaces, percent signs and letters beyond ASCII. */
  idStyle: "plain" | "odd";
  /** Bytes of a request's body. */
  bodyLimit: number;
};

export const plainProfile: Readonly<Profile> = {
  denyWord: "deny",
  healthStatus: 200,
  createStatus: 201,
  readStatus: 200,
  decideStatus: 200,
  runningState: "running",
  resumedState: null,
  pendingShape: "extra",
  approvedStatus: "approved",
  deniedStatus: "denied",
  reasonRequired: "never",
  staleReads: 0,
  readEchoesInput: false,
  tellsWhyItEnded: true,
  errorBody: "record",
  successBody: "json",
  honoursIdempotencyKey: false,
  idStyle: "plain",
  bodyLimit: 1024 * 1024,
};
