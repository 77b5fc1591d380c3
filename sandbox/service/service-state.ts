// What the service keeps across a restart: the state file, in its current and earlier versions.

import { z } from "zod";
import { profileChange } from "./profile-table.ts";
import type { Run } from "./service-run.ts";
import { damaged } from "./state-file.ts";

const moment = z.number();
const approval = z.object({
  id: z.string(),
  action: z.string(),
  details: z.record(z.string(), z.unknown()),
  requestedAt: moment,
  state: z.discriminatedUnion("type", [
    z.object({ type: z.literal("pending") }),
    z.object({
      type: z.literal("decided"),
      verdict: z.enum(["approve", "deny"]),
      reason: z.string().nullable(),
      at: moment,
    }),
    z.object({ type: z.literal("withdrawn"), at: moment }),
  ]),
});
const ending = z.discriminatedUnion("type", [
  z.object({ type: z.literal("succeeded"), output: z.string() }),
  z.object({ type: z.literal("failed"), code: z.string(), message: z.string() }),
  z.object({ type: z.literal("canceled"), reason: z.string() }),
]);
const run: z.ZodType<Run> = z.object({
  id: z.string(),
  input: z.string(),
  createdAt: moment,
  phase: z.enum(["queued", "working", "awaiting_approval", "succeeded", "failed", "canceled"]),
  resumed: z.boolean(),
  approvals: z.array(approval),
  ending: ending.nullable(),
  completedAt: moment.nullable(),
  step: z.int(),
  wakeAt: moment.nullable(),
});

const runs = z.array(run);
/** Idempotency-Key → run id. */
const keys = z.array(z.tuple([z.string(), z.string()]));

const stateOfVersion1 = z.object({ version: z.literal(1), runs, keys });
const stateOfVersion2 = z.object({
  version: z.literal(2),
  runs,
  keys,
  /** The ids of runs that exist, but answer 404. */
  vanished: z.array(z.string()),
  /** The outdated states that reads show, and how many reads still show each. */
  stale: z.array(z.object({ run, left: z.int().min(1) })),
  profile: profileChange,
  /** The valid key, and the name of the key that was given at the start, if any. */
  apiKey: z.object({ right: z.string(), given: z.string().nullable() }).nullable(),
});

const newest = 2;
export type ServiceState = z.infer<typeof stateOfVersion2>;

export const emptyState: ServiceState = {
  version: newest,
  runs: [],
  keys: [],
  vanished: [],
  stale: [],
  profile: {},
  apiKey: null,
};

/** Reads the state. `found` is undefined if there is no file yet. Throws an error with a message for people if the state is invalid. */
export function readState(path: string, found: unknown): ServiceState {
  if (found === undefined) return emptyState;
  const { success, data: head } = z.looseObject({ version: z.number() }).safeParse(found);
  if (!success) throw damaged(path, "it is not a state file of this service");
  if (head.version > newest) {
    throw damaged(path, `it has version ${head.version}, but this service supports versions up to ${newest}`);
  }
  const parsed =
    head.version === 1
      ? stateOfVersion1.transform((old) => ({ ...emptyState, ...old, version: newest })).safeParse(found)
      : stateOfVersion2.safeParse(found);
  if (!parsed.success) throw damaged(path, firstFault(parsed.error));
  return { ...parsed.data, version: newest };
}

function firstFault(error: z.ZodError): string {
  const [issue] = error.issues;
  const more = error.issues.length > 1 ? ` (and ${error.issues.length - 1} more)` : "";
  return `"${issue?.path.join(".") ?? ""}" is invalid: ${issue?.message ?? ""}${more}`;
}
