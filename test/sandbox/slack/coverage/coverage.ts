// What the sandbox imitates of Slack, how faithfully, according to which source, and which test proves it.

import { deliveryRows } from "./delivery-rows.ts";
import { limitRows } from "./limit-rows.ts";
import { eventRows, payloadRows } from "./payload-rows.ts";
import { methodRows } from "./method-rows.ts";
import { proofs } from "./row.ts";
import type { Proof, Row } from "./row.ts";
import { errors, type Source } from "#sandbox/slack/errors.ts";
import { allBlocks } from "#sandbox/slack/rules-blocks.ts";
import { sources } from "#sandbox/slack/rules-check.ts";
import { allElements, elementTypes } from "#sandbox/slack/rules-elements.ts";

export type Section = { readonly title: string; readonly rows: readonly Row[] };

const guessed = (source: string): boolean => source.startsWith("guess");

const refusals: readonly Row[] = Object.entries(errors).map(([subject, [what, source]]) => ({
  subject,
  what,
  how: guessed(source) ? "close" : "exact",
  source,
  proof: proofs.refusals,
}));

const values = "rules-values.test.ts";
const address: Proof = [values, '"%s" is invalid, wherever one is required'];
const shapes: Proof = [values, "an id has the shape of its kind"];

const schemes: Partial<Row> = {
  how: "close",
  what: "fields, limits and surfaces; an address is http, https or mailto; which other schemes Slack accepts is unknown",
  also: [[values, "may be http or https, and mailto in links for people"]],
};

/** The selects of people and channels. */
const byId = (kind: string): [string, Partial<Row>][] =>
  [`${kind}_select`, `multi_${kind}_select`].filter((type) => elementTypes.includes(type)).map((type) => [
    type,
    {
      how: "close",
      what: "fields, limits and surfaces; only the format of an id is checked, not whether it exists",
      also: [shapes],
    },
  ]);

/** Blocks and elements whose rows differ from the default. */
const exceptions: Record<string, Partial<Row>> = {
  table: { how: "close", what: "fields and limits; not the total of 10,000 characters, nor the limit of one per message" },
  data_table: { how: "close", what: "fields and limits; not the total of 20,000 characters" },
  button: schemes,
  overflow: schemes,
  rich_text: {
    how: "close",
    what: "fields, limits and surfaces; addresses as in a button; only the format of an id is checked",
    also: [address, shapes],
  },
  image: { also: [address] },
  datepicker: { also: [[values, "a date must exist in the calendar"]] },
  ...Object.fromEntries(["users", "channels", "conversations"].flatMap((kind) => byId(kind))),
};

/** The source of a type's rules. Without one, they are a guess. */
const sourceOf = (schema: (typeof allBlocks)["options"][number]): Source =>
  sources.get(schema)?.source ?? "guess";

const drawn = (union: typeof allBlocks, proof: Row["proof"]): Row[] =>
  union.options.map((schema) => ({
    subject: schema.shape.type.value,
    what: "fields, limits and surfaces",
    how: "exact",
    source: sourceOf(schema),
    proof,
    ...exceptions[schema.shape.type.value],
  }));

const missing = (subject: string, what: string): Row => ({
  subject,
  what,
  how: "not imitated",
  source: "the sandbox",
  proof: null,
});

const absent: readonly Row[] = [
  missing("all other methods", "unknown_method, with a message that says so"),
  missing(
    "other elements",
    "unsupported type: workflow, icon and feedback buttons; external selects; selects of several channels or conversations; times, numbers, e-mail, URLs, rich text and files",
  ),
  missing(
    "other blocks",
    "unsupported type: card, carousel, container, context_actions, data_visualization, file, plan, task_card, video",
  ),
  missing("attachments", "legacy attachments are refused by name; too_many_attachments cannot occur"),
  missing("tombstones", "a deleted message with replies disappears"),
  missing("message streams, agent sessions", "chat.startStream and related methods"),
  missing("organizations", "org-wide tokens, team_id, W ids"),
  missing("OAuth and token rotation", "tokens are created at each start; they never expire and are never revoked"),
  missing("workflows, custom steps", "function_executed, functions.complete*"),
  missing("other membership events", "member_left_channel, subteam_members_changed and similar events"),
  missing("response_url_enabled", "view_submission.response_urls stays empty"),
  missing("app_rate_limited", "events are never throttled, and subscriptions never disabled"),
  missing("metadata_too_large", "the limit is not published"),
  missing("edit_window_closed, restricted_action", "workspace settings; the sandbox allows everything"),
  missing("the workspace's posting limit", '"a few hundred per minute" in all channels together'),
  missing("superfluous_charset and other warnings", "only message_truncated is returned"),
  missing("link unfurling", "the flags are accepted, but nothing is fetched"),
  missing("multi-party direct messages", "mpim"),
];

export const coverage: readonly Section[] = [
  { title: "Methods of the Web API", rows: methodRows },
  { title: "What people do, and what the app receives", rows: [...payloadRows, ...eventRows] },
  { title: "Delivery, people and files", rows: deliveryRows },
  { title: "Limits of time, number and size", rows: limitRows },
  { title: "Errors", rows: refusals },
  { title: "Blocks", rows: drawn(allBlocks, proofs.blocks) },
  { title: "Elements", rows: drawn(allElements, proofs.elements) },
  { title: "Not imitated", rows: absent },
];
