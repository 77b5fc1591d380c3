// The elements of a card besides its text: its buttons, the ids of its blocks, and how many items of a long list it
// shows.

import { describe, expect, test } from "vitest";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { reviewSeveralModal, reviewView } from "#src/adapters/slack/blocks/review-modal.ts";
import { reopen } from "#src/domain/approval-transitions.ts";
import type { Approval, Decision, Dispute } from "#src/domain/approval.ts";
import { lookUpKeyOf } from "#src/domain/applied-rule.ts";
import { BY_POLICY } from "#src/domain/decide.ts";
import { GroupId, UserId } from "#src/domain/ids.ts";
import { BUILT_IN_RULE, type KeptRule, keptRule } from "#src/domain/policy/policy.ts";
import type { Run } from "#src/domain/run.ts";
import { MODAL_HOLDS_CHARS } from "#src/domain/text/request-text.ts";
import { aQueue } from "../../../make/queue.ts";
import { aNonce, NOON, REQUESTER, withApprovals } from "../../../make/run.ts";
import { requestOf } from "../observed.ts";
import { objectsIn, textOf, wire } from "./oracle.ts";
import { ANA, BEN, CLEO, CREATED, decided, decisionOf, FROZEN, PENDING } from "./page/example.ts";
import { printedMessage } from "./printed.ts";

const drawn = (approval: Approval, run: Run = CREATED) => objectsIn(wire(approvalCard(run, approval).blocks));
const words = (approval: Approval, run: Run = CREATED) => printedMessage(approvalCard(run, approval));
const underRule = (facts: Partial<KeptRule>, approval: Approval = PENDING): Approval => ({
  ...approval,
  appliedRule: { version: "0123456789ab", rule: { ...keptRule(BUILT_IN_RULE), ...facts } },
});
const idsOf = (approval: Approval): unknown[] =>
  approvalCard(CREATED, approval).blocks.flatMap(({ block_id }) =>
    block_id === undefined ? [] : [block_id],
  );

describe("the buttons of a card", () => {
  const LABEL = "Deploy billing-api 2026.11.3 to production";
  const button = (action_id: string, text: string, more: object = {}) => ({
    type: "button",
    action_id,
    value: PENDING.nonce,
    text: { type: "plain_text", text, emoji: false },
    accessibility_label: `${text}: ${LABEL}`,
    ...more,
  });
  const approve = button("card_approve", "Approve", { style: "primary" });
  const deny = button("card_deny", "Deny", { style: "danger" });
  const buttonsOf = (approval: Approval, run: Run = CREATED) => {
    const block = drawn(approval, run).find(({ block_id }) => block_id === `decide-${PENDING.nonce}`);
    expect(block?.["type"]).toBe("actions");
    const elements = (block?.["elements"] ?? []) as { readonly action_id: string }[];
    return elements.filter(({ action_id }) => action_id !== "run_stop");
  };

  test("decide it or show more, each with the card's nonce, and tell a screen reader what they are about", () => {
    expect(buttonsOf(PENDING)).toEqual([approve, deny, button("card_read", "Details")]);
    const held = decided({ type: "held", until: NOON, sendAt: NOON });
    expect(buttonsOf(held)).toEqual([button("card_undo", "Undo"), deny, button("card_read", "Details")]);
    const long = requestOf("x".repeat(100), {});
    expect(buttonsOf({ ...PENDING, request: long })[0]).toMatchObject({
      accessibility_label: expect.stringMatching(/^Approve: x+… \(\d+ more\)$/) as string,
    });
  });

  test("only deny a request that is frozen or whose run is stopped, and make people read it first if the rule says so", () => {
    expect(buttonsOf(PENDING, { ...CREATED, frozen: FROZEN })).toEqual([
      deny,
      button("card_read", "Details"),
    ]);
    const stopped = { ...CREATED, stop: { by: CLEO, at: NOON } };
    expect(buttonsOf(PENDING, stopped)).toEqual([deny, button("card_read", "Details")]);
    const first = underRule({ friction: { readFirst: true, word: null } });
    expect(buttonsOf(first)).toEqual([button("card_read", "Read in full"), approve, deny]);
  });
});

describe("the blocks of a card", () => {
  test.each(["short", "long ".repeat(5_000)])(
    "name a place of the run that is not one word, beside its name, also if the request is %.5s",
    (text) => {
      const environment = "approved by 2 of 2 people";
      const request = { ...requestOf("Deploy", { text }), context: "1" };
      const context = { fields: { environment }, volatile: [], digest: "1", chars: 0 };
      const fields = drawn({ ...PENDING, request }, { ...CREATED, context }).flatMap((block) => [
        ...((block["fields"] ?? []) as readonly { readonly text: string }[]),
      ]);
      expect(fields.slice(0, 2)).toEqual([
        { type: "mrkdwn", text: "*Run environment*", verbatim: true },
        { type: "plain_text", text: environment, emoji: false },
      ]);
    },
  );

  test("name its state, its version, its parts and the audit's head", () => {
    const link = "0123456789abcdef0123";
    const card = decided({ type: "confirmed", at: NOON, stillListed: null });
    expect(idsOf({ ...card, version: 3, audited: { seq: 12, link } })).toEqual([
      "state:approved:v3",
      "audit:12:0123456789abcdef",
      `decide-${PENDING.nonce}`,
    ]);
    const late = { type: "retry", notBefore: NOON, tries: 1, lost: false, why: "busy" } as const;
    expect(idsOf(decided(late))).toEqual(["state:retrying:v1", `decide-${PENDING.nonce}`]);
    expect(idsOf(underRule({ needs: 2 })).slice(0, 3)).toEqual([
      "state:pending:v1",
      "request:whole",
      "rule:0-of-2",
    ]);
    expect(idsOf({ ...PENDING, state: { type: "closed", cause: "tampered", at: NOON } })).toContain(
      "cause:tampered",
    );
  });

  test("have five fields side by side, with bold names and plain values", () => {
    const many = Object.fromEntries(["a", "b", "c", "d", "e", "f"].map((name) => [name, `*${name}*`]));
    const request = requestOf("Deploy", { action: "Deploy", ...many });
    const sections = drawn({ ...PENDING, request }).filter(({ type }) => type === "section");
    expect(sections.map(({ fields }) => (fields as unknown[]).length)).toEqual([10, 2]);
    expect(sections[1]).toEqual({
      type: "section",
      fields: [
        { type: "mrkdwn", text: "*F*", verbatim: true },
        { type: "plain_text", text: "*f*", emoji: false },
      ],
    });
  });

  test("draw times in the reader's own time zone", () => {
    const request = requestOf("Deploy", { action: "Deploy", at: "2026-11-20T12:00:00Z" });
    const [section] = drawn({ ...PENDING, request }).filter(({ type }) => type === "section");
    expect(section?.["fields"]).toMatchObject([
      { type: "mrkdwn", text: "*At*" },
      { type: "mrkdwn", text: expect.stringContaining(`<!date^${NOON / 1_000}^`) as string, verbatim: true },
    ]);
  });
});

test("the title of a card and the label of its choice draw no emoji by its name", () => {
  const action = "Deploy a:x:b :white_check_mark:";
  const approval = { ...PENDING, request: requestOf(action, { action }) };
  const run = { ...CREATED, approvals: [approval] };
  const ticket = { saw: approval.request, verdict: "approve", nonce: PENDING.nonce, choice: true } as const;
  const item = { run, approval, rule: BUILT_IN_RULE };
  const opened = { bundle: PENDING.nonce, forms: [{ item, nonce: PENDING.nonce }], apart: [], later: [] };
  for (const surface of [
    approvalCard(run, approval).blocks,
    reviewView({ run, ticket }).blocks,
    reviewSeveralModal({ ...opened, kind: "run", value: "", last: null }, []).blocks,
  ]) {
    const texts = objectsIn(wire(surface)).filter(({ type }) => type === "plain_text");
    expect(texts.filter(({ emoji }) => emoji !== false)).toEqual([]);
    expect(textOf(surface)).toContain(action);
  }
});

describe("a card shows", () => {
  const people = (count: number) => Array.from({ length: count }, (_, at) => UserId(`U0P${at}`));
  const mentioned = (approval: Approval) =>
    drawn(approval).flatMap(({ type, user_id, usergroup_id }) =>
      type === "usergroup" ? [usergroup_id] : type === "user" && user_id !== REQUESTER ? [user_id] : [],
    );

  test("twenty of the people whom its rule mentions, groups first, and how many more there are", () => {
    const mention = { users: people(20), groups: [GroupId("S0OPS")] };
    const card = underRule({ mention });
    expect(mentioned(card)).toEqual(["S0OPS", ...people(19)]);
    expect(words(card)).toContain("and 1 more");
    const all = underRule({ mention: { users: people(20), groups: [] } });
    expect(mentioned(all)).toHaveLength(20);
    expect(words(all)).not.toMatch(/and \d+ more/);
  });

  test("no mention of the requester unless they may decide", () => {
    const mention = { users: [ANA, BEN], groups: [] };
    expect(words(underRule({ mention }))).toContain(`For @${BEN} \n`);
    expect(words(underRule({ mention, selfApproval: true }))).toContain(`For @${ANA} @${BEN} \n`);
    expect(words(underRule({ mention: { users: [ANA], groups: [] } }))).not.toContain("For ");
  });

  test("the three newest of its earlier decisions and of its disputes", () => {
    const past = ["first", "second", "third", "fourth"].map((reason, at) => ({
      decision: { ...decisionOf("deny", reason), at: NOON + (10 + at) * 1_000 },
      cause: "undone" as const,
      words: "",
    }));
    const dispute = (at: number): Dispute => ({ by: CLEO, at: NOON + at * 1_000, entry: at });
    const card = { ...PENDING, past, disputes: [21, 22, 23, 24].map(dispute) };
    const ids = idsOf(card).filter((id) => /^(?:past|dispute):/.test(String(id)));
    expect(ids).toEqual([
      "past:1:undone",
      "past:2:undone",
      "past:3:undone",
      "dispute:1:open",
      "dispute:2:open",
      "dispute:3:open",
    ]);
    const seconds = [...words(card).matchAll(/12:00:(\d\d) UTC/g)].map(([, second]) => Number(second));
    expect(seconds.filter((second) => second > 0)).toEqual([11, 12, 13, 22, 23, 24]);
  });

  test("a reason and an answer of the service on one line each, and only a part of a long one", () => {
    const reasoned = (reason: string) =>
      decided({ type: "confirmed", at: NOON, stillListed: null }, "approve", reason);
    expect(words(reasoned("a\n b"))).toContain(": a b\n");
    expect(words(reasoned("r".repeat(300)))).toContain("r".repeat(300));
    expect(words(reasoned("r".repeat(301)))).toMatch(/r{200,299}… \(\d+ more characters\)/);
    const answered = (answer: string) =>
      words(decided({ type: "unconfirmed", at: NOON, cause: "run-missing", answered: answer }));
    expect(answered("s".repeat(400))).toContain(`The service answered: "\`${"s".repeat(400)}\`"`);
    expect(answered("s".repeat(401))).toMatch(/s{300,399}… \(\d+ more characters\)/);
  });

  test("each approval of several with its person, its time and its reason", () => {
    const vote = (reason: string, by: UserId): Decision => decisionOf("approve", reason, by);
    const card = underRule({ needs: 3 }, { ...PENDING, votes: [vote("fine", CLEO), vote("", BEN)] });
    expect(words(card)).toContain("2 of 3 approvals, from different people. One denial ends it.");
    expect(words(card)).toContain(`☑️ @${CLEO} approved {2026-11-20 12:01:05 UTC}:\n> fine\n`);
    expect(words(card)).toContain(`☑️ @${BEN} approved {2026-11-20 12:01:05 UTC} and gave no reason.\n`);
    expect(words(card)).not.toContain("no reason.\n>");
    expect(words(underRule({ needs: 3 }))).toContain(
      "Needs 3 approvals, from different people. One denial ends it.\n",
    );
  });

  test("who asked for the run or watches it, and the risk and the places as the service writes them, places as code", () => {
    const request = requestOf("Deploy", { action: "Deploy", risk: 7, environment: "EU" });
    const card = { ...PENDING, request };
    expect(words(card)).toContain(`🟡 Approval needed** · risk "7" · \`EU\` · asked by @${REQUESTER} · `);
    expect(words(card)).toContain('# ⬜ Risk "7": Deploy\n');
    expect(words(card)).toMatch(/^text: .*, asked by <@/);
    const watched = words(card, { ...CREATED, origin: "adopted" });
    expect(watched).toContain(` · watched by @${REQUESTER} · `);
    expect(watched).toMatch(/^text: .*, watched by <@/);
    const silent = { ...PENDING, request: requestOf("Deploy", {}) };
    expect(words(silent)).toContain("# Request: Deploy\n");
  });

  test("nothing before the risk or the place if neither its deployment nor its risk has a name", () => {
    const over = { type: "confirmed", at: NOON, stillListed: null } as const;
    expect(words(PENDING)).toMatch(/^text: High risk: Deploy billing-api/);
    expect(words(decided(over))).toMatch(/^text: ✅ Approved: Deploy billing-api/);
    expect(words(decided(over))).toMatch(/^High risk · `production` · decided \{/m);
    const request = requestOf("Deploy", { action: "Deploy", environment: "EU" });
    expect(words({ ...decided(over), request })).toMatch(/^`EU` · decided \{/m);
  });

  test("boxes for what does not fit in the title, and for multi-line fields", () => {
    const long = "deploy ".repeat(40).trim();
    const card = { ...PENDING, request: requestOf(long, { action: long, diff: "one\ntwo" }) };
    expect(words(card)).toContain(`\n| ${long}\n`);
    expect(words(card)).toContain("| one\n| two\n");
    expect(words(PENDING)).not.toContain("\n| ");
  });

  test("what has changed since it was last shown, as long as the change is new", () => {
    const changes = [
      { name: "a", was: "1", is: "2" },
      { name: "b", was: null, is: "3" },
      { name: "c", was: "4", is: null },
    ];
    const changed = { ...PENDING, version: 2, requestVersion: 2, changes };
    expect(words(changed)).toContain("Changed since last shown:**\n| − a: 1\n| + a: 2\n| + b: 3\n| − c: 4\n");
    for (const other of [
      { ...changed, changes: [] },
      { ...PENDING, version: 2, requestVersion: 2 },
      { ...changed, version: 3 },
      { ...changed, version: 1, requestVersion: 1 },
      { ...changed, request: requestOf("x".repeat(MODAL_HOLDS_CHARS + 1), {}) },
    ])
      expect(words(other)).not.toContain("Changed since last shown");
  });

  test("how many changed fields it does not list", () => {
    const content = { action: "Deploy", a: 1, b: 1, c: 1, d: 1, e: 1, target: "staging" };
    const before = { ...PENDING, request: requestOf("Deploy", content) };
    const changed = (is: object): Approval => {
      const request = requestOf("Deploy", { ...content, a: 2, b: 2, c: 2, d: 2, ...is });
      return reopen(before, request, aNonce(), null);
    };
    const one = changed({ e: 2, target: "production" });
    const left = "1 more field changed, not listed here. Read the whole request.";
    expect(words(one)).toContain(`| + e: 2\n**${left}**\n`);
    expect(words(changed({ e: 2 }))).not.toContain("not listed here");
    const shownAgain = reopen(one, one.request, aNonce(), null);
    expect(shownAgain.moreChanges).toBe(1);
    expect(reopen(one, before.request, aNonce(), null).moreChanges).toBe(1);
    expect(reopen(changed({ e: 2 }), changed({ e: 3 }).request, aNonce(), null)).not.toHaveProperty(
      "moreChanges",
    );
  });

  test("the lines of a changed value behind an indent, so that none passes for the change of another field", () => {
    const before = { ...PENDING, request: requestOf("Deploy", { note: "x", target: "staging" }) };
    const note = "y\n− target: staging\n+ target: sandbox";
    const request = requestOf("Deploy", { note, target: "production" });
    expect(words(reopen(before, request, aNonce(), null))).toContain(
      "| + note: y\n| \t− target: staging\n| \t+ target: sandbox\n| − target: staging\n| + target: production\n",
    );
  });

  test("a reason as the person gave it, and the policy's reason without who denied", () => {
    const by = (user: UserId | null, reason: string): string =>
      words({
        ...PENDING,
        state: {
          type: "decided",
          decision: decisionOf("deny", reason, user),
          delivery: { type: "confirmed", at: NOON, stillListed: null },
        },
      });
    expect(by(BEN, `${BY_POLICY}too late`)).toContain(`by @${BEN}: ${BY_POLICY}too late\n`);
    expect(by(null, `${BY_POLICY}too late`)).toContain("by the policy: too late\n");
    expect(by(null, "for a reason of its own")).toContain("by the policy: for a reason of its own\n");
  });

  test("that too few people can approve it", () => {
    const few = (able: number): string => {
      const card = underRule({ needs: 3 });
      return words({ ...card, approverCount: { of: lookUpKeyOf(card), at: NOON, able, grows: false } });
    };
    expect(few(0)).toContain("⚠️ No one can approve this. ");
    expect(few(1)).toContain("⚠️ Only 1 person can approve this, and 3 must. ");
    expect(few(2)).toContain("⚠️ Only 2 people can approve this, and 3 must. ");
    expect(few(3)).not.toContain("⚠️");
  });

  test("why too few people can, and what becomes of it, as its rule says", () => {
    const few = (rule: Partial<KeptRule>, grows: boolean): string => {
      const card = underRule(rule);
      return words({ ...card, approverCount: { of: lookUpKeyOf(card), at: NOON, able: 0, grows } });
    };
    for (const grows of [true, false]) {
      expect(few({}, grows)).toContain("The requester, guests, ");
      expect(few({ selfApproval: true }, grows)).not.toContain("The requester, ");
    }
    expect(few({}, false)).toContain("Until then, the request waits.");
    const expires = (outcome: "nothing" | "deny") => few({ expiry: { afterMs: 3_600_000, outcome } }, false);
    expect(expires("deny")).toContain("Otherwise, the request is denied at its deadline.");
    expect(expires("nothing")).toContain("Otherwise, the request closes at its deadline.");
    for (const outcome of ["nothing", "deny"] as const) expect(expires(outcome)).not.toContain("Until then");
  });
});

test.each([
  ["whole", { token: "tok_live_123456" }, 3],
  ["shortened", { note: "x".repeat(MODAL_HOLDS_CHARS + 1) }, 2],
])(
  "the number of masked secrets counts those in fields of the run on the card of a %s request",
  (_what, fields, counted) => {
    const shownContext = {
      fields: { environment: "eu west, PASSWORD=hunter22hunter", risk: "low for PASSWORD=hunter22hunter" },
      volatile: [],
      digest: "1",
      chars: 0,
    };
    const request = { ...requestOf("Deploy", fields), context: "1", shownContext };
    expect(words({ ...PENDING, request })).toContain(`🔒 ${counted} secrets are masked here.`);
  },
);

test("a card quotes a risk as the service writes it", () => {
  const request = requestOf("Deploy", { risk: "SEV1-A" });
  expect(words({ ...PENDING, request }).match(/risk ".*?"/gi)).toContain('risk "SEV1-A"');
});

test("the agent's words stand in a quote below the words of Countersign, on a folded card and in a form of several requests", () => {
  const ACTION = "Denied by the policy. It had no effect.";
  const asking = { ...PENDING, request: requestOf(ACTION, {}) };
  const quotedIn = (blocks: unknown): string[] =>
    objectsIn(wire(blocks)).flatMap((each) => (each["type"] === "rich_text_quote" ? [textOf(each)] : []));
  const folded = { ...decided({ type: "confirmed", at: NOON, stillListed: null }), request: asking.request };
  expect(quotedIn(approvalCard(CREATED, folded).blocks)).toEqual([ACTION]);
  const apart = aQueue([withApprovals(CREATED, asking)]).yours.map((item) => ({ item, link: null }));
  const opened = { bundle: aNonce(), forms: [], later: [], kind: "run", value: "", last: null } as const;
  const form = reviewSeveralModal({ ...opened, apart: apart.map(({ item }) => item) }, apart);
  expect(quotedIn(form.blocks)).toEqual([ACTION]);
});
