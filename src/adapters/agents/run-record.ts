// Reads a run of the service into a Snapshot. The service leaves much undocumented, so we accept whatever it does not rule out, and drop
// nothing that the service says about an approval. This runs on every poll, and takes a few microseconds.

import { MAX_SERVICE_ID_CHARS, RunId } from "../../domain/ids.ts";
import { isRecord, type Json, type JsonRecord } from "../../domain/json.ts";
import { err, ok, type Result } from "../../domain/result.ts";
import type { Snapshot } from "../../domain/snapshot.ts";
import type { Answer } from "./http-client.ts";
import {
  faultWords,
  type Listed,
  listedIn,
  listedInSource,
  piecesOf,
  readExactly,
  readSource,
  type Source,
  sourceText,
} from "./json-body.ts";
import { holdsTooMuch } from "./json-scan.ts";
import { oddList, readPending, serviceId } from "./pending-approvals.ts";

/** Reads the answer to `GET run`. The error says what is wrong with it. */
export function readRun(answer: Body, asked: RunId, looked: Looked): Result<Snapshot, string> {
  const read = readRecord(answer, null, looked);
  if (!read.ok || read.value.id === asked) return read;
  return err("it is about another run");
}

/** Reads the answer to `POST runs`. A missing status means `queued` (docs/agent-service.md). */
export function readCreated(answer: Body, looked: Looked): Result<Snapshot, string> {
  return readRecord(answer, "queued", looked);
}

/** `askedAt`: when we began to ask (monotonic). `now`: wall time. */
type Looked = { readonly askedAt: number; readonly now: number };
type Body = Pick<Answer, "body" | "spoiled">;
/** `listed` is null if the answer has no list of approvals, and the text of the field if that is neither a list nor a record. */
type ReadRun = { readonly fields: JsonRecord; readonly listed: readonly Listed[] | null | string };

function readRecord(
  answer: Body,
  otherwise: string | null,
  { askedAt, now }: Looked,
): Result<Snapshot, string> {
  const told = readWhole(answer) ?? readInPieces(answer);
  if (typeof told === "string") return err(told);
  const { id: givenId, status: givenStatus, input, output, completed_at, ...rest } = told.fields;
  const [id, status] = [serviceId(givenId), statusIn(givenStatus) ?? otherwise];
  if (id === null || status === null) return err("it has no readable id or status");
  const { pending_approvals: _read, ...extra } = rest;
  // A known field with an unexpected type is shown like the unknown ones.
  const odd = {
    ...oddField("input", input),
    ...oddField("completed_at", completed_at),
  };
  return ok({
    id: RunId(id),
    status,
    input: textOrNull(input),
    output: outputText(output),
    completedAt: textOrNull(completed_at),
    ...pendingOf(told.listed, status, now),
    extra: { ...extra, ...odd },
    askedAt,
  });
}

/** Returns null if the body cannot be read as a whole. */
function readWhole({ body, spoiled }: Body): ReadRun | null {
  const read = spoiled === null ? readExactly(body) : null;
  if (read?.ok !== true || !isRecord(read.value)) return null;
  const field = read.value["pending_approvals"] ?? null;
  const listed = isNothing(field) ? null : (listedIn(field) ?? JSON.stringify(field));
  return { fields: read.value, listed };
}

/** Reads the body field by field and item by item, or returns why that fails too. */
function readInPieces({ body, spoiled }: Body): ReadRun | string {
  const whole: Source = spoiled === null ? { text: body, bytes: false } : { text: spoiled, bytes: true };
  if (holdsTooMuch(whole.text)) return faultWords({ type: "too-many-values" });
  const pieces = isJson(whole.text) ? piecesOf(whole) : null;
  if (pieces === null) return spoiled === null ? notJson(body) : faultWords({ type: "not-utf8" });
  const fields: { [name: string]: Json } = {};
  const names = new Set<string>();
  let listed: ReadRun["listed"] = null;
  for (const { name, source } of pieces) {
    if (name === null) return "it is not a record";
    if (names.has(name)) return faultWords({ type: "name-twice", name });
    names.add(name);
    const read = readSource(source);
    if (name === "pending_approvals") {
      const nothing = read.ok && isNothing(read.value);
      listed = nothing ? null : (listedInSource(source) ?? sourceText(source));
    } else if (read.ok) define(fields, name, read.value);
    else if (name === "output") define(fields, name, anyText(source));
    else if (NEEDED.has(name)) return `its ${name} cannot be read: ${faultWords(read.error)}`;
    // A field that is not valid JSON is shown as it was sent, under a name that says so.
    else define(fields, `${name} (${faultWords(read.error)}; as sent)`, sourceText(source));
  }
  return { fields, listed };
}

/** Accepts any text for an output, which is only shown and does not affect any decision. */
function anyText(source: Source): string {
  const text = sourceText(source);
  try {
    const value = JSON.parse(text) as Json;
    return typeof value === "string" ? value : text;
  } catch {
    return text;
  }
}

const isNothing = (value: Json): boolean => [null, false, 0, ""].some((each) => each === value);
const NEEDED = new Set(["id", "status"]);

function define(fields: object, name: string, value: Json): void {
  // An assignment would not work for a field named __proto__.
  Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true });
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function notJson(body: string): string {
  return isJson(body) ? "it is not a record" : faultWords({ type: "not-json" });
}

function pendingOf(
  listed: ReadRun["listed"],
  status: string,
  now: number,
): Pick<Snapshot, "pending" | "unreadable" | "resolved"> {
  if (listed !== null && typeof listed !== "string") return readPending(listed, now);
  if (listed !== null) return { pending: null, unreadable: [oddList(listed)] };
  return { pending: status === "awaiting_approval" ? null : [], unreadable: [] };
}

function statusIn(value: Json | undefined): string | null {
  const fits = typeof value === "string" && value.length > 0 && value.length <= MAX_SERVICE_ID_CHARS;
  return fits ? value : null;
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}

function oddField(name: string, value: Json | undefined): JsonRecord {
  return value === undefined || value === null || typeof value === "string" ? {} : { [name]: value };
}

function outputText(output: Json | undefined): string | null {
  if (output === undefined || output === null) return null;
  return typeof output === "string" ? output : JSON.stringify(output, null, 2);
}
