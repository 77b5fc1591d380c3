// Requests as Slack sends them, each spoiled in one way. A seed makes the random choices repeatable.

import type { Chance } from "../make/chance.ts";
import { FORM, JSON_TYPE, type Knock, requestOf } from "./knock.ts";

/** A request that would be accepted if it were not spoiled. */
export type Whole = { readonly body: string; readonly type: typeof FORM | typeof JSON_TYPE };

/** Returns requests that people cause. Each would have an effect, or at least an answer. */
export function wholes(ids: {
  team: string;
  app: string;
  user: string;
  channel: string;
}): readonly [Whole, ...Whole[]] {
  const { team, app, user, channel } = ids;
  const form = (fields: Record<string, string>): Whole => ({
    body: new URLSearchParams(fields).toString(),
    type: FORM,
  });
  const command = { command: "/agent", team_id: team, api_app_id: app, user_id: user, channel_id: channel };
  const from = {
    api_app_id: app,
    team: { id: team },
    user: { id: user, team_id: team },
    trigger_id: "1.2.zqx",
  };
  const action = { action_id: "card_approve", block_id: "b", type: "button", value: "A".repeat(22) };
  const click = {
    ...from,
    type: "block_actions",
    channel: { id: channel },
    message: { ts: "1.2" },
    actions: [action],
  };
  const view = { callback_id: "decision", private_metadata: "A".repeat(22), state: { values: {} }, id: "V1" };
  const submit = { ...from, type: "view_submission", view };
  const event = { type: "app_home_opened", user, channel, tab: "home", event_ts: "1.2" };
  const callback = { type: "event_callback", team_id: team, api_app_id: app, event_id: "Ev1", event };
  return [
    form({ ...command, text: "run zqx", trigger_id: "1.2.zqx" }),
    form({ ...command, text: "watch run_zqx", trigger_id: "1.2.zqx" }),
    form({ payload: JSON.stringify(click) }),
    form({ payload: JSON.stringify(submit) }),
    { body: JSON.stringify(callback), type: JSON_TYPE },
    { body: JSON.stringify({ type: "url_verification", challenge: "zqx" }), type: JSON_TYPE },
  ];
}

type Spoil = (whole: Whole, by: Chance, secret: string) => Knock;

const flipped = (text: string, by: Chance): Buffer => {
  const bytes = Buffer.from(text);
  const at = by.below(bytes.length);
  bytes[at] = (bytes[at] ?? 0) ^ (1 << by.below(8));
  return bytes;
};
const hex = (by: Chance, length: number): string =>
  Array.from({ length }, () => by.below(16).toString(16)).join("");
const seconds = (): number => Math.floor(Date.now() / 1_000);

/** Ways to spoil a validly signed request by changing its headers or bytes. */
export const SPOILS: Readonly<Record<string, Spoil>> = {
  "no signature": ({ body, type }) => ({ body, type, signature: null }),
  "no signature, ssl_check": ({ body }, by) => ({
    body: by.of([`ssl_check=1&${body}`, `${body}&ssl_check=1`, `ssl_check=${by.below(9)}&${body}`]),
    signature: null,
  }),
  "a flipped bit in the body": ({ body, type }, by) => ({ body: flipped(body, by), type, signed: body }),
  "extra bytes": ({ body, type }, by) => ({
    body: `${body}${by.of(["&", " ", "\n", "\0", "&x=1"])}`,
    type,
    signed: body,
  }),
  "missing bytes": ({ body, type }, by) => ({
    body: body.slice(0, by.below(body.length)),
    type,
    signed: body,
  }),
  "two bytes swapped": ({ body, type }, by) => {
    const at = by.below(body.length - 1);
    const [a = "", b = ""] = body.slice(at, at + 2);
    const other = a === b ? `${a}x` : `${b}${a}`;
    return { body: `${body.slice(0, at)}${other}${body.slice(at + 2)}`, type, signed: body };
  },
  "a digit of the signature": ({ body, type }, by) => ({
    body,
    type,
    signature: (right) => {
      const at = 3 + by.below(64);
      const digit = (parseInt(right[at] ?? "0", 16) + 1 + by.below(15)) % 16;
      return `${right.slice(0, at)}${digit.toString(16)}${right.slice(at + 1)}`;
    },
  }),
  "a random signature": ({ body, type }, by) => ({ body, type, signature: () => `v0=${hex(by, 64)}` }),
  "a signature of another length": ({ body, type }, by) => ({
    body,
    type,
    signature: (right) => by.of([right.slice(0, 3 + by.below(64)), `${right}${hex(by, 1 + by.below(64))}`]),
  }),
  "a signature in another form": ({ body, type }, by) => ({
    body,
    type,
    signature: (right) =>
      by.of([
        right.slice(3),
        `v1${right.slice(2)}`,
        `V${right.slice(1)}`,
        `"${right}"`,
        `${right}, ${right}`,
      ]),
  }),
  "two signatures": ({ body, type }, by) => ({
    body,
    type,
    signature: () => `v0=${hex(by, 64)}`,
    headers: [`x-slack-signature: v0=${hex(by, 64)}`],
  }),
  "another secret": ({ body, type }, by, secret) => ({
    body,
    type,
    secret: by.of([hex(by, 32), "", secret.slice(1), `${secret} `, secret.toUpperCase(), "undefined"]),
  }),
  "the signature of another time": ({ body, type }, by, secret) => {
    const signed = requestOf(
      { body, type, timestamp: String(seconds() - 1 - by.below(200)) },
      secret,
    ).toString("latin1");
    const other = /x-slack-signature: (\S+)/.exec(signed)?.[1] ?? "";
    return { body, type, signature: () => other };
  },
  "too old": ({ body, type }, by) => ({ body, type, at: -301 - by.below(1_000_000) }),
  "from the future": ({ body, type }, by) => ({ body, type, at: 302 + by.below(1_000_000) }),
  "an invalid time": ({ body, type }, by) => ({
    body,
    type,
    timestamp: by.of([
      "",
      "0",
      "-1",
      "NaN",
      `${seconds()}.0`,
      `+${seconds()}`,
      `${seconds()}000`,
      `0x${hex(by, 8)}`,
    ]),
  }),
  "another method": ({ body, type }, by) => ({
    body,
    type,
    method: by.of(["GET", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE"]),
  }),
  "another path": ({ body, type }, by) => ({
    body,
    type,
    path: by.of([
      "/",
      "/slack",
      "/slack/events/",
      "/slack/events?a=1",
      "//slack/events",
      "/Slack/events",
      `/${hex(by, 8)}`,
    ]),
  }),
  "another content type": ({ body }, by) => ({
    body,
    type: by.of([
      "text/plain",
      "multipart/form-data; boundary=x",
      "application/xml",
      `${FORM}, ${JSON_TYPE}`,
      hex(by, 12),
    ]),
  }),
};

export const KINDS: readonly string[] = [...Object.keys(SPOILS), "a replay"];
