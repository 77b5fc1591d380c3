import { describe, expect, test } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { buttonsOf, modalSays, textOf } from "../make/journey-sight.ts";
import { says } from "../make/message-id.ts";
import { ana, ben, guest, opsAgents, outsider, payments, random, type Stage, aWorld } from "../make/world.ts";

/** Resolves to the private offer to start this text as a run. */
async function suggestion(world: Stage, person: string, text: string): Promise<Message> {
  await world.command(person, opsAgents, text);
  return world.until(() =>
    world.ephemeralMessages(person).find((each) => says("answer:did-you-mean-run", each)),
  );
}

const click = (world: Stage, person: string, message: Message) =>
  world.click(person, message, "Start this run");

describe.concurrent("/agent run", () => {
  test.for([
    ["quotes and apostrophes", `say "yes" to 'no' and “maybe” \`now\``],
    ["several lines", "first line\nsecond line\n\n  - a list\n"],
    ["emoji and accents", "déploie 🚀 👩‍💻 e\u0301"],
    ["what Slack writes for names and links", "tell <@U0BEN> & <https://x.example|x> in <#C0RELEASES>"],
    ["a space before and after", "  twice as far  "],
    ["more characters than a form accepts", `forever ${"long ".repeat(800)}end`],
  ])("sends the task as it was typed: %s", async ([, task = ""], context) => {
    const world = await aWorld(context);
    const opening = await world.run(ana, opsAgents, task);
    await world.runAt(task);
    expect(world.tasksSent()).toEqual([task]);
    expect(textOf(opening)).toContain(task.trim().slice(0, 20));
  });

  test.for([
    ["nothing", "run"],
    ["spaces", "run  \n "],
    ["invisible characters", "run \u200b\u2060"],
  ])("starts nothing when the task is %s, and says how to give one", async ([, text = ""], context) => {
    const world = await aWorld(context);
    await world.command(ana, opsAgents, text);
    await world.told(ana, "command-refusal:empty-task");
    expect(world.posted()).toEqual([]);
    expect(world.tasksSent()).toEqual([]);
  });

  test("starts nothing if Countersign cannot post in the channel, and says what to do", async (context) => {
    const world = await aWorld(context, { troubled: true });
    expect(await world.command(ana, random, "run deploy it")).toEqual({ ok: true });
    await world.told(ana, "notice:cannot-post");
    expect(world.tasksSent()).toEqual([]);
  });

  test("starts nothing in a direct message, and says to use a channel", async (context) => {
    const world = await aWorld(context);
    const { id } = world.slack.workspace.dmOf(ana);
    world.slack.workspace.app.takesMessages = true; // off in the manifest, but an installer may turn it on
    await world.command(ana, id, "run deploy it");
    await world.told(ana, "command-refusal:not-a-channel");
    await world.command(ana, id, "");
    await world.until(
      () =>
        world.ephemeralMessages(ana).filter((each) => says("command-refusal:not-a-channel", each)).length ===
        2,
    );
    expect(world.viewOf(ana)).toBeUndefined();
    expect(world.tasksSent()).toEqual([]);
  });

  test.for([
    ["a guest", guest, "command-refusal:guest"],
    ["someone of another workspace", outsider, "command-refusal:outsider"],
  ] as const)("starts nothing for %s", async ([, person, refusal], context) => {
    const world = await aWorld(context);
    await world.command(person, opsAgents, "run deploy it");
    await world.told(person, refusal);
    expect(world.posted()).toEqual([]);
    expect(world.tasksSent()).toEqual([]);
  });

  test("works in a private channel that Countersign is a member of", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, payments, "pay the invoice");
    await world.decide(ben, card, "Approve", "due");
    await world.saidIn(opening, "outcome:succeeded");
  });
});

describe.concurrent("/agent alone", () => {
  test("opens a form that starts a run in the channel where it was typed", async (context) => {
    const world = await aWorld(context);
    expect(await world.command(ana, opsAgents, "")).toEqual({ ok: true });
    const form = await world.modalOf(ana, "task");
    await world.fillModal(ana, 'just say "hello"\nto everyone');
    expect(world.slack.workspace.viewById(form.id)).toBeUndefined();
    const opening = await world.until(() => world.posted(opsAgents)[0]);
    await world.saidIn(opening, "outcome:succeeded");
    expect(textOf(opening)).toContain(`@${ana}`);
    expect(world.tasksSent()).toEqual(['just say "hello"\nto everyone']);
  });

  test("keeps the form open if nothing visible was typed", async (context) => {
    const world = await aWorld(context);
    await world.command(ana, opsAgents, " ");
    const form = await world.modalOf(ana, "task");
    await world.fillModal(ana, " \u200b\n");
    expect(modalSays(form, "command-refusal:empty-task")).toBe(true);
    expect(world.viewOf(ana)).toBe(form);
    expect(world.tasksSent()).toEqual([]);
  });

  test("starts one run, however often the form is delivered", async (context) => {
    const world = await aWorld(context);
    await world.command(ana, opsAgents, "");
    await world.modalOf(ana, "task");
    await world.fillModal(ana, "just say once");
    const opening = await world.until(() => world.posted(opsAgents)[0]);
    await world.deliver(world.lastPayload("view_submission"));
    await world.deliver(world.lastPayload("view_submission"));
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.tasksSent()).toEqual(["just say once"]);
    expect(world.posted(opsAgents).filter(({ thread }) => thread === null)).toEqual([opening]);
  });

  test("starts nothing for a guest who submits the form", async (context) => {
    const world = await aWorld(context);
    await world.command(guest, opsAgents, "");
    await world.until(() => world.viewOf(guest) ?? world.ephemeralsFor(guest)[0]);
    if (world.hasForm(guest)) await world.fillModal(guest, "deploy it");
    await world.told(guest, "command-refusal:guest");
    expect(world.tasksSent()).toEqual([]);
  });
});

describe.concurrent("/agent with other words", () => {
  test("help lists every subcommand", async (context) => {
    const world = await aWorld(context);
    await world.command(ana, opsAgents, "help");
    const told = await world.told(ana, "answer:help");
    for (const word of ["status", "list", "pending", "watch", "unwatch", "health", "help"])
      expect(told).toContain(`/agent ${word}`);
  });

  test.for([
    ["approve run_1", "answer:decide-on-card"],
    ["deny apr_1 no", "answer:decide-on-card"],
    ["/approve", "answer:decide-on-card"],
    ["deploy billing-api", "answer:did-you-mean-run"],
    ["statsu", "answer:did-you-mean"],
    ["frobnicate", "answer:unknown-command"],
  ] as const)("%s decides and starts nothing, and is answered", async ([text, answer], context) => {
    const world = await aWorld(context);
    const { opening } = await world.asking(ana, opsAgents, "deploy it");
    await world.command(ben, opsAgents, text);
    await world.told(ben, answer);
    expect(world.threadOf(opening)).toHaveLength(1);
    expect(world.decisions()).toEqual([]);
    expect(world.tasksSent()).toHaveLength(1);
  });

  test("a task without `run` is offered as a run, and one or more clicks start it once", async (context) => {
    const world = await aWorld(context);
    const suggested = await suggestion(world, ben, "just say `yes`\nto <!channel>");
    expect(textOf(suggested)).toContain("/agent run just say `yes` to <!channel>");
    await Promise.all([click(world, ben, suggested), click(world, ben, suggested)]);
    await world.deliver(world.lastPayload("block_actions"));
    const opening = await world.until(() => world.posted(opsAgents)[0]);
    await world.saidIn(opening, "outcome:succeeded");
    expect(textOf(opening)).toContain(`@${ben}`);
    expect(world.tasksSent()).toEqual(["just say `yes`\nto <!channel>"]);
    await world.until(() => says("answer:suggestion-started", suggested));
    expect(buttonsOf(suggested)).toEqual([]);
  });

  test("a suggested run is started after a restart", async (context) => {
    const world = await aWorld(context);
    const suggested = await suggestion(world, ben, "just say hello");
    await world.stopApp();
    await world.startApp();
    await click(world, ben, suggested);
    const opening = await world.until(() => world.posted(opsAgents)[0]);
    await world.saidIn(opening, "outcome:succeeded");
    expect(world.tasksSent()).toEqual(["just say hello"]);
  });

  test("a guest may click, and is refused as with the command", async (context) => {
    const world = await aWorld(context);
    const suggested = await suggestion(world, guest, "just say hello");
    await click(world, guest, suggested);
    await world.told(guest, "command-refusal:guest");
    expect(world.posted()).toEqual([]);
  });

  test("subcommands may be uppercase, and are answered privately", async (context) => {
    const world = await aWorld(context);
    await world.command(ana, opsAgents, "HELP");
    await world.told(ana, "answer:help");
    expect(world.posted()).toEqual([]);
  });

  test.for(["status", "watch", "unwatch"])("%s asks for a run if none is given", async (word, context) => {
    const world = await aWorld(context);
    await world.command(ana, opsAgents, word);
    await world.told(ana, "answer:which-run");
    await world.command(ana, opsAgents, `${word} run_nobody_knows`);
    await world.told(ana, "command-refusal:unknown-run");
  });

  test("the command can be renamed in the configuration", async (context) => {
    const world = await aWorld(context, { env: { SLACK_COMMAND: "/bot" } });
    const typed = await world.command(ana, opsAgents, "help");
    expect(typed).toMatchObject({ ok: false });
    await world.deliverCommand({ ...world.lastPayload("slash_commands"), command: "/bot", text: "help" });
    await world.told(ana, "answer:help", "/bot run <task>");
  });
});
