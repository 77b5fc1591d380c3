// What the service says of a request that is no longer pending is quoted. It confirms nothing.

import { describe, expect, test } from "vitest";
import { readDecisionAnswer } from "#src/adapters/agents/decision-answer.ts";
import { readRun } from "#src/adapters/agents/run-record.ts";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { privateNotice } from "#src/adapters/slack/blocks/private-notice.ts";
import { applyOutcome } from "#src/domain/apply-outcome.ts";
import { withdrawApproval } from "#src/domain/decision-delivery.ts";
import { observe } from "#src/domain/observe.ts";
import { cardRenderKey } from "#src/domain/render-key.ts";
import { type Run, runId } from "#src/domain/run.ts";
import { cardSlot } from "#src/domain/slot.ts";
import { ABSENT_AFTER_MS } from "#src/domain/snapshot.ts";
import { aSnapshot, contextAt, decidedRun, deliveredRun, listedRun } from "../../../make/history.ts";
import { NOON } from "../../../make/run.ts";
import { UP } from "./page/example.ts";
import { printedMessage } from "./printed.ts";

const PAST = "2026-11-20T09:00:00Z";
const LOST = deliveredRun({ type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: "cut off" });

/** The run after the service has listed these items for long enough. */
function after(run: Run, ...items: readonly object[]): Run {
  const id = runId(run);
  if (id === null) throw new Error("the service does not know this run");
  const body = JSON.stringify({ id, status: "awaiting_approval", pending_approvals: items });
  return [1, 1 + ABSENT_AFTER_MS / 2, 1 + ABSENT_AFTER_MS].reduce((before, ms) => {
    const read = readRun({ body, spoiled: null }, id, { askedAt: NOON + ms, now: NOON + ms });
    if (!read.ok) throw new Error(read.error);
    return observe(before, read.value, contextAt(ms));
  }, run);
}

const [first] = LOST.approvals;
if (first === undefined) throw new Error("the run has no approvals");
const posts = { [cardSlot(first.id)]: UP };

function card(run: Run): { readonly text: string; readonly key: string | null } {
  const [approval] = run.approvals;
  if (approval === undefined) throw new Error("the run has no approvals");
  return {
    text: printedMessage(approvalCard(run, approval)),
    key: cardRenderKey({ ...run, posts }, approval),
  };
}

describe.for([
  ["approved", "approved"],
  [" Denied", "denied"],
  ["expired", "expired"],
])("a request that the service lists as %j", ([status, said]) => {
  const item = { id: "apr_1", status };

  test("leaves a decision whose answer was lost unconfirmed", () => {
    const ended = after(LOST, item);
    expect(ended.approvals).toMatchObject([
      { state: { delivery: { type: "unconfirmed", cause: "no-longer-listed" } } },
    ]);
    expect(card(ended).text).toContain(`The service says of the request: "${said}."`);
    expect(card(ended).text).not.toContain("does not say why");
    expect(card(ended).key).not.toBe(card(after(LOST)).key);
  });

  test("closes with the word", () => {
    for (const run of [listedRun("apr_1"), decidedRun()]) {
      const ended = after(run, item);
      expect(card(ended).text).toContain("No longer pending");
      expect(card(ended).text).toContain(
        `The service no longer lists it as pending, and says of it: "${said}."`,
      );
      expect(card(ended).text).not.toMatch(/withdrawn|elsewhere/i);
      expect(card(ended).key).not.toBe(card(after(run)).key);
    }
  });
});

test("a request that the service lists under two such words has both on its card", () => {
  const items = ["denied", "approved", "denied"].map((status) => ({ id: "apr_1", status }));
  expect(card(after(LOST, ...items)).text).toContain('The service says of the request: "approved, denied."');
});

test("a request without such a word is only said to be no longer pending", () => {
  for (const items of [[], [{ id: "apr_1", resolved_at: PAST }], [{ id: "apr_2", status: "approved" }]]) {
    expect(card(after(LOST, ...items)).text).toContain(
      "The service no longer lists it as pending, and does not say why.",
    );
    expect(card(after(listedRun("apr_1"), ...items)).text).toContain(
      "The service no longer lists it as pending. It may have been withdrawn",
    );
  }
});

test("a contrary answer to a decision that was sent again, after a lost answer, is quoted", () => {
  const again = deliveredRun({ type: "retry", notBefore: NOON, tries: 1, lost: true, why: "cut off" });
  const send = { type: "send-decision", approval: first.id } as const;
  const words = "The agent service says of this approval: denied.";
  const ended = applyOutcome(again, send, { type: "elsewhere", words }, contextAt());
  expect(ended.approvals).toMatchObject([{ state: { delivery: { type: "unconfirmed" } } }]);
  expect(card(ended).text).toContain('The service says of the request: "denied."');
});

describe("a decision that the service turned away for now, and that then became void because", () => {
  const run = deliveredRun({ type: "retry", notBefore: NOON, tries: 1, lost: false, why: "HTTP 429" });
  const seen = (pending: Parameters<typeof aSnapshot>[1], status: string): Run =>
    observe(run, aSnapshot(run, pending, { status, askedAt: NOON + 1 }), contextAt(1));
  const changed = [{ id: "apr_1", content: { action: "delete all" } }];

  test.for([
    ["the run ended", seen([], "failed"), "the run ended first"],
    ["the request changed", seen(changed, "awaiting_approval"), "the request changed first"],
    ["the run was stopped", withdrawApproval(run, first.id, "stopped", contextAt(1)), "was stopped first"],
    ["it was no longer listed", after(run), "no longer list"],
  ] as const)("%s, is not called unsent", ([, of, why]) => {
    const notices = of.notices.map(({ says }) => printedMessage(privateNotice(says, of)));
    expect(notices).toEqual([expect.stringContaining("Your decision did not take effect")]);
    for (const text of [card(of).text, ...notices]) {
      expect(text).toContain(why);
      expect(text).not.toMatch(/not sent/i);
    }
  });
});

describe("an answer to a decision with the word", () => {
  const answered = (status: string, verdict: "approve" | "deny" = "approve"): Run => {
    const answer = { status: 200, body: JSON.stringify({ status }), spoiled: null, retryAfter: null };
    const sent = {
      run: "run_7",
      approval: first.serviceId,
      verdict,
      denyWord: "deny",
      reason: "",
      asked: {},
    };
    const reader = { who: "The agent service", apiKey: "", now: () => NOON };
    const send = { type: "send-decision", approval: first.id } as const;
    const sending = deliveredRun({ type: "sending", at: NOON, tries: 1, lost: false }, verdict);
    return applyOutcome(sending, send, readDecisionAnswer(answer, sent, reader), contextAt());
  };
  const notices = (run: Run): string[] =>
    run.notices.map(({ says }) => printedMessage(privateNotice(says, run)));

  test.for([
    ["expired", "has expired"],
    ["withdrawn", "was withdrawn"],
    ["Canceled", "was canceled"],
    ["cancelled", "was canceled"],
  ])("%s is no decision of another person", ([status = "", ending = ""]) => {
    const run = answered(status);
    const texts = [card(run).text, ...notices(run)];
    expect(texts).toHaveLength(2);
    for (const text of texts) {
      expect(text).toContain("not applied");
      expect(text).toContain(`he service says that the request ${ending}.`);
      expect(text).not.toMatch(/decided (elsewhere|outside)/i);
    }
    expect(run.approvals).toMatchObject([{ state: { delivery: { type: "elsewhere" } } }]);
    const relisted = observe(run, aSnapshot(run, ["apr_1"], { askedAt: NOON + 60_000 }), contextAt(60_000));
    expect(card(relisted).text).toContain(`The service said that this request ${ending}. But the service`);
  });

  test("expired also leaves a denial not applied", () =>
    expect(card(answered("expired", "deny")).text).toContain("⚠️ Denial not applied"));

  test("denied is one", () => {
    const run = answered("denied");
    for (const text of [card(run).text, ...notices(run)])
      expect(text).toContain("decided outside Countersign");
  });

  test("is told the same in a run that an earlier release stored, which has only our sentence", () => {
    for (const status of ["expired", "denied"]) {
      const run = answered(status);
      const stored = JSON.parse(
        JSON.stringify(run, (name, value: unknown) => (name === "said" ? undefined : value)),
      ) as Run;
      expect(card(stored)).toEqual(card(run));
      expect(notices(stored)).toEqual(notices(run));
    }
  });

  test("is told from the word alone, whatever our sentence about it", () => {
    const send = { type: "send-decision", approval: first.id } as const;
    const sending = deliveredRun({ type: "sending", at: NOON, tries: 1, lost: false });
    const outcome = { type: "elsewhere", words: "Something else.", said: "expired" } as const;
    const run = applyOutcome(sending, send, outcome, contextAt());
    for (const text of [card(run).text, ...notices(run)]) expect(text).toContain("has expired");
    expect(card(run).key).toContain("has expired");
  });
});

describe("a request that the service no longer lists after it refused its decision", () => {
  const send = { type: "send-decision", approval: first.id } as const;
  const sending = deliveredRun({ type: "sending", at: NOON, tries: 1, lost: false });
  const refused = applyOutcome(sending, send, { type: "refused", words: "Too late." }, contextAt());
  const told = (run: Run): string[] =>
    run.notices.map(({ says }) => printedMessage(privateNotice(says, run)));

  test("is called what the service calls it, on the card and in a notice that was still to be sent", () => {
    const gone = after(refused, { id: "apr_1", status: "expired" });
    const texts = [card(gone).text, ...told(gone)];
    expect(texts).toHaveLength(2);
    for (const text of texts) {
      expect(text).toMatch(
        /The service no longer lists (it|the request) as pending, and says of it: "expired\."/,
      );
      expect(text).not.toMatch(/outside Countersign|come back/);
    }
    expect(card(gone).key).not.toBe(card(after(refused)).key);
    expect(
      observe(gone, aSnapshot(gone, [], { askedAt: NOON + 60_000 }), contextAt(60_000)).approvals,
    ).toEqual(gone.approvals);
  });

  test("is called so also if the service gives the word only later", () => {
    expect(card(after(after(refused), { id: "apr_1", status: "expired" })).text).toContain(
      'says of it: "expired."',
    );
  });

  test("may have been decided elsewhere if the service does not say", () => {
    expect(card(after(refused)).text).toContain(
      "it may have been decided outside Countersign, or withdrawn.",
    );
  });
});
