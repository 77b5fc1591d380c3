// The judge of the crash and fault campaigns notices a card that does not say what the service did. The world here is made by hand: what
// Slack shows, what the service has, and what reached it.

import { expect, test } from "vitest";
import { createRecorder, type Recorded } from "#sandbox/service/recorder.ts";
import type { Run } from "#sandbox/service/service-run.ts";
import type { Message } from "#sandbox/slack/model.ts";
import type { Evidence, Life } from "./life.ts";
import { watch } from "./verdict.ts";

const [channel, requester, approver, app] = ["C0LIFE1", "U0ASKS1", "U0DECIDES1", "U0APP"];
const task = "two approvals of life 1";
const RUN = "run_1";
const APPROVALS = ["apr_1", "apr_2"];
const AT = 10_000;
const OPENING = "1.0";

type Verdict = Life["verdict"];
type Answer = Partial<Pick<Recorded, "at" | "status" | "lost" | "fault" | "empty">>;
type Story = {
  readonly verdict?: Verdict;
  /** The state that each card shows. */
  readonly cards: readonly [string, string];
  /** The answer to the POST of each decision. */
  readonly answers?: readonly [Answer, Answer];
  readonly strikes?: Life["strikes"];
};

const YES: Answer = { status: 200 };

function message(ts: string, id: string, more: Partial<Message> = {}): Message {
  return {
    channel,
    ts,
    thread: OPENING,
    broadcast: false,
    author: app,
    text: "",
    blocks: [{ type: "section", block_id: id, text: { type: "plain_text", text: `${RUN}, request ${ts}` } }],
    metadata: null,
    edited: null,
    files: [],
    ephemeralFor: null,
    at: AT,
    ...more,
  };
}

const lifeOf = ({ verdict = "approve", strikes = [] }: Story): Life => ({
  name: "life",
  task,
  verdict,
  together: false,
  channel,
  requester,
  approver,
  second: null,
  holdMs: 0,
  readsMs: 0,
  commands: [],
  attempts: APPROVALS.map((id) => ({ reason: `reason of ${id}`, by: approver, at: AT - 100, kept: true })),
  again: 0,
  askedAgain: new Set(),
  strikes,
});

const runOf = (verdict: Verdict): Run => ({
  id: RUN,
  input: task,
  createdAt: 0,
  phase: "succeeded",
  resumed: true,
  approvals: APPROVALS.map((id) => ({
    id,
    action: "deploy",
    details: {},
    requestedAt: 0,
    state: { type: "decided", verdict, reason: `reason of ${id}`, at: AT },
  })),
  ending: { type: "succeeded", output: "done" },
  completedAt: AT,
  step: 0,
  wakeAt: null,
});

function requestsOf(
  answers: readonly Answer[],
  decision: Verdict,
): Pick<Evidence["service"]["requests"], "all"> {
  const recorder = createRecorder(() => 0);
  const post = (path: string, route: string, body: object) =>
    recorder.begin(
      { method: "POST", path, route, key: "right" },
      {},
    )({ body: JSON.stringify(body), done: true });
  post("/v1/agent/runs", "create-run", { input: task });
  for (const id of APPROVALS)
    post(`/v1/agent/runs/${RUN}/approvals/${id}`, "decide", { decision, reason: `reason of ${id}` });
  const decided = recorder.requests.all({ route: "decide" });
  for (const [nth, each] of decided.entries()) Object.assign(each, { at: AT, ...answers[nth] });
  return recorder.requests;
}

/** Returns what the judge reports of this story at rest. */
function brokenIn(story: Story): readonly string[] {
  const { verdict = "approve", cards, answers = [YES, YES] } = story;
  const messages = [
    message(OPENING, "run:succeeded", { thread: null }),
    ...cards.map((state, nth) => message(`2.${nth}`, `state:${state}:v1`, { broadcast: true })),
    message("3.0", "outcome:succeeded"),
  ];
  const workspace = {
    messages,
    app: { id: "A0", team: "T0", person: app },
    onChange: () => () => undefined,
  } as unknown as Evidence["slack"]["workspace"];
  const evidence: Evidence = {
    slack: { workspace },
    service: { runs: { all: () => [runOf(verdict)] }, requests: requestsOf(answers, verdict) },
  };
  return watch(evidence, lifeOf(story)).verdict().broken;
}

const approved = ["approved", "approved"] as const;
const oneUnconfirmed = ["approved", "unconfirmed"] as const;

test("cards that say what the service confirmed are right", () => {
  expect(brokenIn({ cards: approved })).toEqual([]);
  expect(brokenIn({ verdict: "deny", cards: ["denied", "denied"] })).toEqual([]);
});

test.for(["denied", "refused", "elsewhere", "closed", "sending"])(
  'a card that says "%s" of an approval that took effect is noticed',
  (state) => {
    expect(brokenIn({ cards: ["approved", state] })).toEqual([
      `at rest a card says "${state}" in place of "approved"`,
    ]);
  },
);

test('a card that says "approved" of a denial is noticed', () => {
  expect(brokenIn({ verdict: "deny", cards: ["denied", "approved"] })).toEqual([
    'at rest a card says "approved" in place of "denied"',
  ]);
});

/** Answers after which the bot cannot know what became of its decision. */
const UNCLEAR: readonly Answer[] = [
  { status: 200, lost: true },
  { status: null },
  { status: 503 },
  { status: 409 },
  { status: 200, fault: "answer" },
  { status: 200, fault: "huge" },
  { status: 200, fault: "garbage" },
];
/** Answers that say yes. */
const CLEAR: readonly Answer[] = [
  YES,
  { status: 204, empty: true },
  { status: 200, fault: "delay" },
  { status: 200, fault: "drip" },
  { status: 200, fault: "answer", empty: true },
];

test.for(UNCLEAR)("after the answer %j a card is unconfirmed, and none may say approved", (answer) => {
  expect(brokenIn({ cards: oneUnconfirmed, answers: [YES, answer] })).toEqual([]);
  expect(brokenIn({ cards: approved, answers: [YES, answer] })).toEqual([
    "a card says that a decision is confirmed, and it is not",
  ]);
});

test.for(CLEAR)("after the answer %j a card is approved, and none may say unconfirmed", (answer) => {
  expect(brokenIn({ cards: approved, answers: [YES, answer] })).toEqual([]);
  expect(brokenIn({ cards: oneUnconfirmed, answers: [YES, answer] })).toEqual([
    "unconfirmed cards: 1; decisions without a clear answer: 0",
  ]);
});

test("a card may say unconfirmed after a yes if the bot was struck before it could store it, and only then", () => {
  const near = [{ from: AT + 200, to: AT + 2_000 }];
  expect(brokenIn({ cards: oneUnconfirmed, strikes: near })).toEqual([]);
  for (const strikes of [[{ from: AT + 5_000, to: AT + 6_000 }], [{ from: AT - 5_000, to: AT - 1 }]])
    expect(brokenIn({ cards: oneUnconfirmed, strikes })).toEqual([
      "unconfirmed cards: 1; decisions without a clear answer: 0",
    ]);
});
