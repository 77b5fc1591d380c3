// The switches of the profile in one table, which --help, --profile, the control API and the page use.

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
  /** All possible values. Null if every value that matches `schema` is possible. */
  readonly choices: readonly Value[] | null;
  /** A description of the allowed values. */
  readonly allowed: string;
  readonly usual: Value;
  /** The values with which the service breaks the interface document on purpose. */
  readonly breaks: readonly Value[];
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
  schema: aWord.refine((value) => value !== "approve", "approve is the word that approves"),
};

/** The states that the document defines. Of its states, only `queued` can also be the state of a working run. */
const documented = new Set(["awaiting_approval", "succeeded", "failed", "canceled"]);
const stateName: Kind<string | null> = {
  choices: null,
  allowed: "a word that is not another state of the document, or null",
  schema: aWord
    .refine((value) => !documented.has(value), "the document gives this state another meaning")
    .nullable(),
};
const resolvedWord: Kind<string> = {
  choices: null,
  allowed: "a word other than pending",
  schema: aWord.refine((value) => value !== "pending", "pending is the word for an unresolved approval"),
};

type Row<V extends Value> = Kind<V> & Pick<ProfileSwitch, "what"> & { readonly breaks: readonly V[] };

const row = <V extends Value>(what: string, kind: Kind<V>, breaks: readonly NoInfer<V>[] = []): Row<V> => ({
  what,
  ...kind,
  breaks,
});

const rows: { readonly [Name in keyof Profile]: Row<Profile[Name]> } = {
  denyWord: row("the word of a decision that denies", decisionWord),
  healthStatus: row(
    "success status of GET /v1/health; with 204 there is no body",
    among(...successStatuses),
    [204],
  ),
  createStatus: row("success status of creating a run", among(...successStatuses), [204]),
  readStatus: row("success status of reading a run", among(...successStatuses), [204]),
  decideStatus: row("success status of a decision", among(...successStatuses), [204]),
  runningState: row("the state after queued; null: it stays queued until the run asks or ends", stateName),
  resumedState: row("the state after the last decision; null: the same as before the request", stateName),
  pendingShape: row("the format of an item of pending_approvals", among(...pendingShapes)),
  pendingList: row("the container of the items of pending_approvals", among(...pendingLists), [
    "items",
    "by id",
  ]),
  approvedStatus: row("status of an approved approval", resolvedWord),
  deniedStatus: row("status of a denied approval", resolvedWord),
  reasonRequired: row("when a decision needs a reason", among(...whenReasonIsRequired)),
  sameDecisionAgain: row("the same verdict on a decided approval", among("refused", "answered")),
  staleReads: row(
    "how many reads after a decision still show the run as it was before",
    wholeNumber(0, 1000),
  ),
  readEchoesInput: row("reading a run also returns its input and created_at", yesOrNo),
  tellsWhyItEnded: row("a failed run has an error record, and a canceled run has a reason", yesOrNo),
  timestamps: row("2026-01-05T09:00:00.000Z, …00Z or …00+00:00", among(...timestampStyles)),
  errorBody: row("the body of an error answer", among(...errorBodies), ["other json", "text", "empty"]),
  errorCodes: row(
    "the code of errors: one for each kind, or always the documented code",
    among("by kind", "invalid_request"),
  ),
  invalidStatus: row("status for a body with a missing or invalid field", among(400, 422)),
  unauthorizedStatus: row("status without a valid key", among(401, 403)),
  unknownStatus: row("status for an unknown run or approval", among(404, 400)),
  resolvedStatus: row("status for a decision that comes too late", among(409, 400, 404, 422)),
  successBody: row("the body of a success answer", among("json", "text"), ["text"]),
  extraFields: row("how fields that the document does not name are treated", among("ignored", "refused")),
  honoursIdempotencyKey: row("a repeated Idempotency-Key returns the first run", yesOrNo),
  idStyle: row("odd: ids with slashes, spaces, percent signs and non-ASCII letters", among("plain", "odd")),
  bodyLimit: row("the size limit of a request body in bytes", wholeNumber(1, 64 * 1024 * 1024)),
};

const names = Object.keys(rows) as (keyof Profile)[];

/** The switches, in the order in which the page and --help show them. */
export const profileTable: readonly ProfileSwitch[] = names.map((name) => ({
  name,
  usual: plainProfile[name],
  ...rows[name],
}));

/** A change of the profile: some of the switches, each with a valid value. */
export const profileChange = z.strictObject(
  Object.fromEntries(names.map((name) => [name, rows[name].schema.exactOptional()])),
) as z.ZodObject<{ [Name in keyof Profile]: z.ZodExactOptional<z.ZodType<Profile[Name]>> }, z.core.$strict>;

/** Returns what is wrong with the value of a switch, or null if it is valid. */
export function switchFault(name: string, value: unknown): string | null {
  const known = profileTable.find((one) => one.name === name);
  if (known === undefined) return `There is no switch "${name}".`;
  const parsed = known.schema.safeParse(value);
  return parsed.success ? null : `"${name}" takes ${known.allowed}.`;
}

/** Returns the change. Throws an error that lists everything that is wrong with it. */
export function checkProfile(change: Partial<Profile>): Partial<Profile> {
  const faults = Object.entries(change).flatMap(([name, value]) => switchFault(name, value) ?? []);
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return change;
}
