import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  clickPayload,
  commandPayload,
  queueClickPayload,
  submitPayload,
  typedInto,
} from "#src/adapters/slack/payloads.ts";
import { always } from "./blocks/hostile.ts";
import { anyCodePoint } from "../../make/code-points.ts";

const command = {
  user_id: "U0ANA",
  channel_id: "C0OPS",
  text: "run x",
  trigger_id: "1.2.x",
  response_url: "https://hooks.slack.com/x",
};
const click = {
  user: { id: "U0ANA" },
  channel: { id: "C0OPS" },
  message: { ts: "1.000001" },
  actions: [{ action_id: "card_approve", value: "nonce" }],
  trigger_id: "1.2.x",
  response_url: "https://hooks.slack.com/x",
};
const submit = {
  user: { id: "U0ANA" },
  view: { private_metadata: "nonce", state: { values: { reason: { reason_text: { value: "because" } } } } },
};

const shapes = [
  ["command", commandPayload, command],
  ["click", clickPayload, click],
  ["submit", submitPayload, submit],
  ["click in the queue", queueClickPayload, { ...click, message: undefined }],
] as const;

describe.each(shapes)("a %s", (_name, shape, whole) => {
  test("is read as Slack documents it, whatever else it contains", () => {
    expect(shape.safeParse({ ...whole, token: "x", enterprise: null, team: { id: "T0" } }).success).toBe(
      true,
    );
  });

  test("of any other shape is ignored and never crashes", () => {
    const anything = fc.oneof(fc.anything(), fc.jsonValue(), fc.object());
    always(anything, (value) => expect(shape.safeParse(value).success).toBe(false));
  });

  test("with any one part replaced is read or refused, and never crashes", () => {
    const parts = fc.constantFrom(...Object.keys(whole));
    always(fc.tuple(parts, fc.anything()), ([part, value]) => {
      expect(typeof shape.safeParse({ ...whole, [part]: value }).success).toBe("boolean");
    });
  });
});

describe("an id of another shape is refused", () => {
  test.each([
    "",
    "u0ana",
    "U0ANA ",
    "U0ANA\n",
    "<@U0ANA>",
    "B0BOT",
    "U",
    `U${"A".repeat(31)}`,
    "Ｕ0ANA",
    "__proto__",
  ])("for a person: %j", (id) => {
    expect(commandPayload.safeParse({ ...command, user_id: id }).success).toBe(false);
    expect(clickPayload.safeParse({ ...click, user: { id } }).success).toBe(false);
    expect(submitPayload.safeParse({ ...submit, user: { id } }).success).toBe(false);
  });

  test.each(["", "c0ops", "X0OPS", "C0OPS/..", "C0OPS\u0000"])("for a channel: %j", (id) => {
    expect(commandPayload.safeParse({ ...command, channel_id: id }).success).toBe(false);
    expect(clickPayload.safeParse({ ...click, channel: { id } }).success).toBe(false);
  });

  test.each(["", "1", "1.", ".1", "1e3.1", "-1.1", "1.1.1", "1.0000000001"])("for a message: %j", (ts) => {
    expect(clickPayload.safeParse({ ...click, message: { ts } }).success).toBe(false);
  });
});

test("a click must be one button: none or two are ignored", () => {
  const [action] = click.actions;
  for (const actions of [[], [action, action], action, null])
    expect(clickPayload.safeParse({ ...click, actions }).success).toBe(false);
});

test("a command without text is an empty one", () => {
  const { text: _text, ...without } = command;
  expect(commandPayload.parse(without).text).toBe("");
});

test("typed text is returned byte for byte, and nothing typed is empty", () => {
  const values = (value: unknown): unknown => ({
    ...submit,
    view: { ...submit.view, state: { values: value } },
  });
  const typed = (value: unknown): string =>
    typedInto(submitPayload.parse(values(value)), "reason", "reason_text");
  always(fc.string({ unit: anyCodePoint, maxLength: 200 }), (value) => {
    expect(typed({ reason: { reason_text: { value } } })).toBe(value);
  });
  for (const nothing of [
    {},
    { reason: {} },
    { reason: { reason_text: {} } },
    { reason: { reason_text: { value: null } } },
  ])
    expect(typed(nothing)).toBe("");
});
