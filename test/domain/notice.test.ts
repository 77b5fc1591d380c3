// When a private notice that could not be sent is tried again, and when no longer.

import { describe, expect, test } from "vitest";
import { applyOutcome, markSending, recover } from "#src/domain/apply-outcome.ts";
import type { Outcome } from "#src/domain/effect.ts";
import { ApprovalId } from "#src/domain/ids.ts";
import { LOST } from "#src/domain/message-transitions.ts";
import type { NoticeContent } from "#src/domain/notice.ts";
import { reconcile } from "#src/domain/reconcile.ts";
import type { Run } from "#src/domain/run.ts";
import { contextAt } from "../make/history.ts";
import { APPROVER, aRun, NOON } from "../make/run.ts";

const HOUR = 60 * 60_000;
const DAY = 24 * HOUR;
const SEND = { type: "send-notice", notice: "t" } as const;
const notice = {
  id: "t",
  to: APPROVER,
  says: { type: "cannot-post", words: "no" },
  state: "planned",
  notBefore: NOON,
} as const;
const LATER: Outcome = { type: "later", afterMs: null, why: "token_revoked" };

/** Fails to send the notice whenever it is due. Returns the run after `ms`, and when it was tried (ms after noon). */
function failing(
  before: Run,
  ms: number,
  outcome = LATER,
  says: NoticeContent = notice.says,
): { run: Run; tried: readonly number[] } {
  const tried: number[] = [];
  let run: Run = { ...before, posts: {}, notices: [{ ...notice, says }] };
  for (let at = NOON; at <= NOON + ms; at = run.notices[0]?.notBefore ?? Infinity) {
    tried.push(at - NOON);
    run = applyOutcome(markSending(run, SEND, at), SEND, outcome, contextAt(at - NOON));
  }
  return { run, tried };
}

const over = { ...aRun(), watch: { type: "over", at: NOON } } as const;

describe("a private notice that cannot be sent", () => {
  test("is tried less and less often, down to once a minute", () => {
    const { tried } = failing(aRun(), 10 * 60_000);
    const waits = tried.slice(1).map((at, nth) => at - (tried[nth] ?? 0));
    expect(waits.slice(0, 7)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]);
    expect(tried.length).toBeLessThan(18);
  });

  test("waits as long as Slack asks", () => {
    expect(failing(aRun(), 299_999, { ...LATER, afterMs: 300_000 }).tried).toEqual([0]);
  });

  test("is given up when its run has been over for a day, so that nothing keeps the run", () => {
    const { run } = failing(over, DAY - 60_000);
    expect(run.notices).toHaveLength(1);
    const after = failing(over, DAY + 60_000).run;
    expect(after.notices).toEqual([]);
    expect(reconcile(after, NOON + DAY).effects.map(({ type }) => type)).not.toContain("send-notice");
  });

  test("is kept while its run is watched", () => {
    expect(failing(aRun(), 3 * DAY).run.notices).toHaveLength(1);
  });

  test("that was planned by an earlier release counts as never tried", () => {
    const [first] = failing(aRun(), 0).run.notices;
    expect(first).toMatchObject({ tries: 1, notBefore: NOON + 1_000 });
  });
});

const approval = ApprovalId("apr_1");
const ABOUT_DECISIONS: readonly NoticeContent[] = [
  { type: "decision-void", approval, cause: "frozen" },
  { type: "decision-stopped", approval },
  { type: "decision-unconfirmed", approval },
  { type: "decision-still-listed", approval },
  { type: "decision-refused", approval, words: "no" },
  { type: "decision-elsewhere", approval, words: "no" },
];

describe.each(ABOUT_DECISIONS)("a private notice of the kind $type", (says) => {
  const UNSURE: Outcome = { type: "unsure", why: "HTTP 503" };

  test("is sent again after each lost answer, and after the sixth only once an hour", () => {
    const { tried, run } = failing(aRun(), 3 * HOUR, UNSURE, says);
    const prompt = [0, 1_000, 3_000, 7_000, 15_000, 31_000];
    expect(tried).toEqual([...prompt, 31_000 + HOUR, 31_000 + 2 * HOUR]);
    expect(run.notices).toMatchObject([{ id: "t", state: "planned" }]);
  });

  test("is sent again if the process dies before the answer", () => {
    const marked = markSending({ ...aRun(), notices: [{ ...notice, says }] }, SEND, NOON);
    const recovered = recover(marked, contextAt());
    expect(recovered.notices).toMatchObject([{ state: "planned", notBefore: NOON + 1_000, tries: 1 }]);
    expect(reconcile(recovered, NOON + 1_000).effects).toContainEqual(SEND);
  });

  test("is given up when its run has been over for a day", () => {
    expect(failing(over, DAY + 60_000, LOST, says).run.notices).toEqual([]);
  });

  test.each([{ type: "told" }, { type: "refused", words: "no" }] as const)(
    "is not sent again after the answer $type",
    (answer) => {
      expect(failing(aRun(), 0, answer, says).run.notices).toEqual([]);
    },
  );
});
