import { describe, expect, test } from "vitest";
import { UNNAMED } from "#src/adapters/slack/blocks/deployment.ts";
import type { CommandRefusal } from "#src/domain/command-refusal.ts";
import type { Freeze } from "#src/domain/freeze.ts";
import { ChannelId, UserId } from "#src/domain/ids.ts";
import type { CommandPayload } from "#src/adapters/slack/payloads.ts";
import { type Run, runId } from "#src/domain/run.ts";
import { OPENING } from "#src/domain/slot.ts";
import { err, ok } from "#src/domain/result.ts";
import { onRunFormSubmit } from "#src/adapters/slack/form-answers.ts";
import { createOnce } from "#src/adapters/slack/click-memory.ts";
import { onCommand, onRunsPage } from "#src/adapters/slack/commands.ts";
import type { ListenerDeps } from "#src/adapters/slack/listener-deps.ts";
import { ADMIN, createBench, failure } from "../../make/bot.ts";
import { these } from "../../make/policy.ts";
import { idOf } from "../../make/message-id.ts";
import { aNonce, aWatchedRun, TEAM } from "../../make/run.ts";
import { expectMessage, objectsIn, textOf, wire } from "./blocks/oracle.ts";
import type { Message } from "#src/adapters/slack/blocks/rich.ts";

const payload = (text: string) => ({
  user_id: UserId("U0ANA"),
  channel_id: ChannelId("C0OPS"),
  text,
  trigger_id: "1.2.x",
  response_url: "https://hooks.slack.com/commands/x",
});

const depsOf = (parts: Partial<ListenerDeps>, answers: Message[]): ListenerDeps =>
  ({
    team: TEAM,
    command: "/agent",
    deployment: UNNAMED,
    answerAt: async (_url: string, message: Message) => void answers.push(message),
    quick: async () => ({ permalink: null }),
    noteRefusal: async () => undefined,
    once: createOnce(),
    nonce: aNonce,
    macOf: () => "m".repeat(44),
    ...parts,
  }) as unknown as ListenerDeps;

/** Returns the answers to a command. Only the parts of the app that the test names exist. */
async function typed(text: string, parts: Partial<ListenerDeps>, more: Partial<CommandPayload> = {}) {
  const answers: Message[] = [];
  const acks: (string | undefined)[] = [];
  const acked: Message[] = [];
  await onCommand(depsOf(parts, answers), { ...payload(text), ...more }, async (message) => {
    if (message !== undefined) acked.push(message);
    return acks.push(message?.text) > 0;
  });
  return { answers, acks, acked };
}

const refusing = (words: string): Partial<ListenerDeps> => ({
  adoptRun: {
    adopt: async () => err({ type: "service-silent", words }),
    unwatch: async () => err({ type: "unknown-run" }),
  } as unknown as ListenerDeps["adoptRun"],
});

describe("a private answer", () => {
  test("contains the service's words only where Slack reads no markup", async () => {
    const words = "*bold* https://evil.example <!channel> :tada:";
    const { answers } = await typed("watch run_7", refusing(words));
    const [answer = { text: "", blocks: [] }] = answers;
    const markup = objectsIn(wire(answer.blocks)).filter(({ type }) => type === "mrkdwn");
    expect(JSON.stringify(markup)).not.toContain("evil.example");
  });

  test("to an unknown subcommand quotes it without letting it break out", async () => {
    const { acks } = await typed("`<!channel>`&\u202Eapprove", {});
    expect(acks).toEqual([
      "Countersign does not know `'&lt;!channel&gt;'&amp;⟨U+202E⟩approve`. `/agent help` lists the commands. To start a run, type `/agent run` before the task.",
    ]);
  });

  test("lists ten runs at most and says that there are more, which no one counts", async () => {
    const runs = Array.from({ length: 50 }, (): Run => aWatchedRun());
    const list = async (_user: unknown, _only: unknown, limit: number) => runs.slice(0, limit);
    const { answers } = await typed("list", { queries: { list } as unknown as ListenerDeps["queries"] });
    const [answer = { text: "", blocks: [] }] = answers;
    expectMessage(answer);
    expect(textOf(answer.blocks)).toContain("There are more");
    expect(textOf(answer.blocks)).not.toMatch(/\d more/);
  });

  test("lists all runs, ten at a time, and begins again if they are gone", async () => {
    let runs = Array.from({ length: 25 }, (): Run => aWatchedRun());
    const list = async (_user: unknown, _only: unknown, limit: number) => runs.slice(0, limit);
    const parts = { queries: { list } as unknown as ListenerDeps["queries"] };
    let [page = { text: "", blocks: [] as Message["blocks"] }] = (await typed("list", parts)).answers;
    const listed = (): number[] => {
      const texts = new Set(objectsIn(wire(page.blocks)).map(({ text }) => text));
      return runs.flatMap((run, at) => (texts.has(runId(run)) ? [at] : []));
    };
    const press = async (text: string): Promise<void> => {
      const buttons = objectsIn(wire(page.blocks)).filter(({ type }) => type === "button");
      const button = buttons.find((each) => JSON.stringify(each["text"]).includes(text));
      const { action_id = "", value = "" } = (button ?? {}) as { action_id?: string; value?: string };
      const answers: Message[] = [];
      const { user_id, channel_id, trigger_id, response_url } = payload("");
      await onRunsPage(depsOf(parts, answers), {
        user: { id: user_id },
        channel: { id: channel_id },
        actions: [{ action_id, value }],
        trigger_id,
        response_url,
      });
      [page = page] = answers;
      expectMessage(page);
    };
    const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at);
    expect(listed()).toEqual(range(0, 10));
    await press("Next");
    expect(listed()).toEqual(range(10, 20));
    await press("Next");
    expect(listed()).toEqual(range(20, 25));
    expect(textOf(page.blocks)).toContain("Runs 21 to 25");
    await press("Newest");
    expect(listed()).toEqual(range(0, 10));
    runs = runs.slice(0, 5);
    await press("Next");
    expect(listed()).toEqual(range(0, 5));
  });

  test("names the channel of a run that is watched again from another one", async () => {
    const bench = await createBench();
    const { id } = await bench.withCard();
    const { requester, channel } = await bench.run(id);
    await bench.flow.adoptRun.unwatch({ team: TEAM, user: requester, channel }, id);
    const elsewhere = { user_id: requester, channel_id: ChannelId("C0DEV") };
    const { answers } = await typed(`watch ${id}`, { adoptRun: bench.flow.adoptRun }, elsewhere);
    expect((await bench.run(id)).watch.type).toBe("on");
    expect(answers[0]?.text).toContain(`Its thread is in <#${channel}>.`);
  });

  test("contains no link if Slack does not return one", async () => {
    const up = { type: "up", ts: "1.1", shows: "", sweepAt: null, notBefore: 0 };
    const run = { ...aWatchedRun(), posts: { [OPENING]: up } } as unknown as Run;
    for (const permalink of [undefined, null, 7, {}]) {
      const { answers } = await typed("status run_7", {
        queries: { status: async () => run } as unknown as ListenerDeps["queries"],
        quick: async () => ({ permalink }),
      });
      expect(JSON.stringify(answers)).not.toContain('"link"');
    }
  });

  test.each(["status", "watch", "unwatch", "status ` `", `watch ${"x".repeat(600)}`])(
    'to "%s" asks which run',
    async (text) => {
      const { answers } = await typed(text, {});
      expect(answers[0]?.text).toContain("Say which run");
    },
  );
});

test("more spaces than one change no command", async () => {
  const acknowledge = async (_by: unknown, code: string, reason: string) =>
    code === "abc" && reason === "a restore" ? ok(1) : err({ type: "nothing-to-acknowledge" as const });
  const { answers } = await typed("audit   acknowledge  abc  a restore", { acknowledge });
  expect(answers.map(idOf)).toEqual(["answer:acknowledged"]);
});

test("no command decides anything", async () => {
  for (const text of ["approve apr_1 yes", "deny apr_1 no", "APPROVE", "decide apr_1"])
    expect((await typed(text, {})).acks[0]).toContain("nothing was decided");
});

describe("the text after the command", () => {
  test.each([
    ["run a &amp;&amp; b &lt;c&gt;", "a && b <c>"],
    ["run &amp;lt; &amp;amp;lt; &quot; & <", "&lt; &amp;lt; &quot; & <"],
  ])('"%s" is read without the entities that Slack writes for & < >', async (text, input) => {
    const started: unknown[] = [];
    const start = async (_by: unknown, asked: { input: string }) => {
      started.push(asked.input);
      return { ok: true };
    };
    await typed(text, { startRun: { start, named: () => null } as unknown as ListenerDeps["startRun"] });
    expect(started).toEqual([input]);
  });

  test("is quoted once escaped, not twice", async () => {
    const { acks } = await typed("&lt;b&gt;&amp;", {});
    expect(acks[0]).toContain("does not know `&lt;b&gt;&amp;`");
  });
});

describe("a run that is not started", () => {
  const TASK = "deploy `pi` *now* <!channel> <https://evil.example|x>";
  const refused = (refusal: CommandRefusal): Partial<ListenerDeps> => ({
    startRun: {
      start: async () => err(refusal),
      named: () => null,
    } as unknown as ListenerDeps["startRun"],
  });
  const FREEZE: Freeze = { entry: 1, channel: null, by: ADMIN, at: 0, why: "" };

  test.each<CommandRefusal>([
    { type: "frozen", freeze: FREEZE },
    ...(["unverified", "hidden-channel", "not-a-channel", "not-in-channel", "no-runs-here"] as const).map(
      (type) => ({ type }),
    ),
    ...(["not-starter", "not-your-task", "saved-task-gone"] as const).map((type) => ({ type })),
    { type: "saved-task-unfinished", missing: ["Environment"], wrong: [], unknown: [] },
  ])("because of $type gives the task back, where Slack reads no markup", async (refusal) => {
    const { acked } = await typed(`run ${TASK}`, refused(refusal));
    const [answer = { text: "", blocks: [] }] = acked;
    const box = objectsIn(wire(answer.blocks)).filter(({ type }) => type === "rich_text_preformatted");
    expect(textOf(box)).toContain(`/agent run ${TASK}`);
    const markup = objectsIn(wire(answer.blocks)).filter(({ type }) => type === "mrkdwn");
    expect(JSON.stringify(markup)).not.toContain("evil.example");
  });

  test("because the store fails gives the task back too", async () => {
    for (const applied of ["no", "maybe"] as const) {
      const start = () => Promise.reject(failure("store_failed", { applied }));
      const startRun = { start, named: () => null } as unknown as ListenerDeps["startRun"];
      const log = { error: () => undefined } as unknown as ListenerDeps["log"];
      expect(textOf((await typed(`run ${TASK}`, { startRun, log })).acked)).toContain(`/agent run ${TASK}`);
    }
  });

  test("gives a saved task back that was typed where no run may start", async () => {
    const named = () => ({ saved: { name: "deploy", values: {} }, lacks: true });
    const startRun = { named } as unknown as ListenerDeps["startRun"];
    const channel = ChannelId("D0ANA");
    const { acked } = await typed("run deploy env=prod", { startRun }, { channel_id: channel });
    expect(textOf(acked)).toContain("/agent run deploy env=prod");
  });

  test("of a saved task without all its fields says why and gives the task back, and opens no form", async () => {
    const named = () => ({ saved: { name: "deploy", values: {} }, lacks: true });
    const start = async () => err({ type: "not-your-task" });
    const startRun = { named, start, offered: async () => [] } as unknown as ListenerDeps["startRun"];
    const opened: string[] = [];
    const quick: ListenerDeps["quick"] = async (method) => {
      opened.push(method);
      return {};
    };
    const { answers } = await typed("run deploy env=prod", { startRun, quick });
    expect(textOf(answers)).toContain("/agent run deploy env=prod");
    expect(opened).toEqual([]);
  });

  test("of a form that Slack does not open says that nothing was started", async () => {
    const named = () => null;
    const startRun = { named, offered: async () => [] } as unknown as ListenerDeps["startRun"];
    const quick: ListenerDeps["quick"] = () => Promise.reject(failure("expired_trigger_id"));
    const log = { warn: () => undefined } as unknown as ListenerDeps["log"];
    const { answers } = await typed("", { startRun, quick, log });
    expect(answers.map(idOf)).toEqual(["answer:form-not-opened"]);
  });

  test("because of a freeze says so beside the field of the form, where Slack draws no markup", async () => {
    const deps = { team: TEAM, command: "/agent", ...refused({ type: "frozen", freeze: FREEZE }) };
    const state = { values: { task: { task_text: { value: TASK } } } };
    const answer = await onRunFormSubmit(deps as unknown as ListenerDeps, {
      user: { id: payload("").user_id },
      view: { private_metadata: `${aNonce()} C0OPS`, state },
    });
    const shown = JSON.stringify(answer);
    expect(shown).toContain("Countersign is frozen here");
    expect(shown).not.toMatch(/<@|<!date/);
  });

  test("for a person who may never start one says only why", async () => {
    for (const type of ["guest", "outsider", "bot", "deactivated"] as const)
      expect(textOf((await typed(`run ${TASK}`, refused({ type }))).acked)).not.toContain("deploy");
  });
});

test("a command that lifts a freeze and arrives again does not lift a later freeze", async () => {
  const bench = await createBench();
  const by = { team: TEAM, user: ADMIN, channel: payload("").channel_id };
  bench.policy = { ...bench.policy, freezers: these([payload("").user_id]) };
  const { freeze } = bench.flow;
  const once = { freeze, once: createOnce() };
  await freeze.freeze(by, by.channel, "the deploy loops");
  expect((await typed("freeze lift here", once)).answers.map(idOf)).toEqual(["answer:freeze-lifted"]);
  await freeze.freeze(by, by.channel, "a leak");
  expect((await typed("freeze lift here", once)).answers.map(idOf)).toEqual(["answer:command-before"]);
  expect(await freeze.look(by)).toMatchObject({ value: [{ why: "a leak" }] });
  const next = { trigger_id: "2.2.x" };
  expect((await typed("freeze lift here", once, next)).answers.map(idOf)).toEqual(["answer:freeze-lifted"]);
});

test("a freeze that is lifted while another still holds is not reported as the end of both", async () => {
  const bench = await createBench();
  const by = { team: TEAM, user: ADMIN, channel: payload("").channel_id };
  await bench.flow.freeze.freeze(by, null, "a leak");
  await bench.flow.freeze.freeze(by, by.channel, "the deploy loops");
  bench.policy = { ...bench.policy, freezers: these([payload("").user_id]) };
  const { freeze } = bench.flow;
  const lifts = async (which: string): Promise<string> =>
    textOf((await typed(`freeze lift ${which}`, { freeze })).answers);
  const first = await lifts("everywhere it is fixed");
  expect(first).toContain("Another freeze still holds here: <@U0ADMIN> froze <#C0OPS>");
  expect(first).not.toContain("Runs start again");
  expect(await lifts("everywhere, it is fixed")).toContain("Nothing was lifted");
  expect(await lifts("HERE: it is fixed")).toContain("Runs start again");
});
