import { describe, expect, test } from "vitest";
import { hostileText } from "#sandbox/service/task-words.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { buttonsOf, elementsOf, modalText, textOf } from "../make/journey-sight.ts";
import { idOf, says } from "../make/message-id.ts";
import { PATIENT } from "../make/patient.ts";
import { ana, ben, opsAgents, type Stage, aWorld } from "../make/world.ts";

/** Returns numbered lines, so that a missing line is noticed. */
const lines = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => `step ${n + 1} of the plan`);
const missingLines = (text: string, wanted: readonly string[]): string[] =>
  wanted.filter((each) => !text.split("\n").includes(each));

const filesIn = (world: Stage, opening: Message): string[] =>
  world
    .threadOf(opening)
    .flatMap(({ files }) => files)
    .map((id) => Buffer.from(world.slack.workspace.files.get(id)?.bytes ?? []).toString("utf8"));

const fileNamesIn = (world: Stage, opening: Message): (string | undefined)[] =>
  world
    .threadOf(opening)
    .flatMap(({ files }) => files)
    .map((id) => world.slack.workspace.files.get(id)?.name);

/** Starts a run that keeps working and requests this action. */
async function startRequesting(world: Stage, action: string): Promise<{ opening: Message; card: Message }> {
  const opening = await world.run(ana, opsAgents, "work forever");
  const { id } = await world.runAt("work forever");
  world.service.control.addApproval(id, { action });
  return { opening, card: await world.cardOf(opening) };
}

describe.concurrent("content that is too long for a message", () => {
  test("a huge output is shown in the thread in part, and in a file in full", async (context) => {
    const world = await aWorld(context);
    const opening = await world.run(ana, opsAgents, "huge report");
    const end = await world.saidIn(opening, "outcome:succeeded");
    await world.until(() => filesIn(world, opening).length > 0);
    const { ending } = await world.runAt("huge report");
    expect(ending).toMatchObject({ type: "succeeded", output: filesIn(world, opening)[0] });
    expect(textOf(end)).toContain("line 1 of a very long text");
    expect(textOf(end)).toContain("200,000 characters");
  });

  test("a huge request is attached in full before anyone can decide it", async (context) => {
    const world = await aWorld(context);
    const gate = Promise.withResolvers<void>();
    world.slack.faults.next("files.completeUploadExternal", { until: gate.promise });
    const { opening, card } = await world.asking(ana, opsAgents, "huge request");
    await world.becomes(card, "request:file-coming");
    expect(buttonsOf(card)).toEqual([]);
    gate.resolve();
    await world.until(() => buttonsOf(card).length > 0);
    const { approvals } = await world.runAt("huge request");
    const [file = ""] = filesIn(world, opening);
    expect(file).toContain(approvals[0]?.action);
    expect(says("request:file-there", card)).toBe(true);
    const [name = "", digest] = /request-(\w+)\.txt/.exec(textOf(card)) ?? [];
    expect(fileNamesIn(world, opening)).toEqual([name]);
    expect(file.split("\n")[0]).toBe(`Request ${digest}`);

    await world.decide(ben, card, "Approve", "read it all");
    await world.becomes(card, "approved");
    await world.saidIn(opening, "outcome:succeeded");
  });

  test("a request cannot be decided before Slack shows its file, which takes some time after Slack accepts it", async (context) => {
    const world = await aWorld(context, { timing: { ...PATIENT, shareMs: 4_000 } });
    const { opening, card } = await world.asking(ana, opsAgents, "huge request");
    const looks = () =>
      world.slack.traffic.lines().filter(({ what }) => what === "conversations.replies").length;
    await world.until(() => looks() > 0);
    expect([filesIn(world, opening).length, buttonsOf(card)]).toEqual([0, []]);
    await world.until(() => buttonsOf(card).length > 0);
    expect(filesIn(world, opening)).toHaveLength(1);
  });

  test("a request whose file is refused cannot be decided here, and its card says why", async (context) => {
    const world = await aWorld(context, { troubled: true });
    world.slack.faults.next("files.getUploadURLExternal", { error: "storage_limit_reached" });
    const { card } = await world.asking(ana, opsAgents, "huge request");
    await world.becomes(card, "request:file-refused", "storage_limit_reached");
    expect(buttonsOf(card)).toEqual([]);
  });

  test("a request that is too long for a card is shown in full in a modal, and in the decision form", async (context) => {
    const world = await aWorld(context);
    const plan = lines(700);
    const { card } = await startRequesting(world, plan.join("\n"));
    expect(buttonsOf(card)).toEqual(["Approve", "Deny", "Read in full"]);
    expect(says("request:shortened", card)).toBe(true);
    expect(missingLines(textOf(card), plan)).not.toEqual([]);

    const reading = await world.openForm(ben, card, "Read in full");
    expect(reading.view["submit"]).toBeUndefined();
    expect(missingLines(modalText(reading), plan)).toEqual([]);
    await world.slack.acts.close(ben, reading.id);
    const deciding = await world.openForm(ben, card, "Deny");
    expect(missingLines(modalText(deciding), plan)).toEqual([]);
    await world.fillModal(ben, "step 612 drops the table");
    await world.becomes(card, "denied", "step 612 drops the table");
  });

  test("the requester can read a request in full, although only others can decide it", async (context) => {
    const world = await aWorld(context);
    const { card } = await startRequesting(world, lines(700).join("\n"));
    expect(modalText(await world.openForm(ana, card, "Read in full"))).toContain("step 700 of the plan");
  });
});

const OWN_ELEMENTS = new Set(["text", "user", "date"]);
const OWN_CARD = new RegExp(
  `^http://127\\.0\\.0\\.1:\\d+/archives/${opsAgents}/p\\d+\\?thread_ts=[\\d.]+&cid=${opsAgents}$`,
);
const RICH = new Set(["rich_text_section", "rich_text_quote", "rich_text_preformatted", "rich_text_list"]);
// Control, direction, zero-width and tag characters, line separators and unpaired surrogates. Tab and newline are allowed.
const UNSEEN = /(?![\t\n])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

/** Returns the elements that Slack would interpret: everything except plain text, people we name ourselves, and times. */
function interpretedElements(blocks: unknown): unknown[] {
  const inRich = elementsOf(blocks)
    .filter(({ type }) => RICH.has(String(type)))
    .flatMap(
      ({ elements }) => elements as { type: string; user_id?: string; channel_id?: string; url?: string }[],
    )
    // A receipt names the run's channel.
    .filter(({ type, channel_id }) => !RICH.has(type) && !(type === "channel" && channel_id === opsAgents));
  const foreign = inRich.filter(
    ({ type, user_id, url }) =>
      !(
        (OWN_ELEMENTS.has(type) && (type !== "user" || [ana, ben].includes(user_id ?? ""))) ||
        // A receipt, which arrives at any time, links to its card.
        (type === "link" && OWN_CARD.test(url ?? ""))
      ),
  );
  const marked = elementsOf(blocks).filter(
    ({ type, text }) => type === "mrkdwn" && /<|hostile/.test(String(text)),
  );
  const pictures = elementsOf(blocks).filter(({ type }) =>
    ["image", "video", "markdown", "emoji"].includes(String(type)),
  );
  const unseen = elementsOf(blocks).filter(({ text }) => typeof text === "string" && UNSEEN.test(text));
  return [...foreign, ...marked, ...pictures, ...unseen];
}

const expectInert = ({ text, blocks }: Message): void => {
  expect(interpretedElements(blocks)).toEqual([]);
  // The only mention in it is ours: the requester.
  expect(text.replace(/ by <@U0[A-Z]+>$/, "")).not.toMatch(/<|>/);
  expect(text).not.toMatch(UNSEEN);
};

describe.concurrent("text that tries to deceive its reader", () => {
  test("stays plain text in the opening, the card, the modal and the outcome", async (context) => {
    const world = await aWorld(context);
    const { opening, card } = await world.asking(ana, opsAgents, `hostile ${hostileText}`);
    expectInert(opening);
    expectInert(card);
    expect(textOf(card)).toContain("<!channel> <!here> <!everyone> <@U0000001>");
    expect(textOf(card)).toContain("⟨U+202E⟩");
    const modal = await world.openForm(ben, card, "Approve");
    expect(interpretedElements(modal.view.blocks)).toEqual([]);
    expect(modalText(modal)).toContain("zero⟨U+200B⟩width");
    await world.fillModal(ben, hostileText);
    await world.becomes(card, "approved");
    expectInert(card);
    const end = await world.saidIn(opening, "outcome:succeeded");
    expectInert(end);
    expect(textOf(end)).toContain("<!channel>");
    expect(world.decisions()).toEqual([{ decision: "approve", reason: hostileText }]);
    for (const message of world.posted()) expectInert(message);
  });

  test("stays plain text in lists, in errors of the service and in a changed request", async (context) => {
    const world = await aWorld(context);
    const { card } = await startRequesting(world, hostileText);
    const modal = await world.openForm(ben, card, "Approve");
    const { id, approvals } = await world.runAt("work forever");
    const details = { tool: hostileText, [hostileText]: hostileText };
    world.service.control.changeApproval(id, approvals[0]?.id ?? "", {
      action: `${hostileText} more`,
      details,
    });
    await world.fillModal(ben, "");
    expect(idOf(modal.view)).toBe("form:changed");
    expect(interpretedElements(modal.view.blocks)).toEqual([]);
    world.service.control.fail(id, hostileText);
    await world.becomes(card, "closed");
    await world.command(ben, opsAgents, "list");
    await world.told(ben, "answer:list");
    for (const message of world.posted()) expectInert(message);
    for (const message of world.slack.workspace.messages.filter(({ ephemeralFor }) => ephemeralFor === ben)) {
      const links = interpretedElements(message.blocks).filter(
        (each) => (each as { type: string }).type !== "link",
      );
      expect(links).toEqual([]);
    }
  });

  test("stays plain text when an unknown subcommand is quoted", async (context) => {
    const world = await aWorld(context);
    await world.command(ana, opsAgents, "<!channel>`<@U0BEN>");
    const text = await world.told(ana, "answer:unknown-command");
    expect(text).not.toMatch(/<[!@]/);
  });

  test("stays plain text when it is suggested as a task", async (context) => {
    const world = await aWorld(context);
    await world.command(ana, opsAgents, "<!channel>`<@U0BEN> x");
    await world.told(ana, "answer:did-you-mean-run");
    const answer = world.ephemeralMessages(ana).find((each) => says("answer:did-you-mean-run", each));
    expect(answer?.text).not.toMatch(/<[!@]/);
    // Slack does not parse markup in the text elements of rich text.
    expect(answer?.blocks.map(({ type }) => type)).toEqual(["rich_text", "actions"]);
  });
});
