// The words of every refusal to decide: what happened, what it means, and what to do. command-refusal-words.ts has those of commands.

import type { Decision } from "../../../domain/approval.ts";
import type { NoLongerHeld, ReasonRefusal, Refusal } from "../../../domain/authorization.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import type { UserId } from "../../../domain/ids.ts";
import type { Promised, Rule } from "../../../domain/policy/policy.ts";
import { listsOf, type Part, withoutNamed } from "../../../domain/policy/named-people.ts";
import type { Stop } from "../../../domain/run.ts";
import { freezeWords } from "./brake-blocks.ts";
import { beyondForm } from "./card-state.ts";
import { closedWords } from "./delivery-words.ts";
import {
  FOLLOW_UP_TITLES,
  followUpRefusalPlain,
  followUpRefusalWords,
  isFollowUpRefusal,
} from "./follow-up-refusals.ts";
import { partsInWords } from "./waiting-lines.ts";
import { count, duration, escaped, localTime, mentioned, plural } from "./rich.ts";

/** Refusals that always have the same words. */
const FIXED_WORDS = {
  guest:
    "Guests can't approve or deny requests, or stop runs. Nothing was sent. Ask a full member of this workspace.",
  outsider:
    "Only members of this workspace can decide requests and stop runs, and your account belongs to another one. Nothing was sent.",
  bot: "Apps and bots can't decide requests. Nothing was sent.",
  deactivated: "This account is deactivated, so it can't decide requests. Nothing was sent.",
  "not-in-channel":
    "Only people in the run's channel can approve or deny its requests. Nothing was sent. Ask someone there.",
  "read-first":
    "You must read the whole request before you approve it. Press Approve on the card: the request opens first. Nothing was sent.",
  "file-not-seen":
    "You can only deny this: the full request is a file in a channel you are not in. Nothing was sent. Ask a person in that channel to approve it, or to add you.",
  undone:
    "The approval was taken back after this was shown to you. Nothing was sent. Look at the card again.",
  reopened:
    "This request was reopened after this was shown to you; it has not changed. Nothing was sent. Decide it on the current card.",
  "not-yours": "Only a person who approved it can undo it. While it is on hold, Deny stops it.",
  changed:
    "The request changed after this was shown to you. Nothing was sent. The card shows the new request.",
  "being-posted":
    "This card is not ready: Slack has not confirmed it yet. Nothing was sent. Press again in a few seconds.",
  "verdict-needed": "Choose Approve or Deny.",
  "form-changed":
    "Countersign's record of this form was changed from outside, so the form is not trusted. Nothing was sent. Tell the people who operate Countersign. Press the button on the card again for a new form.",
  unknown:
    "This card or form is not the current one. Nothing was sent. Use the newest card of the run, or open Countersign's Home tab.",
} as const satisfies Partial<Record<Refusal["type"], string>>;

type FixedRefusal = Extract<Refusal, { type: keyof typeof FIXED_WORDS }>;

function hasFixedWords(refusal: Refusal): refusal is FixedRefusal {
  return Object.hasOwn(FIXED_WORDS, refusal.type);
}

/** The words for a private answer, in Slack's markup: our own words, user mentions, and other people's words escaped. */
export function refusalWords(refusal: Refusal, asker: UserId | null = null): string {
  if (hasFixedWords(refusal)) return FIXED_WORDS[refusal.type];
  if (isFollowUpRefusal(refusal)) return followUpRefusalWords(refusal);
  switch (refusal.type) {
    case "requester":
      return `${askedWords(refusal)} ${whoDecides(refusal.rule, [asker])} Nothing was sent.`;
    case "not-approver":
      return `The rule \`${ruleName(refusal.rule)}\` does not ${listedDecide(refusal.rule) ? "list you" : "let you decide"}. ${whoDecides(refusal.rule, [asker, refusal.requester])} Nothing was sent.`;
    case "unverified":
      return unverifiedWords(refusal);
    case "already-voted":
      return `You already approved this, ${when(refusal.decision)}. Others must approve it too. Nothing was sent. You can still deny it.`;
    case "part-filled":
      return `${missingWords(refusal)} Nothing was sent. You can still deny it.`;
    case "rule-changed":
      return ruleChangedWords(promisedWords(refusal.was), promisedWords(refusal.now));
    case "word-needed":
      return `Type ${quoted(refusal.word)} to approve this. Nothing was sent.`;
    case "file-refused":
      return `The file with the whole request could not be attached: ${escaped(refusal.words)}. So it can't be decided here yet. Nothing was sent. Countersign keeps trying. If it can't wait, ${refusal.isBraked ? "deny" : "decide"} it at the service.`;
    case "not-all-shown":
      return `${beyondForm(refusal.fields)} Nothing was sent.`;
    case "already-decided":
      return alreadyDecided(refusal, asker);
    case "too-late":
      return tooLateWords(refusal.became);
    case "closed":
      return `This request is closed. ${closedWords(refusal.why)} Nothing was sent.`;
    case "stopped":
      return stoppedWords(refusal.stop);
    case "frozen":
      return `${freezeWords(refusal.freeze)}. No approval is sent until the freeze is lifted. You can deny this. Nothing was sent.`;
    case "other-stop":
      return otherStopWords(refusal.stop);
    case "reason-needed":
    case "reason-too-short":
    case "reason-too-long":
      return reasonWords(refusal);
  }
}

function reasonWords(refusal: ReasonRefusal): string {
  switch (refusal.type) {
    case "reason-needed":
      return `Say why: ${refusal.verdict === "approve" ? "this approval" : "a denial"} needs a reason. The service gets it, and everyone in the channel sees it.`;
    case "reason-too-short":
      return `Too short: ${count(refusal.chars)} ${plural(refusal.chars, "character")}. The rule asks for at least ${count(refusal.fewest)}.`;
    case "reason-too-long":
      return `Too long: ${count(refusal.chars)} characters. The limit is 3,000.`;
  }
}

function missingWords({ missing }: Extract<Refusal, { type: "part-filled" }>): string {
  const parts = namedParts(missing);
  return missing.length === 1
    ? `An approval from ${parts} is missing, and yours can't count for it.`
    : `Approvals from ${parts} are missing, and yours can't count for any of them.`;
}

const namedParts = (parts: readonly Part[]): string => escaped(oneLine(partsInWords(parts), PARTS_CHARS));

const promisedWords = ({ needs, holdMs, parts = [] }: Promised): string =>
  `${needs === 1 ? "1 approval" : `${count(needs)} approvals`}${parts.length === 0 ? "" : ` (from ${namedParts(parts)})`}, ${holdMs > 0 ? `held for ${duration(holdMs)}` : "sent at once"}`;

const ruleChangedWords = (was: string, now: string): string =>
  `${was === now ? "The people of a part have changed since" : "Another rule applies now than when"} you opened this form, so your approval does not count. Nothing was sent. ${was === now ? "" : `Before: ${was}. Now: ${now}. `}To approve it, open the request again.`;

function unverifiedWords({ of, requester }: Extract<Refusal, { type: "unverified" }>): string {
  if (of !== undefined)
    return `Slack could not confirm just now that ${of.map((user) => `<@${user}>`).join(", ")}, who approved before, may still approve, so this press did not count for this request. Try again in a moment.`;
  if (requester !== undefined)
    return `Slack could not say just now which user groups <@${requester}> is in, so Countersign does not know which rule applies, and this press did not count for this request. Try again in a moment. If it stays like this, tell the people who operate Countersign: a group in the policy may be gone.`;
  return "Slack could not confirm just now that you may decide this, so this press did not count for this request. Try again in a moment.";
}

function stoppedWords({ by, ofEarlierRecord }: Stop): string {
  const lifts = "until an approver lifts the stop in the run's thread";
  return ofEarlierRecord === true
    ? `${mentioned(by)} stopped this run, or another one to which the service gave the same id. Nothing is approved ${lifts}. You can deny this. Nothing was sent.`
    : `${mentioned(by)} stopped this run. Its requests are denied ${lifts}. Nothing was sent.`;
}

const otherStopWords = ({ by, at }: Stop): string =>
  `This button is not for the stop that holds now: ${mentioned(by)} pressed Stop, ${localTime(at)}. Nothing was lifted. To lift that stop, press Lift the stop once the stop's message in the run's thread shows that time.`;

function askedWords({ perhaps }: Extract<Refusal, { type: "requester" }>): string {
  const asked =
    perhaps === true
      ? "You may have started this run, or you watched it before"
      : "You started or watch this run";
  return `${asked}, so someone else must decide.`;
}

/** The most people, groups and channels that a refusal names. Slack draws long lists badly. */
const MAX_NAMED = 20;

/** Returns whether everyone whom the rule lists may decide. An exception or a second rule may refuse a listed person. */
const listedDecide = ({ approvers, except }: Rule): boolean =>
  except === null && listsOf(approvers).length < 2;

/** Says who may decide and whom to ask. `excluded` are people who may not decide, although the rule may list them. */
export function whoDecides(
  { approvers, except }: Rule,
  excluded: readonly (UserId | null | undefined)[],
): string {
  const lists = listsOf(approvers).map((list) => {
    const { users, groups, channels } = withoutNamed(list, except);
    return [
      ...users.filter((user) => !excluded.includes(user)).map((user) => `<@${user}>`),
      ...groups.map((group) => `<!subteam^${group}>`),
      ...channels.map((channel) => `the members of <#${channel}>`),
    ];
  });
  const [listed] = lists;
  if (listed === undefined) return "Ask another full member of the run's channel.";
  if (lists.some(({ length }) => length === 0))
    return "The rule lists no one else: ask the people who operate Countersign.";
  if (lists.length === 1) return `Ask one of these people: ${namedIn(listed, MAX_NAMED)}.`;
  const each = lists.map((list) => namedIn(list, Math.ceil(MAX_NAMED / lists.length)));
  return `Ask someone who is in every one of these lists: ${each.join("; and ")}.`;
}

function namedIn(listed: readonly string[], atMost: number): string {
  const more = listed.length - atMost;
  return `${listed.slice(0, atMost).join(", ")}${more > 0 ? ` and ${count(more)} more` : ""}`;
}

const PARTS_CHARS = 300;

/** Operators choose rule names, but no name may turn into markup. */
const ruleName = ({ name }: Rule): string => escaped(oneLine(name, 80)).replaceAll("`", "'");
/** Needs no escaping, because `policy-shape.ts` refuses words that contain markup. */
const quoted = (word: string): string => `"${word}"`;

const when = ({ at }: Decision): string =>
  `<!date^${Math.floor(at / 1_000)}^{date_short_pretty} at {time}|${new Date(at).toISOString()}>`;

function tooLateWords(became: NoLongerHeld | null): string {
  switch (became?.type) {
    case undefined:
      return "This approval is no longer on hold, so there is nothing to undo. The card says what became of it.";
    case "denied":
      return "It was denied before it was sent, so there is nothing to undo.";
    case "counts":
      return "Nothing was sent: the request waits for others to approve it too. Your approval still counts. If you changed your mind, deny the request.";
    case "stands":
      return "Nothing was taken back: after this was shown to you, your approval was put on hold again. It will be sent unless you take it back: press Undo on the card as it is now.";
    case "due":
      return "The hold is over, so it can't be undone any more. The card says what becomes of it.";
    case "sent":
      return became.at === null
        ? "It was sent, so it can't be undone any more. The card says what became of it."
        : `It was sent, and the service confirmed it, ${localTime(became.at)}. It can't be undone any more.`;
  }
}

function alreadyDecided(
  { decision }: Extract<Refusal, { type: "already-decided" }>,
  asker: UserId | null,
): string {
  const what = decision.verdict === "approve" ? "approved" : "denied";
  const at = when(decision);
  if (decision.stoppedBy !== undefined)
    return `${mentioned(decision.stoppedBy)} stopped this run, so this was denied, ${at}. Nothing more was sent. If the request is still wanted, the agent must ask again once the run is no longer stopped.`;
  if (decision.by === null)
    return `The policy ${what} this, ${at}, because the deadline had passed. Nothing more was sent.`;
  if (decision.by.user === asker)
    return `You already ${what} this, ${at}. Nothing more was sent; the card says what became of it.`;
  return `<@${decision.by.user}> already ${what} this, ${at}. Nothing more was sent; the card says what became of it.`;
}

const NOT_YOU = "You can't decide this";

/** Slack accepts at most 24 characters. */
const TITLES = {
  ...FOLLOW_UP_TITLES,
  requester: NOT_YOU,
  guest: NOT_YOU,
  outsider: NOT_YOU,
  bot: NOT_YOU,
  deactivated: NOT_YOU,
  "not-in-channel": NOT_YOU,
  "not-approver": NOT_YOU,
  unverified: "Not verified, try again",
  "already-voted": "You already approved",
  "part-filled": "Others must approve this",
  undone: "Approval was taken back",
  reopened: "It was reopened",
  "read-first": "Read it in full first",
  "word-needed": "Type the word",
  "not-all-shown": "You can only deny this",
  "file-not-seen": "You can only deny this",
  stopped: "This run is stopped",
  frozen: "Frozen: only deny",
  "other-stop": "Another stop holds",
  "too-late": "Too late to undo",
  "not-yours": "You can't undo this",
  "already-decided": "Already decided",
  closed: "This is closed",
  changed: "The request changed",
  "rule-changed": "Another rule applies",
  unknown: "Out of date",
  "form-changed": "This form is not valid",
  "being-posted": "Try again in a moment",
  "file-refused": "Can't be decided here",
  "verdict-needed": "Approve or deny?",
  "reason-needed": "Reason needed",
  "reason-too-short": "Reason too short",
  "reason-too-long": "Reason too long",
} as const satisfies { [Type in Refusal["type"]]: string };

/** The title of the window that shows a refusal. It says what the person cannot do, or what happened. */
export function refusalTitle(refusal: Refusal): string {
  if (refusal.type === "not-claimer" && refusal.by === null) return "No one is looking at it";
  const stands = refusal.type === "too-late" && ["counts", "stands"].includes(refusal.became?.type ?? "");
  return stands ? "Not undone" : TITLES[refusal.type];
}

/** The words for an error beside a field. Slack draws no markup there, so no one is mentioned. */
export function refusalPlain(refusal: Refusal): string {
  if (refusal.type === "stopped")
    return "This run is stopped, so nothing it asks for can be approved. Nothing was sent.";
  if (refusal.type === "other-stop") return "Another stop of this run holds. Nothing was lifted.";
  if (refusal.type === "frozen")
    return "Countersign is frozen, so no approval is sent. You can deny it. Nothing was sent.";
  if (refusal.type === "too-late" && refusal.became?.type === "sent")
    return tooLateWords({ ...refusal.became, at: null });
  if (refusal.type === "already-decided") {
    const what = refusal.decision.verdict === "approve" ? "approved" : "denied";
    return `This was already ${what}. Nothing more was sent; the card says what became of it.`;
  }
  if (isFollowUpRefusal(refusal)) return followUpRefusalPlain(refusal);
  if (refusal.type === "requester") return `${askedWords(refusal)} Nothing was sent.`;
  if (refusal.type === "not-approver") return "The rule does not let you decide. Nothing was sent.";
  if (refusal.type === "already-voted")
    return "You already approved this. Others must approve it too. Nothing was sent. You can still deny it.";
  if (refusal.type === "unverified" && refusal.requester !== undefined)
    return "Slack could not say just now which user groups the requester is in, so Countersign does not know which rule applies, and this press did not count for this request. Try again in a moment.";
  if (refusal.type === "unverified" && refusal.of !== undefined)
    return "Slack could not confirm just now that everyone who approved before may still approve, so this press did not count for this request. Try again in a moment.";
  return refusalWords(refusal);
}
