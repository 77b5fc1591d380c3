// The words of every refused command: what happened, what it means, and what to do. refusal-words.ts has those of decisions.

import type { Freeze } from "../../../domain/freeze.ts";
import { oneLine } from "../../../domain/text/excerpt.ts";
import type { CommandRefusal } from "../../../domain/command-refusal.ts";
import type { Run } from "../../../domain/run.ts";
import { freezeWords } from "./brake-blocks.ts";
import { textAnswer } from "./message-id.ts";
import {
  count,
  escaped,
  localTime,
  MESSAGE_CHARS,
  type Message,
  plural,
  quote,
  rich,
  untrustedSpan,
} from "./rich.ts";
import { typedPart } from "./typed-text.ts";

/** Refusals of commands that always have the same words. */
const FIXED_COMMAND_WORDS = {
  guest: "Guests can't do this in Countersign. Ask a full member of this workspace.",
  outsider:
    "Only members of this workspace can do this in Countersign, and your account belongs to another one.",
  bot: "Apps and bots can't do this in Countersign.",
  deactivated: "This account is deactivated, so it can't do this in Countersign.",
  "not-in-channel": "You are not in this channel, so you can't start or watch runs here.",
  unverified: "Slack could not confirm just now who you are, so nothing was done. Try again in a moment.",
  "no-runs-here":
    "The policy does not allow runs in this channel. Use another channel, or ask an admin of Countersign.",
  "not-starter":
    "The policy does not let you start or watch runs in this channel. Ask an admin of Countersign.",
  "saved-task-gone":
    "The policy no longer has a saved task with this name, so nothing was started. Open the form again to see the current ones.",
  "saved-task-changed":
    "The policy's text of this saved task changed after the form opened, so nothing was started. Open the form again to see the current text.",
  "not-your-task":
    "The policy does not offer you this saved task in this channel, so nothing was started. Write the task in your own words, or ask an admin of Countersign.",
  "hidden-channel":
    "Countersign can't see this channel. Invite it with `/invite @countersign` and try again.",
  "not-a-channel":
    "This doesn't work in a direct message. Use a channel that Countersign is in, so that its members see what happens.",
  "channel-unproven":
    "Someone changed this run's record outside Countersign, and the audit does not prove which channel the run belongs to. In another channel, other people could decide. So it stays closed: decide its requests at the service.",
  "not-watched": "This run is no longer watched. Nothing changed.",
  deciding: "A decision on this run is under way. Wait until its card shows the outcome, then try again.",
  voted:
    "A request of this run still needs approvals from other people. Let them decide, or deny it; then try again.",
  "denial-due":
    "If no one decides in time, the policy will deny a request of this run, so Countersign must keep watching it. Get it decided, or wait for its deadline.",
  answered: "Only the first answer counts, and there is one already. The message in the thread shows it.",
  "not-auditor": "Only Countersign's admins and the auditors that the policy names can read the audit.",
  "not-freezer":
    "Only Countersign's admins and the policy's `freezers` can freeze or lift a freeze. To stop one run, press Stop in its thread.",
  "own-audit":
    "Only Countersign's admins and the auditors that the policy names can read a run's audit, even if you took part in the run. Ask one of them.",
  "nothing-disputed": "This run has no open dispute, so there is nothing to close.",
  "close-why":
    "After the run id, say what you found. The card shows it, and the audit records it in your name.",
  "nothing-to-acknowledge": "There is nothing to acknowledge: no approval is held back.",
  "acknowledge-why": "After the code, say what you found. The audit records it in your name.",
  "not-sent":
    "Slack did not confirm the file, so it may be missing, even below a message that announces it. If you do not find it, try again in a moment.",
} as const satisfies Partial<Record<CommandRefusal["type"], string>>;

const ONLY_ADMINS: Record<Extract<CommandRefusal, { type: "not-admin" }>["asked"], string> = {
  close: "Only Countersign's admins can close a dispute.",
  acknowledge: "Only Countersign's admins can acknowledge what was found in the database.",
  report: "Only Countersign's admins can see who decided in the last full week.",
};

/** `drawn` makes the names of fields safe to show. */
function unfinishedWords(
  { missing, wrong, unknown }: Extract<CommandRefusal, { type: "saved-task-unfinished" }>,
  drawn: (names: string) => string,
): string {
  const list = (names: readonly string[]): string => drawn(oneLine(names.join(", "), NAMES_CHARS));
  const others = wrong.length - MAX_WRONG;
  return [
    "Nothing was started.",
    ...(missing.length === 0 ? [] : [`Missing: ${list(missing)}.`]),
    ...wrong
      .slice(0, MAX_WRONG)
      .map(({ label, choices }) => `${list([label])} must be one of these: ${list(choices)}.`),
    ...(others > 0
      ? [`${count(others)} more ${plural(others, "field")} must have a value from a list.`]
      : []),
    ...(unknown.length === 0 ? [] : [`Not a field of this saved task: ${list(unknown)}.`]),
  ].join(" ");
}
const NAMES_CHARS = 300;
/** The most fields whose allowed values are listed. */
const MAX_WRONG = 3;

/** The private answer to a refused command. */
export function commandRefusal(refusal: CommandRefusal, command: string): Message {
  const { text, blocks } = textAnswer(
    `command-refusal:${refusal.type}`,
    commandRefusalWords(refusal, command),
  );
  if (refusal.type !== "service-silent") return { text, blocks };
  const why = untrustedSpan(refusal.words.replace(/\s+/g, " "), SERVICE_CHARS);
  return {
    text: `${text} ${escaped(oneLine(refusal.words, SERVICE_CHARS))}`,
    blocks: [...blocks, rich(quote(why))],
  };
}
/** The most characters of the words about a call to the service. They may quote it, so they are drawn where Slack reads no markup. */
const SERVICE_CHARS = 300;

export function commandRefusalWords(refusal: CommandRefusal, command: string): string {
  switch (refusal.type) {
    case "empty-task":
      return `Add a task: type \`${command} run\` and what the agent should do, for example \`${command} run deploy billing-api to production\`.`;
    case "not-admin":
      return ONLY_ADMINS[refusal.asked];
    case "unknown-run":
      return unknownRunWords(refusal, command);
    case "saved-task-unfinished":
      return unfinishedWords(refusal, escaped);
    case "service-silent":
      return `Nothing was done, because this run could not be looked up at the agent service. \`${command} health\` shows whether the service answers.`;
    case "already-watched":
      return watchedWords(refusal.run);
    case "id-used-again":
      return `The run with this id has ended; its thread is in <#${refusal.run.channel}>. The service now uses the same id for another run. Countersign can't know who asked for that one, so it does not watch it. Start the task with \`${command} run\` instead.`;
    case "frozen":
      return `${freezeWords(refusal.freeze)}. No run starts until the freeze is lifted. Nothing was started; try again then.`;
    case "form-used":
      return formUsedWords(refusal.run, `\`${command} list\``, escaped);
    case "running-again":
      return `<@${refusal.run.requester}> already started this again, ${localTime(refusal.run.askedAt)}, and that run is still going. Its thread is in this channel.`;
    case "own-freeze":
      return `You froze this yourself, so another person must lift it: an admin of Countersign, or one of the policy's \`freezers\`. If there is no one else, add an admin to \`ADMINS\` and restart Countersign. The freeze stays until then.`;
    case "several-freezes":
      return severalFreezesWords(refusal.freezes, command);
    case "other-freeze":
      return otherFreezeWords(refusal.freeze, command);
    case "already-frozen":
      return `This is already frozen. \`${command} freeze\` shows who froze it.`;
    case "other-findings":
      return `This code does not match the current findings, so nothing was acknowledged. \`${command} health\` shows the current code and findings.`;
    case "not-frozen":
      return `Nothing is frozen here, so there is nothing to lift. \`${command} freeze\` shows what is frozen.`;
    case "tampered":
      return `The audit was tampered with, so it proves nothing: ${escaped(oneLine(refusal.words, 500))} \`npm run audit -- verify\` in a shell says more.`;
    default:
      return FIXED_COMMAND_WORDS[refusal.type];
  }
}

function unknownRunWords(refusal: Extract<CommandRefusal, { type: "unknown-run" }>, command: string): string {
  if (refusal.in === "audit")
    return `The audit knows no run with this id, so there is no evidence and no dispute about it. Check the id: the run's thread shows it, and \`${command} list\` shows the runs in your channels. Archived entries are only in the archive files.`;
  return `No run with this id in your channels: the service does not know it, or you are not in its channel. \`${command} list\` shows the runs in your channels.`;
}

/** `list`: the command that shows the run. `drawn` makes the task safe to show. */
const formUsedWords = ({ input }: Run, list: string, drawn: (task: string) => string): string =>
  `An earlier press of this form was recorded, with the task "${drawn(oneLine(input, TASK_CHARS))}". That run's thread says what became of it, and ${list} shows the run. This press started nothing. To start another run as well, open a new form.`;
const TASK_CHARS = 100;

const watchedWords = ({ watch, channel }: Run): string =>
  watch.type === "over"
    ? `This run has ended. Its thread is in <#${channel}>.`
    : `This run is already watched in <#${channel}>. Its requester and its channel stay as they are.`;

function severalFreezesWords(freezes: readonly Freeze[], command: string): string {
  const list = freezes.map((freeze) => `🧊 ${freezeWords(freeze)}.`).join("\n");
  return `Nothing was lifted, because several freezes hold here:\n${list}\nTo lift the one of this channel, type \`${command} freeze lift here\` and a reason. For the one of every channel, type \`${command} freeze lift everywhere\` and a reason.`;
}

function otherFreezeWords(freeze: Freeze, command: string): string {
  const [missing, which] =
    freeze.channel === null
      ? ["this channel has no freeze of its own", "everywhere"]
      : ["no freeze of every channel is in force", "here"];
  return `Nothing was lifted: ${missing}. Another freeze holds here: ${freezeWords(freeze)}. To lift it, type \`${command} freeze lift ${which}\` and a reason.`;
}

/** The words for an error beside a field. Slack draws no markup there, so no one is mentioned. */
export function commandRefusalPlain(refusal: CommandRefusal, command: string): string {
  if (refusal.type === "frozen")
    return `Countersign is frozen here, so no run starts until the freeze is lifted. Nothing was started; try again then. ${command} freeze shows who froze it.`;
  if (refusal.type === "saved-task-unfinished") return unfinishedWords(refusal, (names) => names);
  if (refusal.type === "form-used")
    return `${formUsedWords(refusal.run, `${command} list`, (task) => task)} Copy what you typed first.`;
  return commandRefusalWords(refusal, command).replaceAll("`", "");
}

/** Refusals after which the same person never types the same task again, or typed none. */
const NOTHING_TO_REPEAT: ReadonlySet<CommandRefusal["type"]> = new Set([
  "empty-task",
  "guest",
  "outsider",
  "bot",
  "deactivated",
]);
/** The room for a typed command (characters). It leaves enough of a message for the refusal. */
const TYPED_CHARS = MESSAGE_CHARS - 3_500;

/** The refusal of a run that was typed. Slack has cleared the command by then, so the person gets it back. */
export function typedRunRefusal(refusal: CommandRefusal, command: string, task: string): Message {
  const refused = commandRefusal(refusal, command);
  return NOTHING_TO_REPEAT.has(refusal.type) ? refused : withTypedRun(refused, command, task);
}

export const withTypedRun = (answer: Message, command: string, task: string): Message =>
  withTyped(answer, `${command} run ${task}`);

/** The answer, followed by the command that the person typed. */
export function withTyped({ text, blocks }: Message, typed: string): Message {
  return { text, blocks: [...blocks, ...typedPart([typed], TYPED_CHARS)] };
}
