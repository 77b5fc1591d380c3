// The messages that call people to a waiting request: reminders, escalation stages, and the end of its time. They decide nothing: only the
// card does, and Review opens the reader's own queue.

import type { Block, RichTextElement, RichTextSection } from "@slack/types";
import { deadlineOf, outcomeAtDeadline } from "../../../domain/applied-rule.ts";
import type { Approval } from "../../../domain/approval.ts";
import { type CallIn, type Fate, fateOf, isCurrent, saysNow } from "../../../domain/call.ts";
import { shownCalls } from "../../../domain/gathered-call.ts";
import type { Call, Called, Gathered, GatheredCall } from "../../../domain/follow-up.ts";
import type { Run } from "../../../domain/run.ts";
import { approvalMarks } from "../../../domain/text/card-layout.ts";
import { HEADLINE_CHARS, askedIn } from "../../../domain/text/headline.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import { OPEN_QUEUE } from "../names.ts";
import { type MessageId, withId } from "./message-id.ts";
import { askedWithMarks } from "./pending-card.ts";
import {
  ago,
  cardLink,
  count,
  escaped,
  line,
  type Links,
  type Message,
  moment,
  person,
  rich,
  span,
  untrustedSpan,
} from "./rich.ts";

export function callMessage(run: Run, found: CallIn): Message {
  if (!isCurrent(found)) return past(found);
  const { approval } = found;
  const call = { ...found.call, says: saysNow(found) };
  const now = { approval, call };
  const { title, brief } = titleOf(now);
  const asked = askedIn(approval.request);
  const id: MessageId = call.channel === undefined ? `call:${call.says}` : "announcement:stage";
  return withId(id, {
    text: escaped(`${brief}: ${asked}`),
    blocks: [
      rich(
        line(span(title, { bold: true }), ...timeLeft(call, approval)),
        ...calledLine(call.who),
        askedLine(run, approval),
        line(span(`${votesSoFar(now)}${meaningOf(now)}`)),
        ...(call.channel === undefined ? [] : [whereLine(run, approval)]),
      ),
      ...(call.says === "over" ? [] : [reviewActions(run, approval, call)]),
    ],
  });
}

/** `brief` is for a lock screen, so that it shows the action too. */
function titleOf(found: CallIn): { readonly title: string; readonly brief: string } {
  switch (found.call.says) {
    case "waits":
      return { title: "⏰ This request is still waiting for a decision", brief: "⏰ Waiting" };
    case "last":
      return {
        title: "⏰ Last reminder: the deadline for this request is near",
        brief: "⏰ Deadline near",
      };
    case "reopened":
      return { title: "⏰ This request is open again", brief: "⏰ Open again" };
    case "stage":
      return { title: "⏫ Escalated", brief: "⏫ Escalated" };
    case "over":
      return fateOf(found) === "deny"
        ? { title: "⌛ Time is up: the policy denied this", brief: "⌛ Denied, time is up" }
        : { title: "⌛ Time is up for this request", brief: "⌛ Time is up" };
  }
}

function timeLeft({ says }: Call, approval: Approval): readonly RichTextElement[] {
  if (says === "over") return [];
  const deadline = says === "stage" ? null : deadlineOf(approval);
  const asked = says === "last" && deadline !== null ? [] : [span(" · asked "), ago(approval.since)];
  return [...asked, ...(deadline === null ? [] : [span(" · deadline "), ago(deadline)])];
}

function calledLine(who: Called | null) {
  if (who === null || who.users.length + who.groups.length === 0) return [];
  const mentions = [
    ...who.groups.map((usergroup_id): RichTextElement => ({ type: "usergroup", usergroup_id })),
    ...who.users.map(person),
  ].flatMap((mention) => [mention, span(" ")]);
  return [line(span("For "), ...mentions, ...(who.more > 0 ? [span(`and ${count(who.more)} more`)] : []))];
}

/** The request as on the card: masked and shortened. */
function askedLine(run: Run, approval: Approval) {
  const asked = askedIn(approval.request);
  return line(...askedWithMarks(asked, HEADLINE_CHARS, approvalMarks(run, approval)));
}

function whereLine(run: Run, { since }: Approval) {
  const channel: RichTextElement = { type: "channel", channel_id: run.channel };
  return line(
    span(run.origin === "started" ? "Asked by " : "Watched by "),
    person(run.requester),
    span(" in "),
    channel,
    span(", "),
    moment(since),
  );
}

function votesSoFar({ approval: { votes, appliedRule }, call }: CallIn): string {
  if (call.says === "over" || votes.length === 0) return "";
  return `${count(votes.length)} of ${count(appliedRule.rule.needs)} approvals so far. `;
}

function meaningOf(found: CallIn): string {
  const { approval, call } = found;
  const { says, channel, first, who } = call;
  switch (says) {
    case "waits":
      if (first !== undefined && who?.users[0] === first && who.users.length === 1)
        return "You were looking at this. If you don't decide it, the other approvers are reminded next.";
      return "Decide it in this thread. Review lists everything that waits for you; only you see the list.";
    case "last":
      return outcomeAtDeadline(approval) === "deny"
        ? "If it is not decided by then, the policy denies it and the agent is told."
        : "If it is not decided by then, it closes. The agent is told nothing, so the service may keep waiting.";
    case "reopened":
      return "The service lists it again. Decide it in this thread. Review lists everything that waits for you.";
    case "stage":
      return channel === undefined
        ? `The policy calls you in at this stage. ${QUEUE_MEANING}`
        : QUEUE_MEANING;
    case "over":
      return overMeaning(fateOf(found));
  }
}

const QUEUE_MEANING = "Review opens your own queue. It lists this request if the policy lets you decide it.";

function overMeaning(fate: Fate): string {
  if (fate === "deny")
    return "It was not decided in time, so the policy denied it. Countersign tells the agent.";
  return fate === "closed"
    ? "It was not decided in time, and nothing more is sent. The service may still be waiting: decide it there before anyone asks for it again."
    : "It was not decided here in time. The card says whether the policy's denial took effect.";
}

const reviewActions = (run: Run, { id }: Approval, { n }: Call): Block =>
  reviewButton(run, oneLine(`review-${n}-${id}`, 200));

const reviewButton = (run: Run, block_id: string): Block =>
  ({
    type: "actions",
    block_id,
    elements: [
      {
        type: "button",
        action_id: OPEN_QUEUE,
        value: run.key,
        text: { type: "plain_text", text: "Review", emoji: false },
      },
    ],
  }) as Block;

/** One message about several requests in a channel. */
export function severalMessage(run: Run, gathered: Gathered, links: Links): Message {
  const { says, of, oldest, who, over, since } = gathered;
  const place = placeOf(run, gathered);
  if (over === true && says !== "over") return severalPast(gathered, place, links);
  const shown = shownCalls(gathered);
  const showsAll = shown.length === of.length;
  const title = showsAll ? SEVERAL[says](`${count(of.length)} requests`) : leftTitle(gathered, shown.length);
  return withId(`several:${says}`, {
    text: title,
    blocks: [
      rich(
        line(
          span(title, { bold: true }),
          ...place,
          ...(showsAll ? [span(" · the oldest asked "), ago(oldest)] : []),
        ),
        ...calledLine(who),
        ...namedLines(shown, links),
        line(span(place.length === 0 ? severalMeaning(gathered) : ELSEWHERE_MEANING)),
      ),
      ...(says === "over" ? [] : [reviewButton(run, `review-${since}`)]),
    ],
  });
}

const SEVERAL: { readonly [says in Call["says"]]: (requests: string) => string } = {
  waits: (requests) => `⏰ ${requests} still wait for a decision here`,
  last: (requests) => `⏰ ${requests} still wait for a decision here; for some, the deadline is near`,
  reopened: (requests) => `⏰ ${requests} are open again and wait for a decision here`,
  stage: (requests) => `⏫ ${requests} are escalated`,
  over: (requests) => `⌛ Time is up for ${requests}`,
};

/** The channel of the requests. Empty if the message is in that channel. */
const placeOf = (run: Run, { channel }: Gathered): readonly RichTextElement[] =>
  channel === undefined ? [] : [span(" in "), { type: "channel", channel_id: run.channel }];

const REVIEW_MEANING = "Review lists what waits for you, the riskiest first; only you see the list.";
const WHERE_THEY_WAIT = "Each request has a card, or a line in a list, in its thread.";

function severalMeaning({ says, of }: Gathered): string {
  switch (says) {
    case "waits":
    case "reopened":
    case "stage":
      return `${REVIEW_MEANING} ${WHERE_THEY_WAIT}`;
    case "last":
      return `${WHERE_THEY_WAIT} The deadlines are shown there. ${REVIEW_MEANING}`;
    case "over":
      return fatesOf(of);
  }
}

/** A request that closes on its line in a list never gets a card, so the message itself says what became of it. */
function fatesOf(of: readonly GatheredCall[]): string {
  const closed = of.filter((each) => each.closed === true).length;
  if (closed === 0) return "Their cards say what the agents are told.";
  const fate =
    "closed without a decision, and nothing more is sent. The service may still be waiting. Decide there first, before anyone starts the same work again.";
  return closed === of.length
    ? `They ${fate}`
    : `${count(closed)} of them ${fate} The cards of the others say what the agents are told.`;
}

const ELSEWHERE_MEANING = "Review opens your own queue. It lists those that the policy lets you decide.";

function leftTitle({ says, of }: Gathered, left: number): string {
  const wait = left === 1 ? "still waits" : "still wait";
  return says === "stage"
    ? `⏫ ${count(left)} of ${count(of.length)} escalated requests ${wait}`
    : `⏰ ${count(left)} of ${count(of.length)} requests ${wait} for a decision here`;
}

function severalPast(gathered: Gathered, place: readonly RichTextElement[], links: Links): Message {
  const { says, of, since } = gathered;
  const what = `${count(of.length)} requests ${says === "stage" ? "were escalated" : "waited here"}`;
  const state = "Their threads show where they stand.";
  const named = namedLines(of, links);
  const head = [span(what), ...place, span(", "), moment(since)];
  return withId("several:past", {
    text: `${what}. ${state}`,
    blocks: [
      named.length === 0
        ? rich(line(...head, span(`. ${state}`)))
        : rich(line(...head, span(":")), ...named, line(span(state))),
    ],
  });
}

/** Names the first of these requests. A message of an earlier version of Countersign names none, or says nothing of their risks. */
function namedLines(of: readonly GatheredCall[], links: Links): RichTextSection[] {
  const named = of.flatMap(({ asked, marks, card = null }) => {
    if (asked === undefined) return [];
    const words =
      marks === undefined
        ? [untrustedSpan(asked, HEADLINE_CHARS, { bold: true })]
        : askedWithMarks(asked, HEADLINE_CHARS, marks);
    return [line(span("• "), ...words, ...cardLink(card, links))];
  });
  const more = of.length - named.length;
  return named.length === 0 || more === 0 ? named : [...named, line(span(`… and ${count(more)} more.`))];
}

/** A call that no longer calls anyone. It is reduced to one line, so that old calls do not clutter the channel. */
function past(found: CallIn): Message {
  const { says, at, channel } = found.call;
  const what = PAST[says];
  const fate = fateOf(found);
  const state = channel === undefined ? "This thread shows where it stands." : FATES[fate];
  // The request that the call was about is no longer stored once it has changed.
  const asked = fate === "changed" ? null : askedIn(found.approval.request);
  const named = asked === null ? [] : [span(": "), untrustedSpan(asked, HEADLINE_CHARS, { bold: true })];
  return withId(channel === undefined ? "call:past" : "announcement:past", {
    text: escaped(`${what}${asked === null ? "" : `: ${asked}`}. ${state}`),
    blocks: [rich(line(span(`${what} `), moment(at), ...named, span(`. ${state}`)))],
  });
}

const PAST: { readonly [says in Call["says"]]: string } = {
  waits: "Reminded",
  last: "Reminded",
  reopened: "Opened again",
  stage: "Escalated",
  over: "Time was up",
};

const FATES: { readonly [fate in Fate]: string } = {
  waits: "The request still waits in its channel.",
  changed: "The request has changed since. Its channel has the new one.",
  closed: "The request no longer waits: it was closed without a decision here.",
  unclear: "Its thread says what became of the request.",
  approve: "The request no longer waits: the decision is to approve it.",
  deny: "The request no longer waits: the decision is to deny it.",
};
