// Whether untrusted text has become anything more than text.

import type { Message, Person, PersonId } from "../slack/model.ts";
import { isJson } from "../slack/rules-check.ts";

/** Elements that call somebody, lead somewhere or are fetched. */
const ACTIVE = new Set(["link", "broadcast", "usergroup", "channel", "team", "image", "emoji"]);
/** Slack's control sequences, in a text that Slack reads as markup. */
const CONTROL = /<(?:[!@#]|https?:|mailto:)/;
/** Characters that nobody sees: controls, zero-width, direction, tags. */
const UNSEEN =
  /(?![\t\n])[\p{Cc}\p{Zl}\p{Zp}\u200b\u2060\ufeff\u00ad\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u;

/** What in this message does something that its text only said; in words. */
export function tricksIn({ text, blocks }: Message, people: ReadonlyMap<PersonId, Person>): string[] {
  const found = CONTROL.test(text) ? ["a control sequence in its notification"] : [];
  walk(blocks, (node) => {
    const type = String(node["type"]);
    if (ACTIVE.has(type)) found.push(`an element of type ${type}`);
    if (type === "user" && !people.has(String(node["user_id"]))) found.push("a mention of nobody");
    if (type === "mrkdwn" && CONTROL.test(String(node["text"]))) found.push("a control sequence");
    if (typeof node["text"] === "string" && UNSEEN.test(node["text"])) found.push("a character nobody sees");
  });
  return [...new Set(found)];
}

function walk(value: unknown, visit: (node: Record<string, unknown>) => void): void {
  if (Array.isArray(value)) for (const each of value as unknown[]) walk(each, visit);
  if (!isJson(value)) return;
  visit(value);
  for (const each of Object.values(value)) walk(each, visit);
}
