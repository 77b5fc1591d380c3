// Slack's mrkdwn → HTML. Its escapes (&amp; &lt; &gt;) are decoded only in plain text, after the tokens have been found.
import { html, type Html, type Part } from "../base/html.ts";
import type { Reader } from "../base/reader.ts";
import { emoji, withEmoji } from "./emoji.ts";
import { broadcastMention, channelMention, codeBox, groupMention, link, personMention } from "./mention.ts";

/** What Slack detects in plain words. A text object with `verbatim: false` gets both, a message's `text` only links. */
export type Guesses = { readonly links: boolean; readonly mentions: boolean };

const STYLES: Record<string, (inner: Part) => Html> = {
  "*": (inner) => html`<strong>${inner}</strong>`,
  _: (inner) => html`<em>${inner}</em>`,
  "~": (inner) => html`<s>${inner}</s>`,
};

export function mrkdwn(source: string, reader: Reader, guesses: Guesses): Html {
  const parts = source.split(/```([\s\S]+?)```/g);
  const drawn = parts.map((part, i) => {
    if (i % 2 === 1) return code(literal(part.replace(/^\n/, "")));
    const after = i > 0 ? part.replace(/^\n/, "") : part;
    return paragraphs(i < parts.length - 1 ? after.replace(/\n$/, "") : after, reader, guesses);
  });
  return html`<span data-words>${drawn}</span>`;
}

const code = (text: string): Html => codeBox(text, text);

function paragraphs(source: string, reader: Reader, guesses: Guesses): Part[] {
  const out: Part[] = [];
  let quoted: Part[] = [];
  const endQuote = () => {
    if (quoted.length > 0) out.push(html`<blockquote>${quoted}</blockquote>`);
    quoted = [];
  };
  source.split("\n").forEach((line, i) => {
    const quote = /^(?:&gt;|>) ?/.exec(line);
    if (quote !== null) {
      quoted.push(quoted.length > 0 ? "\n" : null, inline(line.slice(quote[0].length), reader, guesses));
      return;
    }
    const afterQuote = quoted.length > 0;
    endQuote();
    out.push(i > 0 && !afterQuote ? "\n" : null, inline(line, reader, guesses));
  });
  endQuote();
  return out;
}

/** Draws one line. A search for a closing marker fails at most once per marker and line, so hostile text costs only linear time. */
function inline(line: string, reader: Reader, guesses: Guesses): Part[] {
  const out: Part[] = [];
  const hopeless = new Set<string>();
  let at = 0;
  let plainFrom = 0;
  while (at < line.length) {
    const found = hopeless.has(line.charAt(at)) ? undefined : spanAt(line, at, hopeless);
    if (found === undefined) {
      at += 1;
      continue;
    }
    out.push(plain(line.slice(plainFrom, at), reader, guesses), draw(found, reader, guesses));
    at = found.end;
    plainFrom = at;
  }
  out.push(plain(line.slice(plainFrom), reader, guesses));
  return out;
}

type Span = { kind: "token" | "code" | "*" | "_" | "~"; inner: string; end: number };

function spanAt(line: string, at: number, hopeless: Set<string>): Span | undefined {
  const mark = line.charAt(at);
  if (mark === "<" || mark === "`") {
    const end = line.indexOf(mark === "<" ? ">" : "`", at + 1);
    if (end < 0) hopeless.add(mark);
    if (end <= at + 1) return undefined;
    return { kind: mark === "<" ? "token" : "code", inner: line.slice(at + 1, end), end: end + 1 };
  }
  if (mark !== "*" && mark !== "_" && mark !== "~") return undefined;
  if (/[\p{L}\p{N}]/u.test(line.charAt(at - 1)) || /^\s?$/.test(line.charAt(at + 1))) return undefined;
  const end = closing(line, mark, at + 2);
  if (end < 0) hopeless.add(mark);
  return end < 0 ? undefined : { kind: mark, inner: line.slice(at + 1, end), end: end + 1 };
}

function closing(line: string, mark: string, from: number): number {
  let end = line.indexOf(mark, from);
  while (end >= 0 && (/\s/.test(line.charAt(end - 1)) || /[\p{L}\p{N}]/u.test(line.charAt(end + 1)))) {
    end = line.indexOf(mark, end + 1);
  }
  return end;
}

function draw(span: Span, reader: Reader, guesses: Guesses): Part {
  if (span.kind === "token") return token(span.inner, reader);
  if (span.kind === "code") return html`<code>${literal(span.inner)}</code>`;
  return STYLES[span.kind]?.(inline(span.inner, reader, guesses));
}

function token(source: string, reader: Reader): Part {
  const [target = "", ...rest] = source.split("|");
  const label = literal(rest.join("|"));
  const body = target.slice(1);
  if (target.startsWith("@")) return personMention(reader, body);
  if (target.startsWith("#")) return channelMention(reader, body);
  if (!target.startsWith("!")) {
    const known = /^(https?|mailto):/.test(target);
    return known ? link(reader, literal(target), label || literal(target)) : `<${literal(source)}>`;
  }
  if (["here", "channel", "everyone"].includes(body)) return broadcastMention(body);
  if (body.startsWith("date^")) return date(body, label, reader);
  if (body.startsWith("subteam^")) return groupMention(reader, body.slice(8), label);
  return label || `<${literal(source)}>`;
}

function date(body: string, fallback: string, reader: Reader): Html {
  const [, seconds = "", format = "", address] = body.split("^");
  const atMs = Number(seconds) * 1000;
  if (seconds === "" || !Number.isFinite(atMs) || Math.abs(atMs) > 8.64e15) return html`${fallback}`;
  const words = html`<time datetime="${new Date(atMs).toISOString()}" title="${reader.times.full(atMs)}"
    >${reader.times.tokens(literal(format), atMs)}</time
  >`;
  return address === undefined ? words : link(reader, literal(address), words);
}

const GUESS = /https?:\/\/[^\s<>|]+[^\s<>|.,;:!?)\]'"]|(?<![\w@#])[@#][\w-]+|:[a-z0-9_+'-]+:/g;

/** Draws the text between tokens: decodes entities, and draws shortcodes and what Slack would detect as a link or a mention. */
function plain(source: string, reader: Reader, guesses: Guesses): Part[] {
  const text = literal(source);
  const out: Part[] = [];
  let from = 0;
  for (const found of text.matchAll(GUESS)) {
    out.push(text.slice(from, found.index), guess(found[0], reader, guesses));
    from = found.index + found[0].length;
  }
  out.push(text.slice(from));
  return out;
}

function guess(word: string, reader: Reader, guesses: Guesses): Part {
  if (word.startsWith(":")) return emoji(word.slice(1, -1)) ?? word;
  if (word.startsWith("http")) return guesses.links ? link(reader, word, word) : word;
  if (!guesses.mentions) return word;
  const name = word.slice(1);
  if (word.startsWith("@"))
    return ["here", "channel", "everyone"].includes(name) ? broadcastMention(name) : word;
  const channel = reader.channelCalled(name);
  return channel === undefined ? word : channelMention(reader, channel);
}

function literal(source: string): string {
  return source.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/** Draws a Block Kit text object, `plain_text` or `mrkdwn`. Returns null for anything else. */
export function drawText(
  value: { type?: unknown; text?: unknown; emoji?: unknown; verbatim?: unknown },
  reader: Reader,
): Part {
  if (typeof value.text !== "string") return null;
  if (value.type !== "mrkdwn") {
    return html`<span data-words>${value.emoji === false ? value.text : withEmoji(value.text)}</span>`;
  }
  const guesses = value.verbatim !== true;
  return mrkdwn(value.text, reader, { links: guesses, mentions: guesses });
}
