// The text of a message as people read it. In events and payloads Slack writes links, channels and calls as tokens, and the characters
// & < > as entities.

const CHARACTERS: Readonly<Record<string, string>> = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };

/** Slack writes these characters as entities in commands too, with should_escape or without. */
export const withoutEntities = (text: string): string =>
  text.replace(/&(?:amp|lt|gt);/g, (entity) => CHARACTERS[entity] ?? entity);

/** People stay as tokens: their names are not in the message. */
export function asRead(text: string): string {
  const plain = text
    .replace(/<((?:https?|mailto):[^|<>]*)(?:\|[^<>]*)?>/g, "$1")
    .replace(/<#[A-Z0-9]+\|([^<>]+)>/g, "#$1")
    .replace(/<!(here|channel|everyone)(?:\|[^<>]*)?>/g, "@$1");
  return withoutEntities(plain);
}
