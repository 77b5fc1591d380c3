// Cards and the message about a stop say what is known about decisions, and no more.

import { describe, expect, test } from "vitest";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { privateNotice } from "#src/adapters/slack/blocks/private-notice.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { withDelivery } from "#src/domain/approval-transitions.ts";
import type { Approval, Decision } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { renderKey } from "#src/domain/render-key.ts";
import { OPENING, STOPPED, cardSlot } from "#src/domain/slot.ts";
import { ApprovalId } from "#src/domain/ids.ts";
import { markTampered } from "#src/domain/end-run.ts";
import type { Run } from "#src/domain/run.ts";
import { anApproval, APPROVER, aWatchedRun, NOON, TEAM, withApprovals } from "../../../make/run.ts";
import { UP } from "./page/example.ts";
import { printedMessage } from "./printed.ts";
import { type Message } from "#src/adapters/slack/blocks/rich.ts";

const run = aWatchedRun();
const DENIED = { verdict: "deny", reason: "", by: null, at: NOON, digest: "" } as const;

type Facts = Partial<Pick<Decision, "by" | "reason"> & Pick<Approval, "unlisted">>;

const decided = (delivery: Delivery, of = run, facts: Facts = {}): string =>
  printedMessage(cardWith(delivery, of, facts));

function cardWith(delivery: Delivery, of = run, { unlisted = null, ...facts }: Facts = {}): Message {
  const approval = { ...anApproval(), unlisted };
  const about = { by: { team: TEAM, user: APPROVER }, at: NOON, digest: approval.request.digest };
  const decision = { verdict: "approve", reason: "Checked", ...about, ...facts } as const;
  return approvalCard(of, { ...approval, state: { type: "decided", decision, delivery } });
}

describe("a decision", () => {
  const unsure = { type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: "" } as const;
  const again = {
    type: "retry",
    notBefore: NOON,
    tries: 1,
    lost: false,
    why: "The service timed out.",
  } as const;

  test("that was answered with an error is not described as unanswered", () => {
    expect(decided(unsure)).toContain("the answer was lost");
    for (const delivery of [
      { ...unsure, failedWith: 503 },
      { ...again, lost: true, failedWith: 503 },
      { type: "sending", at: NOON, tries: 2, lost: true, failedWith: 503 } as const,
      { type: "unconfirmed", at: NOON, cause: "run-missing", failedWith: 503 } as const,
    ]) {
      expect(decided(delivery)).toContain("answered with an error (HTTP 503)");
      expect(decided(delivery)).not.toMatch(/answer was lost/);
    }
  });

  test("that the service could not confirm without the run says what it lists once it knows the run", () => {
    const missing = { type: "unconfirmed", at: NOON, cause: "run-missing" } as const;
    const known = [true, false].map((stillListed) => ({ ...missing, stillListed }));
    const [listed = "", absent = ""] = known.map((delivery) => decided(delivery));
    expect(decided(missing)).toContain("no longer knows the run");
    expect(listed).toContain("Now the service lists the request as pending. Nothing more is sent.");
    expect(absent).toContain("took effect. Look it up in the agent service.");
    expect(listed + absent).not.toContain("no longer knows the run");
    const keys = [missing, ...known].map((delivery) => {
      const approval = { ...anApproval(), state: { type: "decided", decision: DENIED, delivery } } as const;
      return renderKey(withApprovals(run, approval), cardSlot(approval.id));
    });
    expect(new Set(keys).size).toBe(3);
  });

  test("that the service could not confirm without the run does not send people there once it has forgotten the run again", () => {
    const absent = { type: "unconfirmed", at: NOON, cause: "run-missing", stillListed: false } as const;
    const again: Run = { ...run, watch: { type: "missing", since: NOON, absence: null } };
    expect(decided(absent, again)).toContain("no longer knows the run");
    expect(decided(absent, again)).not.toContain("Look it up");
    const approval = {
      ...anApproval(),
      state: { type: "decided", decision: DENIED, delivery: absent },
    } as const;
    const [known, forgotten] = [run, again].map((each) =>
      renderKey(withApprovals(each, approval), cardSlot(approval.id)),
    );
    expect(forgotten).not.toBe(known);
  });

  test("that the service calls too late is told to its person in the service's name, because the card may say later that this is unclear", () => {
    const waiting = anApproval();
    const says = {
      type: "decision-elsewhere",
      approval: waiting.id,
      words: "Denied in the console.",
    } as const;
    const notice = printedMessage(privateNotice(says, withApprovals(run, waiting)));
    expect(notice).toContain("The service says that the request was decided outside Countersign:");
    expect(notice).toContain("Denied in the console.");
    expect(notice).toContain("Its card shows where it stands.");
  });

  test("that was sent once is not described as only recorded while it waits to be listed", () => {
    const lost = { ...again, lost: true };
    const unlisted = { process: "p", since: NOON, looks: 1 };
    const titleOf = (delivery: Delivery): string => cardWith(delivery, run, { unlisted }).text;
    expect(titleOf(again)).toContain("Approval recorded, waiting");
    expect(titleOf(lost)).toContain("Approval sent, not confirmed yet");
  });

  test("of the policy names the policy once", () => {
    const reason = "Denied by policy: not decided within 4 h.";
    const shown = decided({ type: "confirmed", at: NOON, stillListed: null }, run, { by: null, reason });
    expect(shown).toContain("by the policy: not decided within 4 h.");
  });

  test("that was never sent is not described as being sent again", () => {
    expect(decided(again)).toContain("is being sent again");
    const shown = decided({ ...again, notSent: true });
    expect(shown).toContain("not delivered yet");
    expect(shown).not.toMatch(/again|, sending/);
  });

  test("that did not get through says so, since when and why", () => {
    for (const delivery of [again, { ...again, notSent: true } as const]) {
      const shown = decided(delivery);
      expect(shown).toContain("Approval recorded, not delivered yet");
      expect(shown).toContain("decided {2026-11-20 12:00:00 UTC}");
      expect(shown).toContain("The service timed out.");
      expect(shown).toContain("Countersign keeps trying");
      expect(shown).not.toContain(", sending");
    }
  });

  test("that was held says nothing else once a pause that began during its hold is over", () => {
    const { appliedRule, ...approval } = anApproval();
    const held = { ...appliedRule, rule: { ...appliedRule.rule, holdMs: 600_000 } };
    const shown = (until: number | null): string => {
      const pauses = [{ why: "slack", from: NOON + 590_000, until } as const];
      const [by, { digest }] = [{ team: TEAM, user: APPROVER }, approval.request];
      const decision = { verdict: "approve", reason: "", by, at: NOON, digest } as const;
      const undelivered = { ...approval, appliedRule: held, followUp: { pauses } };
      return printedMessage(approvalCard(run, withDelivery(undelivered, decision, again)));
    };
    expect(shown(NOON + 4_000_000)).toBe(shown(null));
  });

  test("whose answer was lost is not described as unsent, nor as under way while the service is away", () => {
    const shown = decided({ ...again, lost: true });
    expect(shown).toContain("Approval sent, not confirmed yet");
    expect(shown).not.toMatch(/not sent|recorded, sending/);
  });

  test.for([{ heldBack: true } as const, {}])(
    "whose answer was lost, and that waits again (%o), is described neither as unsent nor as sent again",
    (facts) => {
      const waits = { ...again, ...facts, lost: true, notSent: true } as const;
      const shown = decided(waits);
      expect(shown).toContain("Approval sent, not confirmed yet");
      expect(shown).toContain("The answer was lost");
      expect(shown).toContain("The service timed out.");
      expect(shown).not.toMatch(/is being sent|not sent:|recorded/);
    },
  );

  test("that was sent before, and waits until it is listed, is not described as unsent", () => {
    const away: Run = { ...run, watch: { type: "missing", since: NOON, absence: null } };
    for (const delivery of [again, { ...again, lost: true }]) {
      const shown = decided(delivery, away);
      expect(shown).toContain("does not know this run");
      expect(shown).not.toMatch(/not sent|never sent/);
    }
  });

  test("that someone else made is quoted once, without naming the service again", () => {
    const words = "The agent service says of this approval: deny.";
    const shown = decided({ type: "elsewhere", at: NOON, words });
    expect(shown).toContain('The service says: "deny."');
    expect(shown).not.toContain("agent service");
  });
});

describe("a decision that the service did not confirm", () => {
  const listed = { at: NOON, stillListed: true } as const;

  test("is not said to be made elsewhere while the service also lists its request", () => {
    const words = "The agent service answered HTTP 409 (conflict): Already denied.";
    const shown = decided({ type: "elsewhere", words, ...listed });
    expect(shown).toContain(
      'The service said that this request was already decided (HTTP 409): "Already denied."',
    );
    expect(shown).toContain("it is not clear which is true");
    expect(shown).toContain("Approval sent, not confirmed");
    expect(shown).not.toMatch(/decided elsewhere|decided outside|not applied/i);
  });

  test.for([
    { type: "elsewhere", words: "409" } as const,
    { type: "unconfirmed", cause: "no-longer-listed" } as const,
    { type: "unconfirmed", cause: "request-changed" } as const,
    { type: "unconfirmed", cause: "refused-after-lost-answer" } as const,
  ])("is said to wait at the service if the service lists its request: %o", (delivery) => {
    const shown = decided({ ...delivery, ...listed });
    expect(shown).toMatch(/(?<!no longer )lists (?:it|the request) as pending/);
    expect(shown).toContain("decide it there");
    expect(shown).not.toContain("no longer lists");
    for (const stillListed of [false, null]) {
      const before = decided({ ...delivery, at: NOON, stillListed });
      expect(before).toBe(decided({ ...delivery, at: NOON }));
      expect(before).not.toMatch(/(?<!no longer )lists (?:it|the request) as pending/);
    }
  });
});

test("the notice about a decision that is not sent again claims neither one try nor a lost answer, since the service may have answered 503 each time", () => {
  const notice = privateNotice({ type: "decision-stopped", approval: ApprovalId("apr_1") }, run);
  expect(printedMessage(notice)).toContain("It was sent, but not confirmed");
  expect(printedMessage(notice)).not.toMatch(/once|lost/);
});

describe("the message about a stop", () => {
  const stop = { by: APPROVER, at: NOON };
  const { digest } = anApproval().request;
  const denial = { verdict: "deny", reason: "", by: null, stoppedBy: APPROVER, at: NOON, digest } as const;
  const shown = (of: Run): string => printedMessage(messageIn(of, STOPPED));
  const stopped = (...approvals: Approval[]): Run => withApprovals({ ...run, stop }, ...approvals);
  const refused: Approval = { ...anApproval(), past: [{ decision: denial, cause: "refused", words: "no" }] };
  const confirmed = { type: "confirmed", at: NOON, stillListed: null } as const;

  test("says how many requests still wait because the service refused their denial, and where to decide", () => {
    const one = shown(stopped(refused));
    expect(one).toContain("1 request still waits, because the service did not accept its denial");
    expect(one).toContain("decide it on its card");
    expect(one).not.toMatch(/nothing|Denied by this stop/);
    const kept = {
      ...anApproval("apr_3"),
      state: { type: "decided", decision: denial, delivery: confirmed },
    } as const;
    const two = shown(stopped(refused, { ...refused, id: ApprovalId("apr_2") }, kept));
    expect(two).toContain("Denied by this stop: 1 request, confirmed by the service.");
    expect(two).toContain("2 requests still wait");
  });

  test("names an expired request that it could not deny, and says where to decide it", () => {
    const expired: Approval = { ...refused, state: { type: "closed", cause: "expired", at: NOON } };
    const denial = /1 expired request was not denied, .* its denial\. .* at the service\.\n• Not denied: /;
    expect(shown(stopped(expired))).toMatch(denial);
    expect(shown(stopped(expired))).not.toMatch(/will be named|did not deny any|waits/);
    expect(shown(stopped(expired, expired))).toContain("2 expired requests were not denied");
    expect(shown({ ...stopped(expired), watch: { type: "over", at: NOON } })).not.toContain("Not denied");
  });

  test("does not count a request that a person denied after the service had refused the denial of the stop", () => {
    const decision = { ...denial, by: { team: TEAM, user: APPROVER } };
    const { stoppedBy: _none, ...byPerson } = decision;
    const approval: Approval = {
      ...refused,
      state: { type: "decided", decision: byPerson, delivery: confirmed },
    };
    expect(shown(stopped(approval))).toContain("The requests that it denies will be named here.");
  });

  test("counts nothing once the record was tampered with, since the record can't be believed", () => {
    const before = stopped(refused);
    const after = markTampered(before, NOON);
    expect(shown(after)).not.toMatch(/Denied by|did not deny|waits/);
    expect(renderKey(after, STOPPED)).not.toBe(
      renderKey({ ...after, watch: { type: "over", at: NOON } }, STOPPED),
    );
  });

  test("promises no denial while the service does not know the run, since the stop denies nothing once it does", () => {
    const missing: Run = { ...run, watch: { type: "missing", since: NOON, absence: null } };
    const message = shown({ ...missing, stop });
    expect(message).toContain("requests are not denied automatically");
    const opened = [missing, { ...missing, stop }].map((each) => printedMessage(messageIn(each, OPENING)));
    for (const text of [message, ...opened]) expect(text).not.toMatch(/is denied|are denied|it denies/);
  });

  test("does not say of a lifted stop that the run has asked for nothing since", () => {
    const lifted = { ...run, stop: { ...stop, lifted: { by: APPROVER, at: NOON } } };
    expect(shown(lifted)).toContain("This stop did not deny any request.");
    expect(shown({ ...run, stop })).not.toContain("nothing");
  });

  const deniedAs = (id: string, delivery: Delivery): Approval => ({
    ...anApproval(id),
    request: { ...anApproval(id).request, action: `drop ${id}` },
    state: { type: "decided", decision: denial, delivery },
  });
  const lost: Delivery = { type: "unconfirmed", at: NOON, cause: "no-longer-listed" };

  test("names each request, with what became of its denial, and calls no denial one before it is confirmed", () => {
    const all = shown(
      stopped(deniedAs("db_1", confirmed), deniedAs("db_2", { type: "recorded" }), deniedAs("db_3", lost), {
        ...refused,
        request: { ...refused.request, action: "drop db_4" },
      }),
    );
    expect(all).toMatch(
      /• Never confirmed: \*\*drop db_3\*\*\n• Still waits: \*\*drop db_4\*\*\n• Denied: \*\*drop db_1\*\*\n• Not confirmed yet: \*\*drop db_2\*\*$/m,
    );
    expect(shown(stopped(deniedAs("db_1", { type: "recorded" })))).not.toMatch(/Denied/);
  });

  test("names five requests, and says how many more there are and where to find them", () => {
    const all = Array.from({ length: 8 }, (_none, at) => deniedAs(`db_${at}`, confirmed));
    const text = shown(stopped(...all));
    expect(text.match(/• Denied: /g)).toHaveLength(5);
    expect(text).toContain("… and 3 more. The audit has an entry for each");
    expect(shown(stopped(...all.slice(0, 5)))).not.toContain("more");
  });

  test("has another key whenever it names other requests or another fate", () => {
    const two = [deniedAs("db_1", { type: "recorded" }), deniedAs("db_2", confirmed)] as const;
    const [one, other] = two;
    const runs = [
      stopped(...two),
      stopped(deniedAs("db_1", confirmed), deniedAs("db_2", { type: "recorded" })),
      stopped(one, deniedAs("db_3", confirmed)),
      stopped(other, one),
      stopped({ ...one, version: 2, request: { ...one.request, action: "drop all" } }, other),
    ];
    expect(new Set(runs.map(shown)).size).toBe(runs.length);
    runs.push({ ...stopped(...two), posts: { [cardSlot(one.id)]: UP } });
    expect(new Set(runs.map((each) => renderKey(each, STOPPED))).size).toBe(runs.length);
  });

  const approval = {
    verdict: "approve",
    reason: "",
    by: { team: TEAM, user: APPROVER },
    at: NOON - 1,
    digest,
  } as const;
  const approvedAs = (id: string, delivery: Delivery, at = NOON - 1): Approval => ({
    ...deniedAs(id, delivery),
    state: { type: "decided", decision: { ...approval, at }, delivery },
  });
  const sending: Delivery = { type: "sending", at: NOON, tries: 1, lost: false };
  const unsure: Delivery = { type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: "no answer" };

  test("names the approvals that were sent before it and so are not stopped, first those that may still take effect", () => {
    const all = shown(
      stopped(
        approvedAs("db_1", confirmed),
        approvedAs("db_2", confirmed),
        approvedAs("db_3", unsure),
        approvedAs("db_4", lost),
        approvedAs("db_5", sending),
        approvedAs("db_6", { type: "refused", at: NOON, words: "no", absent: true }),
        approvedAs("db_7", { type: "elsewhere", at: NOON, stillListed: null, words: "no" }),
      ),
    );
    expect(all).toContain(
      "Too late to stop: 5 approvals were already sent. Those not confirmed may have taken effect: look them up",
    );
    expect(all).toMatch(
      /• Approved, not confirmed yet: \*\*drop db_3\*\*\n• Approved, never confirmed: \*\*drop db_4\*\*\n• Approved, not confirmed yet: \*\*drop db_5\*\*\n• Approved, confirmed: \*\*drop db_2\*\*\n• Approved, confirmed: \*\*drop db_1\*\*$/m,
    );
    expect(shown(stopped(deniedAs("db_1", confirmed)))).not.toContain("Too late to stop");
  });

  test("says of approvals that were sent before it what the service confirmed, also if there is only one", () => {
    const one = (delivery: Delivery): string => shown(stopped(approvedAs("db_1", delivery)));
    for (const delivery of [sending, unsure, lost])
      expect(one(delivery)).toContain(
        "Too late to stop: 1 approval was already sent. It may have taken effect: look it up in the agent service.",
      );
    expect(one(confirmed)).toContain(
      "Too late to stop: 1 approval was already sent, and the service confirmed it.",
    );
    const six = Array.from({ length: 6 }, (_none, at) => approvedAs(`db_${at}`, confirmed));
    expect(shown(stopped(...six))).toContain(
      "Too late to stop: 6 approvals were already sent, and the service confirmed them.",
    );
  });

  test("does not name an approval that was given after the stop was lifted", () => {
    const lifted = (at: number) => ({
      ...stopped(approvedAs("db_1", confirmed, at)),
      stop: { ...stop, lifted: { by: APPROVER, at: NOON + 1 } },
    });
    expect(shown(lifted(NOON + 2))).not.toContain("Too late to stop");
    expect(shown(lifted(NOON - 1))).toContain("Too late to stop: 1 approval was already sent");
  });

  test("has another key whenever it names another sent approval, another fate or another number of them", () => {
    const six = Array.from({ length: 6 }, (_none, at) => approvedAs(`db_${at}`, confirmed));
    const runs = [
      stopped(),
      stopped(approvedAs("db_1", sending)),
      stopped(approvedAs("db_1", lost)),
      stopped(approvedAs("db_1", confirmed)),
      stopped(deniedAs("db_1", confirmed)),
      stopped(...six),
      stopped(...six.slice(1)),
    ];
    expect(new Set(runs.map(shown)).size).toBe(runs.length);
    expect(new Set(runs.map((each) => renderKey(each, STOPPED))).size).toBe(runs.length);
  });
});
