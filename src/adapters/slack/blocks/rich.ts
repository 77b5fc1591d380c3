// Building blocks for messages. Untrusted text goes only into text elements of `rich_text`, in which Slack reads no markup, mentions or
// links. `untrustedSpan` also makes invisible characters visible, masks secrets and says how much it cuts. Use `span` for our own words.

import type {
  Block,
  RichTextBlock,
  RichTextElement,
  RichTextList,
  RichTextPreformatted,
  RichTextQuote,
  RichTextSection,
  RichTextText,
} from "@slack/types";
import { type MessageTs, UNKNOWN_PERSON, type UserId } from "../../../domain/ids.ts";
import { shortened } from "../../../domain/text/excerpt.ts";
import { groupDigits } from "../../../domain/text/secrets.ts";
import { countedChars, pieces, visible } from "../../../domain/text/text.ts";

export type Message = { readonly text: string; readonly blocks: Block[] };
export type Style = NonNullable<RichTextText["style"]>;
type Line = RichTextSection | RichTextQuote | RichTextPreformatted | RichTextList;

/** A text element with our own words. */
export function span(text: string, style?: Style): RichTextText {
  return style === undefined ? { type: "text", text } : { type: "text", text, style };
}

/** Someone else's words: invisible characters are made visible, secrets are masked, and text beyond `max` characters is cut and counted. */
export function untrustedSpan(text: string, max: number, style?: Style): RichTextText {
  return span(shortened(text, max, "masked"), style);
}

/** Slack refuses an empty text element. */
const nonEmpty = (text: string): string => (text === "" ? " " : text);

export const person = (user: UserId): RichTextElement =>
  user === UNKNOWN_PERSON ? span(`someone ${UNPROVEN}`) : { type: "user", user_id: user };

/** Stands for the person behind a stop whose entry is not proven. */
const UNPROVEN = "(the audit does not prove who)";

/** For text in Slack's own markup. It may begin a sentence. */
export const mentioned = (user: UserId): string =>
  user === UNKNOWN_PERSON ? `Someone ${UNPROVEN}` : `<@${user}>`;

/** A moment, drawn in the reader's own time zone. */
export function moment(at: number): RichTextElement {
  const fallback = `${new Date(at).toISOString().slice(0, 19).replace("T", " ")} UTC`;
  return {
    type: "date",
    timestamp: Math.floor(at / 1_000),
    format: "{date_short_pretty} at {time}",
    fallback,
  };
}

/** The distance to a moment, for example "in 18 minutes". Slack keeps it current without an update of the message. */
export function ago(at: number): RichTextElement {
  const fallback = `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return { type: "date", timestamp: Math.floor(at / 1_000), format: "{ago}", fallback };
}

/** The day alone, for lines with little room. */
export function day(at: number): RichTextElement {
  const fallback = new Date(at).toISOString().slice(0, 10);
  return { type: "date", timestamp: Math.floor(at / 1_000), format: "{date_short_pretty}", fallback };
}

/** Like `moment`, for text in which Slack reads markup. */
export function localTime(at: number): string {
  const fallback = `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
  return `<!date^${Math.floor(at / 1_000)}^{date_short_pretty} at {time}|${fallback}>`;
}

/** The time of day to the second, for a moment in the near future. Rounded up, so that it is never shown too early. */
export function clock(at: number): RichTextElement {
  const fallback = `${new Date(at).toISOString().slice(11, 19)} UTC`;
  return { type: "date", timestamp: Math.ceil(at / 1_000), format: "{time_secs}", fallback };
}

/** A link to a card, at the end of a line. Nothing if there is no card, or Slack gave no link. */
export function cardLink(card: MessageTs | null, links: Links): RichTextElement[] {
  const link = card === null ? undefined : links.get(card);
  return link === undefined ? [] : [span(" · "), { type: "link", url: link, text: "card" }];
}

/** The links to messages, as far as Slack gave any. */
export type Links = ReadonlyMap<MessageTs, string>;
export const NO_LINKS: Links = new Map();

export function line(...elements: RichTextElement[]): RichTextSection {
  return { type: "rich_text_section", elements };
}

export function quote(...elements: RichTextElement[]): RichTextQuote {
  return { type: "rich_text_quote", elements };
}

/** Someone else's words in a quote, to their end unless there are more than `max` characters. Secrets are masked. */
export function untrustedQuote(text: string, max = Infinity): RichTextQuote {
  return quote(...pieces(shortened(text, max, "masked"), PIECE_CHARS).map((piece) => span(piece)));
}

/** Untrusted text in full, in as many boxes as it needs, with invisible characters made visible. The caller masks secrets. */
export function boxes(text: string): RichTextPreformatted[] {
  return drawnBoxes(visible(text));
}

/** Like `boxes`, for text whose invisible characters are already visible. */
export function drawnBoxes(text: string): RichTextPreformatted[] {
  return pieces(text, PIECE_CHARS).map((piece) => ({
    type: "rich_text_preformatted",
    elements: [span(nonEmpty(piece))],
  }));
}

export function rich(...elements: Line[]): RichTextBlock {
  return { type: "rich_text", elements };
}

/** Slack draws no emoji for a name such as `:x:`, because others may have written it. Our own marks are Unicode. */
export function plain(text: string): { type: "plain_text"; text: string; emoji: false } {
  return { type: "plain_text", text, emoji: false };
}

export function header(text: string): Block {
  return { type: "header", text: plain(text) } as Block;
}

/** Small print in one or more parts. Other people's words must have their invisible characters made visible first. */
export function note(...parts: readonly string[]): Block {
  return { type: "context", elements: parts.map(plain) } as Block;
}

/**
 * Escapes text for fields in which Slack reads markup: writes its three special characters as entities, and separates emoji names from
 * their colons.
 */
export function escaped(text: string): string {
  const inert = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return inert.replace(/:(?=[\p{L}\p{N}_'+-]{1,100}:)/gu, ": ");
}

/** How many characters a header counts beyond its text. */
const HEADER_COUNTS_CHARS = 100;

/** Counts the characters of blocks, or of their parts, as Slack does for its limit on a message. */
export function countedLength(drawn: unknown): number {
  if (typeof drawn !== "object" || drawn === null) return 0;
  const { type, text } = { type: "", text: "", ...drawn };
  const own =
    (typeof text === "string" ? countedChars(text) : 0) + (type === "header" ? HEADER_COUNTS_CHARS : 0);
  return Object.values(drawn).reduce<number>((sum, part) => sum + countedLength(part), own);
}

export function count(n: number): string {
  return groupDigits(n);
}

/** The form of a noun that fits the count. */
export const plural = (n: number, one: string, many = `${one}s`): string => (n === 1 ? one : many);

/** For example "1 h 02 min", "2 h", "3 min 20 s", "45 min" or "4 s". */
export function duration(ms: number): string {
  const seconds = Math.max(Math.round(ms / 1_000), 0);
  const h = Math.floor(seconds / 3_600);
  const m = Math.floor(seconds / 60) % 60;
  const s = seconds % 60;
  const minor = (n: number, unit: string): string =>
    n === 0 ? "" : ` ${String(n).padStart(2, "0")} ${unit}`;
  if (h > 0) return `${h} h${minor(m, "min")}`;
  return m > 0 ? `${m} min${minor(s, "s")}` : `${s} s`;
}

// Length limits of our messages, with their sources.

/** Slack refuses a message of more than about 13,200 characters (not published; third parties measured it). */
export const MESSAGE_CHARS = 12_500;
/** docs.slack.dev, plain_text_input: max_length is at most 3,000. */
export const INPUT_CHARS = 3_000;
/** docs.slack.dev, views: 250 kB. The margin is for the ids that Slack adds. */
export const VIEW_BYTES = 240_000;
/** Our own choice: Slack allows longer elements, but draws short ones faster. */
const PIECE_CHARS = 2_900;
