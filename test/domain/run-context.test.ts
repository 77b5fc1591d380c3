import { describe, expect, test } from "vitest";
import type { Json } from "#src/domain/json.ts";
import { observe } from "#src/domain/observe.ts";
import { BUILT_IN } from "#src/domain/policy/policy.ts";
import type { Run } from "#src/domain/run.ts";
import { decide } from "#src/domain/decide.ts";
import { aSnapshot, contextAt } from "../make/history.ts";
import { APPROVER, aWatchedRun, NOON, TEAM } from "../make/run.ts";

type Fields = { readonly [name: string]: Json };

const policy = (...volatile: string[]) => ({ ...BUILT_IN, version: "1", volatile });

function seen(run: Run, extra: Fields, at = 0, rules = BUILT_IN): Run {
  return observe(
    run,
    aSnapshot(run, ["apr_1"], { input: null, extra, askedAt: NOON + at }),
    contextAt(at, rules),
  );
}

function digestWith(extra: Fields, rules = BUILT_IN): string | undefined {
  return seen(aWatchedRun("run_1" as never), extra, 0, rules).approvals[0]?.request.digest;
}

describe("the fields of a run", () => {
  test.each(["plan", "environment", "agent", "deploy_at", "usage"])("are part of the digest: %s", (name) => {
    expect(digestWith({ [name]: "a" })).not.toBe(digestWith({ [name]: "b" }));
    expect(digestWith({ [name]: "a" })).not.toBe(digestWith({}));
    expect(digestWith({ [name]: "a" })).toBe(digestWith({ [name]: "a" }));
  });

  test("are part of the digest in any order, and so is the task", () => {
    expect(digestWith({ a: 1, b: 2 })).toBe(digestWith({ b: 2, a: 1 }));
    const run = aWatchedRun();
    const withTask = (input: string) => observe(run, aSnapshot(run, ["apr_1"], { input }), contextAt());
    expect(withTask("a").approvals[0]?.request.digest).not.toBe(withTask("b").approvals[0]?.request.digest);
  });

  test.each(["created_at", "updatedAt", "elapsed-ms", "heartbeat", "status", "output"])(
    "are not part of the digest if they change while a run works: %s",
    (name) => {
      const run = seen(aWatchedRun(), { plan: "p", [name]: 1 });
      expect(seen(run, { plan: "p", [name]: 2 }, 1_000)).toBe(run);
      expect(run.context?.fields).toEqual({ plan: "p" });
    },
  );

  test("are not part of the digest if the policy says so, and are shown as first seen", () => {
    const rules = policy("run.usage", "run.plan.step", "usage");
    expect(digestWith({ usage: 1, plan: { step: 1 } }, rules)).toBe(
      digestWith({ usage: 2, plan: { step: 2 } }, rules),
    );
    expect(digestWith({ usage: 1, plan: { to: 1 } }, rules)).not.toBe(
      digestWith({ usage: 1, plan: { to: 2 } }, rules),
    );
    const run = seen(aWatchedRun(), { usage: 1 }, 0, rules);
    expect(run.context).toMatchObject({ fields: { usage: 1 }, volatile: ["usage"] });
  });

  test("are not excluded by a bare field name, which names a field of the request", () => {
    expect(digestWith({ usage: 1 }, policy("usage"))).not.toBe(digestWith({ usage: 2 }, policy("usage")));
  });

  test("that change under an open form change the request", () => {
    const run = seen(aWatchedRun(), { plan: "harmless" });
    const [approval] = run.approvals;
    const changed = seen(run, { plan: "destroy everything" }, 1_000);
    if (approval === undefined) throw new Error("nothing is listed");
    const by = { team: TEAM, user: APPROVER, kind: "member", seesChannel: true } as const;
    const { id, version, request } = approval;
    const form = { approval: id, version, digest: request.digest, was: request, verdict: "approve" } as const;
    expect(decide(changed, { ...form, reason: "", by }, contextAt(2_000))).toMatchObject({
      error: { type: "changed" },
    });
    expect(changed.approvals[0]).toMatchObject({ version: 2, state: { type: "pending" } });
  });

  test("are stored once for all approvals of the run", () => {
    const run = aWatchedRun();
    const ids = Array.from({ length: 100 }, (_, at) => `apr_${at}`);
    const plan = "x".repeat(10_000);
    const many = observe(run, aSnapshot(run, ids, { extra: { plan } }), {
      ...contextAt(),
      digest: (text) => `${text.length} ${text.slice(0, 80)}`,
    });
    expect(JSON.stringify(many).split(plan)).toHaveLength(2);
  });
});
