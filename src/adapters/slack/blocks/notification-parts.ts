// What several notifications share: the action, the place and the reason of the entry that they are about.

import type { KeptEntry } from "../../../audit/entry.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import type { NotificationFacts } from "../../../ports.ts";
import { type Deployment, runIdElement } from "./deployment.ts";
import { line, span, untrustedSpan } from "./rich.ts";

export const ACTION_CHARS = 300;
export const REASON_CHARS = 500;

/** What is known only when it is drawn. `link`: to the card. `reportedAt`: the receipt's person said "This was not me". */
export type DrawnWith = {
  readonly link?: string | null;
  readonly reportedAt?: number | null;
  readonly deployment?: Deployment;
};

export const actionOf = ({ action }: NotificationFacts): string => action ?? "(the service did not say what)";

export const channelOf = ({ channel }: NotificationFacts) =>
  channel === null ? [] : [span(" in "), { type: "channel" as const, channel_id: channel }];

export function placeOf(facts: NotificationFacts, deployment: Deployment) {
  const { runId } = (facts.about ?? facts.entry).entry;
  return [...channelOf(facts), ...(runId === null ? [] : [span(" · "), runIdElement(runId, deployment)])];
}

export function reasonOf({ entry }: KeptEntry, chars = REASON_CHARS) {
  if (entry.reason === null || entry.reason === "") return [];
  return [line(span("Reason: "), untrustedSpan(oneLine(entry.reason, chars), chars))];
}
