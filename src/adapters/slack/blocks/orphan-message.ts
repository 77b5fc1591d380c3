// Draws a message that Countersign has no record of, because it was restored from a copy that is older than the message.

import type { RichTextElement } from "@slack/types";
import type { Orphan } from "../../../domain/orphan.ts";
import { type Deployment, named, runIdElement } from "./deployment.ts";
import { withId } from "./message-id.ts";
import { line, type Message, moment, quote, rich, span, untrustedSpan } from "./rich.ts";

type DrawnWith = {
  readonly command: string;
  /** The link to the message that replaces this one. Null if there is none. */
  readonly link: string | null;
  readonly deployment: Deployment;
};

const TITLES = {
  card: "⚫ Closed: this card no longer decides anything",
  opening: "⚫ Closed: this message is no longer updated",
  other: "⚫ Closed: this message is no longer updated",
} as const;

const NAMES = {
  card: "This was the card of a request",
  opening: "This was the first message",
  other: "This was a message",
} as const;

/** Enough for the command and a run's id, which has at most 512 characters. */
const COMMAND_CHARS = 600;
const ABOUT_CHARS = 300;

export function orphanMessage(orphan: Orphan, drawn: DrawnWith): Message {
  const { kind, runId, copiedAt, about } = orphan;
  const title = TITLES[kind];
  const copy = copiedAt === null ? [] : [span(", made "), moment(copiedAt)];
  const run =
    runId === null ? [span(" of a run")] : [span(" of run "), runIdElement(runId, drawn.deployment)];
  const was = about === "" ? [] : [quote(untrustedSpan(about, ABOUT_CHARS))];
  const why = line(
    span(NAMES[kind]),
    ...run,
    span(". Countersign was restored from an older copy of its database"),
    ...copy,
    span(", and has no record of this message. What the agent service has confirmed still holds."),
  );
  const blocks = [rich(line(span(title, { bold: true })), ...was, why, line(...whereTo(orphan, drawn)))];
  return named(withId(`orphan:${kind}`, { text: title, blocks }), drawn.deployment);
}

function whereTo(
  { kind, runId, isFollowed, current }: Orphan,
  { link, command }: DrawnWith,
): RichTextElement[] {
  const place = kind === "card" ? "Open the current card" : "Open the current message";
  if (current !== null && link !== null) return [{ type: "link", url: link, text: place }];
  const typed = (word: string): RichTextElement =>
    untrustedSpan(`${command} ${word} ${runId ?? "<run id>"}`, COMMAND_CHARS, { code: true });
  return isFollowed
    ? [
        typed("status"),
        span(" shows what became of the run, and "),
        span(`${command} pending`, { code: true }),
        span(" what still waits for a decision."),
      ]
    : [
        span("Countersign no longer watches this run. "),
        typed("watch"),
        span(" watches it again: each request that still waits gets a new card."),
      ];
}
