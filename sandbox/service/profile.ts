// Every choice that the interface document leaves open ("not shown"), and some that break it, so that a client can be tested against all.
// `profile-table.ts` describes each choice.

export const successStatuses = [200, 201, 202, 204] as const;
export type SuccessStatus = (typeof successStatuses)[number];

/**
 * An item of `pending_approvals`: the Approval record, the record with the tool's details, `{ id, action }`, the record without action and
 * status, the id alone, the record nested in a record, or a record whose id is called `approval_id`.
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
/** The container of the items: a list, a list with nulls, a record that contains the list, or a record keyed by id. */
export const pendingLists = ["list", "list with nulls", "items", "by id"] as const;
export const whenReasonIsRequired = ["never", "to deny", "always"] as const;
export const errorBodies = ["record", "other json", "text", "empty"] as const;
export const timestampStyles = ["milliseconds", "seconds", "offset"] as const;

export type Profile = {
  /** The word of a denial. (`approve` is documented.) */
  denyWord: string;
  /** An answer with 204 has no body. This applies to all endpoints. */
  healthStatus: SuccessStatus;
  createStatus: SuccessStatus;
  readStatus: SuccessStatus;
  decideStatus: SuccessStatus;
  /** The state between `queued` and the first request. Null if the run stays `queued`. */
  runningState: string | null;
  /** The state after the last decision. Null if it is the same as before the request. */
  resumedState: string | null;
  pendingShape: (typeof pendingShapes)[number];
  pendingList: (typeof pendingLists)[number];
  /** The `status` of a resolved approval. */
  approvedStatus: string;
  deniedStatus: string;
  reasonRequired: (typeof whenReasonIsRequired)[number];
  /** Whether a decision with the same verdict as the earlier one is refused, or answered with the existing record. */
  sameDecisionAgain: "refused" | "answered";
  /** How many reads after a decision still show the run as it was before. */
  staleReads: number;
  /** Whether GET also returns `input` and `created_at`, which the document shows only in the create response. */
  readEchoesInput: boolean;
  /** Whether a failed run has an `error` record, and a canceled run has a `reason`. */
  tellsWhyItEnded: boolean;
  timestamps: (typeof timestampStyles)[number];
  errorBody: (typeof errorBodies)[number];
  /** The codes of errors. As documented, the approval endpoint always answers `invalid_request` to a bad decision. */
  errorCodes: "by kind" | "invalid_request";
  invalidStatus: 400 | 422;
  unauthorizedStatus: 401 | 403;
  unknownStatus: 404 | 400;
  resolvedStatus: 409 | 400 | 404 | 422;
  successBody: "json" | "text";
  /** How fields that the document does not name are treated. */
  extraFields: "ignored" | "refused";
  honoursIdempotencyKey: boolean;
  /** "odd" ids contain slashes, spaces, percent signs and non-ASCII letters. */
  idStyle: "plain" | "odd";
  /** The size limit of a request body (bytes). */
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
