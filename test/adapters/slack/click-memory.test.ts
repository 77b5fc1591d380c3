// Which change of a card goes through the response_url of a click, and until when.

import { beforeEach, expect, test } from "vitest";
import { type CardReplacements, createCardReplacements } from "#src/adapters/slack/click-memory.ts";
import type { ClickPayload } from "#src/adapters/slack/payloads.ts";
import { ChannelId, MessageTs, Nonce, UserId } from "#src/domain/ids.ts";

const BEN = UserId("U0BEN");
const CAT = UserId("U0CAT");
const OPS = ChannelId("C0OPS");
const TS = MessageTs("1700000000.000100");
const FORM = Nonce("F".repeat(22));
const SECOND = Nonce("G".repeat(22));
const URL = "https://hooks.slack.com/actions/T0/1/x";
const MINUTE = 60_000;

const click: ClickPayload = {
  user: { id: BEN },
  channel: { id: OPS },
  message: { ts: TS },
  actions: [{ action_id: "card_approve", value: "x" }],
  trigger_id: "1",
  response_url: URL,
};

let now = 0;
let excused: string[] = [];
let kept: CardReplacements;
beforeEach(() => {
  now = 1_000;
  excused = [];
  kept = createCardReplacements({
    monotonic: () => now,
    releaseUpdate: (channel, ts) => void excused.push(`${channel} ${ts}`),
  });
  kept.keep(FORM, click);
});

test("an open form alone changes nothing; its submit is used for the next change of that message, once", () => {
  expect(kept.isReady(OPS, TS)).toBe(false);
  expect(kept.take(OPS, TS)).toBeNull();
  kept.ready(FORM, BEN);
  expect(kept.isReady(OPS, TS)).toBe(true);
  expect(kept.isReady(OPS, MessageTs("1700000000.000200"))).toBe(false);
  expect(kept.isReady("C0OTHER", TS)).toBe(false);
  expect(kept.take(OPS, TS)).toBe(URL);
  expect(kept.isReady(OPS, TS)).toBe(false);
  expect(kept.take(OPS, TS)).toBeNull();
});

test("the same form submitted again causes no second change", () => {
  kept.ready(FORM, BEN);
  kept.take(OPS, TS);
  kept.ready(FORM, BEN);
  expect(kept.take(OPS, TS)).toBeNull();
});

test("an update that waits is sent once the decision is stored, not before, when it would show the old state", () => {
  const changeCard = kept.ready(FORM, BEN);
  expect(excused).toEqual([]);
  changeCard();
  expect(excused).toEqual([`${OPS} ${TS}`]);
  kept.take(OPS, TS);
  changeCard();
  expect(excused).toHaveLength(1);
});

test("a form of another person, or an unknown one, changes nothing", () => {
  kept.ready(FORM, CAT);
  kept.ready(SECOND, BEN);
  expect(kept.take(OPS, TS)).toBeNull();
  kept.ready(FORM, BEN);
  expect(kept.take(OPS, TS)).toBe(URL);
});

test("a form that is replaced by another passes its URL on", () => {
  kept.handOver(FORM, SECOND);
  kept.ready(FORM, BEN);
  expect(kept.take(OPS, TS)).toBeNull();
  kept.ready(SECOND, BEN);
  expect(kept.take(OPS, TS)).toBe(URL);
});

test("nothing is tried after Slack stops accepting the URL, nor a minute after the submit", () => {
  now += 29 * MINUTE;
  kept.ready(FORM, BEN);
  expect(kept.isReady(OPS, TS)).toBe(false);
  kept.readyByClick(click);
  now += MINUTE;
  expect(kept.isReady(OPS, TS)).toBe(false);
  expect(kept.take(OPS, TS)).toBeNull();
});

test("of very many open forms, the oldest are forgotten", () => {
  for (let nth = 0; nth < 1_000; nth += 1) kept.keep(Nonce(String(nth).padStart(22, "A")), click);
  kept.ready(FORM, BEN);
  expect(kept.take(OPS, TS)).toBeNull();
});
