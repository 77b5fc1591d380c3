// The messages of a run's thread: its opening, the notices, and the card for unreadable answers. `messageIn` draws every message of a run,
// including its outcome, the listings and the approval cards.

import type { Block, RichTextElement } from "@slack/types";
import { isFollowUpSlot } from "../../../domain/handling.ts";
import { namedByStop, notStopped } from "../../../domain/stop-report.ts";
import type { MessageTs } from "../../../domain/ids.ts";
import { BACK, DOWN, isDisputed } from "../../../domain/render-key.ts";
import { MISSING, STOPPED, cardSlot, OPENING, OUTCOME, type Slot, UNREADABLE } from "../../../domain/slot.ts";
import { cardOf, hasGivenUpId, isWatched, type Run, runId, unreadableNow } from "../../../domain/run.ts";
import type { Unreadable, UnreadableItem } from "../../../domain/snapshot.ts";
import { listingPageOf } from "../../../domain/listing.ts";
import { isStormSlot } from "../../../domain/storm.ts";
import { callIn, isAnnouncement } from "../../../domain/call.ts";
import { gatheredIn, isGatheredSlot, shownCalls } from "../../../domain/gathered-call.ts";
import { head, oneLine } from "../../../domain/text/excerpt.ts";
import { approvalCard } from "./approval-card.ts";
import { callMessage, severalMessage } from "./call-messages.ts";
import { stopActions, stopMessage, stoppedLine } from "./brake-blocks.ts";
import { type Deployment, named, namedText, runIdElement, UNNAMED } from "./deployment.ts";
import { followUpMessage } from "./follow-up-messages.ts";
import { type MessageId, withId } from "./message-id.ts";
import {
  count,
  drawnBoxes,
  duration,
  escaped,
  header,
  line,
  type Links,
  type Message,
  moment,
  NO_LINKS,
  note,
  person,
  plural,
  quote,
  rich,
  span,
  untrustedSpan,
} from "./rich.ts";
import { outcome } from "./run-outcome.ts";
import { runStatus, statusElements, whyLines } from "./run-status.ts";
import { listingMessage, stormNotice } from "./storm-messages.ts";

const TASK_IN_OPENING_CHARS = 2_500;

/** Returns null if the slot belongs to another kind of message. */
function threadMessage(run: Run, slot: string, deployment: Deployment, links: Links): Message | null {
  if (slot === OPENING) return opening(run, deployment);
  if (slot === OUTCOME) return outcome(run, deployment);
  if (slot === MISSING) return missing(run);
  if (slot === STOPPED && run.stop !== undefined) return stopMessage(run, run.stop, { deployment, links });
  if (isFollowUpSlot(slot)) return followUpMessage(run, slot);
  if (isStormSlot(slot)) return stormNotice(run, slot);
  const several = gatheredIn(run, slot);
  if (several !== null) return severalMessage(run, several, links);
  const call = callIn(run, slot);
  if (call !== null) return callMessage(run, call);
  if (slot.startsWith(DOWN)) return serviceDown(run);
  return slot.startsWith(BACK) ? serviceBack(run) : null;
}

function opening(run: Run, deployment: Deployment): Message {
  const status = runStatus(run);
  const { name, text } = status;
  const id = runId(run);
  const task = run.input === "" ? [] : [quote(untrustedSpan(run.input, TASK_IN_OPENING_CHARS))];
  const verb =
    run.origin === "started" ? " asked for a run:" : " is watching a run that was started elsewhere:";
  const blocks: Block[] = [
    rich(line(person(run.requester), span(verb)), ...task),
    rich(
      line(
        ...statusElements(run, status),
        ...(id === null ? [] : [span(" · "), runIdElement(id, deployment)]),
      ),
      ...whyLines(status),
      ...(isDisputed(run)
        ? [line(span("⚠️ A decision of this run is disputed. Its card says who disputes it."))]
        : []),
      ...stoppedLine(run),
    ),
    ...stopActions(run),
  ];
  const about = run.input === "" ? "" : `: ${oneLine(run.input, 200)}`;
  return withId(`run:${name}`, { text: escaped(`${text}${about}`), blocks });
}

const givenUpWords = (run: Run): string =>
  hasGivenUpId(run)
    ? GIVEN_TO_ANOTHER
    : "The service has not known this run for a day. Countersign has stopped asking.";

const GIVEN_TO_ANOTHER =
  "Countersign has stopped asking about this run: the service no longer knew it, and gave its id to another one.";

function missing(run: Run): Message {
  switch (run.watch.type) {
    case "tampered":
      return tampered();
    case "given-up":
      return oneSentence("thread:given-up", givenUpWords(run));
    case "missing":
      return oneSentence("thread:missing", NO_LONGER_KNOWN);
    case "dropped":
      return oneSentence("thread:unwatched", hasGivenUpId(run) ? GIVEN_TO_ANOTHER : UNWATCHED);
    default:
      return oneSentence("thread:known-again", "The service knows this run again.");
  }
}

const NO_LONGER_KNOWN =
  "The service no longer knows this run. Its cards are closed. Countersign keeps asking for a day.";

const UNWATCHED =
  "No longer watched, and its cards are closed. The service did not know this run when the watching ended. To have Countersign ask again, watch the run again.";

const oneSentence = (id: MessageId, text: string): Message =>
  withId(id, { text, blocks: [rich(line(span(text)))] });

function tampered(): Message {
  const title = "🚨 Stopped: this run's record was changed outside Countersign";
  const meaning =
    "Nothing more is sent for this run, and its cards are closed. The service may still be waiting for decisions: make them there.";
  const advice =
    "Countersign's admins: find out who changed the database. Then watch the run again to get new cards.";
  return withId("thread:tampered", {
    text: title,
    blocks: [rich(line(span(title, { bold: true })), line(span(meaning)), line(span(advice)))],
  });
}

function serviceDown(run: Run): Message {
  const text = "⚠️ No usable answer from the agent service";
  const rest =
    "Until it is back, this channel may be out of date. You can still decide: decisions are recorded now and sent once the service answers.";
  const why = run.outage === null ? [] : [quote(untrustedSpan(run.outage.why, 300))];
  const first = line(span(text, { bold: true }), span(", since "), moment(run.outage?.since ?? 0), span(":"));
  return withId("thread:service-down", { text, blocks: [rich(first, ...why, line(span(rest)))] });
}

function serviceBack(run: Run): Message {
  if (run.outage?.unchecked === true) return oneSentence("thread:service-unchecked", UNCHECKED);
  const away = duration((run.outage?.until ?? 0) - (run.outage?.since ?? 0));
  return oneSentence("thread:service-back", `The agent service answers again after ${away}.`);
}

const UNCHECKED =
  "Countersign stopped asking before the agent service answered: none of the runs in question is watched any more.";

/** Whether the message is posted in the channel itself. All others are replies in the run's thread. */
export function inChannel(slot: Slot): boolean {
  return (
    slot === OPENING ||
    isStormSlot(slot) ||
    isAnnouncement(slot) ||
    isGatheredSlot(slot) ||
    slot.startsWith(DOWN) ||
    slot.startsWith(BACK)
  );
}

/** Returns the cards, in the run's channel, that the message of the slot links to. */
export function linkedCards(run: Run, slot: Slot): readonly MessageTs[] {
  if (slot === STOPPED) {
    const named = [...namedByStop(run).named, ...notStopped(run).named];
    return named.flatMap(({ approval }) => cardOf(run, approval) ?? []);
  }
  const several = gatheredIn(run, slot);
  return several === null ? [] : shownCalls(several).flatMap(({ card }) => card ?? []);
}

/**
 * Draws the message of a slot from the run's current state. Throws a TypeError for an unknown slot, because only known messages may be
 * posted.
 */
export function messageIn(
  run: Run,
  slot: Slot,
  deployment: Deployment = UNNAMED,
  links: Links = NO_LINKS,
): Message {
  const thread = threadMessage(run, slot, deployment, links);
  if (thread !== null) return inChannel(slot) ? named(thread, deployment) : namedText(thread, deployment);
  if (slot === UNREADABLE) return named(unreadableCard(run, deployment), deployment);
  const page = listingPageOf(run, slot);
  if (page !== null) return named(listingMessage(run, page), deployment);
  const approval = run.approvals.find(({ id }) => cardSlot(id) === slot);
  if (approval === undefined) throw new TypeError(`no message is drawn for ${slot}`);
  return approvalCard(run, approval, deployment);
}

// The card for approvals that cannot be read. It has no buttons, because people cannot decide what they cannot read.

const WHY_CHARS = 300;
const ID_CHARS = 120;
const IDS_OF_ITEM = 2;
/** The room for the boxes of all items, as Slack counts. With the rest of the message, this stays below its limit. */
const BOXES_CHARS = 8_000;

function unreadableCard(run: Run, deployment: Deployment = UNNAMED): Message {
  const unreadable = unreadableNow(run);
  if (unreadable === null) return readableAgain(run);
  const title = `⚠️ ${unreadableTitle(unreadable)}`;
  const about = line(
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
      rich(about),
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
      return "The service doesn't list this run's requests";
    case "items":
      return many === 1
        ? "The service sent a request that can't be read"
        : `The service sent ${count(many)} requests that can't be read`;
  }
}

function itemBlock({ what, items }: Unreadable, { ids, why, source, hidden }: UnreadableItem): Block {
  const reason = line(
    span("Why", { bold: true }),
    ...idElements(ids),
    span(": "),
    untrustedSpan(why.endsWith(".") ? why : `${why}.`, WHY_CHARS),
  );
  if (what !== "items") return rich(reason);
  const shown = head(source, Math.floor(BOXES_CHARS / items.length), "masked");
  const left = shown.hidden + hidden;
  const rest = `${count(left)} more ${plural(left, "character is", "characters are")} not shown here. The service has ${plural(left, "it", "them")}.`;
  const missing = left === 0 ? [] : [line(span(rest, { bold: true }))];
  return rich(reason, ...drawnBoxes(shown.text), ...missing);
}

function idElements(ids: UnreadableItem["ids"]): RichTextElement[] {
  const named = ids
    .slice(0, IDS_OF_ITEM)
    .flatMap((id) => [span(", approval "), untrustedSpan(id, ID_CHARS, { code: true })]);
  const more = ids.length - IDS_OF_ITEM;
  return more > 0 ? [...named, span(` and ${count(more)} more ${plural(more, "id")}`)] : named;
}

function adviceWords({ what, count: many }: Unreadable): string {
  switch (what) {
    case "answer":
      return "Look up the run in the agent service: Countersign can't tell whether this run is waiting for a decision. It keeps asking, and sends recorded decisions once the answers can be used again.";
    case "list":
      return "Look up the run in the agent service. Countersign keeps asking, and shows each request once the service lists it.";
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
  const title = "⚪ No longer current: unreadable answer from the service";
  return withId("unreadable:over", {
    text: `${title}. ${says}`,
    blocks: [header(title), rich(line(span(says)))],
  });
}
