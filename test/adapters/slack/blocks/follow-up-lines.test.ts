import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { followUpActions } from "#src/adapters/slack/blocks/follow-up-lines.ts";
import { readModal } from "#src/adapters/slack/blocks/decision-modal.ts";
import { followUpForm } from "#src/adapters/slack/blocks/follow-up-forms.ts";
import { reviewView } from "#src/adapters/slack/blocks/review-modal.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { deadlineOf } from "#src/domain/applied-rule.ts";
import { BUILT_IN_RULE } from "#src/domain/policy/policy.ts";
import { cardRenderKey, renderKey } from "#src/domain/render-key.ts";
import { close, withDelivery } from "#src/domain/approval-transitions.ts";
import type { Approval, Decision } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { callSlot } from "#src/domain/call.ts";
import { withFollowUp } from "#src/domain/follow-up.ts";
import { claim, handOver } from "#src/domain/handling.ts";
import { MessageTs } from "#src/domain/ids.ts";
import { answer, ask, MAX_QUESTIONS, questionSlot, questionsOf } from "#src/domain/question.ts";
import type { Result } from "#src/domain/result.ts";
import { MODAL_HOLDS_CHARS } from "#src/domain/text/request-text.ts";
import { channelText } from "#src/domain/text/text.ts";
import { deeds, lived, RULE, waiting } from "../../../make/handling.ts";
import {
  aNonce,
  APPROVER,
  aRunKey,
  aTicket,
  aWatchedRun,
  CHANNEL,
  NOON,
  REQUESTER,
  TEAM,
  withApprovals,
} from "../../../make/run.ts";
import { requestOf } from "../observed.ts";
import { LONG_TEXTS } from "./long-texts.ts";
import { expectMessage, expectView, textOf } from "./oracle.ts";
import { printedBlocks, printedMessage, printedView } from "./printed.ts";

test("a card and a question get another key whenever they are drawn differently", () => {
  const run = aWatchedRun();
  fc.assert(
    fc.property(deeds, (all) => {
      const cards = new Map<string, string>();
      const asked = new Map<string, string>();
      for (const state of lived(waiting(), all)) {
        const now = withApprovals(run, state);
        expectSame(cards, cardRenderKey(now, state), JSON.stringify(approvalCard(now, state)));
        for (const { id } of questionsOf(state)) {
          const key = `${id} ${renderKey(now, questionSlot(id))}`;
          expectSame(asked, key, JSON.stringify(messageIn(now, questionSlot(id))));
        }
      }
    }),
    { numRuns: 60 },
  );
});

describe("the menu of a card", () => {
  const by = APPROVER;
  const at = { now: NOON, monotonic: NOON };
  const askedOften = (first: Approval, times: number): Approval =>
    Array.from({ length: times }).reduce<Approval>(
      (approval) => done(ask(approval, { id: aNonce(), by, text: "Why?", rule: RULE }, at)),
      first,
    );
  const claimed = claim(waiting(), by, RULE, at);
  const handedOver = done(handOver(claimed, { from: by, to: REQUESTER, form: aNonce(), rule: RULE }, at));
  const full = askedOften(waiting(), MAX_QUESTIONS);
  const { rule } = full.appliedRule;
  const unextendable = { ...rule, followUp: { ...rule.followUp, extend: null } };
  const exhausted: Approval = { ...full, appliedRule: { ...full.appliedRule, rule: unextendable } };
  const shown = (approval: Approval) => {
    const run = withApprovals(aWatchedRun(), approval);
    const card = approvalCard(run, approval);
    expectMessage(card);
    return { key: cardRenderKey(run, approval), actions: printedBlocks(followUpActions(approval)) };
  };

  test.each<[string, Approval, string[]]>([
    ["nobody has claimed", waiting(), ["Ask a question", "Extend by 30 min"]],
    [
      "was claimed",
      claimed,
      ["Ask a question", "Extend by 30 min", "Snooze reminders", "Hand over", "I'm no longer looking"],
    ],
    [
      "was handed over",
      handedOver,
      ["Ask a question", "Extend by 30 min", "Snooze reminders", "I'm no longer looking"],
    ],
    [
      "has one question less than it can have",
      askedOften(waiting(), MAX_QUESTIONS - 1),
      ["Ask a question", "Extend by 30 min"],
    ],
    ["has as many questions as it can have", full, ["Extend by 30 min"]],
  ])("of a request that %s offers nothing that is always refused", (_what, approval, options) => {
    expect(shown(approval).actions).toBe(`[I'm looking at it] [… ${options.join(" / ")}]`);
  });

  test("is left out if it would be empty", () => {
    expect(shown(exhausted).actions).toBe("[I'm looking at it]");
  });

  test("gives the card another key when it changes", () => {
    expect(shown(handedOver).key).not.toBe(shown(claimed).key);
    expect(shown(full).key).not.toBe(shown(askedOften(waiting(), MAX_QUESTIONS - 1)).key);
  });
});

test("a past call names its request, and no other that came in its place", () => {
  const words = (request: Approval["request"], version: number): string => {
    const approval: Approval = { ...waiting(), request, version, requestVersion: version };
    const who = { users: [], groups: [], more: 0 };
    const call = { n: 1, says: "over", of: 1, at: NOON, notBefore: 0, who, tries: 0, lookAt: 0 } as const;
    const run = withApprovals(aWatchedRun(), { ...approval, calls: [call] });
    return JSON.stringify(messageIn(run, callSlot(approval, call)));
  };
  expect(words(requestOf("drop the table", {}), 1)).toContain("drop the table");
  expect(words(requestOf("drop it all", {}), 2)).not.toContain("drop");
});

test("a call gets another key whenever it is drawn differently", () => {
  const rule = { ...waiting().appliedRule.rule, expiry: { afterMs: 3_600_000, outcome: "deny" as const } };
  const expiring = { ...waiting(), appliedRule: { version: "1", rule } };
  const changed = { ...expiring, version: 2, requestVersion: 2, request: requestOf("another", { to: "do" }) };
  const extended = withFollowUp(expiring, { extensions: [{ by: APPROVER, at: NOON, byMs: 60_000 }] });
  const calls = (["waits", "last", "over", "stage"] as const).flatMap((says) => {
    const call = { n: 1, says, of: 1, at: NOON, notBefore: 0, who: NO_ONE, tries: 0, lookAt: 0 };
    return says === "stage" ? [call, { ...call, channel: CHANNEL }] : [call];
  });
  for (const call of calls) {
    const drawn = new Map<string, string>();
    for (const approval of [expiring, extended, changed].flatMap(inEachState)) {
      const called = { ...approval, calls: [call] };
      const slot = callSlot(called, call);
      const run = { ...withApprovals(aWatchedRun(), called), posts: { [slot]: UP } };
      expectSame(drawn, renderKey(run, slot), JSON.stringify(messageIn({ ...run, key: KEY }, slot).blocks));
    }
    expect(drawn.size).toBeGreaterThan(1);
  }
});

describe("a request with an open question", () => {
  const rule = { ...waiting().appliedRule.rule, expiry: { afterMs: 3_600_000, outcome: "deny" as const } };
  const expiring = { ...waiting(), appliedRule: { version: "1", rule } };
  const at = { now: expiring.since, monotonic: expiring.waitsSince };
  const asks = { id: aNonce(), by: APPROVER, text: "Why?", rule: { ...BUILT_IN_RULE, ...rule } };
  const asked = done(ask(expiring, asks, at));
  const runOf = (approval: Approval) => withApprovals(aWatchedRun(), approval);

  test("has a deadline that an answer brings forward", () => {
    const [question] = questionsOf(asked);
    if (question === undefined) throw new Error("not asked");
    const answered = done(answer({ approval: asked, question }, { by: REQUESTER, text: "So." }, at));
    const shown = (approval: Approval): string => printedMessage(approvalCard(runOf(approval), approval));
    expect(shown(asked)).toContain("Deadline, if no one answers the question: ");
    expect(shown(asked)).toContain("If the answer comes sooner, so does the deadline.");
    for (const each of [expiring, answered]) {
      expect(shown(each)).toContain("Deadline: ");
      expect(shown(each)).not.toContain("no one answers");
    }
    expect(deadlineOf(answered)).toBeLessThan(deadlineOf(asked) ?? 0);
  });

  test("has its question in each form that speaks of it", () => {
    const about = { saw: asked.request, nonce: aNonce(), verdict: "approve" } as const;
    for (const kind of [{}, { reading: true }, { choice: true }] as const) {
      const view = reviewView({ run: runOf(asked), ticket: { ...about, ...kind } });
      expectView(view);
      expect(printedView(view)).toContain("Deadline, if no one answers the question: ");
      expect(printedView(view)).toContain("> Why?");
    }
  });
});

function done(result: Result<Approval, unknown>): Approval {
  if (!result.ok) throw new Error("refused");
  return result.value;
}

const KEY = aRunKey();
const NO_ONE = { users: [], groups: [], more: 0 };
const UP = { type: "up", ts: MessageTs("1.1"), shows: "", sweepAt: null, notBefore: 0, tries: 0 } as const;

const DELIVERIES: readonly Delivery[] = [
  { type: "held", until: NOON, sendAt: NOON },
  { type: "recorded" },
  { type: "confirmed", at: NOON, stillListed: null },
  { type: "refused", at: NOON, words: "no", absent: false },
  { type: "elsewhere", at: NOON, words: "denied" },
  { type: "unconfirmed", at: NOON, cause: "no-longer-listed" },
];

function inEachState(approval: Approval): readonly Approval[] {
  const given = { reason: "", at: NOON, digest: approval.request.digest };
  const by = { team: TEAM, user: APPROVER };
  const decisions: readonly Decision[] = [
    { ...given, verdict: "approve", by },
    { ...given, verdict: "deny", by },
    { ...given, verdict: "deny", by: null },
    { ...given, verdict: "deny", by: null, stoppedBy: APPROVER },
  ];
  const causes = ["expired", "no-longer-listed", "tampered"] as const;
  return [
    approval,
    ...causes.map((cause) => close(approval, cause, NOON)),
    ...decisions.flatMap((decision) => DELIVERIES.map((each) => withDelivery(approval, decision, each))),
  ];
}

function expectSame(known: Map<string, string>, key: string | null, drawn: string): void {
  const before = known.get(key ?? "") ?? drawn;
  expect(drawn).toBe(before);
  known.set(key ?? "", drawn);
}

describe("a question and an answer of the greatest length", () => {
  const id = aNonce();
  const withQuestions = (text: string, times = 1): Approval => {
    const said = { at: NOON, text };
    const question = { ...said, by: APPROVER, answer: { ...said, by: REQUESTER } };
    const ids = [id, ...Array.from({ length: times - 1 }, aNonce)];
    return withFollowUp(waiting(), { questions: ids.map((each) => ({ ...question, id: each })) });
  };

  test.each(LONG_TEXTS)("are shown to their ends in Details and in the form: %s", (_what, text) => {
    const approval = withQuestions(text);
    const run = withApprovals(aWatchedRun(), approval);
    const details = readModal(run, approval.request);
    const ticket = { ...aTicket(run, approval), asks: "answer" as const, question: id };
    const form = followUpForm({ run, ticket });
    expectView(details);
    expectView(form);
    expect(textOf(details.blocks).split(channelText(text))).toHaveLength(3);
    expect(textOf(form.blocks)).toContain(channelText(text));
  });

  test.each(LONG_TEXTS)("say in the thread where their ends are: %s", (_what, text) => {
    const approval = withQuestions(text);
    const message = messageIn(withApprovals(aWatchedRun(), approval), questionSlot(id));
    expectMessage(message);
    const whole = textOf(message.blocks).includes(channelText(text));
    expect(/\(\d.* more characters\).*in Details/s.test(textOf(message.blocks))).toBe(!whole);
  });

  test("leave room in Details for the longest request, and say that the audit has the rest", () => {
    const [, text = ""] = LONG_TEXTS.at(-1) ?? [];
    const request = requestOf("漢".repeat(MODAL_HOLDS_CHARS), {});
    const by = { team: TEAM, user: APPROVER };
    const vote: Decision = { verdict: "approve", reason: text, by, at: NOON, digest: request.digest };
    const votes = Array.from({ length: 20 }, () => vote);
    const approval = { ...withQuestions(text, MAX_QUESTIONS), request, votes };
    const run = withApprovals(aWatchedRun(), approval);
    const view = readModal(run, request);
    expectView(view);
    expect(textOf(view.blocks)).toContain("The audit of the run has all of it.");
  });
});
