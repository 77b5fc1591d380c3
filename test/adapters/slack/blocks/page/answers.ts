// Private answers to commands and clicks, produced by the listeners, which contain most of their words.

import type { App } from "@slack/bolt";
import type { View } from "@slack/types";
import { failureAnswer } from "#src/adapters/slack/bolt-app.ts";
import type { MessageId } from "#src/adapters/slack/blocks/message-id.ts";
import type { Message } from "#src/adapters/slack/blocks/rich.ts";
import { createOnce } from "#src/adapters/slack/click-memory.ts";
import { onBrakeClick, onUndoClick, onUndoInWindow, onCardClick } from "#src/adapters/slack/clicks.ts";
import { onRunAgain, onUnknownStartClick } from "#src/adapters/slack/start-clicks.ts";
import { onReviewInChannel } from "#src/adapters/slack/home-and-queue.ts";
import { onNotMe } from "#src/adapters/slack/notifications.ts";
import { notRead, onCommand, unreadableRun } from "#src/adapters/slack/commands.ts";
import { onNextReviewSubmit } from "#src/adapters/slack/review-form.ts";
import { onMention, onRunOnMessage, onSuggestedRun } from "#src/adapters/slack/free-text.ts";
import { onReadingSubmit } from "#src/adapters/slack/form-answers.ts";
import { DENIAL_REPORTED, REPORTED, UNDO_REPORTED } from "./private.ts";
import type { ListenerDeps } from "#src/adapters/slack/listener-deps.ts";
import { listen } from "#src/adapters/slack/listeners.ts";
import {
  CARD_APPROVE,
  CARD_READ,
  RUN_AGAIN,
  RUN_STOP,
  RUN_SUGGESTED,
  WINDOW_UNDO,
  UNKNOWN_LEAVE,
} from "#src/adapters/slack/names.ts";
import { createWorkspaceCheck } from "#src/adapters/slack/workspace-check.ts";
import { MessageTs } from "#src/domain/ids.ts";
import { err, ok } from "#src/domain/result.ts";
import type { Delivery } from "#src/domain/delivery-state.ts";
import type { Run } from "#src/domain/run.ts";
import { OPENING } from "#src/domain/slot.ts";
import { PortError } from "#src/ports.ts";
import { SAVED_TASK } from "../../../../make/saved-task.ts";
import { aQueue } from "../../../../make/queue.ts";
import { aNonce, aTicket, CHANNEL, NOON, TEAM } from "../../../../make/run.ts";
import { WEEK_REPORT } from "./look-backs.ts";
import {
  ASKED,
  BEN,
  CREATED,
  decided,
  DEPLOYMENT,
  type Example,
  FROZEN,
  one,
  PENDING,
  seenAs,
} from "./example.ts";

import { FOLLOW_UP_ANSWERS } from "./follow-up.ts";
import { HEALTH_ANSWERS } from "./health-reports.ts";

/** Who is notified of "This was not me" if there are an admin and an audit channel. */
const BOTH = { admins: 1, channel: true };

type AnswerId = Extract<MessageId, `answer:${string}`>;

const UNSENT: Delivery = {
  type: "retry",
  notBefore: NOON,
  tries: 2,
  lost: false,
  why: "reset",
  notSent: true,
};
const UNDELIVERED: Run = { ...seenAs("awaiting_approval"), approvals: [decided(UNSENT, "deny")] };
const WAITS: Run = { ...seenAs("awaiting_approval"), approvals: [PENDING] };
const lost = (applied: "no" | "maybe") =>
  new PortError("the store did not answer", { applied, retry: "later", code: "timeout" });
const fails = (applied: "no" | "maybe") => async () => Promise.reject(lost(applied));

const MAC = "the MAC of a button";

const NO_SAVED_TASKS = { named: () => null, offered: async () => [] };

/** Returns the deps of a listener, and collects its answers, however they are given. `parts`: what the case needs of the app. */
function listener(parts: object): { deps: ListenerDeps; answers: (Message | View)[] } {
  const answers: (Message | View)[] = [];
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const deps = {
    team: TEAM,
    command: "/agent",
    deployment: DEPLOYMENT,
    answerAt: async (_url: string, message: Message) => void answers.push(message),
    quick: async (_method: string, { view }: { view?: View }) =>
      view === undefined ? {} : { kept: answers.push(view) },
    noteRefusal: async () => undefined,
    cards: { lookNow() {} },
    once: createOnce(),
    nonce: aNonce,
    macOf: () => MAC,
    replacements: { readyByClick: () => () => undefined, keep() {}, handOver() {} },
    clock: { now: () => NOON },
    log: silent,
    ...parts,
    startRun: { ...NO_SAVED_TASKS, ...("startRun" in parts ? (parts.startRun as object) : {}) },
  } as unknown as ListenerDeps;
  return { deps, answers };
}

async function typed(text: string, parts: object = {}, acknowledged = true): Promise<readonly Example[]> {
  const { deps, answers } = listener(parts);
  const payload = {
    user_id: BEN,
    channel_id: CHANNEL,
    text,
    trigger_id: "1.2.x",
    response_url: "https://hooks.slack.com/commands/x",
  };
  await onCommand(deps, payload, async (message) => {
    if (message !== undefined) answers.push(message);
    return acknowledged;
  });
  return answers.map((drawn) => ({ when: `\`/agent ${text}\``, drawn }));
}

async function typedLongTask(): Promise<readonly Example[]> {
  const examples = await typed(`deploy everything ${"one after the other, ".repeat(70)}and report`);
  return examples.map(({ drawn }) => ({ when: "`/agent` and a long task", drawn }));
}

type OnClick = typeof onCardClick;

async function clicked(onClick: OnClick, action_id: string, parts: object): Promise<readonly Example[]> {
  const { deps, answers } = listener(parts);
  await onClick(deps, {
    user: { id: BEN, team_id: TEAM },
    channel: { id: CHANNEL },
    message: { ts: MessageTs("1795176000.000100") },
    actions: [{ action_id, value: aNonce() }],
    trigger_id: "1.2.x",
    response_url: "https://hooks.slack.com/actions/x",
  } as Parameters<OnClick>[1]);
  return answers.map((drawn) => ({ when: "", drawn }));
}

/** Undo in the window after a submit. */
async function undoneInWindow(inWindow: () => Promise<unknown>): Promise<readonly Example[]> {
  const { deps, answers } = listener({ undoDecision: { inWindow } });
  const actions: [{ action_id: string; value: string }] = [{ action_id: WINDOW_UNDO, value: aNonce() }];
  await onUndoInWindow(deps, { user: { id: BEN }, view: { id: "V1" }, actions });
  return answers.map((drawn) => ({ when: "", drawn }));
}

/** A click on the button of a suggested run. */
async function suggested(mac: string): Promise<readonly Example[]> {
  const startRun = { start: async () => ok(ASKED.key) };
  const { deps, answers } = listener({ startRun });
  await onSuggestedRun(deps, {
    user: { id: BEN },
    channel: { id: CHANNEL },
    actions: [{ action_id: RUN_SUGGESTED, value: `${aNonce()}.ZGVwbG95.${mac}` }],
    trigger_id: "1.2.x",
    response_url: "https://hooks.slack.com/actions/x",
  });
  return answers.map((drawn) => ({ when: "", drawn }));
}

async function mentioned(text: string, at = NOON): Promise<readonly Example[]> {
  const answers: Message[] = [];
  const quick = async (_method: string, { text, blocks }: Message) => answers.push({ text, blocks });
  const { deps } = listener({ self: "U0COUNTERSIGN", quick });
  const ts = MessageTs(`${Math.floor(at / 1_000)}.000100`);
  await onMention(deps, { user: BEN, channel: CHANNEL, ts, text });
  return answers.map((drawn) => ({ when: text.replace("<@U0COUNTERSIGN>", "@countersign"), drawn }));
}

async function usedShortcut(): Promise<readonly Example[]> {
  const { deps, answers } = listener({ quick: fails("maybe"), nonce: aNonce });
  await onRunOnMessage(deps, {
    user: { id: BEN },
    channel: { id: CHANNEL },
    message: { text: "deploy" },
    trigger_id: "1.2.x",
    response_url: "https://hooks.slack.com/actions/x",
  });
  return answers.map((drawn) => ({ when: "", drawn }));
}

/** A click on Continue while the database does not answer. */
async function readingNotRecorded(): Promise<readonly Example[]> {
  const { deps } = listener({ openForm: { continueReading: fails("maybe") } });
  const answer = await onReadingSubmit(deps, {
    user: { id: BEN, team_id: TEAM },
    view: { private_metadata: aNonce(), state: { values: {} } },
  } as unknown as Parameters<typeof onReadingSubmit>[1]);
  return answer !== undefined && "view" in answer ? [{ when: "", drawn: answer.view }] : [];
}

/** A click on "Review the next". */
async function nextReview(openSeveral: () => Promise<unknown>): Promise<readonly Example[]> {
  const { deps } = listener({ review: { openSeveral } });
  const answer = await onNextReviewSubmit(deps, {
    user: { id: BEN },
    view: { private_metadata: "run value", state: { values: {} } },
  });
  return answer !== undefined && "view" in answer ? [{ when: "", drawn: answer.view }] : [];
}

/** The answer to a command that the app cannot read. */
async function unread(): Promise<readonly Example[]> {
  const answers: Message[] = [];
  const commands: ((args: object) => Promise<void>)[] = [];
  const app = {
    command: (_name: string, handler: (args: object) => Promise<void>) => commands.push(handler),
    action() {},
    view() {},
    event() {},
    shortcut() {},
  } as unknown as App;
  listen(app, listener({}).deps);
  const ack = async (answer: Message): Promise<void> => void answers.push(answer);
  for (const handler of commands) await handler({ body: {}, ack });
  return answers.map((drawn) => ({ when: "", drawn }));
}

async function rejected(self: { app: string; team: string }, teamOf: () => Promise<string>) {
  const answers: Message[] = [];
  const { deps } = listener({});
  const check = createWorkspaceCheck({
    self: { ...self, enterprise: null },
    teamOf,
    rejectedRequests() {},
    answerAt: deps.answerAt,
    log: deps.log,
  });
  const body = { command: "/agent", api_app_id: "A0US", team_id: TEAM, user_id: BEN };
  const ack = async (answer: Message): Promise<void> => void answers.push(answer);
  await check({ body, ack, next: async () => {} });
  return answers.map((drawn) => ({ when: "", drawn }));
}

const queries = (runs: readonly Run[]) => ({
  review: { valueFor: () => "value" },
  queries: {
    list: async () => runs,
    pending: async () => ({
      ...aQueue(runs),
      channels: new Set(runs.map(({ channel }) => channel)),
      more: false,
      freezes: [],
    }),
    status: async () => runs[0] ?? null,
  },
});

const when = (words: string, examples: readonly Example[]): readonly Example[] =>
  examples.map((example) => ({ ...example, when: words }));

const { nonce, ...TICKET } = aTicket(WAITS, PENDING);
const opens = {
  openForm: { open: async () => ok({ run: WAITS, ticket: { ...TICKET, nonce } }) },
};

const ts = MessageTs("1795176000.000100");
const up = { type: "up", ts, shows: "", sweepAt: null, notBefore: 0, tries: 0 } as const;
const POSTED: Run = { ...CREATED, posts: { [OPENING]: up } };

const closed = (isCardKept: boolean) =>
  typed("audit close run_7 It was Ben after all", {
    closeDispute: async () => ok({ disputes: 1, isCardKept }),
  });
const disputed = (result: unknown) => ({ dispute: async () => result });

/** The examples by the id of the answer. */
export async function answerExamples(): Promise<Record<AnswerId, readonly Example[]>> {
  // The receipt is redrawn after the answer; "receipt:reported" shows it.
  const notMe = async (result: unknown) => (await clicked(onNotMe, "", disputed(result))).slice(0, 1);
  const open = (once: object) => clicked(onCardClick, CARD_APPROVE, { ...opens, once });
  return {
    "answer:help": [
      ...(await typed("help")),
      ...(await typed("help", { startRun: { offered: async () => [{ task: SAVED_TASK, digest: "" }] } })),
    ],
    ...HEALTH_ANSWERS,
    ...FOLLOW_UP_ANSWERS,
    "answer:list": [
      ...(await typed("list", queries([WAITS, CREATED]))),
      ...when("a decision is on its way", await typed("list", queries([UNDELIVERED]))),
      ...when("the next page", await typed("list 10", queries(Array<Run>(21).fill(CREATED)))),
    ],
    "answer:list:empty": await typed("list", queries([])),
    "answer:pending": [
      ...(await typed("pending", queries([WAITS]))),
      ...when("a decision is on its way", await typed("pending", queries([UNDELIVERED]))),
    ],
    "answer:pending:empty": await typed("pending", queries([])),
    "answer:status": await typed("status run_7", queries([WAITS])),
    "answer:week-report": await typed("report", { reportWeek: async () => ok(WEEK_REPORT) }),
    "answer:watching": [
      ...(await typed("watch run_7", { adoptRun: { adopt: async () => ok(ASKED) } })),
      ...when("again", await typed("watch run_7", { adoptRun: { adopt: async () => ok(POSTED) } })),
    ],
    "answer:unwatched": await typed("unwatch run_7", { adoptRun: { unwatch: async () => ok("stored") } }),
    "answer:which-run": await typed("status"),
    "answer:unknown-command": await typed("frobnicate"),
    "answer:decide-on-card": await typed("approve run_7"),
    "answer:did-you-mean": [...(await typed("statsu")), ...(await typed("watsh run_7"))],
    "answer:did-you-mean-run": await typed("deploy billing-api to production"),
    "answer:did-you-mean-long-run": await typedLongTask(),
    "answer:mention-without-task": await mentioned("<@U0COUNTERSIGN> thanks"),
    "answer:mention-too-late": await mentioned("<@U0COUNTERSIGN> deploy billing-api", NOON - 3_600_000),
    "answer:form-not-opened": await usedShortcut(),
    "answer:task-not-kept": await clicked(onRunAgain, RUN_AGAIN, {
      startRun: { again: async () => err({ type: "unknown-run" }) },
    }),
    "answer:again-not-recorded": await clicked(onRunAgain, RUN_AGAIN, {
      startRun: { again: fails("maybe") },
    }),
    "answer:suggestion-started": await suggested(MAC),
    "answer:suggestion-invalid": await suggested("of someone else"),
    "answer:evidence-sent": await typed("audit run_7", { exportEvidence: async () => ok(12) }),
    "answer:acknowledged": await typed("audit acknowledge 0123456789 restored a backup", {
      acknowledge: async () => ok(1),
    }),
    "answer:frozen": await typed("freeze here", { freeze: { freeze: async () => ok(FROZEN) } }),
    "answer:freeze-lifted": [
      ...(await typed("freeze lift", { freeze: { lift: async () => ok({ ...FROZEN, still: null }) } })),
      ...(await typed("freeze lift", {
        freeze: { lift: async () => ok({ ...FROZEN, channel: null, why: "", still: FROZEN }) },
      })),
    ],
    "answer:command-before": await typed("freeze lift here", { once: { act: async () => "again" } }),
    "answer:freeze-state": [
      ...(await typed("freeze", { freeze: { look: async () => ok([]) } })),
      ...(await typed("freeze", {
        freeze: { look: async () => ok([FROZEN, { ...FROZEN, channel: null, why: "" }]) },
      })),
    ],
    "answer:not-stopped": await clicked(onBrakeClick, RUN_STOP, { stopRun: { stop: fails("no") } }),
    "answer:run-recorded": await typed(
      "run deploy",
      { startRun: { start: async () => ok(ASKED.key) } },
      false,
    ),
    "answer:run-not-recorded": await typed("run deploy", { startRun: { start: fails("no") } }),
    "answer:run-maybe-recorded": await typed("run deploy", { startRun: { start: fails("maybe") } }),
    "answer:not-your-run": await clicked(onUnknownStartClick, UNKNOWN_LEAVE, {
      startRun: { answerUnknownStart: async () => err({ type: "unknown-run" }) },
    }),
    "answer:nothing-opened": [
      ...(await clicked(onCardClick, CARD_APPROVE, { openForm: { open: fails("no") } })),
      ...(await clicked(onCardClick, CARD_READ, { openForm: { read: fails("no") } })),
    ],
    "answer:not-undone": [
      ...(await clicked(onUndoClick, "", { undoDecision: { onCard: fails("no") } })),
      ...when("in the window", await undoneInWindow(fails("maybe"))),
    ],
    "answer:taken-back": await undoneInWindow(async () => ok(WAITS)),
    "answer:opened-before": await open({ act: async () => "again" }),
    "answer:opening-not-confirmed": await open({ act: fails("maybe") }),
    "answer:reported": [
      ...(await notMe(ok({ ...REPORTED, again: false, notified: BOTH }))),
      ...when(
        "only an audit channel",
        await notMe(ok({ ...REPORTED, again: false, notified: { admins: 0, channel: true } })),
      ),
      ...when(
        "no admin and no audit channel",
        await notMe(ok({ ...REPORTED, again: false, notified: { admins: 0, channel: false } })),
      ),
      ...when(
        "not sent yet",
        await notMe(ok({ ...REPORTED, again: false, notified: BOTH, reach: "not-yet" })),
      ),
      ...when("never sent", await notMe(ok({ ...REPORTED, again: false, notified: BOTH, reach: "never" }))),
      ...when(
        "a denial, not sent yet",
        await notMe(ok({ ...DENIAL_REPORTED, again: false, notified: BOTH, reach: "not-yet" })),
      ),
      ...when(
        "of an approval that was taken back",
        await notMe(ok({ ...UNDO_REPORTED, again: false, notified: BOTH })),
      ),
    ],
    "answer:reported-before": await notMe(ok({ ...REPORTED, again: true, notified: BOTH })),
    "answer:report-not-recorded": await clicked(onNotMe, "", { dispute: fails("maybe") }),
    "answer:not-your-receipt": await notMe(err("unknown")),
    "answer:decision-not-proven": await notMe(err("unproven")),
    "answer:dispute-closed": [
      ...(await closed(true)),
      ...when("the run's record is deleted", await closed(false)),
    ],
    "answer:reading-not-recorded": await readingNotRecorded(),
    "answer:queue-not-read": await clicked(onReviewInChannel, "", { checkReviewPress: fails("no") }),
    "answer:review-not-opened": await nextReview(fails("no")),
    "answer:nothing-more": await nextReview(async () => err({ refusal: { type: "unknown" }, run: ASKED })),
    "answer:failed": one(failureAnswer("/agent")),
    "answer:not-read": one(notRead("/agent")),
    "answer:unreadable-run": one(unreadableRun()),
    "answer:unread-payload": await unread(),
    "answer:other-app": await rejected({ app: "A0OTHER", team: TEAM }, async () => TEAM),
    "answer:other-team": await rejected({ app: "A0US", team: "T0OTHER" }, async () => "T0THIRD"),
    "answer:unverified-team": await rejected({ app: "A0US", team: "T0OTHER" }, fails("no")),
  };
}
