// docs/messages.md shows what people read, word for word.

import { expect, test } from "vitest";
import { cardStateOf, idOf } from "../../../make/message-id.ts";
import { CARD_PARTS, CARDS } from "./page/cards.ts";
import { cardExamples, messageExamples, messagesPage, partExamples } from "./page/page.ts";

test("docs/messages.md is what the code says (refresh it: vitest run with --update)", async () => {
  await expect(await messagesPage()).toMatchFileSnapshot("../../../../docs/messages.md");
});

test("each example of a message has the id under which it stands", async () => {
  for (const [id, examples] of Object.entries(await messageExamples())) {
    expect([id, ...new Set(examples.map(({ drawn }) => idOf(drawn)))]).toEqual([id, id]);
  }
});

test("each example of a card is in the state, or has the part, under which it stands", () => {
  for (const [state, examples] of Object.entries(cardExamples()))
    expect([state, ...new Set(examples.map(({ drawn }) => `card:${cardStateOf(drawn)}`))]).toEqual([
      state,
      state,
    ]);
  for (const [part, examples] of Object.entries(partExamples()))
    for (const { drawn } of examples)
      expect(drawn.blocks.map(({ block_id }) => `part:${block_id}`)).toContain(part);
  expect(Object.keys(cardExamples())).toHaveLength(Object.keys(CARDS).length);
  expect(Object.keys(partExamples())).toHaveLength(Object.keys(CARD_PARTS).length);
});
