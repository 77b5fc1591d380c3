// docs/messages.md shows what people read, word for word.

import { expect, test } from "vitest";
import { cardStateOf, idOf } from "../../../make/message-id.ts";
import { REQUEST } from "./page/example.ts";
import { CARD_PARTS, CARDS } from "./page/cards.ts";
import { cardExamples, messageExamples, messagesPage, partExamples } from "./page/page.ts";

test("docs/messages.md matches the code (refresh it: vitest run with --update)", async () => {
  await expect(await messagesPage()).toMatchFileSnapshot("../../../../docs/messages.md");
});

test("each example of a message has the id under which it is listed", async () => {
  const ids = Object.entries(await messageExamples()).map(([id, examples]) => [
    id,
    [...new Set(examples.map(({ drawn }) => idOf(drawn)))],
  ]);
  expect(ids).toEqual(ids.map(([id]) => [id, [id]]));
});

/** A lock screen shows about 40 characters. */
const LATEST_START = 28;
const ACTION = REQUEST.action ?? "";

/** They are about no request, about several, or about one that the approval no longer has. */
const WITHOUT_ACTION = [
  "call:past (an expiry, and the request was replaced)",
  "announcement:past (it has changed)",
  "notice:cannot-post",
  "notice:decision-void:request-changed",
  "notice:queued",
  "receipt:several",
];

test("the notifications of single requests begin with the action, after a few words and the deployment's name", async () => {
  const all = { ...(await messageExamples()), ...cardExamples() };
  const texts = Object.entries(all).flatMap(([id, examples]) =>
    /^(call|announcement|notice|receipt|thread:handed-over|card:refused)\b/.test(id)
      ? examples.flatMap(({ when, drawn }) =>
          "text" in drawn ? [{ id: `${id} (${when})`, text: drawn.text }] : [],
        )
      : [],
  );
  const wrong = texts.filter(({ id, text }) => {
    const at = text.replace(/^.*PROD · /, "").indexOf(ACTION);
    return at > LATEST_START || (at < 0 && !WITHOUT_ACTION.some((each) => id.startsWith(each)));
  });
  expect(wrong).toEqual([]);
});

test("each example of a card is in the state, or has the part, under which it is listed", () => {
  const states = Object.entries(cardExamples()).map(([state, examples]) => [
    state,
    [...new Set(examples.map(({ drawn }) => `card:${cardStateOf(drawn)}`))],
  ]);
  expect(states).toEqual(Object.keys(CARDS).map((state) => [`card:${state}`, [`card:${state}`]]));
  const parts = Object.entries(partExamples());
  expect(parts.map(([part]) => part)).toEqual(Object.keys(CARD_PARTS).map((part) => `part:${part}`));
  for (const [part, examples] of parts)
    for (const { drawn } of examples)
      expect(drawn.blocks.map(({ block_id }) => `part:${block_id}`)).toContain(part);
});
