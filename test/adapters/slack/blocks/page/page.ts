// Builds docs/messages.md: everything that a person reads, by the id of its message.

import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import type { MessageId } from "#src/adapters/slack/blocks/message-id.ts";
import type { Message } from "#src/adapters/slack/blocks/rich.ts";
import { FIELD_ERRORS } from "#src/adapters/slack/form-answers.ts";
import { CHANNEL } from "../../../../make/run.ts";
import { printedBlocks, printedView } from "../printed.ts";
import { answerExamples } from "./answers.ts";
import { CALLS } from "./calls.ts";
import { CARD_PARTS, CARDS } from "./cards.ts";
import { ANA, BEN, type CardExample, CLEO, DEPLOYMENT, type Example } from "./example.ts";
import { FORMS, HOME, RUN_FORMS } from "./forms.ts";
import { NOTICES, NOTIFICATIONS } from "./private.ts";
import {
  besideField,
  COMMAND_REFUSALS,
  commandRefusalExamples,
  ownDecision,
  REFUSALS,
  refusalExamples,
} from "./refusals.ts";
import { ORPHANS } from "./orphans.ts";
import { LISTINGS, NOTICES_IN_THREAD, OPENINGS, OUTCOMES } from "./thread.ts";

const drawnCard = ({ when, run, approval }: CardExample): Example => ({
  when,
  drawn: approvalCard(run, approval, DEPLOYMENT),
});

type Named = { readonly [id: string]: readonly Example[] };

const named = <Item>(
  kind: string,
  of: { readonly [id: string]: Item },
  drawn: (item: Item) => readonly Example[],
): Named => Object.fromEntries(Object.entries(of).map(([id, item]) => [`${kind}:${id}`, drawn(item)]));

/** Cards, by the name of the state. */
export const cardExamples = (): Named => named("card", CARDS, (cards) => cards.map(drawnCard));
/** Cards, by the id of the part that they show. */
export const partExamples = (): Named => named("part", CARD_PARTS, (cards) => cards.map(drawnCard));

type Refused = Record<Extract<MessageId, `${"refusal" | "command-refusal"}:${string}`>, readonly Example[]>;

const refusals = (): Refused =>
  ({
    ...named("refusal", REFUSALS, refusalExamples),
    ...named("command-refusal", COMMAND_REFUSALS, commandRefusalExamples),
  }) as Refused;

/** Every message and view that has an id: `tsc` says if one is missing. */
export async function messageExamples(): Promise<Record<MessageId, readonly Example[]>> {
  return {
    ...OPENINGS,
    ...OUTCOMES,
    ...LISTINGS,
    ...CALLS,
    ...NOTICES_IN_THREAD,
    ...ORPHANS,
    ...FORMS,
    ...HOME,
    ...NOTICES,
    ...NOTIFICATIONS,
    ...refusals(),
    ...(await answerExamples()),
  };
}

const INTRO = `# What people read

Every message, card, form, refusal, notice, receipt, alarm and answer, with its id, drawn from the code
(\`test/adapters/slack/blocks/page/\`). Review wording here. To refresh the page after a change:

    npx vitest run test/adapters/slack/blocks/messages.test.ts --update

Ana asked for the run, Ben and Cleo decide. **Notification:** is what the lock screen of a phone shows, where it differs from the
message. A moment stands in braces; Slack draws it in the reader's own time zone. \`> \` is a quotation, \`| \` a box with the
service's or the agent's own words, \`[*Approve*]\` the main button, \`(…)\` small print.`;

const SECTIONS: readonly (readonly [title: string, prefixes: readonly string[]])[] = [
  ["The opening of a thread", ["run:"]],
  ["The end of a thread", ["outcome:"]],
  ["Many requests at once", ["digest:"]],
  ["Requests that wait", ["call:", "several:", "announcement:"]],
  ["Notices in a thread", ["thread:", "unreadable:"]],
  ["After a restore of an older copy", ["orphan:"]],
  ["Forms and windows", ["form:"]],
  ["Refused presses and submits", ["refusal:"]],
  ["Private notices", ["notice:"]],
  ["Receipts, alarms and other notifications", ["receipt:", "notification:"]],
  ["Answers to commands and clicks", ["answer:"]],
  ["Refused commands", ["command-refusal:"]],
  ["Home tab", ["home:"]],
];

export async function messagesPage(): Promise<string> {
  const all = Object.entries(await messageExamples());
  const sections = SECTIONS.flatMap(([title, prefixes]) => [
    `## ${title}`,
    ...all
      .filter(([id]) => prefixes.some((prefix) => id.startsWith(prefix)))
      .flatMap(([id, examples]) => entries(id, examples)),
  ]);
  const page = [
    INTRO,
    "## Cards, by state",
    ...Object.entries(cardExamples()).flatMap(([id, examples]) => entries(id, examples)),
    "## Cards, by what else they show",
    ...Object.entries(partExamples()).flatMap(([id, examples]) => entries(id, examples)),
    ...sections,
    "## Elsewhere",
    ...entries("the form that starts a run", RUN_FORMS),
    "### to the person who decided before",
    fenced(ownDecision()),
    "### refusals beside a field, where they read otherwise",
    fenced(besideField().join("\n")),
    "### errors beside a field",
    fenced(
      Object.entries(FIELD_ERRORS)
        .map(([id, words]) => `${id}: ${words}`)
        .join("\n"),
    ),
  ];
  return `${page.join("\n\n")}\n`;
}

const entries = (id: string, examples: readonly Example[]): string[] =>
  examples.map(
    ({ when, drawn }) =>
      `### ${id}${when === "" ? "" : ` (${when})`}\n\n${isMessage(drawn) ? printedExample(drawn) : fenced(printedView(drawn).trim())}`,
  );

const isMessage = (drawn: Example["drawn"]): drawn is Message => "text" in drawn;

/** A notification text that says the same as the message is printed once. */
function printedExample({ text, blocks }: Message): string {
  const words = printedBlocks(blocks);
  if (asShown(text) === asShown(words).replaceAll("**", "")) return fenced(words);
  return `**Notification:** ${asShown(text).replace(LONG, longRun)}\n\n${fenced(words)}`;
}

const fenced = (text: string): string =>
  `\`\`\`\`text\n${withoutMiddle(asShown(text).replace(LONG, longRun))}\n\`\`\`\``;

/** The number of lines that the page shows at each end of a longer example. */
const END_LINES = 15;

function withoutMiddle(text: string): string {
  const lines = text.split("\n");
  const rest = lines.length - 2 * END_LINES;
  if (rest <= END_LINES) return text;
  return [...lines.slice(0, END_LINES), `… (${rest} more lines)`, ...lines.slice(-END_LINES)].join("\n");
}

/** The filler in long examples. */
const LONG = /(.)\1{40,}/g;
const longRun = (all: string, char: string): string => `${char.repeat(5)}… (${all.length} times "${char}")`;

/** Draws Slack's tokens and ids as a client does. */
function asShown(text: string): string {
  return text
    .replace(/<!date\^\d+\^[^|]*\|([^>]*)>/g, "{$1}")
    .replace(/<([@#]\w+)>/g, "$1")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&")
    .replaceAll(ANA, "Ana")
    .replaceAll(BEN, "Ben")
    .replaceAll(CLEO, "Cleo")
    .replaceAll(CHANNEL, "ops");
}
