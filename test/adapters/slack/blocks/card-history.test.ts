// Earlier decisions, as a card and its Details show them, and the titles of decisions that are under way.

import { describe, expect, test } from "vitest";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { auditNote, historyBlocks, precedentBlocks } from "#src/adapters/slack/blocks/card-history.ts";
import { beyondForm, cardState } from "#src/adapters/slack/blocks/card-state.ts";
import { UNNAMED } from "#src/adapters/slack/blocks/deployment.ts";
import type { Approval, Dispute } from "#src/domain/approval.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import { MessageTs } from "#src/domain/ids.ts";
import { cardRenderKey } from "#src/domain/render-key.ts";
import type { Run } from "#src/domain/run.ts";
import { cardSlot, requestSlot } from "#src/domain/slot.ts";
import { channelText } from "#src/domain/text/text.ts";
import { aRequest, NOON } from "../../../make/run.ts";
import { LONG_TEXTS } from "./long-texts.ts";
import { textOf } from "./oracle.ts";
import { BEN, CLEO, CREATED, decided, decisionOf, FROZEN, PENDING } from "./page/example.ts";
import { printedBlocks, printedMessage } from "./printed.ts";

const words = (approval: Approval) => printedMessage(approvalCard(CREATED, approval));
const UP = { type: "up", ts: MessageTs("1.1"), shows: "", sweepAt: null, notBefore: 0, tries: 0 } as const;
const CONFIRMED: Delivery = { type: "confirmed", at: NOON, stillListed: null };
const [AT, DECIDED] = ["{2026-11-20 12:00:00 UTC}", "{2026-11-20 12:01:05 UTC}"];

describe("a card shows", () => {
  test("which disputes are open, and how the others were closed", () => {
    const open: Dispute = { by: BEN, at: NOON, entry: 1 };
    const closed: Dispute = { ...open, closed: { by: CLEO, at: NOON, words: "a\n  test" } };
    const shown = words({ ...decided(CONFIRMED), disputes: [open, closed] });
    expect(shown).toContain(
      `**⚠️ Disputed** by @${BEN}, ${AT}: "This was not me." The report takes nothing back.\n`,
    );
    expect(shown).toContain(`Disputed by @${BEN}, ${AT}. **Dispute closed** by @${CLEO}: a test\n`);
    const ids = approvalCard(CREATED, { ...decided(CONFIRMED), disputes: [open, closed] }).blocks;
    expect(ids.map(({ block_id }) => block_id)).toEqual(
      expect.arrayContaining(["dispute:1:open", "dispute:2:closed"]),
    );
  });

  test("who approved or denied this before, or this before it changed", () => {
    const undone = (verdict: "approve" | "deny", digest: string) => ({
      decision: { ...decisionOf(verdict, "no"), digest },
      cause: "undone" as const,
      words: "",
    });
    const past = [undone("approve", PENDING.request.digest), undone("deny", "another")];
    const shown = words({ ...PENDING, past });
    expect(shown).toContain(`@${BEN} approved this, ${DECIDED}, then took it back.`);
    expect(shown).toContain(`@${BEN} denied this before it changed, ${DECIDED}, then took it back.`);
  });

  test.for(["run-over", "refused", "restored"] as const)(
    "after its run ended, no claim that no one decided before or that nothing was sent (%s)",
    (cause) => {
      const past = [{ decision: decisionOf("approve", "yes"), cause, words: "no" }];
      const shown = words({ ...PENDING, past, state: { type: "closed", cause: "run-over", at: NOON } });
      expect(shown).toContain(`@${BEN} approved this, ${DECIDED}.`);
      expect(shown).not.toMatch(/before a decision was/);
      expect(shown).toContain("no decision made here is known to have taken effect");
    },
  );

  test("after a run ended without a decision, that none is recorded here", () => {
    const shown = words({ ...PENDING, state: { type: "closed", cause: "run-over", at: NOON } });
    expect(shown).toContain("The run ended, and no decision is recorded here.");
  });
});

describe("behind Details", () => {
  const history = (approval: Approval) => printedBlocks(historyBlocks(CREATED, approval));

  test("each decision has its whole reason and its outcome", () => {
    expect(history(PENDING)).toBe("");
    const vote = decisionOf("approve", "", CLEO);
    expect(history({ ...PENDING, votes: [vote] })).toBe(
      `@${CLEO} approved it ${DECIDED} and gave no reason.`,
    );
    const past = [{ decision: decisionOf("approve", "yes"), cause: "undone" as const, words: "" }];
    expect(history({ ...decided(CONFIRMED, "deny", "a\nb"), past })).toBe(
      [
        "**⛔ Denied.** The service confirmed it.",
        `@${BEN} denied it ${DECIDED} and said:`,
        "> a",
        "> b",
        `@${BEN} approved this, ${DECIDED}, then took it back.`,
      ].join("\n"),
    );
  });

  test.each(LONG_TEXTS)("a reason of the greatest length is shown to its end: %s", (_what, reason) => {
    expect(reason).toHaveLength(3_000);
    expect(textOf(historyBlocks(CREATED, decided(CONFIRMED, "deny", reason)))).toContain(channelText(reason));
  });

  test("the service's answer stands before the sentence that refers to it", () => {
    const answered = "Queued\nfor *later*";
    const unclear: Delivery = { type: "unconfirmed", at: NOON, cause: "request-changed", answered };
    const [title, quoted, ...rest] = history(decided(unclear)).split("\n> ");
    expect(title).toBe("**❓ Approval sent, not confirmed.** The service answered:");
    expect([quoted, ...rest].join(" ")).toMatch(
      /^Queued for \*later\*\nThat does not say whether this approval/,
    );
    const again: Delivery = { type: "retry", notBefore: 0, tries: 1, lost: true, why: "", answered };
    expect(history(decided(again))).toContain("later*\nAfter that answer, the request was still pending.");
  });

  test("an answer that may be about the changed request is not said to be lost, and a card drawn before is drawn again", () => {
    const lost: Delivery = { type: "unconfirmed", at: NOON, cause: "request-changed" };
    const accepted: Delivery = { ...lost, accepted: true };
    for (const each of [accepted, { ...accepted, stillListed: true }]) {
      expect(history(decided(each))).toContain("sent, not confirmed.** The service accepted it, but");
      expect(history(decided(each))).not.toMatch(/lost|The service confirmed/);
    }
    const key = (delivery: Delivery) => cardRenderKey(CREATED, decided(delivery));
    expect(key(accepted)).not.toBe(key(lost));
  });

  test("an auditor finds the ids of the record", () => {
    const note = (approval: Approval) => printedBlocks([auditNote(CREATED, approval, UNNAMED)]);
    const rule = { version: "0123456789ab", rule: "production" };
    const ruled = { ...PENDING, appliedRule: { ...PENDING.appliedRule, version: "ba9876543210" } };
    expect(note({ ...PENDING, version: 3 })).toMatch(
      /^\(Run run_7\) \(Audit record: request \w+ · version 3\)$/,
    );
    expect(note(PENDING)).not.toMatch(/rule|policy|entry/);
    expect(note(ruled)).toContain("rule built-in · policy ba9876543210");
    const state = {
      type: "decided",
      decision: { ...decisionOf("approve", "yes"), policy: rule },
      delivery: CONFIRMED,
    } as const;
    expect(note({ ...ruled, state })).toContain("rule production · policy 0123456789ab");
    expect(note({ ...PENDING, audited: { seq: 41, link: "f".repeat(64) } })).toMatch(/41/);
  });
});

test("earlier decisions on the same request are shown with their number, and a blank reason is left out", () => {
  const precedent = { times: 1, more: false, entry: 1, by: BEN, at: NOON };
  const lines = (facts: object, reason: string) =>
    printedBlocks(precedentBlocks({ denied: { ...precedent, ...facts, reason }, approved: null }));
  expect(lines({}, "no")).toMatch(/^Same request before: Denied \{.*\} by @U\w+: "_no_"\.$/);
  expect(lines({}, " ")).toMatch(/^Same request before: Denied \{.*\} by @U\w+\.$/);
  expect(lines({ times: 2 }, "")).toMatch(/: Denied 2 times in \d+ days, last \{.*\} by @U\w+\.$/);
  expect(lines({ more: true }, "")).toMatch(/: Denied at least 1 time in \d+ days, last /);
  expect(precedentBlocks({ denied: null, approved: null })).toEqual([]);
});

describe("the state of a card", () => {
  const unlisted = { process: "p", since: NOON, looks: 1 };
  const late = { type: "retry", notBefore: NOON, tries: 1, lost: false, why: "busy" } as const;
  const stateOf = (delivery: Delivery, verdict: "approve" | "deny" = "deny", more: Partial<Approval> = {}) =>
    cardState(CREATED, { ...decided(delivery, verdict), ...more });

  test("calls a denial a denial", () => {
    const lost = { ...late, lost: true };
    const title = (delivery: Delivery, more: Partial<Approval> = {}) => stateOf(delivery, "deny", more).title;
    expect(title(late)).toBe("🟠 Denial recorded, not delivered yet");
    expect(title(lost)).toBe("🟠 Denial sent, not confirmed yet");
    expect(title({ type: "sending", at: NOON, tries: 2, lost: true })).toBe(
      "🟠 Denial sent, not confirmed yet",
    );
    expect(title({ type: "recorded" })).toBe("🔵 Denial recorded, sending");
    expect(title({ type: "recorded" }, { unlisted })).toBe("🔵 Denial recorded, waiting");
    expect(title(lost, { unlisted })).toBe("🟠 Denial sent, not confirmed yet");
    const refused = { type: "refused", at: NOON, words: "no", absent: false } as const;
    expect(title(refused)).toBe("⚠️ Denial refused by the service");
    expect(title({ ...refused, absent: true })).toBe("⚠️ Denial refused by the service, no longer pending");
  });

  test("says what follows a refusal: the buttons come back, the run has ended, or it is no longer watched", () => {
    const refused = decided({ type: "refused", at: NOON, words: "no", absent: false });
    const drawn = (watch: Run["watch"]): string[] => {
      const run = { ...CREATED, watch, posts: { [cardSlot(refused.id)]: UP } };
      return [cardState(run, refused).text, cardRenderKey(run, refused) ?? ""];
    };
    const all = [
      drawn({ type: "on" }),
      drawn({ type: "over", at: NOON }),
      drawn({ type: "dropped", at: NOON, by: BEN }),
    ];
    expect(all.map(([text]) => text)).toEqual([
      expect.stringContaining("the buttons come back"),
      expect.stringContaining("The run has ended"),
      expect.stringContaining("no longer watches the run"),
    ]);
    expect(new Set(all.map(([, key]) => key)).size).toBe(3);
  });

  test("stays held while the service does not list it, and says so", () => {
    const held = stateOf({ type: "held", until: NOON, sendAt: NOON }, "approve", { unlisted });
    expect(held).toMatchObject({
      name: "held",
      title: "🟠 Approved, not sent yet",
      cause: null,
      held: { until: NOON },
    });
    expect(held.text).toMatch(/^Not sent yet: .* does not list this request\. .* only after /);
  });

  test("promises no check of a sent decision while the service does not say what is pending", () => {
    const unsure = { type: "unsure", since: NOON, notBefore: NOON, tries: 1, why: "" } as const;
    const drawn = (run: Run, more: Partial<Approval> = {}): string[] => {
      const approval = { ...decided(unsure), ...more };
      return [cardState(run, approval).text, cardRenderKey(run, approval) ?? ""];
    };
    const silent = { status: "awaiting_approval", since: NOON, ended: null, lists: false, askedAt: NOON };
    const checked = drawn(CREATED);
    const unchecked = [
      drawn({ ...CREATED, seen: silent }),
      drawn(CREATED, { unlisted: "in-doubt" }),
      drawn({ ...CREATED, watch: { type: "missing", since: NOON, absence: null } }),
    ];
    for (const [text] of unchecked)
      expect(text).toMatch(/^Sent, not confirmed: right now the service .* can't check/);
    expect(unchecked.join()).not.toContain("need to do anything");
    expect(new Set([checked, ...unchecked].map(([, key]) => key)).size).toBe(4);
    expect(drawn(CREATED, { unlisted })).toEqual(checked);
    expect(stateOf(unsure, "deny", { unlisted: "in-doubt" })).toMatchObject({
      name: "waiting",
      title: "🟠 Denial sent, not confirmed yet",
      cause: "unreadable",
    });
  });

  test("has a cause only if something keeps it from its end", () => {
    expect(stateOf({ type: "unconfirmed", at: NOON, cause: "tampered" }).cause).toBe("tampered");
    expect(stateOf({ type: "recorded" }, "deny", { unlisted }).cause).toBe("not-listed");
    expect([stateOf(CONFIRMED).cause, stateOf(late).cause]).toEqual([null, null]);
  });

  test("counts the fields that do not fit in a form", () => {
    expect(beyondForm(1)).toMatch(/^1 field of this request doesn't fit/);
    expect(beyondForm(2_000)).toMatch(/^2,000 fields of this request don't fit/);
  });
});

describe("a card of a request that is frozen or whose run is stopped", () => {
  const stop = { by: CLEO, at: NOON };
  const brakes = [{ frozen: FROZEN }, { stop }, { stop, frozen: FROZEN }];
  const runs = brakes.map((brake): Run => ({ ...CREATED, ...brake }));
  const fields = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`field_${at}`, "y"]));
  const long: Approval = { ...PENDING, request: aRequest({ action: "delete", ...fields }) };
  const file = (upload: object) => ({ [requestSlot(long)]: upload }) as unknown as Run["uploads"];

  test("promises no approval", () => {
    for (const run of runs) {
      const shown = printedMessage(approvalCard(run, PENDING));
      expect(shown).toMatch(
        /Nothing is approved before the (freeze|stop|stop and the freeze) (is|are) lifted\./,
      );
      expect(shown).not.toContain("It can be approved");
    }
  });

  test("sends no one to the service to approve it", () => {
    const refused = { type: "refused", words: "no room" };
    for (const run of [CREATED, ...runs])
      for (const upload of [{ type: "up" }, refused]) {
        const shown = printedMessage(approvalCard({ ...run, uploads: file(upload) }, long));
        expect(/(approve|decide) it at the service/i.test(shown)).toBe(run === CREATED);
        expect(shown).toMatch(/deny it here|at the service/i);
      }
  });
});
