// A run as the service sends it → a Snapshot. INTERFACE.md leaves much «not shown»: what it does not forbid is taken, and
// nothing the service says of an approval is dropped. This is the poll path: it costs a few microseconds.

import { z } from "zod";
import { MAX_SERVICE_ID_CHARS, RunId } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import { err, ok, type Result } from "../core/result.ts";
import type { PendingApproval, Snapshot } from "../core/snapshot.ts";
import { ServiceId } from "./address.ts";
import { readPending } from "./pending.ts";
import { readJson } from "./json-body.ts";

const RunRecord = z.looseObject({
  id: ServiceId,
  status: z.string().min(1).max(MAX_SERVICE_ID_CHARS),
  input: z.unknown().optional(),
  output: z.unknown().optional(),
  completed_at: z.unknown().optional(),
  pending_approvals: z.unknown().optional(),
});

const CreatedRecord = z.looseObject({
  ...RunRecord.shape,
  status: RunRecord.shape.status.catch("queued"),
});

/** The answer to `GET run`; the error says what is wrong with it. */
export function readRun(body: string, asked: RunId, askedAt: number): Result<Snapshot, string> {
  const read = readRecord(RunRecord, body, askedAt);
  if (!read.ok || read.value.id === asked) return read;
  return err("it tells of another run");
}

/** The answer to `POST runs`. A missing status means `queued` (INTERFACE.md §4). */
export function readCreated(body: string, askedAt: number): Result<Snapshot, string> {
  return readRecord(CreatedRecord, body, askedAt);
}

function readRecord(
  schema: typeof RunRecord | typeof CreatedRecord,
  body: string,
  askedAt: number,
): Result<Snapshot, string> {
  const json = readJson(body);
  if (!json.ok) return json;
  const parsed = schema.safeParse(json.value);
  if (!parsed.success) return err("it has no readable id or status");
  const { id, status, input, output, completed_at, pending_approvals, ...rest } = parsed.data;
  const pending = readPendingField(pending_approvals, status);
  if (pending === "unreadable") return err("it lists an approval without a readable id");
  // A known field of an unforeseen kind is shown as the unknown ones are.
  const odd = {
    ...oddField("input", input),
    ...oddField("completed_at", completed_at),
    ...(Array.isArray(pending_approvals) ? {} : oddField("pending_approvals", pending_approvals)),
  };
  return ok({
    id: RunId(id),
    status,
    input: textOrNull(input),
    output: outputText(output),
    completedAt: textOrNull(completed_at),
    pending,
    extra: { ...rest, ...odd } as Snapshot["extra"],
    askedAt,
  });
}

function readPendingField(field: unknown, status: string): PendingApproval[] | null | "unreadable" {
  if (Array.isArray(field)) return readPending(field as Json[]) ?? "unreadable";
  return status === "awaiting_approval" ? null : [];
}

function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function oddField(name: string, value: unknown): { [name: string]: unknown } {
  return value === undefined || value === null || typeof value === "string" ? {} : { [name]: value };
}

function outputText(output: unknown): string | null {
  if (output === undefined || output === null) return null;
  return typeof output === "string" ? output : JSON.stringify(output, null, 2);
}
