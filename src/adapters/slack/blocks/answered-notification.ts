// Tells the requester that a request of their run was decided, or that the time to decide it passed.

import { escaped, line, type Message, moment, person, quote, rich, span, untrustedSpan } from "./rich.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import type { NotificationFacts } from "../../../ports.ts";
import { UNNAMED } from "./deployment.ts";
import { ACTION_CHARS, actionOf, type DrawnWith, placeOf, reasonOf } from "./notification-parts.ts";

export function answered(
  kind: "answered" | "expired",
  facts: NotificationFacts,
  { link = null, deployment = UNNAMED }: DrawnWith,
): Message {
  const { entry } = facts.entry;
  const by = kind === "answered" ? entry.by : null;
  const title =
    kind === "expired" ? "⌛ Not decided in time" : entry.verdict === "deny" ? "⛔ Denied" : "✅ Approved";
  const then =
    kind === "expired"
      ? "It can no longer be decided here. Ask for it again with a new run."
      : by === null
        ? "The time to decide passed, so the policy denied it."
        : "The service confirmed it.";
  const action = oneLine(actionOf(facts), ACTION_CHARS);
  return {
    text: escaped(`${title}: ${action}`),
    blocks: [
      rich(
        line(
          span(title, { bold: true }),
          ...(by === null ? [] : [span(" by "), person(by.user)]),
          span(", "),
          moment(entry.at),
          ...placeOf(facts, deployment),
        ),
        quote(untrustedSpan(action, ACTION_CHARS)),
        ...(by === null ? [] : reasonOf(facts.entry)),
        line(
          span(then),
          ...(link === null ? [] : [span(" "), { type: "link" as const, url: link, text: "Open the card" }]),
        ),
      ),
    ],
  };
}
