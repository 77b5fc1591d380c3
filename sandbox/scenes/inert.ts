// Checks that untrusted text is shown as plain text.

import type { Message, Person, PersonId } from "../slack/model.ts";
import { isJson } from "../slack/json-object.ts";

/** Elements that notify someone, link somewhere or load something. */
const ACTIVE = new Set(["link", "broadcast", "usergroup", "channel", "team", "image", "emoji"]);
/** Slack's control sequences in text that Slack parses as markup. */
const CONTROL = /<(?:[!@#]|https?:|mailto:)/;
/** Plain text that Slack turns into a mention or a link, unless it is marked `verbatim`. */
const AUTO_LINKED = /(?<![\w@])@(?:here|channel|everyone)\b|\b(?:https?:\/\/|mailto:|www\.)/i;

/** Emoji of more than one character. A joiner or a selector inside an emoji has a visible effect. */
const PICTURE =
  /\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}]?\ufe0f?(?:\u200d\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}]?\ufe0f?)*|[\d#*]\ufe0f\u20e3/gu;
/** Invisible characters by Unicode property: controls, formats, directions, selectors, fillers, surrogates, private use, unassigned. */
const INVISIBLE =
  /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2800]/u;

const hasInvisible = (text: string): boolean => INVISIBLE.test(text.replace(PICTURE, ""));

/** Describes each place in this message or window where untrusted text became more than plain text. */
export function tricksIn(
  { text, blocks }: Pick<Message, "text" | "blocks">,
  people: ReadonlyMap<PersonId, Person>,
): string[] {
  const found = CONTROL.test(text) ? ["a control sequence in its notification"] : [];
  if (hasInvisible(text)) found.push("an invisible character in its notification");
  walk(blocks, (node) => {
    const type = String(node["type"]);
    if (ACTIVE.has(type)) found.push(`an element of type ${type}`);
    if (type === "user" && !people.has(String(node["user_id"]))) found.push("a mention of an unknown person");
    const content = typeof node["text"] === "string" ? node["text"] : "";
    if (type === "mrkdwn" && CONTROL.test(content)) found.push("a control sequence");
    if (type === "mrkdwn" && node["verbatim"] !== true && AUTO_LINKED.test(content))
      found.push("text that Slack turns into a link or a mention");
    if (hasInvisible(content)) found.push("an invisible character");
  });
  return [...new Set(found)];
}

function walk(value: unknown, visit: (node: Record<string, unknown>) => void): void {
  if (Array.isArray(value)) for (const item of value as unknown[]) walk(item, visit);
  if (!isJson(value)) return;
  visit(value);
  for (const child of Object.values(value)) walk(child, visit);
}
