import { describe, expect, test } from "vitest";
import type { Approval, ClosedCause, Decision, Delivery, PastDecision } from "#src/domain/approval.ts";
import { RunId } from "#src/domain/ids.ts";
import type { Upload } from "#src/domain/posted-message.ts";
import { MODAL_HOLDS_CHARS } from "#src/domain/text/request-text.ts";
import { requestSlot, type Run } from "#src/domain/run.ts";
import { cardRenderKey } from "#src/domain/render-key.ts";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { anApproval, APPROVER, aWatchedRun, NOON, TEAM } from "../../../make/run.ts";
import { requestOf } from "../observed.ts";
import { expectMessage, objectsIn, wire } from "./oracle.ts";
import { printedMessage } from "./printed.ts";
import { cardStateOf } from "../../../make/message-id.ts";

const run: Run = aWatchedRun(RunId("run_7"));
const request = requestOf("Deploy billing-api 2026.11.3 to production", {
  id: "apr_1",
  action: "Deploy billing-api 2026.11.3 to production",
  status: "pending",
  environment: "production",
  plan: { replicas: 4, canary: true },
});
const pending: Approval = { ...anApproval("apr_1"), request };

const decision = (verdict: "approve" | "deny", reason: string): Decision => ({
  verdict,
  reason,
  by: { team: TEAM, user: APPROVER },
  at: NOON + 65_000,
  digest: request.digest,
});

const decided = (
  delivery: Delivery,
  verdict: "approve" | "deny" = "approve",
  reason = "Checked the plan",
): Approval => ({ ...pending, state: { type: "decided", decision: decision(verdict, reason), delivery } });

const closed = (because: ClosedCause): Approval => ({
  ...pending,
  state: { type: "closed", cause: because, at: NOON },
});

const past = (because: PastDecision["cause"], words = ""): PastDecision => ({
  decision: decision("approve", "Looks right"),
  cause: because,
  words,
});

const UNLISTED = { process: "this one", since: NOON, looks: 1 };
const SERVICE_SAYS = "The agent service answered HTTP 409 (invalid_request): already resolved";

const answered = '{"ok":false} ". The service confirmed it.';

const states: readonly (readonly [string, Approval])[] = [
  ["pending", pending],
  [
    "pending again, changed",
    {
      ...pending,
      version: 2,
      requestVersion: 2,
      past: [
        { ...past("request-changed"), decision: { ...decision("approve", "Looks right"), digest: "0" } },
      ],
    },
  ],
  ["pending again, refused before", { ...pending, version: 2, past: [past("refused", SERVICE_SAYS)] }],
  ["recorded", decided({ type: "recorded" })],
  [
    "sending",
    decided({ type: "sending", at: NOON, tries: 1, lost: false }, "deny", "Not before the freeze ends"),
  ],
  ["recorded, not listed just now", { ...decided({ type: "recorded" }), unlisted: UNLISTED }],
  [
    "tried again, not listed just now",
    {
      ...decided({ type: "retry", notBefore: NOON, tries: 2, lost: false, why: "HTTP 429" }),
      unlisted: UNLISTED,
    },
  ],
  ["tried again", decided({ type: "retry", notBefore: NOON, tries: 2, lost: false, why: "HTTP 429" })],
  [
    "sent again after a lost answer",
    decided({ type: "retry", notBefore: NOON, tries: 2, lost: true, why: "reset" }),
  ],
  [
    "unsure",
    decided({ type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: "timeout" }, "deny", "No"),
  ],
  [
    "answered unclearly",
    decided({ type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: "", answered }),
  ],
  [
    "sent again after an unclear answer",
    decided({ type: "retry", notBefore: NOON, tries: 2, lost: true, why: "", answered }),
  ],
  [
    "sending again after an unclear answer",
    decided({ type: "sending", at: NOON, tries: 2, lost: true, answered }),
  ],
  [
    "answered unclearly, then gone",
    decided({ type: "unconfirmed", at: NOON, cause: "no-longer-listed", answered }, "deny", "No"),
  ],
  ["approved", decided({ type: "confirmed", at: NOON, stillListed: null })],
  ["approved without a reason", decided({ type: "confirmed", at: NOON, stillListed: false }, "approve", "")],
  [
    "denied",
    decided({ type: "confirmed", at: NOON, stillListed: null }, "deny", "Not before the freeze ends"),
  ],
  ["approved, still listed", decided({ type: "confirmed", at: NOON, stillListed: true })],
  ["refused", decided({ type: "refused", at: NOON, words: SERVICE_SAYS, absent: false })],
  ["refused, not listed any more", decided({ type: "refused", at: NOON, words: SERVICE_SAYS, absent: true })],
  ["resolved elsewhere", decided({ type: "elsewhere", at: NOON, words: SERVICE_SAYS }, "deny", "No")],
  ["unconfirmed, gone", decided({ type: "unconfirmed", at: NOON, cause: "no-longer-listed" })],
  [
    "unconfirmed, no longer authorised",
    decided({ type: "unconfirmed", at: NOON, cause: "no-longer-authorised" }),
  ],
  ["unconfirmed, changed", decided({ type: "unconfirmed", at: NOON, cause: "request-changed" })],
  [
    "unconfirmed, run missing",
    decided({ type: "unconfirmed", at: NOON, cause: "run-missing" }, "deny", "No"),
  ],
  ["unconfirmed, refused", decided({ type: "unconfirmed", at: NOON, cause: "refused-after-lost-answer" })],
  ["closed, not listed", closed("no-longer-listed")],
  ["closed, run over", { ...closed("run-over"), past: [past("run-over")] }],
  ["closed, run missing", closed("run-missing")],
  ["closed, unwatched", closed("unwatched")],
];

describe("a card reads, when its approval is", () => {
  test.each(states)("%s", (_state, approval) => {
    const card = approvalCard(run, approval);
    expectMessage(card);
    expect(printedMessage(card)).toMatchSnapshot();
  });
});

const buttonsOf = (of: Run, approval: Approval): string[] =>
  objectsIn(wire(approvalCard(of, approval).blocks)).flatMap(({ type, text }) =>
    type === "button" ? [(text as { text: string }).text] : [],
  );

test("only a pending card can be decided, and every card has its details", () => {
  for (const [, approval] of states) {
    const decide = approval.state.type === "pending" ? ["Approve", "Deny"] : [];
    expect(buttonsOf(run, approval)).toEqual([...decide, "Details"]);
  }
});

describe("a request too long for the card", () => {
  const long = { ...pending, request: requestOf("x".repeat(5_000), {}) };
  const tooLong = { ...pending, request: requestOf("x".repeat(MODAL_HOLDS_CHARS + 1), {}) };
  const withUpload = (upload: Upload): Run => ({ ...run, uploads: { [requestSlot(tooLong)]: upload } });

  test("can be read in full", () =>
    expect(buttonsOf(run, long)).toEqual(["Approve", "Deny", "Read in full"]));

  test.each<[string, Upload, string[]]>([
    ["planned", { type: "planned", notBefore: 0, tries: 0 }, []],
    ["shared but unsure", { type: "unsure", file: "F0", lookAt: NOON, tries: 1 }, []],
    ["refused", { type: "refused", words: "Slack refused (storage_limit_reached)" }, ["Details"]],
    ["there", { type: "up", file: "F0" }, ["Approve", "Deny", "Read in full"]],
  ])("and for a modal too is decided only with its file: %s", (_state, upload, buttons) => {
    const held = withUpload(upload);
    expect(buttonsOf(held, tooLong)).toEqual(buttons);
    const [, , , ...rest] = approvalCard(held, tooLong).blocks;
    expect(printedMessage({ text: "", blocks: rest })).toMatchSnapshot();
  });
});

test("each version of a card has its buttons under a block of its own", () => {
  const ids = [pending, { ...anApproval("apr_1"), request }].map((each) =>
    approvalCard(run, each).blocks.find(({ type }) => type === "actions"),
  );
  expect(ids[0]?.block_id).not.toBe(ids[1]?.block_id);
});

test("two states that read differently have different keys, so that a stale card is drawn anew", () => {
  const drawings = states.map(([name, approval]) => {
    const up = { type: "up", ts: "1.1", shows: "", sweepAt: null, notBefore: 0 };
    const posted = { ...run, posts: { [`card ${approval.id}`]: up } } as unknown as Run;
    // Who decided what and why never changes within one version, so it is no part of the key.
    return { name, key: cardRenderKey(posted, approval), title: firstText(approvalCard(run, approval)) };
  });
  for (const one of drawings)
    for (const other of drawings.filter(({ key }) => key === one.key))
      expect(titleWithoutVerdict(other.title), `${one.name} / ${other.name}`).toBe(
        titleWithoutVerdict(one.title),
      );
});

const firstText = ({ blocks }: { readonly blocks: unknown }): unknown =>
  objectsIn(wire(blocks)).find(({ text }) => typeof text === "string");

const titleWithoutVerdict = (title: unknown): string =>
  JSON.stringify(title)
    .replace(/✅ Approved|⛔ Denied/, "decided")
    .replace(/state:(?:approved|denied):/, "state:decided:")
    .replace(/Approval|Denial/, "decision");

test("a card names its state in the id of its first block, and the title says the same", () => {
  const named = states.map(([, approval]) => {
    const card = approvalCard(run, approval);
    return `${cardStateOf(card)} | ${card.text.split(":")[0] ?? ""}`;
  });
  expect([...new Set(named)].sort()).toMatchSnapshot();
});

test("a request under an id that the service has used before is called a new one", () => {
  const again: Approval = { ...anApproval("apr_1 (2)"), serviceId: pending.serviceId, request };
  const both: Run = {
    ...run,
    approvals: [decided({ type: "confirmed", at: NOON, stillListed: null }), again],
  };
  expect(printedMessage(approvalCard(both, again))).toContain("This is a new request.");
  expect(printedMessage(approvalCard(both, pending))).not.toContain("This is a new request.");
});
