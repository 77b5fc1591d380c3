// & < > in the text of a message: Slack's own marks stand in angle brackets, everything else is kept as entities.

import type { Workspace } from "./workspace.ts";

/** docs.slack.dev, formatting: mentions, special mentions, dates and links, each with or without a label. */
const mark =
  /(<(?:[@#][A-Z0-9]|!(?:here|channel|everyone|group|subteam\^|date\^)|(?:https?|mailto|tel):)[^<>\n]*>)/;

/** Entities that stand there already stay as they are (third party: what bots read back of their own texts). */
export const kept = (text: string): string =>
  text
    .replace(/&(?!(?:amp|lt|gt);)/g, "&amp;")
    .split(mark)
    .map((piece, index) => (index % 2 === 1 ? piece : bracketless(piece)))
    .join("");

const bracketless = (text: string): string => text.replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** What a person types, without any mark. */
export const entities = (text: string): string => bracketless(text.replaceAll("&", "&amp;"));

/** What Slack's own client makes of what a person types: names are looked up, and nothing else is a mark. */
export const typed = ({ people }: Pick<Workspace, "people">, text: string): string =>
  entities(text).replace(/(?<![\w@])@([\w.-]+)/g, (name, handle: string) => {
    const person = [...people.values()].find((one) => one.handle === handle);
    return person === undefined ? name : `<@${person.id}>`;
  });
