import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { help, oneRun, runList } from "#src/adapters/slack/blocks/command-answers.ts";
import { healthReport } from "#src/adapters/slack/blocks/health-answer.ts";
import { runForm } from "#src/adapters/slack/blocks/run-form.ts";
import { roomOf } from "#src/adapters/slack/blocks/request-blocks.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import { SUBCOMMANDS } from "#src/adapters/slack/names.ts";
import type { Approval } from "#src/domain/approval.ts";
import { callSlot } from "#src/domain/call.ts";
import { gatheredCall } from "#src/engine/gather-calls.ts";
import { ApprovalId, RunId } from "#src/domain/ids.ts";
import { isList, type Json } from "#src/domain/json.ts";
import { BACK, DOWN } from "#src/domain/render-key.ts";
import { MISSING, STOPPED, cardSlot, OPENING, OUTCOME, UNREADABLE } from "#src/domain/slot.ts";
import type { Run } from "#src/domain/run.ts";
import { clip, visible } from "#src/domain/text/text.ts";
import { anApproval, APPROVER, aRun, aWatchedRun, NOON, TEAM, withApprovals } from "../../../make/run.ts";
import { endedRun, requestOf } from "../observed.ts";
import { always, anyApproval, anyRun, anyText, anyTyped, MARK } from "./hostile.ts";
import {
  expectInert,
  expectMessage,
  expectView,
  expectWholeOrCounted,
  objectsIn,
  textOf,
  wire,
} from "./oracle.ts";
import { printedMessage } from "./printed.ts";

const PERMALINK = "https://sandbox.slack.com/archives/C0OPS/p1";

const slots: readonly (readonly [string, string])[] = [
  ["opening", OPENING],
  ["outcome", OUTCOME],
  ["notice of a missing run", MISSING],
  ["notice that the service is away", `${DOWN} ${NOON}`],
  ["notice of many requests", `storm ${NOON}`],
  ["notice that the service is back", `${BACK} ${NOON}`],
  ["card for unreadable approvals", UNREADABLE],
];

describe("whatever a run contains, Slack accepts it and no one is mentioned, for", () => {
  test.each(slots)("its %s", (_name, slot) => {
    always(anyRun(0), (run) => expectMessage(messageIn(run, slot)));
  });

  test("each of its cards", () => {
    always(fc.tuple(anyRun(0), anyApproval), ([run, approval]) => {
      const { text, blocks } = messageIn(withApprovals(run, approval), cardSlot(approval.id));
      expectMessage({ text, blocks });
    });
  });

  test("the messages that name its requests: about its stop, past calls, and the end of their time", () => {
    always(fc.tuple(anyRun(0), anyApproval), ([run, approval]) => {
      const { digest } = approval.request;
      const denial = {
        verdict: "deny",
        reason: "",
        by: null,
        stoppedBy: APPROVER,
        at: NOON,
        digest,
      } as const;
      const state = { type: "decided", decision: denial, delivery: { type: "recorded" } } as const;
      const who = { users: [], groups: [], more: 0 };
      const call = { n: 1, says: "waits", of: 1, at: NOON, notBefore: 0, who, tries: 0, lookAt: 0 } as const;
      const denied: Approval = { ...approval, version: 1, requestVersion: 1, calls: [call], state };
      const stopped: Run = { ...withApprovals(run, denied), stop: { by: APPROVER, at: NOON } };
      const of = [gatheredCall(stopped, { approval: denied, call })];
      const told: Run = { ...stopped, gathered: [{ since: NOON, says: "over", of, oldest: NOON, who }] };
      for (const slot of [STOPPED, callSlot(denied, call), `several ${NOON}`])
        expectMessage(messageIn(told, slot));
    });
  });

  test("the private answer about the run", () => {
    always(anyRun(), (run) => {
      const { text, blocks } = oneRun({ run, link: PERMALINK });
      expectMessage({ text, blocks: withoutOwnLink(blocks) });
    });
  });

  test("a list of ten runs", () => {
    always(fc.array(anyRun(2), { maxLength: 10 }), (runs) => {
      const linked = runs.map((run) => ({ run, link: PERMALINK }));
      const { text, blocks } = runList({ title: "Runs in your channels", none: "None." }, linked, true);
      expectMessage({ text, blocks: withoutOwnLink(blocks) });
    });
  });
});

/** Checks that the only link is ours, to the message that Slack itself named, and removes it. */
function withoutOwnLink<Block>(blocks: Block[]): Block[] {
  expectInert(blocks, [PERMALINK]);
  return JSON.parse(
    JSON.stringify(blocks).replaceAll(`"type":"link","url":"${PERMALINK}"`, '"type":"text"'),
  ) as Block[];
}

test.each(["x", "&", "<", "\u200B", "\u{E0041}"])(
  "five unreadable approvals of %j alone fit, and what is not shown is counted",
  (char) => {
    const source = char.repeat(2_000 / char.length);
    const ids = Array.from({ length: 40 }, (_, at) => ApprovalId(`${at}${char.repeat(200)}`));
    const item = { ids, code: "no-id", why: char.repeat(2_000), source, hidden: 7_000 };
    const items = Array.from({ length: 5 }, () => item);
    const run: Run = {
      ...aWatchedRun(RunId(char.repeat(200))),
      unreadable: { since: NOON, what: "items", count: 2_000, items },
    };
    const card = messageIn(run, UNREADABLE);
    expectMessage(card);
    const drawn = objectsIn(wire(card.blocks)).flatMap(({ type, elements }) =>
      type === "rich_text_preformatted" && isList(elements ?? null) ? [textOf(elements)] : [],
    );
    const shown = drawn.join("").replace(/⟨U\+[0-9A-F]+⟩/g, char).length;
    const missing = [...textOf(card.blocks).matchAll(/([\d,]+) more characters are not shown here/g)];
    const counted = missing.reduce((sum, [, chars]) => sum + Number(chars?.replaceAll(",", "")), 0);
    expect(shown + counted).toBe(5 * 9_000);
    expect(textOf(card.blocks)).toMatch(/38 more ids/);
  },
);

describe("on a card,", () => {
  const by = { team: TEAM, user: APPROVER };

  test("a request that fits a screen is shown in full, made visible", () => {
    const fits = anyText.filter((action) => roomOf(visible(action)) <= 2_400);
    always(fits, (action) => {
      const shown = textOf(
        approvalCard(aRun(), { ...anApproval(), request: requestOf(action, { action }) }).blocks,
      );
      expect(shown).toContain(visible(action));
    });
  });

  test("a longer request says how much is missing", () => {
    always(anyText, (action) => {
      const card = approvalCard(aRun(), { ...anApproval(), request: requestOf(action, { action }) });
      expectWholeOrCounted(card.blocks, action);
    });
  });

  test("a reason is on one line in full, or says how much is missing", () => {
    const decided = anyApproval.filter(({ state }) => state.type === "decided");
    always(decided, (approval) => {
      if (approval.state.type !== "decided" || approval.state.decision.reason === "") return;
      // Other long texts of a card also say what is missing. This test is about the reason alone.
      const { votes: _others, ...decision } = approval.state.decision;
      const state = { type: "decided", decision, delivery: { type: "recorded" } } as const;
      const alone = { ...anApproval(), request: requestOf("x", {}), state };
      const onOneLine = approval.state.decision.reason.replace(/\s+/g, " ");
      expectWholeOrCounted(approvalCard(aRun(), alone).blocks, onOneLine);
    });
  });

  test("the longest request and the longest reason fit together, however Slack counts them", () => {
    for (const each of ["x", "&", "<", "\u200B"]) {
      const request = requestOf(clip(visible(each.repeat(2_400)), 2_400).shown, {});
      const decision = {
        verdict: "deny",
        reason: each.repeat(3_000),
        by,
        at: NOON,
        digest: request.digest,
      } as const;
      const state = { type: "decided", decision, delivery: { type: "recorded" } } as const;
      expectMessage(approvalCard(aRun(), { ...anApproval(), request, state }));
    }
  });

  test("sixty decisions that the service refused fit, or their number is shown", () => {
    const decision = { verdict: "deny", reason: "no", by, at: NOON, digest: "" } as const;
    const past = Array.from(
      { length: 60 },
      () => ({ decision, cause: "refused", words: "w".repeat(400) }) as const,
    );
    expectMessage(approvalCard(aRun(), { ...anApproval(), past }));
  });

  test("strangers' words never begin or end the message", () => {
    always(fc.tuple(anyRun(0), anyApproval), ([run, approval]) => {
      const { blocks } = approvalCard(run, approval);
      const texts = objectsIn(wire(blocks)).flatMap(({ text }) => (typeof text === "string" ? [text] : []));
      expect(texts.at(0)?.startsWith(MARK)).toBe(false);
      expect(texts.at(-1)).not.toContain(MARK);
    });
  });
});

describe("in a thread,", () => {
  test("the task is shown in full, or says how much is missing", () => {
    always(anyTyped, (input) => {
      expectWholeOrCounted(messageIn(aRun({ input }), OPENING).blocks, input);
    });
  });

  test("the service's words about a run that was not started are shown in full, or say how much is missing", () => {
    always(anyText, (words) => {
      const run: Run = { ...aRun(), creation: { type: "refused", words, at: NOON } };
      expectWholeOrCounted(messageIn(run, OUTCOME).blocks, words);
    });
  });

  test("the service's words about a failed run are shown in full, or say how much is missing", () => {
    always(anyText, (detail) => {
      const run = ended("failed", null, { detail });
      expectWholeOrCounted(messageIn(run, OUTCOME).blocks, detail);
    });
  });

  test("an output that is shown only in part is attached, and its length is shown", () => {
    always(
      anyText.filter((output) => visible(output).length > 8_000),
      (output) => {
        const shown = textOf(messageIn(ended("succeeded", output, {}), OUTCOME).blocks);
        expect(shown).toContain(`The whole output (${output.length.toLocaleString("en-US")} characters)`);
      },
    );
  });

  test("an output of white space alone is still a message", () => {
    for (const output of [" ", "\n", "\n\n \t\n", "[a]: https://evil.example"])
      expectMessage(messageIn(ended("succeeded", output, {}), OUTCOME));
  });

  test("an output cut between the halves of a character shows no broken half", () => {
    const output = `${"x".repeat(2_999)}${"😀".repeat(4_000)}`;
    expect(textOf(messageIn(ended("succeeded", output, {}), OUTCOME).blocks)).not.toContain("⟨U+D83D⟩");
  });
});

function ended(how: "succeeded" | "failed", output: string | null, extra: { [field: string]: Json }): Run {
  return endedRun(aWatchedRun(), { how, output, extra });
}

test("a long list of waiting approvals stays within Slack's limits, and says how many are not shown", () => {
  const action = "Deploy billing-api 2026.11.3 to production and restart every worker afterwards. ".repeat(3);
  const waits = Array.from({ length: 120 }, () => ({
    ...anApproval(),
    request: requestOf(action, { action }),
  }));
  const run = withApprovals(aWatchedRun(), ...waits);
  expectMessage(oneRun({ run, link: null }));
  expectMessage(runList({ title: "Waiting", none: "None." }, [{ run, link: null }], false));
});

test("whatever the service and its gateway say about their health, Slack accepts it and no one is mentioned", () => {
  const fields = fc.dictionary(
    fc.constantFrom("status", "version", "service", "message", "endpoints", "other"),
    fc.oneof(anyText, fc.array(anyText, { maxLength: 40 }), fc.jsonValue() as fc.Arbitrary<Json>),
  );
  const report = fc.record({
    ok: fc.boolean(),
    latencyMs: fc.nat(),
    fault: fc.option(anyText),
    says: fields,
  });
  const poller = anyText.map((why) => ({
    watched: 3,
    inFlight: 1,
    service: { type: "away" as const, at: NOON, since: NOON, why },
  }));
  const health = fc.record({
    version: fc.constant("1.2.3"),
    key: fc.constantFrom("accepted", "refused", "unknown", "paused"),
    waiting: fc.record({
      decisions: fc.record({ count: fc.nat(), oldestMs: fc.nat(), late: fc.nat() }),
      starts: fc.nat(),
    }),
    parts: fc.constant([{ part: "slack_token", fault: "refused", unready: false }]),
    service: report,
    gateway: report,
    poller,
    unreadable: fc.record({ runs: fc.nat(), approvals: fc.nat(), unanswered: fc.nat() }),
    store: fc.record({ ok: fc.boolean(), latencyMs: fc.nat(), fault: fc.option(anyText) }),
    policy: fc.constantFrom("in force", "faulty", "not recorded"),
    frozen: fc.constant({ everywhere: null, channels: 2 }),
    audit: fc.record({
      open: fc.array(fc.record({ id: anyText, words: anyText, run: fc.constant(null) })),
      code: fc.option(fc.constant("0123456789")),
      acknowledged: fc.nat(),
    }),
  });
  always(health, (each) =>
    expectMessage(healthReport(each as unknown as Parameters<typeof healthReport>[0], NOON)),
  );
});

test("endpoints that are not shown are counted", () => {
  const endpoints = Array.from({ length: 45 }, (_, at) => `/v1/path/${at}`);
  const report = { ok: true, latencyMs: 1, fault: null, publicFault: null, says: { endpoints } };
  const poller = { watched: 0, inFlight: 0, service: { type: "unknown" as const } };
  const health = {
    version: "1.2.3",
    key: "accepted" as const,
    waiting: { decisions: { count: 0, oldestMs: 0, late: 0 }, starts: 0 },
    parts: [],
    service: report,
    gateway: report,
    poller,
    unreadable: { runs: 0, approvals: 0, unanswered: 0 },
    store: { ok: true, latencyMs: 1, fault: null },
    audit: { open: [], code: null, acknowledged: 0 },
    policy: "in force" as const,
    frozen: { everywhere: null, channels: 0 },
  };
  const shown = textOf(healthReport(health, NOON).blocks);
  expect(endpoints.every((each) => shown.includes(each)) || /\d+ more/.test(shown)).toBe(true);
});

test.each([false, true])(
  "Slack accepts the form that starts a run (it asks for a channel: %s)",
  (asksWhere) => {
    const form = runForm("nonce C0OPS", asksWhere);
    expectView(form);
    expect(JSON.stringify(form).includes("conversations_select")).toBe(asksWhere);
  },
);

test("the help names every subcommand", () => {
  const message = help("/agent");
  expectMessage(message);
  for (const name of SUBCOMMANDS) expect(printedMessage(message)).toContain(`\`/agent ${name}`);
});

test("code points that render as nothing are written by number, variation selectors too", () => {
  const unseen = [
    "\u{FE00}",
    "\u{FE0E}",
    "\u{E0100}",
    "\u{E01EF}",
    "\u200B",
    "\u00AD",
    "\u{E0041}",
    "\u115F",
    "\u180E",
  ];
  for (const each of unseen) expectMessage(messageIn(aRun({ input: `pay${each}roll` }), OPENING));
});
