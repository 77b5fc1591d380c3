// Every choice that the interface document leaves open ("not shown"), so that a client can be tried against all of them.
// `profile-table.ts` says each in words.

export const successStatuses = [200, 201, 202, 204] as const;
export type SuccessStatus = (typeof successStatuses)[number];

/**
 * An item of `pending_approvals`: the Approval record, the record with the tool's details, `{ id, action }`, the
 * record without action and status, the id alone, the record in a record, or one whose id is called `approval_id`.
 */
export const pendingShapes = [
  "full",
  "extra",
  "id and action",
  "lacking",
  "bare id",
  "nested",
  "approval_id",
] as const;
/** What holds the items: a list, a list among empty items, a record around the list, or a record by id. */
export const pendingLists = ["list", "list with nulls", "items", "by id"] as const;
export const whenReasonIsRequired = ["never", "to deny", "always"] as const;
export const errorBodies = ["record", "other json", "text", "empty"] as const;
export const timestampStyles = ["milliseconds", "seconds", "offset"] as const;

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
  pendingShape: (typeof pendingShapes)[number];
  pendingList: (typeof pendingLists)[number];
  /** What a resolved approval's `status` says. */
  approvedStatus: string;
  deniedStatus: string;
  reasonRequired: (typeof whenReasonIsRequired)[number];
  /** Of a decision that was made before with the same verdict: refused, or answered with the record as it is. */
  sameDecisionAgain: "refused" | "answered";
  /** How many reads after a decision still show the run as it was before. */
  staleReads: number;
  /** GET also carries `input` and `created_at`, which the document shows only in the create response. */
  readEchoesInput: boolean;
  /** A failed run has an `error` record, a canceled one a `reason`. */
  tellsWhyItEnded: boolean;
  timestamps: (typeof timestampStyles)[number];
  errorBody: (typeof errorBodies)[number];
  /** The approval endpoint always says `invalid_request` of a bad decision, as documented. */
  errorCodes: "by kind" | "invalid_request";
  invalidStatus: 400 | 422;
  unauthorizedStatus: 401 | 403;
  unknownStatus: 404 | 400;
  resolvedStatus: 409 | 400 | 404 | 422;
  successBody: "json" | "text";
  /** Fields of a body that the document does not name. */
  extraFields: "ignored" | "refused";
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
  pendingList: "list",
  approvedStatus: "approved",
  deniedStatus: "denied",
  reasonRequired: "never",
  sameDecisionAgain: "refused",
  staleReads: 0,
  readEchoesInput: false,
  tellsWhyItEnded: true,
  timestamps: "milliseconds",
  errorBody: "record",
  errorCodes: "by kind",
  invalidStatus: 400,
  unauthorizedStatus: 401,
  unknownStatus: 404,
  resolvedStatus: 409,
  successBody: "json",
  extraFields: "ignored",
  honoursIdempotencyKey: false,
  idStyle: "plain",
  bodyLimit: 1024 * 1024,
};
