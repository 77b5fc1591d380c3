import { describe, expect, test } from "vitest";
import { healthReport, oneRun, runList } from "#src/adapters/slack/blocks/command-answers.ts";
import { messageIn } from "#src/adapters/slack/blocks/run-thread.ts";
import type { Approval, Delivery, Verdict } from "#src/domain/approval.ts";
import { ApprovalId, RunId } from "#src/domain/ids.ts";
import type { Json } from "#src/domain/json.ts";
import { BACK, DOWN, MISSING, renderKey } from "#src/domain/render-key.ts";
import { cardSlot, OPENING, OUTCOME, OUTPUT, type Run } from "#src/domain/run.ts";
import type { Ending } from "#src/domain/snapshot.ts";
import {
  anApproval,
  APPROVER,
  aRun,
  aWatchedRun,
  NOON,
  REQUESTER,
  TEAM,
  withApprovals,
} from "../../../make/run.ts";
import { endedRun } from "../observed.ts";
import { printedMessage } from "./printed.ts";

const input = "deploy billing-api 2026.11.3\nthen tell the on-call";
const created: Run = {
  ...aRun({ input }),
  creation: { type: "created", id: RunId("run_7"), at: NOON },
};
const seen = (status: string): Run => ({
  ...created,
  seen: { status, since: NOON, ended: null, lists: true, askedAt: NOON },
});
const ended = (how: Ending, output: string | null, extra: { [field: string]: Json } = {}): Run =>
  endedRun(created, { how, output, extra, completedAt: "2026-11-20T12:04:20Z" });

const decided = (verdict: Verdict, delivery: Delivery): Approval => ({
  ...anApproval("apr_1"),
  state: {
    type: "decided",
    decision: { verdict, reason: "No", by: { team: TEAM, user: APPROVER }, at: NOON, digest: "d" },
    delivery,
  },
});
const confirmed: Delivery = { type: "confirmed", at: NOON, stillListed: null };
const halfDone = withApprovals(
  ended("succeeded", null),
  decided("deny", confirmed),
  decided("deny", { type: "unconfirmed", at: NOON, cause: "run-missing" }),
  decided("approve", confirmed),
);

const openings: readonly (readonly [string, Run])[] = [
  ["starting", aRun({ input })],
  [
    "not started yet",
    { ...aRun({ input }), creation: { type: "planned", notBefore: 0, tries: 2, why: "HTTP 503" } },
  ],
  ["refused", { ...aRun({ input }), creation: { type: "refused", words: "HTTP 422: no", at: NOON } }],
  [
    "unknown",
    { ...aRun({ input }), creation: { type: "unknown", words: "reset", at: NOON, again: "asked" } },
  ],
  ["not seen", created],
  ["taken", { ...aRun({ input }), creation: { type: "taken", id: RunId("run_7"), at: NOON } }],
  ["queued", seen("queued")],
  ["running", seen("running")],
  ["in an unknown state", seen("thinking hard")],
  ["awaiting approval", seen("awaiting_approval")],
  ["over", ended("succeeded", null)],
  ["over, and a denial was confirmed", halfDone],
  ["missing", { ...seen("running"), watch: { type: "missing", since: NOON, absence: null } }],
  ["given up", { ...seen("running"), watch: { type: "given-up", at: NOON } }],
  ["dropped", { ...seen("running"), watch: { type: "dropped", at: NOON, by: REQUESTER } }],
  ["adopted", { ...aWatchedRun(RunId("run_8")), input: "" }],
];

describe("the opening reads, when the run is", () => {
  test.each(openings)("%s", (_state, run) =>
    expect(printedMessage(messageIn(run, OPENING))).toMatchSnapshot(),
  );
});

test("a confirmed denial gives opening and outcome another key, so that both are drawn anew", () => {
  for (const slot of [OPENING, OUTCOME])
    expect(renderKey(halfDone, slot)).not.toBe(renderKey(ended("succeeded", null), slot));
});

const outcomes: readonly (readonly [string, Run])[] = [
  [
    "is followed elsewhere",
    { ...aRun({ input }), creation: { type: "taken", id: RunId("run_7"), at: NOON } },
  ],
  ["refused", { ...aRun({ input }), creation: { type: "refused", words: "HTTP 422: no", at: NOON } }],
  [
    "unknown",
    { ...aRun({ input }), creation: { type: "unknown", words: "reset", at: NOON, again: "asked" } },
  ],
  [
    "unknown, started again",
    { ...aRun({ input }), creation: { type: "unknown", words: "", at: NOON, again: "started" } },
  ],
  [
    "unknown, left",
    { ...aRun({ input }), creation: { type: "unknown", words: "", at: NOON, again: "left" } },
  ],
  ["succeeded, and a denial was confirmed", halfDone],
  [
    "succeeded",
    ended("succeeded", "# Done\n\n- **3** hosts\n- [log](https://ci.example/1)\n\n```sh\nmake\n```"),
  ],
  ["succeeded without output", ended("succeeded", null)],
  ["failed", ended("failed", null, { error: "exit 1", attempts: 3 })],
  ["failed without a word", ended("failed", null)],
  ["canceled", ended("canceled", null, { created_at: "2026-11-20T12:00:00Z" })],
  ["succeeded at length", ended("succeeded", `${"line\n".repeat(4)}${"x".repeat(8_000)}`)],
];

describe("the outcome reads, when the run", () => {
  test.each(outcomes)("%s", (_state, run) => {
    expect(printedMessage(messageIn(run, OUTCOME)).replace(/x{20,}/, "x (many)")).toMatchSnapshot();
  });

  test("has a file that could not be attached", () => {
    const run = ended("succeeded", "x".repeat(8_001));
    const refused = {
      ...run,
      uploads: { [OUTPUT]: { type: "refused" as const, words: "Slack refused (no_space)" } },
    };
    expect(
      printedMessage({ text: "", blocks: messageIn(refused, OUTCOME).blocks.slice(-1) }),
    ).toMatchSnapshot();
  });
});

test("the notices read", () => {
  const away: Run = { ...created, outage: { since: NOON, why: "HTTP 503", until: NOON + 3 * 60_000 } };
  expect(printedMessage(messageIn(away, `${DOWN} ${NOON}`))).toMatchSnapshot("down");
  expect(printedMessage(messageIn(away, `${BACK} ${NOON}`))).toMatchSnapshot("back");
  expect(
    (
      [
        { type: "missing", since: NOON, absence: null },
        { type: "given-up", at: NOON },
        { type: "on" },
      ] as const
    ).map((watch) => printedMessage(messageIn({ ...created, watch }, MISSING))),
  ).toMatchSnapshot("missing");
  const reused: Run = {
    ...created,
    creation: { type: "created", id: RunId("run_7"), at: NOON, reused: true },
    watch: { type: "given-up", at: NOON },
  };
  expect(printedMessage(messageIn(reused, MISSING))).toMatchSnapshot("its id was used again");
});

test("the private answers read", () => {
  const run = withApprovals(seen("awaiting_approval"), anApproval());
  const linked = { run, link: "https://sandbox.slack.com/archives/C0OPS/p1" };
  expect(printedMessage(oneRun(linked))).toMatchSnapshot("one run");
  expect(
    printedMessage(
      runList(
        { name: "list", title: "Runs of your channels", none: "None." },
        [linked, { run: created, link: null }],
        1,
      ),
    ),
  ).toMatchSnapshot("list");
  expect(
    printedMessage(runList({ name: "list", title: "Runs of your channels", none: "No runs yet." }, [], 0)),
  ).toMatchSnapshot("empty list");
});

test("the health report reads, when all is well and when it is not", () => {
  const poller = { watched: 1_204, inFlight: 3, service: { type: "answers" as const, at: NOON } };
  const service = { ok: true, latencyMs: 12, fault: null, says: { status: "ok", version: "1.4.2" } };
  const gateway = {
    ok: true,
    latencyMs: 8,
    fault: null,
    says: { service: "gateway", status: "healthy", message: "fine", endpoints: ["/healthz", "/v1/models"] },
  };
  const store = { ok: true, latencyMs: 1, fault: null };
  const audit = { open: [], code: null, acknowledged: 0 };
  const unreadable = { runs: 0, approvals: 0, unanswered: 0 };
  const well = { service, gateway, poller, unreadable, store, audit };
  expect(printedMessage(healthReport(well, NOON))).toMatchSnapshot("well");
  const unread = { ...well, unreadable: { runs: 1, approvals: 2, unanswered: 0 } };
  expect(printedMessage(healthReport(unread, NOON))).toMatchSnapshot("some approvals cannot be read");
  const away = {
    ...poller,
    service: { type: "away" as const, at: NOON - 95_000, since: NOON, why: "The agent service refused." },
  };
  const useless = {
    ...poller,
    service: {
      type: "useless" as const,
      at: NOON - 95_000,
      since: NOON,
      why: "It is not JSON.",
      runs: 1_204,
    },
  };
  expect(printedMessage(healthReport({ ...well, poller: useless }, NOON))).toMatchSnapshot("of no use");
  const dead = { ok: false, latencyMs: 3, fault: "The agent service refused the connection.", says: {} };
  expect(
    printedMessage(
      healthReport(
        {
          service: dead,
          gateway,
          poller: away,
          unreadable: { runs: 0, approvals: 0, unanswered: 0 },
          store: { ok: false, latencyMs: 0, fault: null },
          audit,
        },
        NOON,
      ),
    ),
  ).toMatchSnapshot("ill");
});

test("nothing is drawn for a message that is none of ours", () => {
  for (const slot of ["", "opening ", "card", cardSlot(ApprovalId("gone"))])
    expect(() => messageIn(created, slot)).toThrow(TypeError);
});
