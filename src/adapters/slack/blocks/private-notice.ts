// Private notices to a person about something they did. The service's words are drawn as text, in which Slack reads no markup.

import type { Approval } from "../../../domain/approval.ts";
import type { DecisionNotice, NoticeContent } from "../../../domain/notice.ts";
import type { MessageTs } from "../../../domain/ids.ts";
import { cardOf, type Run, runId } from "../../../domain/run.ts";
import { askedIn } from "../../../domain/text/headline.ts";
import { tooFewApproversTitle, tooFewApproversWords } from "./pending-card.ts";
import { type Deployment, runIdElement, UNNAMED } from "./deployment.ts";
import { type MessageId, withId } from "./message-id.ts";
import {
  cardLink,
  count,
  escaped,
  line,
  type Links,
  type Message,
  NO_LINKS,
  person,
  quote,
  rich,
  span,
  untrustedSpan,
} from "./rich.ts";
import { beginningOf, decisionWords } from "./decision-notice-words.ts";
import { withoutSpeaker } from "./delivery-words.ts";

const SERVICE_WORDS_CHARS = 500;

/** `links` are those to the cards of `cardsOfNotice`. Without one, the notice has no link. */
export function privateNotice(
  notice: NoticeContent,
  run: Run,
  deployment: Deployment = UNNAMED,
  links: Links = NO_LINKS,
): Message {
  return withId(idOf(notice), drawn(notice, run, { deployment, links }));
}

/** Returns the cards that the notice links to. */
export function cardsOfNotice(notice: NoticeContent, run: Run): readonly MessageTs[] {
  const card = notice.type === "cannot-post" ? null : cardOf(run, { id: notice.approval });
  return card === null ? [] : [card];
}

type Drawing = { readonly deployment: Deployment; readonly links: Links };

function idOf(notice: NoticeContent): MessageId {
  return notice.type === "decision-void" ? `notice:decision-void:${notice.cause}` : `notice:${notice.type}`;
}

function drawn(notice: NoticeContent, run: Run, drawing: Drawing): Message {
  switch (notice.type) {
    case "cannot-post":
      return cannotPost(notice, run);
    case "nobody-can-approve":
      return tooFewApprovers(notice, run, drawing);
    default:
      return aboutDecision(notice, run, drawing);
  }
}

/** `before` is the number of messages that are queued ahead of the run's opening. It may be 0: Slack also makes a single one wait. */
export function queuedNotice(before: number): Message {
  const queued = before === 1 ? "1 message is" : `${count(before)} messages are`;
  const waits =
    before === 0 ? "Its thread opens in a few seconds." : `${queued} ahead of yours in this channel.`;
  const text = `Starting. ${waits}`;
  const why = " Slack accepts about one a second. Your task is recorded; don't start it again.";
  return withId("notice:queued", message(text, [line(span(text, { bold: true }), span(why))]));
}

function aboutDecision(notice: DecisionNotice, run: Run, drawing: Drawing): Message {
  const approval = run.approvals.find(({ id }) => id === notice.approval);
  const { title, ending, rest, quoted, after } = decisionWords(notice, approval);
  const asked = approval === undefined || !wasDecided(approval) ? null : askedIn(approval.request);
  return message(asked === null ? title : escaped(`${beginningOf(notice)}: ${asked}`), [
    line(span(`${title}${ending}`, { bold: true }), span(rest)),
    ...(quoted === undefined ? [] : [quote(untrustedSpan(withoutSpeaker(quoted), SERVICE_WORDS_CHARS))]),
    ...(after === undefined ? [] : [line(span(after))]),
    // In a busy channel, a person may have decided several requests.
    ...requestLine(asked),
    line(
      span("In "),
      { type: "channel", channel_id: run.channel },
      span(", run "),
      runIdElement(runId(run) ?? "", drawing.deployment),
      ...cardLink(cardOf(run, { id: notice.approval }), drawing.links),
    ),
  ]);
}

const requestLine = (asked: string | null) => (asked === null ? [] : [line(span("Request: "), span(asked))]);

/** Whether the current request was decided. False if the request has changed since the decision. */
function wasDecided({ request, state, past, votes }: Approval): boolean {
  const decisions = [...(state.type === "decided" ? [state.decision] : []), ...past, ...votes];
  return decisions.some((made) => ("decision" in made ? made.decision : made).digest === request.digest);
}

type CannotPost = Extract<NoticeContent, { type: "cannot-post" }>;

/** What the requester can do, by Slack's error code. */
const REMEDIES: { readonly [code: string]: Parameters<typeof line> } = {
  not_in_channel: invite(),
  channel_not_found: invite(),
  is_archived: [span("Unarchive the channel, or use another one.")],
  restricted_action: [
    span("Ask an admin of the workspace to let Countersign post there, or use another channel."),
  ],
};

function invite(): Parameters<typeof line> {
  return [span("Invite Countersign with "), span("/invite @countersign", { code: true }), span(".")];
}

function cannotPost({ words: why, code = "" }: CannotPost, run: Run): Message {
  const remedy = Object.hasOwn(REMEDIES, code) ? REMEDIES[code] : undefined;
  const place = { type: "channel" as const, channel_id: run.channel };
  const refused = [
    line(
      span(remedy === undefined ? "Slack refused a message in " : "Countersign can't post in "),
      place,
      span(":"),
    ),
    quote(untrustedSpan(why, SERVICE_WORDS_CHARS)),
  ];
  const todo = remedy ?? [span("Ask the people who operate Countersign to look at its log.")];
  const { creation } = run;
  if (creation.type !== "refused") {
    const [title, meaning] =
      remedy === undefined
        ? ["Slack refused a message about your run", ONE_MISSING]
        : ["Countersign can't post in your run's channel", ALL_MISSING];
    return message(title, [...refused, line(span(meaning), ...todo)]);
  }
  // A start that fails because its opening can't be posted has Slack's words as its reason.
  return creation.words === why
    ? message(UNSTARTED, [...refused, line(span(WITHOUT_OPENING), ...todo, span(" Then start it again."))])
    : message(UNSTARTED, [
        ...refused,
        line(span("The message would have said why your run was not started:")),
        quote(untrustedSpan(withoutSpeaker(creation.words), SERVICE_WORDS_CHARS)),
        line(...todo),
      ]);
}

const UNSTARTED = "Your run was not started";
const WITHOUT_OPENING = "Your run was not started, because its requests could not be shown. ";
const ONE_MISSING = "The message does not appear there. It may be a request that needs a decision. ";
const ALL_MISSING =
  "Until Countersign can post there, no new message of the run appears, not even a request that needs a decision. ";

function tooFewApprovers(
  few: Extract<NoticeContent, { type: "nobody-can-approve" }>,
  run: Run,
  { deployment, links }: Drawing,
): Message {
  const approval = run.approvals.find(({ id }) => id === few.approval);
  const place = { type: "channel" as const, channel_id: run.channel };
  const title = tooFewApproversTitle(few);
  const asked = approval === undefined ? null : askedIn(approval.request);
  const brief = few.able === 0 ? title : "Too few can approve this";
  return message(asked === null ? title : escaped(`${brief}: ${asked}`), [
    line(span(`${title}. `, { bold: true }), span(tooFewApproversWords(few, approval))),
    ...requestLine(asked),
    line(
      span("Run "),
      runIdElement(runId(run) ?? "", deployment),
      span(run.origin === "started" ? ", asked for by " : ", watched by "),
      person(run.requester),
      span(" in "),
      place,
      span(", rule "),
      untrustedSpan(approval?.appliedRule.rule.name ?? "", 80, { code: true }),
      ...cardLink(cardOf(run, { id: few.approval }), links),
    ),
  ]);
}

function message(text: string, lines: Parameters<typeof rich>): Message {
  return { text, blocks: [rich(...lines)] };
}
