// An audit entry as an event of the Open Cybersecurity Schema Framework, for the systems that collect such events: class Entity
// Management (https://schema.ocsf.io/1.3.0/classes/entity_management). It has the ids and digests of the entry, and none of its texts:
// reasons and typed words stay in the database. The same entry always gives the same event.

import type { ChainedEntry } from "../domain/audit/hash-chain.ts";
import { parsedEntry } from "../domain/audit/verify-chain.ts";
import { isList, isRecord, type Json, plainJson } from "../domain/json.ts";
import type { AuditEntry } from "./entry.ts";

const OCSF_VERSION = "1.3.0";
const [CATEGORY_IAM, CLASS_ENTITY_MANAGEMENT] = [3, 3004];
const [CREATE, READ, UPDATE, DELETE] = [1, 2, 3, 4];
const [INFORMATIONAL, LOW, HIGH] = [1, 2, 4];
const [SUCCESS, FAILURE] = [1, 2];
/** The version of this mapping. A copy made by a different version has the same links, but cannot be compared field by field. */
const MAPPING = "1";

type Entry = { readonly [field: string]: Json };

/** A kind that is not listed here is an update. */
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

export function ocsfEvent(row: ChainedEntry, previous: string): Entry {
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
    status_id: refused ? FAILURE : SUCCESS,
    // A refused text may have been typed by a person. The kind of the refusal is our own word.
    status_detail: entry[refused ? "refusal" : "outcome"] ?? null,
    time: at,
    message: what,
    metadata: {
      version: OCSF_VERSION,
      product: { name: "Countersign", vendor_name: "Countersign" },
      log_name: "countersign audit",
      log_version: MAPPING,
      event_code: what,
      sequence: row.seq,
      uid: row.link,
    },
    actor: actorOf(entry),
    entity: entityOf(entry, what),
    unmapped: unmapped(entry, row, previous),
  };
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

const FIELDS = [
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
] as const;

/** Returns the fields for which the class has no attribute: the link that binds the entry, and the entry's facts under their own names. */
function unmapped(entry: Entry, { seq, link, key, signature }: ChainedEntry, previous: string): Json {
  const facts = FIELDS.flatMap((name) => {
    const value = entry[name] ?? null;
    return value === null ? [] : [[name, value] as const];
  });
  const { votes = [] } = entry;
  const voters = isList(votes) ? votes.flatMap((vote) => (isRecord(vote) ? [voterOf(vote)] : [])) : [];
  return {
    seq,
    hash: link,
    previous,
    key,
    signature,
    ...Object.fromEntries(facts),
    ...(voters.length === 0 ? {} : { earlierApprovals: voters }),
  };
}

/** An earlier approval, without its reason. */
const voterOf = ({ entry = null, by = null, at = null }: Entry): Json => ({ entry, by, at });
