// What of Slack is imitated, how faithfully, on whose word, and which test shows it.

import { doorRows } from "./coverage-doors.ts";
import { limitRows } from "./coverage-limits.ts";
import { eventRows, payloadRows } from "./coverage-meetings.ts";
import { methodRows } from "./coverage-methods.ts";
import { proofs } from "./coverage-row.ts";
import type { Row } from "./coverage-row.ts";
import { errors } from "./errors.ts";
import { blockRows } from "./rules-blocks.ts";
import { elementRows } from "./rules-elements.ts";

export type Section = { readonly title: string; readonly rows: readonly Row[] };

const guessed = (source: string): boolean => source.startsWith("guess");

const refusals: readonly Row[] = Object.entries(errors).map(([subject, [what, source]]) => ({
  subject,
  what,
  how: guessed(source) ? "close" : "exact",
  source,
  proof: proofs.refusals,
}));

/** What differs from the rules of the others. */
const exceptions: Record<string, Partial<Row>> = {
  data_visualization: { how: "simplified", what: "only its name is known", proof: proofs.namedOnly },
  file: { what: "nobody can send one", proof: proofs.namedOnly },
  video: { how: "close", what: "fields and limits; the scope links.embed:write is not asked for" },
  plan: { how: "close", what: "fields and limits; that a task_id stands once is not checked" },
  table: { how: "close", what: "fields and limits; not the 10,000 characters in all, nor one a message" },
  data_table: { how: "close", what: "fields and limits; not the 20,000 characters in all" },
  workflow_button: {
    how: "close",
    what: "fields and limits; pressing it is refused, there are no workflows",
  },
  file_input: { how: "close", what: "fields and limits; nobody can choose a file in it" },
};

const drawn = (rows: typeof blockRows, proof: Row["proof"]): Row[] =>
  Object.entries(rows).map(([subject, { source }]) => ({
    subject,
    what: "fields, limits and surfaces",
    how: "exact",
    source,
    proof,
    ...exceptions[subject],
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
  missing("attachments", "legacy attachments are refused by name; too_many_attachments cannot happen"),
  missing("tombstones", "a deleted message with answers vanishes"),
  missing("message streams, agent sessions", "chat.startStream and its kin"),
  missing("organisations", "org-wide tokens, team_id, W ids"),
  missing("OAuth and token rotation", "tokens are minted at each start; none expires, none is revoked"),
  missing("workflows, custom steps", "function_executed, functions.complete*"),
  missing("membership events", "member_joined_channel, subteam_members_changed and their kin"),
  missing("response_url_enabled", "view_submission.response_urls stays empty"),
  missing("app_rate_limited", "events are never throttled, subscriptions never disabled"),
  missing("metadata_too_large", "the limit is not published"),
  missing("edit_window_closed, restricted_action", "workspace settings: here everything is allowed"),
  missing("the workspace's posting limit", "«a few hundred a minute» over all channels"),
  missing("superfluous_charset and other warnings", "only message_truncated is given"),
  missing("link unfurling", "flags are taken; nothing is fetched"),
  missing("multi-party direct messages", "mpim"),
];

export const coverage: readonly Section[] = [
  { title: "Methods of the Web API", rows: methodRows },
  { title: "What people do, and what the app is sent", rows: [...payloadRows, ...eventRows] },
  { title: "Doors, people and files", rows: doorRows },
  { title: "Limits of time, number and size", rows: limitRows },
  { title: "Refusals", rows: refusals },
  { title: "Blocks", rows: drawn(blockRows, proofs.blocks) },
  { title: "Elements", rows: drawn(elementRows, proofs.elements) },
  { title: "Not imitated", rows: absent },
];
