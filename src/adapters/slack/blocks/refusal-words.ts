// Every «no» in plain words: what happened, what it means, what to do. One exhaustive function for each kind.

import type { Decision } from "../../../domain/approval.ts";
import type { Refusal } from "../../../domain/authorization.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import type { UserId } from "../../../domain/ids.ts";
import type { Rule } from "../../../domain/policy/policy.ts";
import type { CommandRefusal } from "../../../usecases/access.ts";
import { beyondForm, closedWords } from "./card-state.ts";
import { count, escaped } from "./rich.ts";

/** The refusals that are always told in the same words. */
const ALWAYS = {
  requester: "You asked for this run, so someone else must decide what it may do. Nothing was sent.",
  guest: "Guests can't decide approvals. Nothing was sent. Ask a full member of this workspace.",
  outsider:
    "Only members of this workspace can decide this approval, and your account belongs to another one. Nothing was sent.",
  bot: "Apps and bots can't decide approvals. Nothing was sent.",
  deactivated: "This account is deactivated, so it can't decide approvals. Nothing was sent.",
  "not-in-channel": "Only people who are in this channel can decide its approvals. Nothing was sent.",
  "read-first":
    "The rule of this approval wants you to have opened the request in full. Nothing was sent. Press Read in full on the card, then Approve.",
  undone:
    "Whoever approved this took it back after this was shown. Nothing was sent. Look at the card again.",
  reopened:
    "This approval was opened again after this was shown; the request is the same. Nothing was sent. Decide it on the card as it is now.",
  "too-late":
    "There is nothing to take back any more: it is not being held. The card says what became of it.",
  "not-yours": "Only who gave an approval can take it back. While it is held, Deny stops it.",
  changed:
    "The request changed after this was shown. Nothing was sent. Look at the card again; it shows the new request.",
  "being-posted":
    "Slack has not confirmed this card to Countersign yet. Nothing was sent. Click again in a few seconds.",
  "form-changed":
    "Somebody changed what Countersign had stored about this form, so it is not believed. Nothing was sent. Countersign's admins are told. Press the button on the card again for a new form.",
  unknown:
    "This card or form is not the current one, or it was replaced. Nothing was sent. Look for the newest card of the run, or use `pending`.",
} as const satisfies Partial<Record<Refusal["type"], string>>;

type Plain = Extract<Refusal, { type: keyof typeof ALWAYS }>;

function isPlain(refusal: Refusal): refusal is Plain {
  return Object.hasOwn(ALWAYS, refusal.type);
}

/** In Slack's markup, for a private answer: our own words, user mentions, and service words that are escaped. */
export function refusalWords(refusal: Refusal, asker: UserId | null = null): string {
  if (isPlain(refusal)) return ALWAYS[refusal.type];
  switch (refusal.type) {
    case "not-approver":
      return `The rule \`${ruleName(refusal.rule)}\` lets others decide this, and you are not one of them. Nothing was sent.`;
    case "unverified":
      if (refusal.of !== undefined)
        return `Slack did not say just now whether ${mentions(refusal.of)}, who approved before, may still do so: Countersign could not verify it. Nothing was sent. Try again in a moment.`;
      return "Slack did not say who you are just now, so Countersign could not verify that you may decide this. Nothing was sent. Try again in a moment.";
    case "already-voted":
      return `You approved this already, ${when(refusal.decision)}. It needs others to approve it too. Nothing was sent. You can still deny it.`;
    case "word-needed":
      return `Type ${plainName(refusal.word)} to approve this. Nothing was sent.`;
    case "not-all-shown":
      return `${beyondForm(refusal.fields)} Nothing was sent.`;
    case "already-decided":
      return alreadyDecided(refusal, asker);
    case "closed":
      return `This approval is closed. ${closedWords(refusal.why)} Nothing was sent.`;
    case "reason-needed":
      if (refusal.verdict === "approve")
        return "Say why: this approval needs a reason. The agent gets it, and everybody in the channel sees it.";
      return "Say why: a denial needs a reason. The agent gets it, and everybody in the channel sees it.";
    case "reason-too-short":
      return `The reason is too short: ${count(refusal.chars)} characters. The rule of this approval wants at least ${count(refusal.fewest)}.`;
    case "reason-too-long":
      return `The reason is too long: ${count(refusal.chars)} characters. Slack takes 3,000.`;
  }
}

/** An operator's words, but no markup all the same. */
const ruleName = ({ name }: Rule): string => escaped(oneLine(name, 80)).replaceAll("`", "'");
/** A policy's word has no markup in it: `policy-shape.ts` sees to that. */
const plainName = (word: string): string => `«${word}»`;

const mentions = (people: readonly UserId[]): string => people.map((user) => `<@${user}>`).join(", ");

const when = ({ at }: Decision): string =>
  `<!date^${Math.floor(at / 1_000)}^{date_short_pretty} at {time}|${new Date(at).toISOString()}>`;

function alreadyDecided(
  { decision }: Extract<Refusal, { type: "already-decided" }>,
  asker: UserId | null,
): string {
  const what = decision.verdict === "approve" ? "approved" : "denied";
  const at = when(decision);
  if (decision.by === null)
    return `The policy ${what} this, ${at}, because nobody decided it in time. Nothing more was sent.`;
  if (decision.by.user === asker)
    return `You already ${what} this, ${at}. Nothing more was sent; the card says what became of it.`;
  return `<@${decision.by.user}> already ${what} this, ${at}. The first decision counts; yours was not sent.`;
}

/** The title of the form that says it. */
export function refusalTitle(refusal: Refusal): string {
  if (refusal.type === "already-decided") return "Already decided";
  return refusal.type === "too-late" ? "Not taken back" : "Nothing was sent";
}

/** The same for a field error in a modal, where Slack draws no markup. `nameOf` is not known there, so nobody is named. */
export function refusalPlain(refusal: Refusal): string {
  if (refusal.type === "already-decided") {
    const what = refusal.decision.verdict === "approve" ? "approved" : "denied";
    return `Somebody already ${what} this. The first decision counts; yours was not sent.`;
  }
  if (refusal.type === "unverified" && refusal.of !== undefined)
    return "Slack did not say just now whether those who approved before may still do so: Countersign could not verify it. Nothing was sent. Try again in a moment.";
  return refusalWords(refusal);
}

/** What is told in the same words to everybody who may not start, watch, let go of or read about a run. */
const NO_RUN = {
  guest: "Guests can't start or watch runs. Ask a full member of this workspace.",
  outsider:
    "Only members of this workspace can start or watch runs, and your account belongs to another one.",
  bot: "This account can't start or watch runs.",
  deactivated: "This account can't start or watch runs.",
  "not-in-channel": "You are not in this channel, so you can't start or watch runs here.",
  unverified: "Slack did not say who you are just now, so nothing was done. Try again in a moment.",
  "no-runs-here":
    "The policy lets nobody start or watch runs in this channel. Use a channel that it names, or ask whoever runs Countersign.",
  "not-starter":
    "The policy lets others start and watch runs in this channel, and you are not one of them. Ask one of them, or whoever runs Countersign.",
  "hidden-channel":
    "Countersign can't see this channel. Invite it with `/invite @countersign` and try again.",
  "not-a-channel":
    "Use a channel: runs and their approvals are shown to the members of a channel, and this is a direct message.",
  "not-watched": "This run is not being watched any more, so there is nothing to let go.",
  deciding: "A decision on this run is under way. Wait until it is settled, then try again.",
  voted:
    "Somebody has approved a request of this run, and others must approve it too. Let them decide, or deny it; then try again.",
  "denial-due":
    "By the policy, a request of this run is denied if nobody decides it in time, so the run is watched until then. Deny it yourself, have it decided, or wait.",
  answered: "This was answered already.",
  "not-auditor":
    "You can't read the audit. The admins of Countersign can, and whomever its policy names as auditors.",
  "own-audit":
    "You took part in this run, and that gives no right to its audit: the admins of Countersign can read it, and whomever its policy names as auditors. Ask one of them.",
  "not-admin": "Only the admins of Countersign can acknowledge what was found in its database.",
  "nothing-to-acknowledge": "There is nothing to acknowledge: no approval is held back.",
  "other-findings":
    "This code does not name what is found now. Nothing was acknowledged. `health` shows the code of now, and what it stands for.",
  "acknowledge-why": "Say after the code what you found. It becomes an entry of the audit in your name.",
  "not-sent": "Slack did not take the file, so nothing was sent. Try again in a moment.",
} as const satisfies Partial<Record<CommandRefusal["type"], string>>;

export function commandRefusalWords(no: CommandRefusal, command: string): string {
  switch (no.type) {
    case "empty-task":
      return `There is no task. Type \`${command} run\` and what the agent should do, for example \`${command} run deploy billing-api to production\`.`;
    case "unknown-run":
      return `There is no such run for you: the service does not know it, or it belongs to a channel you are not in. \`${command} list\` shows the runs of your channels.`;
    case "service-silent":
      return `The agent service could not be asked, so nothing was done. \`${command} health\` tells why.`;
    case "already-watched":
      if (no.run.watch.type === "over") return `This run has ended. Its thread is in <#${no.run.channel}>.`;
      return `This run is watched already, in <#${no.run.channel}>. Its requester and its channel stay as they are.`;
    case "id-used-again":
      return `The run of this id has ended; its thread is in <#${no.run.channel}>. The service now tells of another run under the same id, and Countersign cannot know who asked for that one, so it is not watched. Start the task with \`${command} run\` instead.`;
    case "tampered":
      return `The audit was tampered with, so it is no evidence: ${escaped(oneLine(no.words, 500))} \`npm run audit -- verify\` at the shell tells more.`;
    default:
      return NO_RUN[no.type];
  }
}
