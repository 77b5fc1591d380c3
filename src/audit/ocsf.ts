// An audit entry as an event of the Open Cybersecurity Schema Framework, for the systems that collect such events: class Entity
// Management (https://schema.ocsf.io/1.3.0/classes/entity_management). It has the ids and digests of the entry, and none of its texts:
// reasons and typed words stay in the database. The same entry always gives the same event.

import { type ChainedEntry, voidCause } from "../domain/audit/hash-chain.ts";
import { parsedEntry } from "../domain/audit/verify-chain.ts";
import { isList, isRecord, type Json, type JsonRecord, plainJson } from "../domain/json.ts";
import type { AuditEntry, KeptEntry } from "./entry.ts";

const OCSF_VERSION = "1.3.0";
const [CATEGORY_IAM, CLASS_ENTITY_MANAGEMENT] = [3, 3004];
const [CREATE, READ, UPDATE, DELETE] = [1, 2, 3, 4];
const [INFORMATIONAL, LOW, HIGH] = [1, 2, 4];
const [UNKNOWN, SUCCESS, FAILURE] = [0, 1, 2];
/** The version of this mapping. The events of an older version must not change: copies made with it are compared field by field. */
export type Mapping = "1" | "2" | "3";
const NEWEST: Mapping = "3";

type Entry = JsonRecord;

/** A kind that is not listed here is an update. Later kinds stay unlisted: a replica of an older release sends them as updates. */
const ACTIVITIES: { readonly [what in AuditEntry["what"]]?: number } = {
  started: CREATE,
  watched: CREATE,
  opened: READ,
  "audit-read": READ,
  redacted: DELETE,
  unwatched: DELETE,
};

/** A kind that is not listed here is informational. */
const SEVERITIES: { readonly [what in AuditEntry["what"]]?: number } = {
  refused: LOW,
  stopped: LOW,
  frozen: LOW,
  escalated: LOW,
  "key-changed": LOW,
  disputed: HIGH,
  "tampering-found": HIGH,
};

const ofKind = (table: { readonly [what: string]: number }, what: string, other: number): number =>
  Object.hasOwn(table, what) ? (table[what] ?? other) : other;

/** Returns one line of ASCII with a newline at its end. `previous`: the link of the previous entry. */
export function ocsfLine(row: ChainedEntry, previous: string): string {
  return `${plainJson(ocsfEvent(row, previous))}\n`;
}

/** Returns the version that an event in a copy says it has. */
export function mappingOf({ metadata = null }: Entry): Mapping {
  const version = isRecord(metadata) ? metadata["log_version"] : null;
  return version === "1" || version === "2" ? version : NEWEST;
}

export function ocsfEvent(row: ChainedEntry, previous: string, mapping: Mapping = NEWEST): Entry {
  const entry = parsedEntry(row.text) ?? {};
  const { what, at } = row.columns;
  const activity = ofKind(ACTIVITIES, what, UPDATE);
  const refused = what === "refused";
  return {
    category_uid: CATEGORY_IAM,
    class_uid: CLASS_ENTITY_MANAGEMENT,
    activity_id: activity,
    type_uid: CLASS_ENTITY_MANAGEMENT * 100 + activity,
    severity_id: ofKind(SEVERITIES, what, INFORMATIONAL),
    status_id: statusOf(what, entry, mapping),
    // A refused text may have been typed by a person. The kind of the refusal is our own word.
    status_detail: entry[refused ? "refusal" : "outcome"] ?? null,
    time: at,
    message: what,
    metadata: {
      version: OCSF_VERSION,
      product: { name: "Countersign", vendor_name: "Countersign" },
      log_name: "countersign audit",
      log_version: mapping,
      event_code: what,
      sequence: row.seq,
      uid: row.link,
    },
    actor: actorOf(entry),
    entity: entityOf(entry, what),
    unmapped: { ...chainFields(row, previous), ...factsOf(entry, mapping) },
  };
}

/** The first two mappings call every decision that was settled a success. */
function statusOf(what: string, { outcome = null }: Entry, mapping: Mapping): number {
  if (what === "refused") return FAILURE;
  if (what !== "settled" || mapping === "1" || mapping === "2" || typeof outcome !== "string") return SUCCESS;
  if (outcome === "unsure" || outcome === "elsewhere") return UNKNOWN;
  const isFailure = outcome === "refused" || outcome === "unconfirmed" || voidCause(outcome) !== null;
  return isFailure ? FAILURE : SUCCESS;
}

function actorOf({ by = null }: Entry): Json {
  if (!isRecord(by)) return { app_name: "Countersign" };
  return { user: userOf(by) };
}

const userOf = ({ user = null, team = null }: Entry): Json => ({ uid: user, org: { uid: team } });

function entityOf({ approval = null, runId = null, run = null, policy = null }: Entry, what: string): Json {
  const version = policy !== null && isRecord(policy) ? { version: policy["version"] ?? null } : {};
  if (approval !== null) return { type: "approval", uid: approval, ...version };
  if (run !== null || runId !== null) return { type: "agent run", uid: runId ?? run };
  return { type: "countersign", name: what };
}

type Field = keyof KeptEntry["entry"];
const OF_THE_FIRST: readonly Field[] = [
  "run",
  "runId",
  "channel",
  "requester",
  "other",
  "verdict",
  "digest",
  "context",
  "policy",
  "moments",
  "step",
  "refers",
  "times",
  "since",
  "keys",
  "findings",
];
const OF_THE_SECOND: readonly Field[] = [
  ...OF_THE_FIRST,
  "textKept",
  "savedTask",
  "asked",
  "stageMs",
  "mentioned",
  "until",
  "archive",
];
/** All fields except those in other parts of the event and those that hold texts. test/audit/exports.test.ts names a missing one. */
const FIELDS: { readonly [mapping in Mapping]: readonly Field[] } = {
  1: OF_THE_FIRST,
  2: OF_THE_SECOND,
  3: OF_THE_SECOND,
};

// What the class has no attribute for: the link that binds the entry, and the entry's facts under their own names.

const chainFields = ({ seq, link, key, signature }: ChainedEntry, previous: string): Entry => ({
  seq,
  hash: link,
  previous,
  key,
  signature,
});

function factsOf(entry: Entry, mapping: Mapping): Entry {
  const facts = FIELDS[mapping].flatMap((name) => {
    const value = entry[name] ?? null;
    return value === null ? [] : [[name, value] as const];
  });
  const { votes = [] } = entry;
  const voters = isList(votes) ? votes.flatMap((vote) => (isRecord(vote) ? [voterOf(vote)] : [])) : [];
  return {
    ...Object.fromEntries(facts),
    ...(voters.length === 0 ? {} : { earlierApprovals: voters }),
  };
}

/** An earlier approval, without its reason. */
const voterOf = ({ entry = null, by = null, at = null }: Entry): Json => ({ entry, by, at });
