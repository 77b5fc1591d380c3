// The card for approvals that cannot be read. It has no buttons: people cannot decide what they cannot read.

import type { Block } from "@slack/types";
import { isWatched, type Run, runId, unreadableNow } from "../../../domain/run.ts";
import type { Unreadable, UnreadableItem } from "../../../domain/snapshot.ts";
import { channelText } from "../../../domain/text/text.ts";
import { type Deployment, runIdElement, UNNAMED } from "./deployment.ts";
import { withId } from "./message-id.ts";
import {
  boxes,
  count,
  header,
  line,
  type Message,
  moment,
  note,
  person,
  rich,
  span,
  untrustedSpan,
} from "./rich.ts";

const WHY_CHARS = 300;

export function unreadableCard(run: Run, deployment: Deployment = UNNAMED): Message {
  const unreadable = unreadableNow(run);
  if (unreadable === null) return readableAgain(run);
  const title = `⚠️ ${unreadableTitle(unreadable)}`;
  const head = line(
    span(run.origin === "started" ? "Run asked for by " : "Run watched by "),
    person(run.requester),
    span(" · seen "),
    moment(unreadable.since),
    span(" · "),
    runIdElement(runId(run) ?? "", deployment),
  );
  const more = unreadable.count - unreadable.items.length;
  return withId(`unreadable:${unreadable.what}`, {
    text: title,
    blocks: [
      header(title),
      rich(head),
      ...unreadable.items.map((item) => itemBlock(unreadable, item)),
      ...(more > 0 ? [rich(line(span(`${count(more)} more can't be read either.`)))] : []),
      rich(line(span("What to do: ", { bold: true }), span(adviceWords(unreadable)))),
      ...(unreadable.what === "items" ? [note("The boxes hold the service's own text, as first seen")] : []),
    ],
  });
}

/** Short enough for a header (150 characters). */
export function unreadableTitle({ what, count: many }: Unreadable): string {
  switch (what) {
    case "answer":
      return "The service's answers about this run can't be used";
    case "list":
      return "The service doesn't list this run's approvals";
    case "items":
      return many === 1
        ? "The service sent an approval that can't be read"
        : `The service sent ${count(many)} approvals that can't be read`;
  }
}

function itemBlock({ what }: Unreadable, { ids, why, source, hidden }: UnreadableItem): Block {
  const named = ids.flatMap((id) => [span(", approval "), untrustedSpan(id, 120, { code: true })]);
  const reason = line(
    span("Why", { bold: true }),
    ...named,
    span(": "),
    untrustedSpan(why.endsWith(".") ? why : `${why}.`, WHY_CHARS),
  );
  if (what !== "items") return rich(reason);
  const rest = `${count(hidden)} more characters are not shown here. The service has them.`;
  const missing = hidden === 0 ? [] : [line(span(rest, { bold: true }))];
  return rich(reason, ...boxes(channelText(source)), ...missing);
}

function adviceWords({ what, count: many }: Unreadable): string {
  switch (what) {
    case "answer":
      return "Check at the service: Countersign can't tell whether this run is waiting for a decision. It keeps asking, and sends recorded decisions once the answers can be used again.";
    case "list":
      return "Check at the service. Countersign keeps asking, and shows each approval once the service lists it.";
    case "items":
      if (many > 1)
        return "They can't be decided here. Decide them at the service, or have the agent ask again. Each gets its own card once it can be read.";
      return "It can't be decided here. Decide it at the service, or have the agent ask again. It gets its own card once it can be read.";
  }
}

function readableAgain(run: Run): Message {
  const says = isWatched(run)
    ? "The service's answers about this run can be used again, or no longer contain what could not be read."
    : "The run is over, or Countersign no longer watches it.";
  const title = "⚪ Over: an answer of the service could not be read";
  return withId("unreadable:over", {
    text: `${title}. ${says}`,
    blocks: [header(title), rich(line(span(says)))],
  });
}
