import { describe, expect, test } from "vitest";
import type { Refusal } from "#src/core/decide.ts";
import { ApprovalId } from "#src/core/ids.ts";
import type { Said } from "#src/core/run.ts";
import type { NoRun } from "#src/flow/no-run.ts";
import { privateWords } from "#src/slack/blocks/private-words.ts";
import { refusedModal } from "#src/slack/blocks/decision-modal.ts";
import { noRunWords, refusalPlain, refusalTitle, refusalWords } from "#src/slack/blocks/refusal-words.ts";
import { APPROVER, aRequest, aRun, aWatchedRun, NOON, TEAM } from "../../make/run.ts";
import { always, anyText } from "./hostile.ts";
import { expectMessage, expectSeen, expectView } from "./oracle.ts";
import { printedMessage } from "./printed.ts";

const decision = {
  verdict: "deny",
  reason: "<!channel>",
  by: { team: TEAM, user: APPROVER },
  at: NOON,
  digest: "",
} as const;

const refusals: readonly Refusal[] = [
  { because: "requester" },
  { because: "guest" },
  { because: "outsider" },
  { because: "bot" },
  { because: "deactivated" },
  { because: "not-in-channel" },
  { because: "unverified" },
  { because: "already-decided", decision, settled: true },
  { because: "closed", why: "no-longer-listed" },
  { because: "closed", why: "run-over" },
  { because: "closed", why: "run-missing" },
  { because: "closed", why: "unwatched" },
  { because: "changed", was: null, is: aRequest() },
  { because: "undone" },
  { because: "reopened" },
  { because: "unknown" },
  { because: "reason-needed" },
  { because: "reason-too-long", chars: 3_001 },
];

const run = aWatchedRun();

const noRuns: readonly NoRun[] = [
  { because: "empty-task" },
  { because: "guest" },
  { because: "outsider" },
  { because: "bot" },
  { because: "deactivated" },
  { because: "not-in-channel" },
  { because: "unverified" },
  { because: "hidden-channel" },
  { because: "not-a-channel" },
  { because: "unknown-run" },
  { because: "not-watched", run },
  { because: "deciding", run },
  { because: "already-watched", run },
  { because: "id-used-again", run },
  { because: "answered" },
  { because: "service-silent", words: "HTTP 503 <busy>" },
];

const approval = ApprovalId("apr_1");
const says = (words: string): Said[] => [
  { is: "cannot-post", words, code: "not_in_channel" },
  { is: "cannot-post", words, code: "is_archived" },
  { is: "cannot-post", words, code: "msg_too_long" },
  { is: "decision-void", approval, because: "request-changed" },
  { is: "decision-void", approval, because: "voter-may-not" },
  { is: "decision-void", approval, because: "rule-changed" },
  { is: "decision-void", approval, because: "others-needed" },
  { is: "decision-stopped", approval },
  { is: "decision-void", approval, because: "no-longer-listed" },
  { is: "decision-void", approval, because: "run-missing" },
  { is: "decision-void", approval, because: "run-over" },
  { is: "decision-refused", approval, words },
  { is: "decision-elsewhere", approval, words },
];

describe("every «no» reads", () => {
  test("to who decides", () => {
    expect(refusals.map((each) => `${each.because}: ${refusalWords(each)}`)).toMatchSnapshot("in markup");
    expect(refusals.map((each) => `${each.because}: ${refusalPlain(each)}`)).toMatchSnapshot("in a field");
  });

  test("to who starts or watches", () => {
    expect(noRuns.map((each) => `${each.because}: ${noRunWords(each, "/agent")}`)).toMatchSnapshot();
  });

  test("to who is told privately", () => {
    expect(says("HTTP 409").map((each) => printedMessage(privateWords(each, aRun())))).toMatchSnapshot();
  });
});

test("a refusal fits into a modal and into a field's error", () => {
  for (const each of refusals) {
    expectView(refusedModal(refusalTitle(each), refusalWords(each)));
    expect(refusalPlain(each)).not.toMatch(/[<>*]/);
  }
});

test("the only tokens in them are people, channels and moments of ours", () => {
  const own = /<@U0APPROVER>|<#C0OPS>|<!date\^\d+\^\{date_short_pretty\} at \{time\}\|[^<>|]+>/g;
  const told = [
    ...refusals.flatMap((each) => [refusalWords(each), refusalWords(each, APPROVER)]),
    ...noRuns.map((each) => noRunWords(each, "/agent")),
  ];
  for (const each of told) {
    expect(each.replace(own, "").replace(/&(amp|lt|gt);/g, "")).not.toMatch(/[<>&]/);
    expectSeen(each);
  }
});

test("whatever the service said, who is told it privately reads it where Slack reads no markup", () => {
  always(anyText, (words) => {
    for (const each of says(words)) expectMessage(privateWords(each, aRun()));
  });
});
