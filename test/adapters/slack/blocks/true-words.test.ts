// Cards, answers and notifications say what is known, and no more.

import { describe, expect, test } from "vitest";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { formView } from "#src/adapters/slack/blocks/decision-modal.ts";
import { freezeNotification } from "#src/adapters/slack/blocks/brake-blocks.ts";
import { oneRun } from "#src/adapters/slack/blocks/command-answers.ts";
import { lookBackMessage } from "#src/adapters/slack/blocks/look-back-message.ts";
import { notificationMessage } from "#src/adapters/slack/blocks/notification-message.ts";
import { privateNotice } from "#src/adapters/slack/blocks/private-notice.ts";
import { refusalWords } from "#src/adapters/slack/blocks/refusal-words.ts";
import { queueBlocks } from "#src/adapters/slack/blocks/queue-list.ts";
import { reviewView } from "#src/adapters/slack/blocks/review-modal.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { applyOutcome, markSending } from "#src/domain/apply-outcome.ts";
import { applyPolicy } from "#src/domain/applied-rule.ts";
import { newApproval, reopen, withDelivery } from "#src/domain/approval-transitions.ts";
import type { Approval, Request } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { callSlot, callsOf } from "#src/domain/call.ts";
import { expire } from "#src/domain/decide.ts";
import { type Outcome } from "#src/domain/effect.ts";
import { observe } from "#src/domain/observe.ts";
import { renderKey } from "#src/domain/render-key.ts";
import { type AuditEntry } from "#src/audit/entry.ts";
import { type Notification } from "#src/ports/notification.ts";
import { ApprovalId, ChannelId, MessageTs, RunId } from "#src/domain/ids.ts";
import { replaceApproval, type Run } from "#src/domain/run.ts";
import { OPENING, OUTCOME, UNREADABLE } from "#src/domain/slot.ts";
import { allUnreadable, type Unreadable } from "#src/domain/snapshot.ts";
import { ADMIN } from "../../../make/bot.ts";
import { aSnapshot, contextAt } from "../../../make/history.ts";
import { aPolicy } from "../../../make/policy.ts";
import {
  anApproval,
  anAuditEntry,
  aNonce,
  APPROVER,
  aWatchedRun,
  NOON,
  TEAM,
  withApprovals,
} from "../../../make/run.ts";
import { aQueuePage } from "../../../make/queue.ts";
import { endedRun, requestOf } from "../observed.ts";
import { LOOK_BACKS } from "./page/look-backs.ts";
import { textOf } from "./oracle.ts";
import { printedMessage } from "./printed.ts";

const run = aWatchedRun();
const UP = { type: "up", ts: MessageTs("1.1"), shows: "", sweepAt: null, notBefore: 0, tries: 0 } as const;

test("a cut request shows the sum of what is missing as a sum", () => {
  const request = requestOf("deploy", {
    action: "deploy",
    log: "y ".repeat(30_000),
    diff: "x ".repeat(5_000),
  });
  const shown = textOf(approvalCard(run, { ...anApproval(), request }).blocks);
  const [sum] = /In all, ([\d,]+) characters/.exec(shown)?.slice(1) ?? [];
  const parts = [...shown.matchAll(/([\d,]+) characters (?:more|between)/g)].map(([, many]) => number(many));
  expect(parts.length).toBeGreaterThan(1);
  expect(number(sum)).toBe(parts.reduce((all, each) => all + each, 0));
  expect(shown).not.toMatch(/more characters/);
});

const number = (text = ""): number => Number(text.replaceAll(",", ""));

describe("a request that changed", () => {
  const at = { now: NOON, monotonic: NOON };
  const before: Request = { ...requestOf("deploy", { action: "deploy" }), context: "1" };
  const card = (request: Request): string => {
    const first = newApproval(ApprovalId("apr_1"), before, aNonce(), at);
    const changed: Approval = reopen(first, request, aNonce(), null);
    return textOf(approvalCard(run, changed).blocks);
  };

  test("only in the run's own fields says where the change is", () => {
    const shown = card({ ...before, context: "2", digest: "another" });
    expect(shown).toContain("Approval needed (changed)");
    expect(shown).toContain("Details shows it");
  });

  test("in itself shows it", () => {
    const other = requestOf("destroy", { action: "destroy" });
    expect(card({ ...other, context: "2" })).not.toContain("behind Details");
  });
});

describe("the message about an expiry", () => {
  const HOUR = 3_600_000;
  const SEND = { type: "send-decision", approval: ApprovalId("apr_1") } as const;
  const at = (ms: number) => contextAt(ms, aPolicy({ expiry: { afterMs: HOUR, outcome: "deny" } }));
  const listed = (of: Run, ms: number, action = "delete it"): Run => {
    const pending = [{ id: "apr_1", content: { action } }];
    return applyPolicy(observe(of, aSnapshot(of, pending, { askedAt: NOON + ms }), at(ms)), at(ms));
  };
  const expired = expire(listed(run, 0), at(HOUR));
  const ended = (outcome: Outcome): Run =>
    applyOutcome(markSending(expired, SEND, NOON + HOUR), SEND, outcome, at(HOUR + 1));
  /** Returns what the message says, or null if it says nothing. */
  const shown = (of: Run, isUp = false): string | null => {
    const approvals = of.approvals.map((approval) => ({
      ...approval,
      calls: approval.calls?.map((call) => ({ ...call, who: { users: [], groups: [], more: 0 } })) ?? [],
    }));
    const [slot = ""] = callsOf({ approvals }).map(({ approval, call }) => callSlot(approval, call));
    const now = { ...of, approvals, posts: isUp ? { [slot]: UP } : {} };
    return renderKey(now, slot) === null ? null : printedMessage(messageIn(now, slot));
  };

  test("says that the policy denied the request, once the denial is on its way", () => {
    for (const of of [expired, ended({ type: "confirmed" }), ended({ type: "unsure", why: "lost" })])
      expect(shown(of)).toContain("the policy denied this");
  });

  test("leaves it to the card what became of a denial that the service did not confirm", () => {
    for (const type of ["elsewhere", "refused"] as const) {
      expect(shown(ended({ type, words: "no" }))).toContain("Time is up for this request");
      expect(shown(ended({ type, words: "no" }))).toContain(
        "The card says whether the policy's denial took effect",
      );
    }
  });

  test("says nothing of another request under the same id, whatever a person decides about it", () => {
    const other = listed(expired, HOUR + 1_000, "restart it");
    const [approval] = other.approvals;
    if (approval === undefined) throw new Error("no approval");
    const { digest } = approval.request;
    const by = { team: TEAM, user: APPROVER };
    const decision = { verdict: "approve", reason: "", by, at: NOON, digest } as const;
    const delivery = { type: "confirmed", at: NOON, stillListed: null } as const;
    for (const of of [other, replaceApproval(other, withDelivery(approval, decision, delivery))]) {
      expect(shown(of)).toBeNull();
      expect(shown(of, true)).toContain("Time was up");
      expect(shown(of, true)).not.toMatch(/denied|nothing is sent|restart/);
    }
  });
});

describe("the message about unreadable items", () => {
  const why = { code: "garbled", why: "it is not JSON" };
  const shown = (unreadable: Unreadable | null): string => {
    return textOf(messageIn({ ...run, unreadable, posts: { [UNREADABLE]: UP } }, UNREADABLE).blocks);
  };
  const item = { ids: [], ...why, source: "{", hidden: 0 };

  test("uses the plural if there are several", () => {
    const items = { since: NOON, what: "items", items: [item, item, item] } as const;
    expect(shown({ ...items, count: 3 })).toContain("They can't be decided here. Decide them");
    expect(shown({ ...items, count: 1 })).toContain("It can't be decided here. Decide it");
  });

  test("does not speak of a request if only the answers cannot be used", () => {
    const all = shown(allUnreadable(null, "answer", why, NOON));
    expect(all).not.toContain("this run's requests");
    expect(shown(null)).not.toMatch(/approval|request/i);
  });
});

test("a risk that the service does not state is called that, on the card and in the form", () => {
  const approval = { ...anApproval(), request: requestOf("Restart the wallet", { note: "now" }) };
  const of = withApprovals(run, approval);
  expect(printedMessage(approvalCard(of, approval))).toContain("risk not stated");
  const ticket = { saw: approval.request, verdict: "approve", nonce: aNonce() } as const;
  expect(textOf(formView({ run: of, ticket }).blocks)).toContain("Risk not stated");
});

test("the person who watches a run that was started elsewhere did not ask for it", () => {
  const [first, second] = [anApproval(), anApproval()];
  const watched = withApprovals(run, first, second);
  const started: Run = { ...watched, origin: "started" };
  const shown = (of: Run): string => {
    const formOf = (facts: { readonly choice?: true }) => {
      const ticket = { saw: first.request, verdict: "approve", nonce: aNonce(), ...facts } as const;
      return reviewView({ run: of, ticket }).blocks;
    };
    const list = [...oneRun({ run: of, link: null }).blocks, ...queueBlocks(aQueuePage([of]))];
    return textOf([...list, ...formOf({}), ...formOf({ choice: true })]);
  };
  expect(shown(started).match(/asked by|request from 's run/g)).toHaveLength(6);
  expect(shown(watched)).not.toMatch(/asked by|request from 's run/i);
  expect(shown(watched)).toContain("You are approving a request from a run that  watches");
});

test("the notification about tampering names no place that its reader is not in", () => {
  const keptEntry = { seq: 7, link: "0".repeat(64), entry: anAuditEntry(run, { what: "tampering-found" }) };
  const notification = { id: aNonce(), kind: "tampering", entry: 7, to: ADMIN, madeAt: NOON } as const;
  const post = { type: "planned", notBefore: 0, tries: 0, why: "" } as const;
  const facts = { entry: keptEntry, about: null, action: null, channel: null, card: null };
  expect(textOf(notificationMessage({ ...notification, post }, facts).blocks)).not.toContain("this channel");
});

test("the notification about a frozen channel names it, since its reader may be elsewhere", () => {
  const entry = anAuditEntry(run, { what: "frozen", run: null, channel: ChannelId("C0DEV") });
  const { text } = freezeNotification({ seq: 7, link: "0".repeat(64), entry }, "/agent");
  expect(text).toBe("🧊 Countersign is frozen: <#C0DEV>");
});

test("the week's share is not rounded to all or none if there was an exception", () => {
  const [{ lookBack: busy } = { lookBack: null }] = LOOK_BACKS;
  if (busy === null) throw new Error("no example");
  const keptEntry = { seq: 7, link: "0".repeat(64), entry: anAuditEntry(run) };
  const shareOf = (approved: number, denied: number): string => {
    const facts = { entry: keptEntry, about: null, action: null, channel: null, card: null };
    const message = lookBackMessage({ ...facts, lookBack: { ...busy, approved, denied } }, "/agent");
    return /\((\d+%) approved\)/.exec(textOf(message.blocks))?.[1] ?? "";
  };
  expect([shareOf(999, 1), shareOf(1, 999), shareOf(3, 1)]).toEqual(["99%", "1%", "75%"]);
  expect([shareOf(7, 0), shareOf(0, 7)]).toEqual(["100%", "0%"]);
});

test("what is left out of a list is in the singular if it is one", () => {
  const waiting = (many: number): string => {
    const of = withApprovals(run, ...Array.from({ length: many }, () => anApproval()));
    return textOf(oneRun({ run: of, link: null }).blocks);
  };
  expect(waiting(4)).toMatch(/… and for 1 more decision(?!s)/);
  expect(waiting(5)).toContain("… and for 2 more decisions");
  const short = { type: "reason-too-short", chars: 1, fewest: 10 } as const;
  expect(refusalWords(short)).toContain("Too short: 1 character.");
});

test("the notification about a lifted freeze promises nothing if another freeze may hold", () => {
  const entry = anAuditEntry(run, { what: "freeze-lifted", run: null, channel: null });
  const keptEntry = { seq: 7, link: "0".repeat(64), entry };
  const notification = { id: aNonce(), kind: "freeze", entry: 7, to: ADMIN, madeAt: NOON } as const;
  const post = { type: "planned", notBefore: 0, tries: 0, why: "" } as const;
  const facts = { entry: keptEntry, about: null, action: null, channel: null, card: null };
  const text = textOf(notificationMessage({ ...notification, post }, facts).blocks);
  expect(text).toContain("Unless another freeze holds there, runs start again");
});

describe("the notice that Slack refused a message of a run that was not started", () => {
  const slackSays = "Slack refused the message (not_in_channel).";
  const notice = (words: string): string => {
    const creation = { type: "refused", words, at: NOON } as const;
    const says = { type: "cannot-post", words: slackSays, code: "not_in_channel" } as const;
    return printedMessage(privateNotice(says, { ...run, creation }));
  };

  test("says that this kept it from starting only if it did", () => {
    expect(notice(slackSays)).toContain("because its requests could not be shown");
    const refused = notice("The agent service answered HTTP 422: no such tool.");
    expect(refused).not.toContain("because its requests could not be shown");
    expect(refused).toContain("HTTP 422: no such tool.");
  });
});

test("notifications name the command of this workspace", () => {
  const post = { type: "planned", notBefore: 0, tries: 0, why: "" } as const;
  const textWith = (kind: Notification["kind"], what: AuditEntry["what"]): string => {
    const keptEntry = { seq: 7, link: "0".repeat(64), entry: anAuditEntry(run, { what }) };
    const facts = { entry: keptEntry, about: null, action: null, channel: null, card: null };
    const notification = { id: aNonce(), kind, entry: 7, to: ADMIN, madeAt: NOON, post };
    return textOf(notificationMessage(notification, facts, { command: "/countersign" }).blocks);
  };
  expect(textWith("freeze", "frozen")).toContain("/countersign freeze lift");
  expect(textWith("dispute", "disputed")).toContain("/countersign audit close");
  expect(textWith("tampering", "tampering-found")).toContain("/countersign audit acknowledge");
  for (const text of [
    textWith("freeze", "frozen"),
    textWith("dispute", "disputed"),
    textWith("tampering", "tampering-found"),
  ])
    expect(text).not.toContain("/agent");
});

describe("a receipt", () => {
  const receipt = (verdict: "approve" | "deny"): string => {
    const entry = anAuditEntry(run, { what: "decided", verdict, by: { team: TEAM, user: APPROVER } });
    const notification = { id: aNonce(), kind: "receipt", entry: 7, to: APPROVER, madeAt: NOON } as const;
    const post = { type: "planned", notBefore: 0, tries: 0, why: "" } as const;
    const facts = {
      entry: { seq: 7, link: "0".repeat(64), entry },
      about: null,
      action: null,
      channel: null,
      card: null,
    };
    const { text, blocks } = notificationMessage({ ...notification, post }, facts);
    return `${text}\n${textOf(blocks)}`;
  };

  test("says what is recorded, since the service may still refuse it", () => {
    expect(receipt("deny")).toContain("Your denial is recorded");
    expect(receipt("approve")).toContain("Your approval is recorded");
    for (const verdict of ["approve", "deny"] as const) {
      expect(receipt(verdict)).toContain("Its card shows what became of it");
      expect(receipt(verdict)).not.toMatch(/You (denied|approved) this/);
    }
  });
});

test("a reason is promised to the service, not to the agent", () => {
  const { id, appliedRule, ...rest } = anApproval();
  const rule = { ...appliedRule.rule, reason: { approve: 10, deny: 10 } };
  const asked = { ...rest, id, appliedRule: { ...appliedRule, rule } };
  const form = formView({
    run: withApprovals(run, asked),
    ticket: { saw: asked.request, verdict: "deny", nonce: aNonce() },
  });
  for (const words of [JSON.stringify(form), refusalWords({ type: "reason-needed" }, APPROVER)]) {
    expect(words).not.toContain("The agent gets it");
    expect(words).toContain("The service gets it, and everyone in the channel sees it.");
  }
});

test("a start that is retried says why below its status, and a running run is just running", () => {
  const delayed = { ...run, creation: { type: "planned", notBefore: 0, tries: 1, why: "HTTP 503." } } as Run;
  for (const message of [messageIn(delayed, OPENING), oneRun({ run: delayed, link: null })]) {
    const shown = printedMessage(message);
    expect(shown).toContain("Not started yet; retrying** since");
    expect(shown).toContain("\nHTTP 503.");
  }
  const running = {
    ...run,
    seen: { ...endedRun(run, { how: "succeeded" }).seen, status: "running", ended: null },
  } as Run;
  expect(printedMessage(messageIn(running, OPENING))).toContain("🔵 Running** since");
});

describe("the status of a run", () => {
  const seen = { status: "running", since: NOON, ended: null, lists: true, askedAt: NOON };
  const shown = (facts: Partial<Run>): readonly string[] => {
    const of = { ...run, seen, ...facts };
    return [messageIn(of, OPENING), oneRun({ run: of, link: null })].map(printedMessage);
  };

  const neverSeen = (creation: Run["creation"]): Partial<Run> => ({ creation, seen: null });
  const id = RunId("run_7");

  test.for<[string, Partial<Run>]>([
    ["❌ Not started", neverSeen({ type: "refused", words: "HTTP 422", at: NOON })],
    ["❓ Start not confirmed", neverSeen({ type: "unknown", words: "reset", at: NOON, again: "asked" })],
    ["⚠️ Started, but not watched here", neverSeen({ type: "taken", id, at: NOON })],
    ["❓ The service no longer knows this run", { watch: { type: "missing", since: NOON, absence: null } }],
    ["❓ Given up: the service no longer knows this run", { watch: { type: "given-up", at: NOON } }],
    ["⚪ No longer watched", { watch: { type: "dropped", at: NOON, by: APPROVER } }],
    [
      "🚨 Stopped: this run's record was changed outside Countersign",
      { watch: { type: "tampered", at: NOON } },
    ],
  ])("has no time if only the time of an earlier one is known: %s", ([words, facts]) => {
    for (const text of shown(facts)) {
      expect(text).toContain(`**${words}**`);
      expect(text).not.toMatch(/ since|\{2026/);
    }
  });

  test("says since when the service's answers cannot be used, also once they fail for another reason", () => {
    const first = allUnreadable(null, "answer", { code: "garbled", why: "it is not JSON" }, NOON + 60_000);
    const other = allUnreadable(first, "answer", { code: "garbled", why: "it is empty" }, NOON + 120_000);
    for (const text of [first, other].flatMap((unreadable) => shown({ unreadable })))
      expect(text).toContain("cannot be used** since {2026-11-20 12:01:00 UTC}");
  });
});

describe("the end of a run", () => {
  const verdictOf = (verdict: "approve" | "deny", delivery: Delivery, id: string): Approval => {
    const by = { team: TEAM, user: APPROVER };
    const decision = { verdict, reason: "No", by, at: NOON, digest: "d" } as const;
    return { ...anApproval(id), state: { type: "decided", decision, delivery } };
  };
  const confirmed = { type: "confirmed", at: NOON, stillListed: null } as const;
  const shown = (...approvals: readonly Approval[]): readonly string[] => {
    const over = withApprovals(
      endedRun(run, { how: "succeeded", output: null, extra: {}, completedAt: null }),
      ...approvals,
    );
    return [
      textOf(messageIn(over, OPENING).blocks),
      textOf(messageIn(over, OUTCOME).blocks),
      textOf(oneRun({ run: over, link: null }).blocks),
    ];
  };

  test("has no green tick if all its requests were denied", () => {
    for (const text of shown(verdictOf("deny", confirmed, "apr_1"))) {
      expect(text).toContain("⛔ Finished; its request was denied");
      expect(text).not.toMatch(/✅|Succeeded/);
    }
    const both = [verdictOf("deny", confirmed, "apr_1"), verdictOf("deny", confirmed, "apr_2")];
    for (const text of shown(...both)) expect(text).toContain("⛔ Finished; both requests denied");
  });

  test("says how many of its requests were denied", () => {
    const mixed = [verdictOf("deny", confirmed, "apr_1"), verdictOf("approve", confirmed, "apr_2")];
    for (const text of shown(...mixed)) expect(text).toContain("✅ Succeeded; 1 of 2 requests denied");
    for (const text of shown(verdictOf("approve", confirmed, "apr_1"))) expect(text).not.toContain("denied");
  });
});
