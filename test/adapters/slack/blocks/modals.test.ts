import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Approval, Decision, Request } from "#src/domain/approval.ts";
import { withDelivery } from "#src/domain/approval-transitions.ts";
import { UserId } from "#src/domain/ids.ts";
import type { Json } from "#src/domain/json.ts";
import { MODAL_HOLDS_CHARS, requestParts } from "#src/domain/text/request-text.ts";
import { difference } from "#src/adapters/slack/blocks/request-blocks.ts";
import { changedModal, formView, readModal } from "#src/adapters/slack/blocks/decision-modal.ts";
import { reviewSeveralModal, reviewView } from "#src/adapters/slack/blocks/review-modal.ts";
import { withTypedText } from "#src/adapters/slack/blocks/typed-text.ts";
import { BUILT_IN_RULE } from "#src/domain/policy/policy.ts";
import { anApproval, aNonce, aWatchedRun, NOON, REQUESTER, TEAM, withApprovals } from "../../../make/run.ts";
import { always, anyRequest, anyRun, anyText } from "./hostile.ts";
import { requestOf } from "../observed.ts";
import { expectView, expectWholeOrCounted, textOf } from "./oracle.ts";
import { printedBlocks, printedView } from "./printed.ts";

const run = aWatchedRun();
const nonce = aNonce();

const fitting = anyRequest.filter(({ chars }) => chars <= MODAL_HOLDS_CHARS);

describe("what changed is shown", () => {
  const changed = (was: Json, is: Json): string =>
    printedBlocks(difference(run, requestOf("run it", was), requestOf("run it", is)));

  test("also if the lines of a value are in another order", () => {
    expect(changed({ script: "backup\ndelete" }, { script: "delete\nbackup" })).toBe(
      "**What changed:**\n| − script: backup\n| \tdelete\n| + script: delete\n| \tbackup",
    );
  });

  test("also if two fields swap their values", () => {
    expect(changed({ from: "a\nb", to: "c\nd" }, { from: "c\nd", to: "a\nb" })).toBe(
      "**What changed:**\n| − from: a\n| \tb\n| + from: c\n| \td\n| − to: c\n| \td\n| + to: a\n| \tb",
    );
  });

  test("with the lines of a value behind an indent, so that none passes for another change", () => {
    const text = changed({ note: "x", target: "a" }, { note: "y\n+ target: sandbox", target: "b" });
    expect(text).toContain("| + note: y\n| \t+ target: sandbox\n| − target: a\n| + target: b");
  });

  test("of a field of the request that is named like a field of its run, in a request of any length", () => {
    const context = { fields: { plan: "same" }, volatile: [], digest: "d", chars: 4 };
    for (const pad of ["", "x".repeat(MODAL_HOLDS_CHARS)]) {
      const sent = (plan: string) => ({ ...requestOf(pad, { "run: plan": plan }), context: "d" });
      const text = printedBlocks(difference({ ...run, context }, sent("old"), sent("new")));
      expect(text).toBe("**What changed:**\n| − run: plan: old\n| + run: plan: new");
    }
  });

  test("of a long value around what changed, and the whole change if there is room", () => {
    const long = (middle: string): string => `${"x ".repeat(500)}${middle}${" y".repeat(500)}`;
    expect(changed({ sql: long("one") }, { sql: long("two") })).toMatch(
      /^.*\n\| − sql: …[x ]{80}one[ y]{80}…\n\| \+ sql: …[x ]{80}two[ y]{80}…$/,
    );
    expect(changed({ sql: long("a") }, { sql: long("b").replace(/y$/, "z") })).toMatch(/ y$[^]* z$/m);
  });

  test("of a small record by the path of each member that changed, and not the rest of the record", () => {
    const sent = (env: string) => ({ arguments: { service: "billing-api", env, replicas: 4 } });
    expect(changed(sent("staging"), sent("production"))).toBe(
      "**What changed:**\n| − arguments.env: staging\n| + arguments.env: production",
    );
    expect(changed({ arguments: { a: 1, b: 2 } }, { arguments: { a: 1, c: 3 } })).toBe(
      "**What changed:**\n| − arguments.b: 2\n| + arguments.c: 3",
    );
  });

  test("of a record of the run by the path of each member that changed", () => {
    const shown = (env: string) => ({
      fields: { plan: { env, size: 1 } },
      volatile: [],
      digest: env,
      chars: 4,
    });
    const sent = (env: string) => ({ ...requestOf("run it", {}), context: env, shownContext: shown(env) });
    expect(printedBlocks(difference(run, sent("old"), sent("new")))).toBe(
      "**What changed:**\n| − run: plan.env: old\n| + run: plan.env: new",
    );
  });

  test("of a whole record if a member that changed reads as before", () => {
    const text = changed({ arguments: { a: "1", b: "x" } }, { arguments: { a: 1, b: "y" } });
    expect(text).toContain('| \t  "a": "1",');
    expect(text).toContain('| \t  "a": 1,');
    expect(changed({ arguments: { a: 1, b: 2 } }, { arguments: { b: 2, a: 1 } })).toContain("− arguments: {");
  });

  test("of a record that came, went or is no longer small, in full", () => {
    expect(changed({}, { arguments: { a: 1 } })).toBe(
      '**What changed:**\n| + arguments: {\n| \t  "a": 1\n| \t}',
    );
    expect(changed({ arguments: { a: 1 } }, { arguments: { a: [1] } })).toContain("− arguments: {");
  });

  test("with the number of characters that are left out", () => {
    expect(changed({ sql: "a" }, { sql: "b".repeat(10_000) })).toMatch(/b… \(7,580 more\)$/);
  });

  test("in words if every field reads as before", () => {
    const text = changed({ dry_run: "true" }, { dry_run: true });
    expect(text).toContain("**What changed: **Each field reads as before.");
    expect(text).not.toContain("|");
  });
});

test("a change in the run's own fields is shown line by line", () => {
  const context = (plan: string) => ({ fields: { plan }, volatile: [], digest: plan, chars: plan.length });
  const request = { ...requestOf("deploy", { action: "deploy" }), context: "destroy", contextChars: 8 };
  const before = { ...request, context: "harmless", shownContext: context("harmless") };
  const run = { ...aWatchedRun(), context: context("destroy") };
  const text = textOf(changedModal(run, before, request).blocks);
  expect(text).toContain("− run: plan: harmless");
  expect(text).toContain("+ run: plan: destroy");
  expect(
    textOf(formView({ run, ticket: { saw: request, verdict: "approve", nonce: aNonce() } }).blocks),
  ).toContain("plan: destroy");
  expect(textOf(readModal(run, request).blocks)).toContain("plan: destroy");
});

test("the form for several requests shows the votes, the question and the consequence that the form for one shows", () => {
  const CLEO = UserId("U0CLEO");
  const answer = { by: REQUESTER, at: NOON, text: "No, there is none." };
  const question = { id: aNonce(), by: CLEO, at: NOON, text: "Is there a back-up?", answer };
  const approvals = ["apr_1", "apr_2"].map((id): Approval => {
    const { appliedRule, ...approval } = anApproval(id);
    const { digest } = approval.request;
    const by = { team: TEAM, user: CLEO };
    const vote = { verdict: "approve", reason: `after ${id}`, by, at: NOON, digest } as const;
    const rule = { ...appliedRule.rule, needs: 3 };
    const request = { ...approval.request, digest: id };
    return {
      ...approval,
      request,
      votes: [vote],
      appliedRule: { ...appliedRule, rule },
      followUp: { questions: [question] },
    };
  });
  const run = withApprovals(aWatchedRun(), ...approvals);
  const forms = approvals.map((approval) => ({
    item: { run, approval, rule: BUILT_IN_RULE },
    nonce: aNonce(),
  }));
  const opened = { bundle: nonce, forms, apart: [], later: [], kind: "run", value: "", last: null } as const;
  const several = printedView(reviewSeveralModal(opened, []));
  expectView(reviewSeveralModal(opened, []));
  for (const { request } of approvals) {
    const ticket = { saw: request, verdict: "approve", nonce, choice: true } as const;
    const one = printedView(reviewView({ run, ticket }));
    for (const words of [
      `> after ${request.digest}`,
      "> Is there a back-up?",
      "> No, there is none.",
      "If you approve: 1 more person must approve it before anything is sent.",
    ]) {
      expect(one).toContain(words);
      expect(several).toContain(words);
    }
  }
});

describe("a form says that a denial cannot be undone,", () => {
  const asked = anApproval();
  const given = (user: string): Decision => {
    const by = { team: TEAM, user: UserId(user) };
    return { verdict: "approve", reason: "", by, at: NOON, digest: asked.request.digest };
  };
  const denying = (approval: Approval, facts: { readonly choice?: true } = {}): string => {
    const ticket = { saw: approval.request, verdict: "deny", nonce, ...facts } as const;
    return printedView(reviewView({ run: withApprovals(run, approval), ticket }));
  };

  test("and when it is sent", () => {
    const words = "The denial is sent at once, or as soon as the service can take it.";
    expect(denying(asked)).toContain(`You can't undo this. ${words}`);
    expect(denying(asked, { choice: true })).toContain(`If you deny: you can't undo this. ${words}`);
    expect(denying(asked)).not.toContain("overrules");
    const forms = [{ item: { run, approval: asked, rule: BUILT_IN_RULE }, nonce }];
    const opened = {
      bundle: nonce,
      forms,
      apart: [],
      later: [],
      kind: "run",
      value: "",
      last: null,
    } as const;
    expect(printedView(reviewSeveralModal(opened, []))).toContain("You can't undo a denial.");
  });

  test("and which approvals it overrules, on hold or not", () => {
    const one = { ...asked, votes: [given("U0CLEO")] };
    const two = { ...asked, votes: [given("U0CLEO"), given("U0DAN")] };
    const held = withDelivery(
      asked,
      { ...given("U0CLEO"), votes: two.votes.slice(1) },
      { type: "held", until: NOON, sendAt: NOON },
    );
    expect(denying(one)).toContain("It overrules the approval given so far.");
    for (const each of [two, held])
      expect(denying(each)).toContain("It overrules the 2 approvals given so far.");
  });
});

describe("whatever the request, Slack accepts the modal and no one is mentioned,", () => {
  test("when it is to be decided", () => {
    always(fc.tuple(anyRun(0), anyRequest), ([each, request]) => {
      expectView(formView({ run: each, ticket: { saw: request, verdict: "approve", nonce } }));
      expectView(formView({ run: each, ticket: { saw: request, verdict: "deny", nonce } }));
    });
  });

  test("when rules that apply together offer more reasons than a menu holds", () => {
    const approval = anApproval();
    const denyReasons = Array.from({ length: 120 }, (_, at) => `Reason ${at}`);
    const appliedRule = { ...approval.appliedRule, rule: { ...approval.appliedRule.rule, denyReasons } };
    const run = withApprovals(aWatchedRun(), { ...approval, appliedRule });
    expectView(formView({ run, ticket: { saw: approval.request, verdict: "deny", nonce } }));
  });

  test("when it is read", () => {
    always(fc.tuple(anyRun(0), anyRequest), ([each, request]) => expectView(readModal(each, request)));
  });

  test("when it changed", () => {
    always(fc.tuple(anyRun(0), fc.option(anyRequest), anyRequest), ([each, before, after]) =>
      expectView(changedModal(each, before, after)),
    );
  });

  test("when both texts, before and after, have the maximum length of a modal", () => {
    const full = (char: string): Request => requestOf(char.repeat(MODAL_HOLDS_CHARS), {});
    for (const [before = "", after = ""] of [
      ["x", "y"],
      ["é", "è"],
      ["漢", "字"],
    ])
      expectView(withTypedText(changedModal(run, full(before), full(after)), after.repeat(3_000)));
  });

  test("when it has very many fields", () => {
    const fields = Object.fromEntries(Array.from({ length: 6_000 }, (_, at) => [`${at}`, "y"]));
    const request = requestOf("x", fields);
    expect(request.chars).toBeLessThanOrEqual(MODAL_HOLDS_CHARS);
    expectView(formView({ run, ticket: { saw: request, verdict: "approve", nonce } }));
  });
});

describe("an approver sees", () => {
  test("the whole request in the modal, with every field", () => {
    always(fitting, (request) => {
      for (const view of [
        readModal(run, request),
        formView({ run, ticket: { saw: request, verdict: "deny", nonce } }),
      ])
        expectWhole(textOf(view), request);
    });
  });

  test("how much of a longer request is missing, and where to find it", () => {
    always(anyText, (action) => {
      expectWholeOrCounted(readModal(run, requestOf(action, { action })), action);
    });
  });

  test("the old and the new version of a changed request, if there is room", () => {
    const small = anyText.map((action) => requestOf(action.slice(0, 500), {}));
    always(fc.tuple(small, small), ([before, after]) => {
      const shown = textOf(changedModal(run, before, after));
      expectWhole(shown, before);
      expectWhole(shown, after);
    });
  });

  test("that something changed, even in a field whose name has another meaning to us", () => {
    const before = requestOf("deploy", { action: "deploy", id: "a", requested_at: "2026-11-20T12:00:00Z" });
    const after = requestOf("deploy", { action: "deploy", id: "a", requested_at: "2026-11-20T12:30:00Z" });
    const shown = printedView(changedModal(run, before, after));
    expect(shown).toContain("12:30:00");
  });
});

function expectWhole(shown: string, request: Request): void {
  const { action, fields } = requestParts(request, "open");
  expect(shown).toContain(action ?? "The service did not say what the action is");
  for (const { name, text } of fields) {
    expect(shown).toContain(name);
    expect(shown).toContain(text);
  }
}
