import { describe, expect, test } from "vitest";
import { answerAfter, withoutSpeaker } from "#src/adapters/slack/blocks/delivery-words.ts";
import { answerInWords } from "#src/adapters/agents/http-client.ts";

const answer = (status: number, body: string): string =>
  answerInWords("The agent service", { status, body, retryAfter: null } as Parameters<
    typeof answerInWords
  >[1]);

describe("an answer of the service, after our own words about it, does not name the service again", () => {
  test.each([
    [answer(409, '{"error":{"code":"conflict","message":"Not now."}}'), ' (HTTP 409): "Not now."'],
    [answer(409, '{"message":"Not now"}'), ' (HTTP 409): "Not now."'],
    [answer(409, ""), " (HTTP 409, Conflict)."],
    [
      answer(307, ""),
      ": The agent service answered HTTP 307 (Temporary Redirect), a redirect, which is not followed.",
    ],
    ["The agent service says of this approval: deny.", ': "deny."'],
    ["The database was changed.", ": The database was changed."],
    ["HTTP 429", ": HTTP 429."],
  ])("%s", (words, expected) => expect(answerAfter(words, 500)).toBe(expected));

  test("and keeps all of its words", () => {
    const message = "Wait.\nHTTP 500 (x): The agent service says of this approval: no";
    const words = `The agent service answered HTTP 409 (conflict): ${message}`;
    expect(answerAfter(words, 500)).toBe(` (HTTP 409): "${message.replace("\n", " ")}."`);
    expect(withoutSpeaker(words)).toBe(`HTTP 409 (conflict): ${message}`);
  });

  test("and says how much of a long one is missing", () =>
    expect(answerAfter(`The agent service answered HTTP 400 (bad): ${"x".repeat(900)}`, 100)).toMatch(
      /^ \(HTTP 400\): "x+… \(\d+ more\)"$/,
    ));

  test.each([['"'], ['""'], ["''"], ["\u2019\u2019"], ["\u201C"], ["\u201D"], ["\u02BA"], ["\uFF02"]])(
    "and cannot end its quotation with %j",
    (mark) =>
      expect(
        answerAfter(`The agent service answered HTTP 409: Not now.${mark} Countersign confirmed it`, 500),
      ).toBe(` (HTTP 409): "Not now.' Countersign confirmed it."`),
  );
});
