import { describe, expect, test } from "vitest";
import { slackTiming } from "#sandbox/slack/slack-context.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { buttonsOf, textOf } from "../make/journey-sight.ts";
import { ana, ben, guest, opsAgents, type Stage, aWorld } from "../make/world.ts";

const TASK = "just say hello to everyone";

/** Creates a run whose start is unknown. */
async function startWithLostAnswer(
  world: Stage,
  effect: boolean,
): Promise<{ opening: Message; question: Message }> {
  world.service.control.fault({ route: "create-run" }, { type: "drop", effect });
  const opening = await world.run(ana, opsAgents, TASK);
  const question = await world.saidIn(opening, "outcome:unknown:asked");
  expect(buttonsOf(question)).toEqual(["Start again", "Leave it"]);
  return { opening, question };
}

const openings = (world: Stage): Message[] => world.posted(opsAgents).filter(({ thread }) => thread === null);

describe.concurrent("a command is acknowledged at once", () => {
  test("even if the service hangs", async (context) => {
    const world = await aWorld(context, { timing: slackTiming });
    const gate = world.service.control.fault({ route: "create-run" }, { type: "gate" });
    expect(await world.command(ana, opsAgents, `run ${TASK}`)).toEqual({ ok: true });
    const opening = await world.until(() => openings(world)[0]);
    await world.becomes(opening, "run:starting");
    await world.service.requests.until(() => gate.hits() === 1);
    gate.release();
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.tasksSent()).toEqual([TASK]);
  });

  test("even if Slack accepts no messages, and nothing is started before the thread exists", async (context) => {
    const world = await aWorld(context, { timing: slackTiming });
    const gate = Promise.withResolvers<void>();
    world.slack.faults.next("chat.postMessage", { until: gate.promise });
    expect(await world.command(ana, opsAgents, `run ${TASK}`)).toEqual({ ok: true });
    await world.command(ana, opsAgents, "help");
    await world.told(ana, "answer:help");
    expect(world.service.runs.all()).toEqual([]);
    gate.resolve();
    const opening = await world.until(() => openings(world)[0]);
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.tasksSent()).toEqual([TASK]);
  });
});

describe.concurrent("a start whose answer is lost", () => {
  test.for([
    ["a run had started", true],
    ["none had started", false],
  ] as const)("is never sent again by itself, when %s", async ([, effect], context) => {
    const world = await aWorld(context);
    const { opening, question } = await startWithLostAnswer(world, effect);
    expect(textOf(question)).toContain(`@${ana}`);
    // Long enough for another run to start and end.
    await world.saidIn(await world.run(ben, opsAgents, "just say goodbye"), "outcome:succeeded");
    expect(world.tasksSent()).toEqual([TASK, "just say goodbye"]);
    await world.becomes(opening, "run:start-unknown");
  });

  test("can be resolved only by its requester", async (context) => {
    const world = await aWorld(context);
    const { question } = await startWithLostAnswer(world, true);
    await world.click(ben, question, "Start again");
    await world.told(ben, "answer:not-your-run");
    expect(world.tasksSent()).toEqual([TASK]);
    expect(buttonsOf(question)).toEqual(["Start again", "Leave it"]);
  });

  test("starts exactly one more run, however often Start again is clicked", async (context) => {
    const world = await aWorld(context);
    const { question } = await startWithLostAnswer(world, true);
    await Promise.all([world.click(ana, question, "Start again"), world.click(ana, question, "Start again")]);
    await world.becomes(question, "outcome:unknown:started");
    expect(buttonsOf(question)).toEqual([]);
    await world.deliver(world.lastPayload("block_actions"));
    await world.told(ana, "command-refusal:answered");
    const again = await world.until(() => openings(world)[1]);
    await world.saidIn(again, "outcome:succeeded");
    expect(openings(world)).toHaveLength(2);
    expect(world.tasksSent()).toEqual([TASK, TASK]);
  });

  test("says how its run can be followed here, and that works", async (context) => {
    const world = await aWorld(context);
    const { question } = await startWithLostAnswer(world, true);
    expect(textOf(question)).toContain("/agent watch <run id>");
    const { id } = await world.runAt(TASK);
    await world.command(ana, opsAgents, `watch ${id}`);
    await world.told(ana, "answer:watching");
    await world.saidIn(await world.until(() => openings(world)[1]), "outcome:succeeded");
  });

  test("is dropped if its requester says so", async (context) => {
    const world = await aWorld(context);
    const { question } = await startWithLostAnswer(world, true);
    await world.click(ana, question, "Leave it");
    await world.becomes(question, "outcome:unknown:left");
    await world.deliver(world.lastPayload("block_actions"));
    await world.told(ana, "command-refusal:answered");
    expect(world.tasksSent()).toEqual([TASK]);
  });

  test.for([
    ["half an answer", { type: "cut" }],
    ["an answer that is not JSON", { type: "garbage" }],
    ["a redirect", { type: "redirect", to: "http://127.0.0.1:9/elsewhere" }],
    ["HTTP 500", { type: "answer", status: 500, body: { error: { code: "oops", message: "It broke." } } }],
  ] as const)("is unknown after %s", async ([, fault], context) => {
    const world = await aWorld(context);
    world.service.control.fault({ route: "create-run" }, fault);
    const opening = await world.run(ana, opsAgents, TASK);
    const question = await world.saidIn(opening, "outcome:unknown:asked");
    expect(buttonsOf(question)).toEqual(["Start again", "Leave it"]);
    expect(world.tasksSent()).toHaveLength(1);
  });
});

describe.concurrent("a start that the service refuses", () => {
  test("is reported in the service's words, and no run is claimed to exist", async (context) => {
    const world = await aWorld(context);
    const message = "This agent takes no tasks on Sundays.";
    const body = { error: { code: "invalid_request", message } };
    world.service.control.fault({ route: "create-run" }, { type: "answer", status: 400, body });
    const opening = await world.run(ana, opsAgents, TASK);
    await world.reads(await world.saidIn(opening, "outcome:not-started"), message, `@${ana}`);
    await world.becomes(opening, "run:not-started");
    expect(world.tasksSent()).toEqual([TASK]);
  });

  test("because of the key waits, says so, and is sent when the key is right", async (context) => {
    const world = await aWorld(context);
    const right = world.service.apiKey;
    world.service.control.rotateKey();
    const opening = await world.run(ana, opsAgents, TASK);
    await world.becomes(opening, "run:delayed", "401");
    world.service.control.rotateKey(right);
    await world.saidIn(opening, "outcome:succeeded");
    expect(new Set(world.tasksSent())).toEqual(new Set([TASK]));
    expect(world.service.runs.all()).toHaveLength(1);
  });

  test("because of its rate is not sent again before the service allows it", async (context) => {
    const world = await aWorld(context);
    const headers = { "retry-after": "3" };
    world.service.control.fault({ route: "create-run" }, { type: "answer", status: 429, headers });
    const opening = await world.run(ana, opsAgents, TASK);
    await world.becomes(opening, "run:delayed");
    await world.saidIn(opening, "outcome:succeeded");
    const [first, second, ...more] = world.service.requests.all({ route: "create-run" });
    expect(more).toEqual([]);
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThanOrEqual(3_000);
  });

  test("because nothing listens is sent later", async (context) => {
    const world = await aWorld(context);
    await world.service.control.down();
    const opening = await world.run(ana, opsAgents, TASK);
    await world.becomes(opening, "run:delayed", "nothing listens");
    await world.service.control.up();
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.tasksSent()).toEqual([TASK]);
  });
});

describe.concurrent("a run that has ended", () => {
  test("can be run again by anyone, once, with the same task", async (context) => {
    const world = await aWorld(context);
    const opening = await world.run(ana, opsAgents, TASK);
    const ended = await world.saidIn(opening, "outcome:succeeded");
    expect(buttonsOf(ended)).toEqual(["Run again"]);
    await Promise.all([world.click(ben, ended, "Run again"), world.click(ben, ended, "Run again")]);
    await world.deliver(world.lastPayload("block_actions"));
    const again = await world.until(() => openings(world)[1]);
    await world.saidIn(again, "outcome:succeeded");
    expect(textOf(again)).toContain(`@${ben}`);
    expect(openings(world)).toHaveLength(2);
    expect(world.tasksSent()).toEqual([TASK, TASK]);
  });

  test("cannot be run again by a guest, who sees the refusal in a window", async (context) => {
    const world = await aWorld(context);
    const ended = await world.saidIn(await world.run(ana, opsAgents, TASK), "outcome:succeeded");
    await world.click(guest, ended, "Run again");
    await world.told(guest, "command-refusal:guest");
    expect(world.tasksSent()).toEqual([TASK]);
  });

  test("shows who already runs it again", async (context) => {
    const world = await aWorld(context);
    const { opening } = await world.asking(ana, opsAgents, "deploy billing-api to production");
    world.service.control.fail((await world.runAt("deploy billing-api to production")).id, "no room left");
    const ended = await world.saidIn(opening, "outcome:failed");
    await world.click(ana, ended, "Run again");
    await world.until(() => openings(world)[1]);
    await world.click(ben, ended, "Run again");
    await world.told(ben, "command-refusal:running-again");
    expect(openings(world)).toHaveLength(2);
  });
});
