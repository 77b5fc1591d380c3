// An answer to a question as a message in the thread, and how the listener handles it.

import type { View } from "@slack/types";
import { describe, expect, test } from "vitest";
import { idOf } from "../../make/message-id.ts";
import { onAnswerQuestion } from "#src/adapters/slack/follow-up-clicks.ts";
import { onMention } from "#src/adapters/slack/free-text.ts";
import type { ClickPayload } from "#src/adapters/slack/payloads.ts";
import type { Message } from "#src/adapters/slack/blocks/rich.ts";
import type { ListenerDeps } from "#src/adapters/slack/listener-deps.ts";
import { MessageTs } from "#src/domain/ids.ts";
import { err, ok } from "#src/domain/result.ts";
import { PortError } from "#src/ports.ts";
import type { AskRequester } from "#src/usecases/ask-requester.ts";
import { CHANNEL, NOON, REQUESTER, TEAM } from "../../make/run.ts";

const SELF = "U0COUNTERSIGN";

/** Returns the messages to the person, and the tasks that were started. */
async function mentioned(
  answerInThread: AskRequester["answerInThread"],
  thread: boolean = true,
): Promise<{ readonly answers: readonly (string | null)[]; readonly started: readonly string[] }> {
  const answers: (string | null)[] = [];
  const started: string[] = [];
  const deps = {
    team: TEAM,
    self: SELF,
    command: "/agent",
    askRequester: { answerInThread },
    startRun: { start: async (_by: unknown, { input }: { input: string }) => (started.push(input), ok({})) },
    quick: async (_method: string, message: Message) => void answers.push(idOf(message)),
    clock: { now: () => NOON },
    log: { warn() {}, error() {} },
  } as unknown as ListenerDeps;
  const ts = MessageTs(`${NOON / 1_000}.000100`);
  const where = thread ? { thread_ts: MessageTs("1.000100") } : {};
  await onMention(deps, {
    user: REQUESTER,
    channel: CHANNEL,
    ts,
    text: `<@${SELF}> deploy billing-api to production`,
    ...where,
  });
  return { answers, started };
}

describe("a message that mentions Countersign", () => {
  test("is the answer if a question is open, and starts nothing", async () => {
    const run = {} as never;
    expect(await mentioned(async () => ok(run))).toEqual({
      answers: ["answer:question-answered"],
      started: [],
    });
  });

  test("starts a run if no question is open, and outside a thread without a look-up", async () => {
    expect(await mentioned(async () => null)).toEqual({
      answers: [],
      started: ["deploy billing-api to production"],
    });
    const never = () => Promise.reject(new Error("asked"));
    expect(await mentioned(never, false)).toEqual({
      answers: [],
      started: ["deploy billing-api to production"],
    });
  });

  test("is answered with the reason why it was not an answer", async () => {
    expect((await mentioned(async () => "several")).answers).toEqual(["answer:several-questions"]);
    const refused = err({ refusal: { type: "answered-before" }, run: null } as const);
    expect((await mentioned(async () => refused)).answers).toEqual(["refusal:answered-before"]);
    const over = err({ refusal: { type: "closed", why: "expired" }, run: null } as const);
    expect(await mentioned(async () => over)).toEqual({ answers: ["answer:question-over"], started: [] });
    const gone = err({ refusal: { type: "unknown" }, run: null } as const);
    expect(await mentioned(async () => gone)).toEqual({
      answers: ["answer:question-of-changed-request"],
      started: [],
    });
    const before = await mentioned(async () => "answered-before-change");
    expect(before).toEqual({ answers: ["answer:question-answered-before-change"], started: [] });
    const lost = new PortError("no", { applied: "maybe", retry: "later", code: "timeout" });
    const failed = await mentioned(() => Promise.reject(lost));
    expect(failed).toEqual({ answers: ["answer:answer-not-recorded"], started: [] });
  });
});

test("a form that cannot be opened is answered with what to do", async () => {
  const shown: (string | null)[] = [];
  const lost = () => Promise.reject(new PortError("no", { applied: "no", retry: "later", code: "disk" }));
  const deps = {
    team: TEAM,
    askRequester: { openAnswer: lost },
    quick: async (_method: string, { view }: { view: View }) => shown.push(idOf(view)),
    log: { error() {} },
  } as unknown as ListenerDeps;
  const where = { channel: { id: CHANNEL }, message: { ts: MessageTs("1.000100") }, trigger_id: "1.2.x" };
  const press = { user: { id: REQUESTER }, actions: [{ action_id: "answer", value: "" }], ...where };
  await onAnswerQuestion(deps, press as unknown as ClickPayload);
  expect(shown).toEqual(["answer:nothing-opened"]);
});
