// The card for approvals that cannot be read. It has no buttons: people cannot decide what they cannot read.

import type { Block } from "@slack/types";
import { isWatched, type Run, runId, unreadableNow } from "../../../domain/run.ts";
import type { Unreadable, UnreadableItem } from "../../../domain/snapshot.ts";
import { channelText } from "../../../domain/text/text.ts";
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

export function unreadableCard(run: Run): Message {
  const unreadable = unreadableNow(run);
  if (unreadable === null) return readableAgain(run);
  const title = `⚠️ ${unreadableTitle(unreadable)}`;
  const head = line(
    span(run.origin === "started" ? "Run asked for by " : "Run watched by "),
    person(run.requester),
    span(" · seen "),
    moment(unreadable.since),
    span(" · "),
    untrustedSpan(runId(run) ?? "", 120, { code: true }),
  );
  const more = unreadable.count - unreadable.items.length;
  return withId(`unreadable:${unreadable.what}`, {
    text: title,
    blocks: [
      header(title),
      rich(head),
      ...unreadable.items.map((item) => itemBlock(unreadable, item)),
      ...(more > 0 ? [rich(line(span(`${count(more)} more cannot be read either.`)))] : []),
      rich(line(span("What to do: ", { bold: true }), span(adviceWords(unreadable)))),
      ...(unreadable.what === "items" ? [note("The boxes hold the service's own text, as first seen")] : []),
    ],
  });
}

/** Short enough for a header (150 characters). */
export function unreadableTitle({ what, count: many }: Unreadable): string {
  switch (what) {
    case "answer":
      return "The service's answers about this run cannot be used";
    case "list":
      return "The service does not list the approvals of this run";
    case "items":
      return many === 1
        ? "The service lists an approval that cannot be read"
        : `The service lists ${count(many)} approvals that cannot be read`;
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
      return "Look at the service: whether this run waits for an approval cannot be seen from here. Countersign keeps asking; decisions that are recorded here are sent when its answers can be used again.";
    case "list":
      return "Look at the service. Countersign keeps asking, and shows each approval when the service lists it.";
    case "items":
      if (many > 1)
        return "They cannot be decided here. Decide them at the service, or have the agent ask again. Each gets a card of its own when it can be read.";
      return "It cannot be decided here. Decide it at the service, or have the agent ask again. Its own card appears when it can be read.";
  }
}

function readableAgain(run: Run): Message {
  const says = isWatched(run)
    ? "What the service says of this run can be used again, or it no longer says what could not be read."
    : "The run is over, or no longer watched from here.";
  const title = "⚪ Over: the service could not be read";
  return withId("unreadable:over", {
    text: `${title}. ${says}`,
    blocks: [header(title), rich(line(span(says)))],
  });
}
