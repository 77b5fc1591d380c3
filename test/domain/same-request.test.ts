// When two requests count as the same, so that earlier decisions apply to both.

import { describe, expect, test } from "vitest";
import { ApprovalId, RunId } from "#src/domain/ids.ts";
import type { Json } from "#src/domain/json.ts";
import { observe } from "#src/domain/observe.ts";
import type { Policy } from "#src/domain/policy/policy.ts";
import { applyPrecedents, askedText, precedentsOf, wantsPrecedents } from "#src/domain/same-request.ts";
import { lookUpKeyOf } from "#src/domain/applied-rule.ts";
import { renderKey } from "#src/domain/render-key.ts";
import type { Run } from "#src/domain/run.ts";
import { cardSlot } from "#src/domain/slot.ts";
import { aPolicy } from "../make/policy.ts";
import { aSnapshot, contextAt } from "../make/history.ts";
import { APPROVER, aRunId, aWatchedRun, NOON } from "../make/run.ts";

type Asked = {
  readonly content?: { readonly [name: string]: Json };
  readonly id?: string;
  readonly run?: RunId;
  readonly input?: string;
  readonly extra?: { readonly [name: string]: Json };
  readonly policy?: Policy;
  readonly action?: string | null;
};

const CONTENT = { action: "delete it", target: "db-1" };

function listed({ content = CONTENT, id = "apr_1", run = aRunId(), ...rest }: Asked): Run {
  const { input = "task", extra = {}, policy, action } = rest;
  const watched = aWatchedRun(run);
  const snapshot = aSnapshot(watched, [{ id, content }], { input, extra });
  const pending =
    snapshot.pending?.map((each) => (action === undefined ? each : { ...each, action })) ?? null;
  return observe(watched, { ...snapshot, pending }, contextAt(0, policy));
}

function asked(facts: Asked = {}, rule = "a rule"): string | null {
  const run = listed(facts);
  const [approval] = run.approvals;
  if (approval === undefined) throw new Error("nothing is listed");
  return askedText(run, approval, rule);
}

describe("two requests are the same", () => {
  test("if they come from another run, under other ids and at another time", () => {
    const first = { ...CONTENT, id: "apr_1", requested_at: "2026-01-01T00:00:00Z", status: "pending" };
    const again = { ...CONTENT, id: "apr_9", requested_at: "2026-02-02T00:00:00Z", status: "pending" };
    expect(asked({ content: first })).not.toBeNull();
    expect(asked({ content: again, id: "apr_9", input: "another task" })).toBe(asked({ content: first }));
  });

  test.for<Json>([
    null,
    "2026-01-01T00:00:00Z",
    "2026-01-01T00:00:00.123456+01:00",
    "2026-01-01 00:00:00",
    1_767_225_600,
    1_767_225_600_000,
  ])("if a field of times contains a time, or none yet: %j", (time) => {
    const times = { requested_at: time, createdAt: time, updated_at: time, resolved_at: time };
    expect(asked({ content: { ...CONTENT, ...times } })).toBe(asked());
  });

  test.for<Json>([
    { command: "DROP DATABASE prod" },
    ["2026-01-01T00:00:00Z"],
    "DROP DATABASE prod",
    "2026-01-01T00:00:00Z; rm -rf /",
    "",
    true,
    5,
  ])("but not if a field of times contains anything else: %j", (value) => {
    for (const name of ["requested_at", "createdAt", "updated_at", "resolved_at"])
      expect(asked({ content: { ...CONTENT, [name]: value } })).not.toBe(asked());
  });

  test("if they differ only in fields that the policy calls volatile, of the request or of its run", () => {
    const policy = { ...aPolicy({}), volatile: ["trace", "run.session"] };
    const one = asked({ content: { ...CONTENT, trace: "1" }, extra: { session: "1" }, policy });
    expect(asked({ content: { ...CONTENT, trace: "2" }, extra: { session: "2" }, policy })).toBe(one);
  });

  test.each([
    ["another field", { content: { ...CONTENT, force: true } }],
    ["another value", { content: { ...CONTENT, target: "db-2" } }],
    ["a number instead of a text", { content: { ...CONTENT, target: 1 } }],
    ["another place that only the run names", { extra: { environment: "production" } }],
    ["a duration", { content: { ...CONTENT, duration: "30 d" } }],
  ] as const)("but not with %s", (_what, facts) => {
    expect(asked(facts)).not.toBe(asked());
  });

  test("but not under another rule", () => {
    expect(asked({}, "production")).not.toBe(asked({}, "staging"));
  });

  test("but not if one names the id of another run or approval: that may be its target", () => {
    const run = RunId("run_of_its_own");
    const own = asked({ content: { ...CONTENT, run_id: "run_of_its_own", approvalId: "apr_1" }, run });
    expect(own).toBe(asked());
    expect(asked({ content: { ...CONTENT, run_id: "run_other" }, run })).not.toBe(own);
    expect(asked({ content: { ...CONTENT, status: "archived" }, run })).not.toBe(own);
  });

  test("but it is unknown if the service does not send the request", () => {
    expect(asked({ content: {}, action: null })).toBeNull();
  });
});

describe("the precedents of a request", () => {
  const run = listed({});
  const [approval] = run.approvals;
  if (approval === undefined) throw new Error("nothing is listed");
  const { id } = approval;
  const approved = { times: 3, more: false, entry: 7, by: APPROVER, at: NOON };
  const found = { type: "precedents", of: lookUpKeyOf(approval), denied: null, approved } as const;

  test("are looked up once per card version, and change what the card shows", () => {
    expect(wantsPrecedents(approval)).toBe(true);
    const next = applyPrecedents(run, id, found);
    const [after] = next.approvals;
    if (after === undefined) throw new Error("the approval is gone");
    expect(wantsPrecedents(after)).toBe(false);
    expect(precedentsOf(after).approved).toEqual(approved);
    expect(renderKey(next, cardSlot(id))).not.toBe(renderKey(run, cardSlot(id)));
    expect(wantsPrecedents({ ...after, version: 2 })).toBe(true);
    expect(precedentsOf({ ...after, version: 2 }).approved).toBeNull();
  });

  test("cause no redraw if there are none", () => {
    const next = applyPrecedents(run, id, { ...found, approved: null });
    expect(renderKey(next, cardSlot(id))).toBe(renderKey(run, cardSlot(id)));
  });

  test("are not used for another version or another approval", () => {
    expect(applyPrecedents(run, id, { ...found, of: "another" })).toBe(run);
    expect(applyPrecedents(run, ApprovalId("another"), found)).toBe(run);
  });
});
