// The switches of the profile as one table: read by the shell's --help and --profile, the control acts and the page.

import { z } from "zod";
import {
  errorBodies,
  pendingLists,
  pendingShapes,
  plainProfile,
  successStatuses,
  timestampStyles,
  whenReasonIsRequired,
} from "./profile.ts";
import type { Profile } from "./profile.ts";

type Value = Profile[keyof Profile];

export type ProfileSwitch = {
  readonly name: keyof Profile;
  readonly what: string;
  /** All values there are, to choose from; null: any that `schema` takes. */
  readonly choices: readonly Value[] | null;
  /** What may be given, in words. */
  readonly allowed: string;
  readonly usual: Value;
  readonly schema: z.ZodType<Value>;
};

type Kind<V extends Value> = Pick<ProfileSwitch, "choices" | "allowed"> & { readonly schema: z.ZodType<V> };

const among = <const V extends string | number>(...choices: readonly V[]): Kind<V> => ({
  choices,
  allowed: choices.map((choice) => `${choice}`).join(" | "),
  schema: z.literal(choices),
});
const yesOrNo: Kind<boolean> = { choices: [true, false], allowed: "true | false", schema: z.boolean() };
const wholeNumber = (min: number, max: number): Kind<number> => ({
  choices: null,
  allowed: `a whole number from ${min} to ${max}`,
  schema: z.int().min(min).max(max),
});

const mostOfAWord = 60;
const aWord = z
  .string()
  .max(mostOfAWord)
  .regex(/^\S(.*\S)?$/);
const decisionWord: Kind<string> = {
  choices: null,
  allowed: "a word other than approve",
  schema: aWord.refine((given) => given !== "approve", "approve is the word that approves"),
};

/** The document defines its own states, so only `queued` may stand for a run that works. */
const documented = new Set(["awaiting_approval", "succeeded", "failed", "canceled"]);
const stateName: Kind<string | null> = {
  choices: null,
  allowed: "a word that is no other state of the document, or null",
  schema: aWord
    .refine((given) => !documented.has(given), "the document gives this state another meaning")
    .nullable(),
};
const resolvedWord: Kind<string> = {
  choices: null,
  allowed: "a word other than pending",
  schema: aWord.refine((given) => given !== "pending", "pending is the word for an unresolved approval"),
};

const row = <V extends Value>(what: string, kind: Kind<V>) => ({ what, ...kind });

const rows: { readonly [Name in keyof Profile]: Kind<Profile[Name]> & { readonly what: string } } = {
  denyWord: row("the word of a decision that denies", decisionWord),
  healthStatus: row("success status of GET /v1/health; with 204 there is no body", among(...successStatuses)),
  createStatus: row("success status of creating a run", among(...successStatuses)),
  readStatus: row("success status of reading a run", among(...successStatuses)),
  decideStatus: row("success status of a decision", among(...successStatuses)),
  runningState: row("the state after queued; null: it stays queued until the run asks or ends", stateName),
  resumedState: row("the state after the last decision; null: the same as before the request", stateName),
  pendingShape: row("what an item of pending_approvals is", among(...pendingShapes)),
  pendingList: row("what holds the items of pending_approvals", among(...pendingLists)),
  approvedStatus: row("status of an approved approval", resolvedWord),
  deniedStatus: row("status of a denied approval", resolvedWord),
  reasonRequired: row("when a decision needs a reason", among(...whenReasonIsRequired)),
  sameDecisionAgain: row("the same verdict on a decided approval", among("refused", "answered")),
  staleReads: row("so many reads after a decision show the run as it was before", wholeNumber(0, 1000)),
  readEchoesInput: row("reading a run also tells its input and created_at", yesOrNo),
  tellsWhyItEnded: row("a failed run has an error record, a canceled one a reason", yesOrNo),
  timestamps: row("2026-01-05T09:00:00.000Z, …00Z or …00+00:00", among(...timestampStyles)),
  errorBody: row("what an error answer carries; the document has the record", among(...errorBodies)),
  errorCodes: row(
    "the code of errors: one for each kind, or always the documented one",
    among("by kind", "invalid_request"),
  ),
  invalidStatus: row("status of a body that lacks something or has it wrong", among(400, 422)),
  unauthorizedStatus: row("status without a right key", among(401, 403)),
  unknownStatus: row("status of an unknown run or approval", among(404, 400)),
  resolvedStatus: row("status of a decision that comes too late", among(409, 400, 404, 422)),
  successBody: row("what a success answer carries; the document has JSON", among("json", "text")),
  extraFields: row("fields of a body that the document does not name", among("ignored", "refused")),
  honoursIdempotencyKey: row("a repeated Idempotency-Key leads to the run made first", yesOrNo),
  idStyle: row(
    "odd: ids with slashes, spaces, percent signs and letters beyond ASCII",
    among("plain", "odd"),
  ),
  bodyLimit: row("bytes a request's body may have", wholeNumber(1, 64 * 1024 * 1024)),
};

const names = Object.keys(rows) as (keyof Profile)[];

/** In the order of the page and of --help. */
export const profileTable: readonly ProfileSwitch[] = names.map((name) => ({
  name,
  usual: plainProfile[name],
  ...rows[name],
}));

/** Some of the switches, each with a value it may have. */
export const profileChange = z.strictObject(
  Object.fromEntries(names.map((name) => [name, rows[name].schema.exactOptional()])),
) as z.ZodObject<{ [Name in keyof Profile]: z.ZodExactOptional<z.ZodType<Profile[Name]>> }, z.core.$strict>;

/** What is wrong with one switch; null: nothing. */
export function switchFault(name: string, value: unknown): string | null {
  const known = profileTable.find((one) => one.name === name);
  if (known === undefined) return `There is no switch "${name}".`;
  const parsed = known.schema.safeParse(value);
  return parsed.success ? null : `"${name}" takes ${known.allowed}.`;
}

/** The same change; throws all that is wrong with it. */
export function checkProfile(change: Partial<Profile>): Partial<Profile> {
  const faults = Object.entries(change).flatMap(([name, value]) => switchFault(name, value) ?? []);
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return change;
}
