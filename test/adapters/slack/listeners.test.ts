// Acknowledgments that Slack does not receive, and clicks that Slack delivers twice.

import { setImmediate } from "node:timers/promises";
import type { App } from "@slack/bolt";
import { describe, expect, test } from "vitest";
import { UNNAMED } from "#src/adapters/slack/blocks/deployment.ts";
import { createOnce } from "#src/adapters/slack/click-memory.ts";
import type { ListenerDeps } from "#src/adapters/slack/listener-deps.ts";
import { listen } from "#src/adapters/slack/listeners.ts";
import { CARD_READ, DECISION_MODAL, RUN_FORM } from "#src/adapters/slack/names.ts";
import { ApprovalId, RunKey } from "#src/domain/ids.ts";
import { err, ok } from "#src/domain/result.ts";
import { PortError } from "#src/ports.ts";
import { aWatchedRun, TEAM } from "../../make/run.ts";
import { requestOf } from "./observed.ts";

type Listener = (args: { body: object; ack: (answer?: object) => Promise<void> }) => Promise<void>;

/** Returns the listeners by name. Only the parts of the app that the test names exist. */
function listenersWith(parts: Partial<ListenerDeps>) {
  const listeners = new Map<string, Listener>();
  const keep = (name: string, listener: Listener): unknown => listeners.set(name, listener);
  const app = { command: keep, action: keep, view: keep, event: keep, shortcut: keep } as unknown as App;
  const answers: string[] = [];
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const deps = {
    team: TEAM,
    command: "/agent",
    deployment: UNNAMED,
    nonce: () => "n".repeat(22),
    log,
    once: createOnce(),
    answerAt: (_url: string, { text }: { text: string }) => Promise.resolve(void answers.push(text)),
    quick: () => Promise.resolve({}),
    noteRefusal: () => Promise.resolve(),
    ...parts,
  } as unknown as ListenerDeps;
  listen(app, deps);
  const call = (name: string, body: object, ack = (): Promise<void> => Promise.resolve()): Promise<void> =>
    listeners.get(name)?.({ body, ack }) ?? Promise.reject(new Error(`no listener for ${name}`));
  return { answers, call };
}

const dropped = (): Promise<void> => Promise.reject(new Error("the socket is closed"));
const failing = (applied: "no" | "maybe") => () =>
  Promise.reject(new PortError("disk", { applied, retry: "later", code: "disk" }));
const command = (text: string) => ({
  user_id: "U0ANA",
  channel_id: "C0OPS",
  text,
  trigger_id: "1.2.x",
  response_url: "https://hooks.slack.com/commands/x",
});
const NO_SAVED_TASKS = { named: () => null, offered: () => Promise.resolve([]) };
const starting = (start: unknown): Partial<ListenerDeps> => ({
  startRun: { ...NO_SAVED_TASKS, start } as unknown as ListenerDeps["startRun"],
});

describe("an acknowledgment that Slack does not receive", () => {
  test("of a recorded run is followed by a message that it is recorded, and not to start it again", async () => {
    const { answers, call } = listenersWith(starting(() => Promise.resolve(ok(RunKey("run00001")))));
    await call("/agent", command("run deploy"), dropped);
    expect(answers).toEqual([expect.stringMatching(/is recorded.*don't start it again/)]);
  });

  test("of a refused run is followed by the same words at the command's address", async () => {
    const { answers, call } = listenersWith(starting(() => Promise.resolve(err({ type: "guest" }))));
    await call("/agent", command("run deploy"), dropped);
    expect(answers).toEqual([expect.stringContaining("Guests can't do this")]);
  });

  test("of a question does not keep the answer from the person", async () => {
    const { answers, call } = listenersWith(starting(() => Promise.reject(new Error("not asked for"))));
    await call("/agent", command("help"), dropped);
    expect(answers).toHaveLength(1);
  });

  test("of a submitted form is not a failure: the same form counts once", async () => {
    const { call } = listenersWith(starting(() => Promise.resolve(ok(RunKey("run00001")))));
    const view = {
      private_metadata: `${"n".repeat(22)} C0OPS`,
      state: { values: {} },
    };
    await expect(call(RUN_FORM, { user: { id: "U0ANA" }, view }, dropped)).resolves.toBeUndefined();
  });
});

test('a start that may be stored is not reported as "not started"', async () => {
  const acks: unknown[] = [];
  for (const applied of ["no", "maybe"] as const) {
    const { call } = listenersWith(starting(failing(applied)));
    const ack = (answer?: { text?: string }): Promise<void> => Promise.resolve(void acks.push(answer?.text));
    await call("/agent", command("run deploy"), ack);
  }
  expect(acks).toEqual([
    expect.stringContaining("Not started"),
    expect.stringContaining("could not confirm"),
  ]);
});

describe("a click that is delivered twice", () => {
  const click = {
    user: { id: "U0BEN" },
    channel: { id: "C0OPS" },
    message: { ts: "1.1" },
    actions: [{ action_id: CARD_READ, value: "n".repeat(22) }],
    trigger_id: "1.2.x",
    response_url: "https://hooks.slack.com/actions/x",
  };
  const request = requestOf("deploy", {});
  const run = aWatchedRun();
  /** Like Slack, opens at most one form per click. */
  const reading = (open: ListenerDeps["quick"]) =>
    listenersWith({
      openForm: {
        read: async (_click: unknown, show: (run: object, request: object) => Promise<unknown>) => {
          await show(run, request);
          return ok(null);
        },
      } as unknown as ListenerDeps["openForm"],
      quick: open,
    });
  const refused = new PortError("no", { applied: "no", retry: "never", code: "expired_trigger_id" });

  test("at the same moment opens one form, and says that it is already open", async () => {
    let opens = 0;
    const { answers, call } = reading(() => {
      opens += 1;
      return opens === 1 ? Promise.resolve({}) : Promise.reject(refused);
    });
    await Promise.all([call(CARD_READ, click), call(CARD_READ, click)]);
    expect(opens).toBe(1);
    expect(answers).toEqual([expect.stringContaining("Use the form that is already open")]);
  });

  test("to a new process does not claim that no form is open", async () => {
    const { answers, call } = reading(() => Promise.reject(refused));
    await call(CARD_READ, click);
    expect(answers).toEqual([expect.stringContaining("If you see no form, click again")]);
  });

  test("opens its form at the second delivery if the first could not", async () => {
    let opens = 0;
    const { answers, call } = reading(() => {
      opens += 1;
      return opens === 1 ? Promise.reject(refused) : Promise.resolve({});
    });
    await call(CARD_READ, click);
    await call(CARD_READ, click);
    expect([opens, answers.length]).toEqual([2, 1]);
  });
});

describe("a submitted decision", () => {
  const form = {
    user: { id: "U0BEN" },
    view: { private_metadata: "n".repeat(22), state: { values: {} } },
  };
  const deciding = (stored: Promise<unknown>): Partial<ListenerDeps> => ({
    submitDecision: () => stored as ReturnType<ListenerDeps["submitDecision"]>,
    replacements: { ready: () => () => {} } as unknown as ListenerDeps["replacements"],
  });

  test("is acknowledged once it is stored, and not before", async () => {
    const stored = Promise.withResolvers<unknown>();
    const order: string[] = [];
    const { call } = listenersWith(deciding(stored.promise.finally(() => order.push("stored"))));
    const answered = call(DECISION_MODAL, form, () => Promise.resolve(void order.push("acknowledged")));
    await setImmediate();
    stored.resolve(ok({ run: aWatchedRun(), approval: ApprovalId("ap_1") }));
    await answered;
    expect(order).toEqual(["stored", "acknowledged"]);
  });
});
