// What of Slack is imitated, how faithfully, on whose word, and which test shows it.

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
const address: Proof = [values, '"%s" is none, wherever one is due'];
const shapes: Proof = [values, "an id has the shape of its kind"];

const schemes: Partial<Row> = {
  how: "close",
  what: "fields, limits and surfaces; an address is http, https or mailto: what else Slack lets pass is not known",
  also: [[values, "may be http or https, and mailto where a person follows it"]],
};

/** Menus of people and channels. */
const byId = (kind: string): [string, Partial<Row>][] =>
  [`${kind}_select`, `multi_${kind}_select`].filter((type) => elementTypes.includes(type)).map((type) => [
    type,
    {
      how: "close",
      what: "fields, limits and surfaces; of an id only the shape counts, not whether anyone has it",
      also: [shapes],
    },
  ]);

/** What differs from the rules of the others. */
const exceptions: Record<string, Partial<Row>> = {
  table: { how: "close", what: "fields and limits; not the 10,000 characters in all, nor one a message" },
  data_table: { how: "close", what: "fields and limits; not the 20,000 characters in all" },
  button: schemes,
  overflow: schemes,
  rich_text: {
    how: "close",
    what: "fields, limits and surfaces; addresses as in a button; of an id only the shape counts",
    also: [address, shapes],
  },
  image: { also: [address] },
  datepicker: { also: [[values, "a date is one of the calendar"]] },
  ...Object.fromEntries(["users", "channels", "conversations"].flatMap((kind) => byId(kind))),
};

/** A guess, if the rules of a type say nothing else. */
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
  missing("all other methods", "unknown_method, with words that say so"),
  missing(
    "other elements",
    "unsupported type: workflow, icon and feedback buttons; external selects; selects of several channels or conversations; times, numbers, e-mail, URLs, rich text and files",
  ),
  missing(
    "other blocks",
    "unsupported type: card, carousel, container, context_actions, data_visualization, file, plan, task_card, video",
  ),
  missing("attachments", "legacy attachments are refused by name; too_many_attachments cannot happen"),
  missing("tombstones", "a deleted message with answers vanishes"),
  missing("message streams, agent sessions", "chat.startStream and its kin"),
  missing("organisations", "org-wide tokens, team_id, W ids"),
  missing("OAuth and token rotation", "tokens are minted at each start; none expires, none is revoked"),
  missing("workflows, custom steps", "function_executed, functions.complete*"),
  missing("other membership events", "member_left_channel, subteam_members_changed and their kin"),
  missing("response_url_enabled", "view_submission.response_urls stays empty"),
  missing("app_rate_limited", "events are never throttled, subscriptions never disabled"),
  missing("metadata_too_large", "the limit is not published"),
  missing("edit_window_closed, restricted_action", "workspace settings: here everything is allowed"),
  missing("the workspace's posting limit", '"a few hundred a minute" over all channels'),
  missing("superfluous_charset and other warnings", "only message_truncated is given"),
  missing("link unfurling", "flags are taken; nothing is fetched"),
  missing("multi-party direct messages", "mpim"),
];

export const coverage: readonly Section[] = [
  { title: "Methods of the Web API", rows: methodRows },
  { title: "What people do, and what the app is sent", rows: [...payloadRows, ...eventRows] },
  { title: "Delivery, people and files", rows: deliveryRows },
  { title: "Limits of time, number and size", rows: limitRows },
  { title: "Refusals", rows: refusals },
  { title: "Blocks", rows: drawn(allBlocks, proofs.blocks) },
  { title: "Elements", rows: drawn(allElements, proofs.elements) },
  { title: "Not imitated", rows: absent },
];
