// Checks that untrusted text is only text.

import type { Message, Person, PersonId } from "../slack/model.ts";
import { isJson } from "../slack/json.ts";

/** Elements that call someone, lead somewhere or are fetched. */
const ACTIVE = new Set(["link", "broadcast", "usergroup", "channel", "team", "image", "emoji"]);
/** Slack's control sequences, in a text that Slack reads as markup. */
const CONTROL = /<(?:[!@#]|https?:|mailto:)/;
/** What Slack turns into a mention or a link by itself, unless a text is marked `verbatim`. */
const FOUND = /(?<![\w@])@(?:here|channel|everyone)\b|\b(?:https?:\/\/|mailto:|www\.)/i;

/** Pictures that take more than one character: a joiner or a selector inside of one is seen. */
const PICTURE =
  /\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}]?\ufe0f?(?:\u200d\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}]?\ufe0f?)*|[\d#*]\ufe0f\u20e3/gu;
/** Characters that nobody sees, by what Unicode says of them: controls, format, direction, selectors, fillers, halves and those without a meaning. */
const UNSEEN =
  /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2800]/u;

const isUnseenIn = (text: string): boolean => UNSEEN.test(text.replace(PICTURE, ""));

/** What in this message, or window, does something that its text only said; in words. */
export function tricksIn(
  { text, blocks }: Pick<Message, "text" | "blocks">,
  people: ReadonlyMap<PersonId, Person>,
): string[] {
  const found = CONTROL.test(text) ? ["a control sequence in its notification"] : [];
  if (isUnseenIn(text)) found.push("a character nobody sees in its notification");
  walk(blocks, (node) => {
    const type = String(node["type"]);
    if (ACTIVE.has(type)) found.push(`an element of type ${type}`);
    if (type === "user" && !people.has(String(node["user_id"]))) found.push("a mention of nobody");
    const said = typeof node["text"] === "string" ? node["text"] : "";
    if (type === "mrkdwn" && CONTROL.test(said)) found.push("a control sequence");
    if (type === "mrkdwn" && node["verbatim"] !== true && FOUND.test(said))
      found.push("a text that Slack makes a link or a mention of");
    if (isUnseenIn(said)) found.push("a character nobody sees");
  });
  return [...new Set(found)];
}

function walk(value: unknown, visit: (node: Record<string, unknown>) => void): void {
  if (Array.isArray(value)) for (const each of value as unknown[]) walk(each, visit);
  if (!isJson(value)) return;
  visit(value);
  for (const each of Object.values(value)) walk(each, visit);
}
