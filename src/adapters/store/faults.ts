// Turns a database failure into plain words and into a PortError.

import { PortError } from "../../ports.ts";

type Fault = { readonly code: string; readonly words: string };

const FULL: Fault = { code: "store_full", words: "the disk is full" };
/** SQLITE_IOERR_SHMSIZE: the file beside the database cannot grow. SQLite's manual names a full disk as the cause. */
const NO_ROOM_FOR_SHM = 4874;

// SQLite's primary result codes (sqlite.org/rescode.html); the extended ones carry them in their low byte.
const SQLITE_FAULTS = new Map<number, Fault>([
  [5, { code: "store_busy", words: "another process is using it" }],
  [8, { code: "store_readonly", words: "it cannot be written to" }],
  [10, { code: "store_io", words: "the disk failed" }],
  [11, { code: "store_damaged", words: "it is damaged" }],
  [13, FULL],
  [14, { code: "store_unopened", words: "it cannot be opened" }],
  [26, { code: "store_foreign", words: "it is not a database" }],
]);

const FILE_FAULTS = new Map<string, Fault>([
  ["EACCES", { code: "store_denied", words: "permission denied" }],
  ["EPERM", { code: "store_denied", words: "permission denied" }],
  ["EROFS", { code: "store_readonly", words: "the file system is read-only" }],
  ["ENOSPC", FULL],
  ["EISDIR", { code: "store_unopened", words: "it is a folder" }],
  ["ENOTDIR", { code: "store_unopened", words: "a part of its path is not a folder" }],
  ["EEXIST", { code: "store_unopened", words: "a part of its path is not a folder" }],
]);

const BUSY: Fault = { code: "store_busy", words: "other writers kept getting in the way" };
const DENIED: Fault = { code: "store_denied", words: "the server refuses this user or password" };
const READ_ONLY: Fault = { code: "store_readonly", words: "the server takes no writes; it may be a standby" };
const SLOW: Fault = { code: "store_slow", words: "a statement took too long" };
const DOWN: Fault = { code: "store_down", words: "the server is stopping or starting" };

// PostgreSQL's error codes (its manual, appendix A).
const POSTGRES_FAULTS = new Map<string, Fault>([
  ["40001", BUSY],
  ["40P01", BUSY],
  // Only a migration limits its waits for locks.
  [
    "55P03",
    {
      code: "store_busy",
      words:
        "another session, such as a backup or a report, kept a table locked. Nothing was changed. End that session, or try again later",
    },
  ],
  ["28000", DENIED],
  ["28P01", DENIED],
  ["42501", { code: "store_denied", words: "the server denies this user a right that Countersign needs" }],
  ["3D000", { code: "store_unopened", words: "the server has no database of this name" }],
  ["25006", READ_ONLY],
  ["57014", SLOW],
  ["25P03", SLOW],
  ["57P01", DOWN],
  ["57P02", DOWN],
  ["57P03", DOWN],
  ["53100", { code: "store_full", words: "the disk of the server is full" }],
  ["53300", { code: "store_down", words: "the server has no connection left" }],
]);

const UNREACHED: Fault = { code: "store_down", words: "the server cannot be reached" };
const UNTRUSTED: Fault = {
  code: "store_untrusted",
  words: "the server's certificate is not for this host, or not from the authority in sslrootcert",
};

const untimely = (what: string): Fault => ({
  code: "store_untrusted",
  words: `the server's certificate, or its authority's, ${what} (or this machine's clock is wrong)`,
});

/** Error codes of Node's sockets and TLS. */
const NETWORK_FAULTS = new Map<string, Fault>([
  ...[
    "ECONNREFUSED",
    "ECONNRESET",
    "EPIPE",
    "ENOENT",
    "ENOTFOUND",
    "EAI_AGAIN",
    "ETIMEDOUT",
    "EHOSTUNREACH",
    "ENETUNREACH",
  ].map((code) => [code, UNREACHED] as const),
  ...[
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "DEPTH_ZERO_SELF_SIGNED_CERT",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  ].map((code) => [code, UNTRUSTED] as const),
  ["CERT_HAS_EXPIRED", untimely("has expired")],
  ["CERT_NOT_YET_VALID", untimely("is not valid yet")],
]);

/** The driver's own messages, without a code, for broken connections and for servers without TLS. */
const DRIVER_FAULTS: readonly (readonly [RegExp, Fault])[] = [
  [/^Connection terminated|not queryable/, UNREACHED],
  [
    /^timeout exceeded when trying to connect/,
    { code: "store_slow", words: "no connection was free in time" },
  ],
  [/does not support SSL connections/, { code: "store_untrusted", words: "the server offers no TLS" }],
];

/** Ends a transaction on purpose. Its message says why, in one line for the operator. */
export class Refused extends Error {}

/** Converts a failure to a PortError. `applied` is "maybe" only if the commit itself failed. Returns this program's own errors unchanged. */
export function failed(error: unknown, applied: "no" | "maybe"): Error {
  if (error instanceof PortError || error instanceof Refused || error instanceof TypeError) return error;
  const { code, words } = faultOf(error);
  return new PortError(`the database failed: ${words}`, { applied, retry: "later", code, cause: error });
}

/** For the failure of a transaction. Adds what it means for the operator, and what to do. Throws other errors unchanged. */
export const explaining =
  (meaning: { readonly no: string; readonly maybe: string }) =>
  (error: unknown): never => {
    if (!(error instanceof PortError)) throw error;
    throw new Refused(`${error.message}. ${meaning[error.applied]}`, { cause: error });
  };

/** Its message is one line for the operator and names what cannot be used. */
export class Unusable extends Error {}

/** Returns an error with one line for the operator. Returns an error that already names something else as unusable unchanged. */
export function unusable(where: string, error: unknown, words = faultOf(error).words): Error {
  if (error instanceof Unusable) return error;
  return new Unusable(`cannot use the database ${where}: ${words}`, { cause: error });
}

/** Returns the reason of a failure, for a message about a file that is not a database. */
export const reasonOf = (error: unknown): string => faultOf(error).words;

export const isFull = (error: unknown): boolean => faultOf(error).code === "store_full";
/** This user may not write, or the medium is read-only. */
export const isDenied = (error: unknown): boolean =>
  ["store_readonly", "store_denied"].includes(faultOf(error).code);
/** Returns an error with one line for the person who makes a backup. Returns an error that names something else unchanged. */
export const uncopied = (to: string, error: unknown): Error =>
  error instanceof Unusable
    ? error
    : new Error(`cannot write the backup ${to}: ${faultOf(error).words}`, { cause: error });

/** There is no such file or folder, or none of the folders above it. */
export const isNoEntry = (error: unknown): boolean => codeOf(error) === "ENOENT";

export const isBusy = (error: unknown): boolean => faultOf(error).code === "store_busy";

/** The server is down, or not up yet. */
export const isAway = (error: unknown): boolean => faultOf(error).code === "store_down";

/** The server or the medium takes no writes. */
export const isReadOnly = (error: unknown): boolean => faultOf(error).code === "store_readonly";

/** The transaction could not be serialized, was the victim of a deadlock, or lost a race for a unique key. */
const COLLISIONS: readonly string[] = ["40001", "40P01", "23505"];

/** Another writer interfered, so the same work can succeed on another try. */
export const isCollision = (error: unknown): boolean =>
  error instanceof PortError && error.applied === "no" && COLLISIONS.includes(codeOf(error.cause));

/**
 * The engine confirms that the commit wrote nothing. Any other failure leaves that open: a stopping server may have written it before it
 * closed the connection.
 */
export const isUndone = (error: unknown): boolean =>
  COLLISIONS.includes(codeOf(error)) ||
  codeOf(error).startsWith("23") ||
  (error instanceof Error && error.name === "AbortedTransactionError");

function faultOf(error: unknown): Fault {
  if (error instanceof PortError) return { code: error.code, words: error.message };
  const message = error instanceof Error ? error.message : String(error);
  const code = codeOf(error);
  const number = sqliteCode(error);
  if (number === NO_ROOM_FOR_SHM) return FULL;
  return (
    SQLITE_FAULTS.get(number & 0xff) ??
    FILE_FAULTS.get(code) ??
    POSTGRES_FAULTS.get(code) ??
    (code === "ENOENT" && !isConnecting(error) ? undefined : NETWORK_FAULTS.get(code)) ??
    DRIVER_FAULTS.find(([shape]) => shape.test(message))?.[1] ?? { code: "store_failed", words: message }
  );
}

/** The database itself failed, and not a file or this program. */
export const isOfEngine = (error: unknown): boolean =>
  sqliteCode(error) !== 0 || POSTGRES_FAULTS.has(codeOf(error));

/** Returns SQLite's extended result code, or 0 if the error is not SQLite's. */
function sqliteCode(error: unknown): number {
  const numbered = error instanceof Error && "errcode" in error && typeof error.errcode === "number";
  return numbered ? Number(error.errcode) : 0;
}

/** A missing socket means that the server is down. Any other missing file means something else. */
const isConnecting = (error: unknown): boolean =>
  error instanceof Error && "syscall" in error && error.syscall === "connect";

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";
}
