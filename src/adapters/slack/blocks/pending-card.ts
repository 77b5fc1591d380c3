// The parts of a waiting request: what it asks for, its rule, and the buttons that decide it. The card has all of these parts. The forms
// and the lines of a listing share some of them.

import type { Block, RichTextElement } from "@slack/types";
import { outcomeAtDeadline, tooFewApprovers, type TooFewApprovers } from "../../../domain/applied-rule.ts";
import type { Approval, Decision } from "../../../domain/approval.ts";
import type { GroupId, UserId } from "../../../domain/ids.ts";
import { BUILT_IN_RULE, type KeptRule } from "../../../domain/policy/policy.ts";
import { requestFileState } from "../../../domain/render-key.ts";
import { requestFileName } from "../../../domain/request-file.ts";
import type { Run } from "../../../domain/run.ts";
import { cardFields, type CardMarks, type ShortField } from "../../../domain/text/card-layout.ts";
import { askedIn } from "../../../domain/text/headline.ts";
import type { Marks, Risk } from "../../../domain/text/marks.ts";
import { head, oneLine } from "../../../domain/text/excerpt.ts";
import { needsFile, requestParts } from "../../../domain/text/request-text.ts";
import { CARD_APPROVE, CARD_DENY } from "../names.ts";
import { type PartId, partWithId } from "./message-id.ts";
import { missingLine, waitingLines } from "./waiting-lines.ts";
import {
  fieldBoxes,
  fitsCard,
  NO_ACTION,
  requestOverview,
  secretsInWhole,
  volatileRemark,
} from "./request-blocks.ts";
import {
  count,
  countedLength,
  drawnBoxes,
  line,
  localTime,
  moment,
  person,
  quote,
  rich,
  span,
  untrustedSpan,
} from "./rich.ts";

// The request: short fields side by side and long fields in boxes. A very long request is shown as an overview of all its fields.

/** The room for the words around a risk or a place, which card-layout.ts limits to 30 characters. */
export const DRAWN_MARK_CHARS = 60;

/** Slack accepts ten texts in a section: five names with their values. */
const ROWS = 5;

/** The room for a request that does not fit on the card. */
const ROOM = { chars: 1_800, most: 4_000 };

const WHERE_IN_FILE = {
  coming: (name: string) => `The whole request is being attached to this thread as a file: ${name}.`,
  there: (name: string) => `The whole request is attached to this thread as a file: ${name}.`,
  refused: () => "The whole request could not be attached; the service has it.",
};

type Drawn = {
  readonly blocks: Block[];
  /** The number of secrets that are masked in the blocks. */
  readonly secrets: number;
  /** Says how much of the request is shown. */
  readonly id: PartId;
};

/** `isActionInTitle` is true if the title contains the whole action. */
export function cardRequest(run: Run, approval: Approval, marks: CardMarks, isActionInTitle: boolean): Drawn {
  const { request } = approval;
  const ofRun = marks.runFields.reduce((sum, { secrets }) => sum + secrets, 0);
  if (!fitsCard(request)) {
    const file = needsFile(request) ? requestFileState(run, approval) : null;
    const where =
      file === null
        ? '"Read in full" shows the whole request.'
        : WHERE_IN_FILE[file](requestFileName(request));
    const { block, secrets } = requestOverview(request, ROOM, where, "masked");
    return {
      blocks: [...sections(marks.runFields), block],
      secrets: secrets + ofRun,
      id: file === null ? "request:shortened" : `request:file-${file}`,
    };
  }
  const { action } = requestParts(request, "masked");
  const { short, long } = cardFields(request, marks, approval.appliedRule.card, approval.seenAt);
  const asked =
    action === null
      ? [rich(line(span(NO_ACTION, { italic: true })))]
      : isActionInTitle
        ? []
        : [rich(...drawnBoxes(action))];
  const rest = [...fieldBoxes(long), ...volatileRemark(request)];
  const boxes = rest.length === 0 ? [] : [rich(...rest)];
  return {
    blocks: [...asked, ...sections([...marks.runFields, ...short]), ...boxes],
    secrets: secretsInWhole(request) + ofRun,
    id: "request:whole",
  };
}

/** Names on the left, values on the right. Values are plain text, in which Slack reads no markup. */
function sections(fields: readonly ShortField[]): Block[] {
  const blocks: Block[] = [];
  for (let at = 0; at < fields.length; at += ROWS) {
    const texts = fields
      .slice(at, at + ROWS)
      .flatMap(({ label, value, at: moment }) => [
        { type: "mrkdwn", text: `*${label}*`, verbatim: true },
        moment === null
          ? { type: "plain_text", text: value, emoji: false }
          : { type: "mrkdwn", text: localTime(moment), verbatim: true },
      ]);
    blocks.push({ type: "section", fields: texts } as Block);
  }
  return blocks;
}

/** The places are code, so that none passes for our own words. Each is preceded or followed by a dot. */
export const placesAfter = ({ where }: Marks): RichTextElement[] =>
  where.flatMap((place) => [span(" · "), placeSpan(place)]);
export const placesBefore = ({ where }: Marks): RichTextElement[] =>
  where.flatMap((place) => [placeSpan(place), span(" · ")]);

const placeSpan = (place: string): RichTextElement => untrustedSpan(place, DRAWN_MARK_CHARS, { code: true });

/** What a request asks for, with its risk and its places, for a line that names it. */
export function askedWithMarks(asked: string, chars: number, marks: Marks): RichTextElement[] {
  return [
    ...(marks.risk === null ? [] : [span(`${riskMark(marks.risk)} `)]),
    untrustedSpan(asked, chars, { bold: true }),
    span(" · "),
    untrustedSpan(riskForDeciders(marks), DRAWN_MARK_CHARS),
    ...placesAfter(marks),
  ];
}

/** The risk, or "Request", and the places, for plain text, which has no code: there, the places are in quotes. */
export const marksInPlainText = ({ risk, where }: Marks): string =>
  [risk === null ? "Request" : riskWords(risk), ...where.map((place) => `"${place}"`)].join(" · ");

/** The risk, for people who decide. If the service states none, the words say so, because silence must not pass for a low risk. */
export const riskForDeciders = ({ risk }: Marks): string =>
  risk === null ? "Risk not stated" : riskWords(risk);

const MARKS = { critical: "🟥", high: "🟧", medium: "🟨", low: "🟩", other: "⬜" } as const;

export const riskMark = ({ level }: Risk): string => MARKS[level];

/** For example "High risk". If the service's word is not a known level, it is in quotes, so that it does not pass for one of ours. */
export function riskWords({ level, words }: Risk): string {
  if (level === "other") return `Risk "${words}"`;
  return `${words.charAt(0).toUpperCase()}${words.slice(1)} risk`;
}

// The part of a pending card that explains its rule: the people it mentions, the approvals it has and needs, its deadline, and
// a warning if too few people can approve it.

/** The most people and groups that a card mentions. Slack draws long lists badly. */
const MAX_MENTIONS = 20;
const REASON_OF_VOTE_CHARS = 1_000;
/** The words around the reason of an approval, with those that say how much of it is cut. */
const AROUND_REASON_CHARS = 60;

/** `chars`: the room for these blocks. `details`: the label of the button that shows whole reasons, or null if the card has none. */
type Room = { readonly chars: number; readonly details: string | null };

export function ruleBlocks({ requester }: Run, approval: Approval, room: Room): Block[] {
  if (approval.state.type !== "pending") return [];
  const { rule } = approval.appliedRule;
  const few = tooFewApprovers(approval);
  const warning =
    few === null
      ? []
      : [
          line(
            span(`⚠️ ${tooFewApproversTitle(few)}. `, { bold: true }),
            span(tooFewApproversWords(few, approval)),
          ),
        ];
  const lines = [
    ...warning,
    ...mentionLine(rule.mention.groups, mentionedUsers(rule, requester)),
    ...needsLine(approval),
    ...waitingLines(approval),
  ];
  const votes = votesOnCard(approval.votes, { ...room, chars: room.chars - countedLength(lines) });
  if (lines.length + votes.length === 0) return [];
  const progress = `${approval.votes.length}-of-${rule.needs}` as const;
  return [partWithId(`rule:${progress}${few === null ? "" : ":too-few"}`, rich(...lines, ...votes))];
}

/** The users whom the rule mentions. Leaves out the requester unless they are allowed to decide. */
export function mentionedUsers({ mention, selfApproval }: KeptRule, requester: UserId): UserId[] {
  return mention.users.filter((user) => selfApproval || user !== requester);
}

/** Slack notifies the mentioned people when the card is posted, but not when it is updated. */
export function mentionLine(groups: readonly GroupId[], users: readonly UserId[]) {
  const mentioned: RichTextElement[] = [
    ...groups.map((usergroup_id): RichTextElement => ({ type: "usergroup", usergroup_id })),
    ...users.map(person),
  ];
  if (mentioned.length === 0) return [];
  const shown = mentioned.slice(0, MAX_MENTIONS).flatMap((mention) => [mention, span(" ")]);
  const more = mentioned.length - MAX_MENTIONS;
  return [line(span("For "), ...shown, ...(more > 0 ? [span(`and ${count(more)} more`)] : []))];
}

function needsLine({ appliedRule, votes }: Approval) {
  const { needs } = appliedRule.rule;
  if (needs === 1) return [];
  const progress = votes.length === 0 ? `Needs ${count(needs)}` : `${count(votes.length)} of ${count(needs)}`;
  return [
    line(span(`${progress} approvals, from different people. One denial ends it.`)),
    ...missingLine({ votes }, appliedRule.rule),
  ];
}

/** The approvals share the room, so that the card fits in Slack however long the reasons of many people are. */
function votesOnCard(votes: readonly Decision[], { chars, details }: Room) {
  const share = Math.floor(chars / Math.max(votes.length, 1)) - AROUND_REASON_CHARS;
  const each = Math.max(0, Math.min(share, REASON_OF_VOTE_CHARS));
  const where = details === null ? "The audit has" : `"${details}" shows`;
  const isCut = votes.some(({ reason }) => head(reason, each, "masked").hidden > 0);
  return [
    ...votes.flatMap((vote) => voteLines(vote, each)),
    ...(isCut ? [line(span(`Some reasons are shortened here. ${where} more.`))] : []),
  ];
}

/** The lines of one person's approval among several. */
export function voteLines({ by, at, reason }: Decision, chars = REASON_OF_VOTE_CHARS) {
  const who = by === null ? span("The policy") : person(by.user);
  const first = line(
    span("☑️ "),
    who,
    span(" approved "),
    moment(at),
    span(reason === "" ? " and gave no reason." : ":"),
  );
  return reason === "" ? [first] : [first, quote(untrustedSpan(reason, chars))];
}

// "No one can approve this", in the same words on the card, in the requester's notice and in the fallback channel.

export function tooFewApproversTitle({ able, needs }: TooFewApprovers): string {
  if (able === 0) return "No one can approve this";
  return `Only ${count(able)} ${able === 1 ? "person" : "people"} can approve this, and ${count(needs)} must`;
}

export function tooFewApproversWords({ grows }: TooFewApprovers, approval: Approval | undefined): string {
  const { selfApproval } = approval?.appliedRule.rule ?? BUILT_IN_RULE;
  const guests = selfApproval ? "Guests" : "The requester, guests";
  if (grows)
    return `${guests}, apps and people from other workspaces can't approve it. Invite full members to the run's channel.`;
  const outcome = approval === undefined ? null : outcomeAtDeadline(approval);
  const otherwise =
    outcome === null
      ? "Until then, the request waits."
      : `Otherwise, the request ${outcome === "deny" ? "is denied" : "closes"} at its deadline.`;
  return `The rule names too few people who can approve it. ${guests}, people from other workspaces and people outside the run's channel can't. Add someone to the group or channel that the rule names, or change the policy. ${otherwise}`;
}

// The buttons that decide an approval. They are the same on its card and on its line in a listing.

/** Slack's limit for an `accessibility_label`. */
const LABEL_CHARS = 75;

type Style = { readonly style?: "primary" | "danger" };

/** Returns a function that draws buttons for this approval. Each carries its nonce as the value, and a label for screen readers. */
export function buttonsOf({ nonce, request }: Approval) {
  const asked = askedIn(request, LABEL_CHARS);
  return (action_id: string, text: string, style: Style = {}): object => ({
    type: "button",
    action_id,
    value: nonce,
    text: { type: "plain_text", text, emoji: false },
    accessibility_label: oneLine(`${text}: ${asked}`, LABEL_CHARS),
    ...style,
  });
}

export const denyButton = (approval: Approval): object =>
  buttonsOf(approval)(CARD_DENY, "Deny", { style: "danger" });

/** Approve and Deny, or Deny alone if the request cannot be approved now. */
export function decideButtons(approval: Approval, onlyDeny: boolean): readonly object[] {
  const approve = buttonsOf(approval)(CARD_APPROVE, "Approve", { style: "primary" });
  return onlyDeny ? [denyButton(approval)] : [approve, denyButton(approval)];
}
