// Undo, and what an Undo of an older version says.

import { describe, expect, test } from "vitest";
import { undo } from "#src/domain/decide.ts";
import { ApprovalId, TeamId, type UserId } from "#src/domain/ids.ts";
import { replaceApproval } from "#src/domain/run.ts";
import { APPROVER, TEAM } from "../make/run.ts";
import { approvalOf, done, ID, member, SECOND, under } from "../make/voting.ts";

describe("an undo", () => {
  const { at, submit, run } = under({ needs: 2, holdMs: 10_000 });
  const voters = [member(APPROVER)];
  const held = done(submit(done(submit(run)), { by: member(SECOND), voters }));
  const { version } = approvalOf(held);
  const by = (user: UserId) => ({ approval: ID, version, by: { team: TEAM, user } });

  test.for([APPROVER, SECOND])("by one of two (%s) keeps the other's approval", (user) => {
    const back = done(undo(held, by(user), at()));
    const other = user === APPROVER ? SECOND : APPROVER;
    expect(approvalOf(back).votes.map((vote) => vote.by?.user)).toEqual([other]);
    expect(approvalOf(back).past.map(({ cause, decision }) => [cause, decision.by?.user])).toEqual([
      ["undone", user],
    ]);
    const others = back.notices.flatMap(({ to, says }) => ("cause" in says ? [[to, says.cause]] : []));
    expect(others).toEqual([[other, "others-needed"]]);
  });

  test("by the same id in another workspace is refused", () => {
    const elsewhere = { ...by(APPROVER), by: { team: TeamId("T0ELSEWHERE"), user: APPROVER } };
    expect(undo(held, elsewhere, at())).toMatchObject({ error: { type: "not-yours" } });
  });

  test("comes too late if the approval is pending", () => {
    expect(undo(run, { ...by(APPROVER), version: 1 }, at())).toMatchObject({ error: { type: "too-late" } });
  });

  test("says that the approval still counts if another person's undo came first", () => {
    const back = done(undo(held, by(APPROVER), at()));
    expect(undo(back, by(SECOND), at())).toMatchObject({
      error: { type: "too-late", became: { type: "counts" } },
    });
  });

  test("of a form that another person decided says where their decision is", () => {
    const open = approvalOf(done(undo(held, by(APPROVER), at())));
    const changed = replaceApproval(held, { ...open, version: version + 2, votes: [], past: [] });
    expect(undo(changed, by(APPROVER), at())).toMatchObject({ error: { type: "too-late", became: null } });
    const again = replaceApproval(held, { ...approvalOf(held), version: version + 1 });
    for (const user of [APPROVER, SECOND])
      expect(undo(again, by(user), at())).toMatchObject({ error: { became: { type: "stands" } } });
  });

  test("says that it comes too late, if the person's approval became void for another reason", () => {
    const back = approvalOf(done(undo(held, by(APPROVER), at())));
    const past = back.past.map((each) => ({ ...each, cause: "rule-changed" }) as const);
    const voided = replaceApproval(held, { ...back, past, votes: [] });
    expect(undo(voided, by(APPROVER), at())).toMatchObject({ error: { type: "too-late" } });
  });

  test("comes too late if the approval changed, and is unknown if the approval does not exist", () => {
    const changed = replaceApproval(held, { ...approvalOf(held), version: version + 1 });
    expect(undo(changed, by(APPROVER), at())).toMatchObject({ error: { type: "too-late" } });
    const other = { ...by(APPROVER), approval: ApprovalId("apr_9") };
    expect(undo(held, other, at())).toMatchObject({ error: { type: "unknown" } });
  });
});

describe("an approval that is held, and that the same person undid and gave again", () => {
  const { at, submit, run } = under({ holdMs: 10_000 });
  const held = done(submit(run));
  const { version } = approvalOf(held);
  const by = (user: UserId) => ({ approval: ID, version, by: { team: TEAM, user } });
  const back = done(undo(held, by(APPROVER), at()));
  const again = done(submit(back, { version: version + 1 }));
  const undoneBefore = undo(again, by(APPROVER), at());

  test("is not undone by the earlier Undo, which says that it stands", () => {
    expect(approvalOf(again).state).toMatchObject({ delivery: { type: "held" } });
    expect(undoneBefore).toEqual({ ok: false, error: { type: "too-late", became: { type: "stands" } } });
  });

  test("is undone by its own Undo", () => {
    const next = done(undo(again, { ...by(APPROVER), version: version + 1 }, at()));
    expect(approvalOf(next).state.type).toBe("pending");
  });

  test("is named as sent by the earlier Undo once it is sent", () => {
    const { state } = approvalOf(again);
    if (state.type !== "decided") throw new Error("not decided");
    const delivery = { type: "sending", at: 0, tries: 1, lost: false } as const;
    const sent = replaceApproval(again, { ...approvalOf(again), state: { ...state, delivery } });
    const became = { type: "sent", at: null };
    expect(undo(sent, by(APPROVER), at())).toEqual({ ok: false, error: { type: "too-late", became } });
  });

  test("is not mistaken for the approval of another person", () => {
    const byOther = done(submit(back, { version: version + 1, by: member(SECOND) }));
    expect(undo(byOther, by(APPROVER), at())).toEqual({
      ok: false,
      error: { type: "too-late", became: null },
    });
  });
});
