import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ActResult, Block } from "#sandbox/slack/model.ts";
import {
  approvalCard,
  createStage,
  decidedCard,
  fillTraffic,
  fillWorkspace,
  OPS,
  reasonModal,
  servePage,
} from "../sandbox/page/stage.ts";
import type { Scene } from "../sandbox/page/stage.ts";
import { launchChromium } from "../make/chromium.ts";
import { violations } from "./looking.ts";

let browser: Browser;
let stage: ReturnType<typeof createStage>;
let served: Awaited<ReturnType<typeof servePage>>;
let scene: Scene;
let page: Page;
let faults: string[];
let answer: () => Promise<ActResult>;

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

beforeEach(async () => {
  answer = () => Promise.resolve({ ok: true });
  stage = createStage({ submit: () => answer(), command: () => answer(), click: () => answer() });
  served = await servePage(stage.parts);
  scene = fillWorkspace(stage.workspace);
  faults = [];
  page = await open({});
});
afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  await served.close();
  if (faults.length > 0) throw new Error(`the page logged errors: ${faults.join("; ")}`);
});

async function open(options: Parameters<Browser["newContext"]>[0]): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 820 }, ...options });
  const made = await context.newPage();
  made.setDefaultTimeout(30_000);
  made.on("pageerror", (error) => faults.push(error.message));
  made.on("console", (line) => {
    // Chromium reports a stream that ends with its page as a failed resource.
    if (line.type() === "error" && !line.text().includes("net::")) faults.push(line.text());
  });
  return made;
}

const go = async (path: string, on = page): Promise<void> => {
  await on.goto(served.url + path);
  await on.locator("body[data-live]").waitFor();
};

const channel = `/as/U0ANA/${OPS}`;
const thread = (): string => `${channel}/${scene.run.ts}`;

describe("axe finds no violation", () => {
  const places: [string, () => string, Parameters<Browser["newContext"]>[0]][] = [
    ["in a thread", thread, {}],
    ["in a thread with traffic, in the dark", () => `${thread()}?traffic`, { colorScheme: "dark" }],
    ["in a channel with traffic", () => `${channel}?traffic`, {}],
    ["on a narrow screen", () => channel, { viewport: { width: 400, height: 780 } }],
    ["on the Home tab", () => "/as/U0ANA/home", { colorScheme: "dark" }],
    ["in a fresh channel", () => "/as/U0ANA/C0RELEASES", {}],
  ];
  test.for(places)("%s", async ([, path, options]) => {
    fillTraffic(stage.traffic);
    stage.workspace.publishHome("U0ANA", { type: "home", blocks: decidedCard() });
    const on = await open({ reducedMotion: "reduce", ...options });
    await go(path(), on);
    expect(await violations(on)).toEqual([]);
  });

  test.for(["light", "dark"] as const)("in a modal with an error, %s", async (colorScheme) => {
    const view = stage.workspace.pushView("U0ANA", reasonModal());
    stage.workspace.changeView(view, { errors: { reason: "Too short." }, trouble: "Try again?" });
    const on = await open({ reducedMotion: "reduce", colorScheme });
    await go(thread(), on);
    await on.getByRole("dialog", { name: "Deny request" }).waitFor();
    expect(await violations(on)).toEqual([]);
  });
});

describe("typing", () => {
  test("an example fills the composer and Enter sends it as a command", async () => {
    await go("/as/U0ANA/C0RELEASES");
    await page.getByRole("button", { name: "/agent run deploy billing-api to production" }).click();
    await page.keyboard.press("Enter");
    await expect
      .poll(() => stage.done)
      .toEqual([
        { act: "command", with: ["U0ANA", "C0RELEASES", "/agent", "run deploy billing-api to production"] },
      ]);
  });

  test("the arrow keys choose among the completions of a command", async () => {
    await go(channel);
    const composer = page.getByRole("textbox", { name: "Message #ops-agents" });
    await composer.pressSequentially("/ag");
    await page.getByRole("option", { name: "/agent status <run>" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    expect(await composer.inputValue()).toBe("/agent status ");
    expect(stage.done).toEqual([]);
  });

  test("Shift+Enter inserts a line break, and a draft survives live changes and a reload", async () => {
    await go(channel);
    const composer = page.getByRole("textbox", { name: "Message #ops-agents" });
    await composer.pressSequentially("one");
    await page.keyboard.press("Shift+Enter");
    await composer.pressSequentially("two");
    stage.workspace.post({ author: "U0BEN", channel: OPS, text: "meanwhile" });
    await page.getByText("meanwhile").waitFor();
    expect(await composer.inputValue()).toBe("one\ntwo");
    await page.reload();
    expect(await composer.inputValue()).toBe("one\ntwo");
  });

  test("text that could not be sent returns to the composer, with Slack's error", async () => {
    answer = () => Promise.resolve({ ok: false, error: '/agent failed with the error "operation_timeout"' });
    await go(channel);
    const composer = page.getByRole("textbox", { name: "Message #ops-agents" });
    await composer.fill("/agent list");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").getByText("operation_timeout").waitFor();
    expect(await composer.inputValue()).toBe("/agent list");
  });
});

describe("live updates", () => {
  test("two tabs are two people, and one sees what the other says", async () => {
    const other = await open({});
    await go(`/as/U0BEN/${OPS}`, other);
    await go(channel);
    await page.getByRole("textbox", { name: "Message #ops-agents" }).fill("hello Ben");
    await page.keyboard.press("Enter");
    await other.getByText("hello Ben").waitFor();
  });

  test("a changed card is redrawn, and no other message is touched", async () => {
    await go(channel);
    await page.evaluate("document.querySelectorAll('[data-message]').forEach((one) => (one.seen = true))");
    stage.workspace.edit(scene.card, { blocks: decidedCard() });
    await page.getByText("Not during the freeze window.").waitFor();
    const fresh =
      "[...document.querySelectorAll('[data-message]')].filter((one) => !one.seen).map((one) => one.dataset.ts)";
    expect(await page.evaluate(fresh)).toEqual([scene.card.ts]);
  });

  test("an opened preview stays open when its message changes", async () => {
    await go(thread());
    await page.getByText("Preview").click();
    const withFile = stage.workspace.messages.find((one) => one.files.length > 0);
    if (withFile !== undefined) stage.workspace.edit(withFile, { text: "The output, again." });
    await page.getByText("The output, again.").waitFor();
    expect(await page.locator("[data-file] pre").isVisible()).toBe(true);
  });

  test("new messages scroll into view for a reader at the end, and are offered to others", async () => {
    for (let i = 0; i < 60; i += 1)
      stage.workspace.post({ author: "U0BEN", channel: OPS, text: `line ${i}` });
    await go(channel);
    const scroller = page.getByRole("log", { name: "Messages in ops-agents" });
    stage.workspace.post({ author: "U0BEN", channel: OPS, text: "at the end" });
    await page.getByText("at the end").waitFor();
    const atEnd = "(one => one.scrollHeight - one.scrollTop - one.clientHeight < 2)";
    expect(await scroller.evaluate(`${atEnd}(document.querySelector('main [data-scroll]'))`)).toBe(true);
    await page.evaluate("document.querySelector('main [data-scroll]').scrollTop = 0");
    stage.workspace.post({ author: "U0BEN", channel: OPS, text: "further down" });
    await page.getByRole("button", { name: "1 new message" }).click();
    await expect.poll(() => page.getByRole("button", { name: "new message" }).isVisible()).toBe(false);
    expect(await page.locator("main [data-first-new]").textContent()).toContain("further down");
  });

  test("a very tall message is visible to its last line for a reader at the end, even when it grows", async () => {
    await go(channel);
    const bottom = `(() => {
      const scroller = document.querySelector("main [data-scroll]");
      return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
    })()`;
    const tall = (lines: number) => [{ type: "markdown", text: "a line\n\n".repeat(lines) }];
    const message = stage.workspace.post({
      author: "U0COUNTERSIGN",
      channel: OPS,
      text: "tall",
      blocks: tall(40),
    });
    await page.locator(`[id="m-${message.ts}"]`).waitFor();
    await expect.poll(() => page.evaluate(bottom)).toBeLessThan(2);
    stage.workspace.edit(message, { blocks: tall(80) });
    await page.getByText("a line").nth(79).waitFor({ state: "attached" });
    await expect.poll(() => page.evaluate(bottom)).toBeLessThan(2);
  });

  test("new traffic is filtered, too", async () => {
    fillTraffic(stage.traffic);
    await go(`${channel}?traffic`);
    await page.getByRole("searchbox", { name: "Words that a line must contain" }).fill("views");
    stage.traffic.add("app", "views.open", {});
    await page.getByText("views.open").first().waitFor();
    expect(await page.getByText("auth.test").isVisible()).toBe(false);
  });
});

describe("the time until a deadline", () => {
  const HOUR_MS = 3_600_000;
  const deadline = (): Block => {
    const timestamp = Math.floor((stage.workspace.now() + 5 * HOUR_MS) / 1000);
    const date = { type: "date", timestamp, format: "{ago}", fallback: "later" };
    return { type: "rich_text", elements: [{ type: "rich_text_section", elements: [date] }] };
  };

  test("moves with the clock on a card and in a form, and leaves the person typing", async () => {
    stage.workspace.edit(scene.card, { blocks: [deadline()] });
    const { blocks, ...form } = reasonModal();
    stage.workspace.pushView("U0ANA", { ...form, blocks: [deadline(), ...blocks] });
    await go(channel);
    await page.getByText("in 5 hours").nth(1).waitFor();
    const reason = page.getByRole("textbox", { name: "Reason" });
    await reason.pressSequentially("Not today");
    for (let i = 0; i < "today".length; i += 1) await page.keyboard.press("ArrowLeft");
    stage.clock.advance(HOUR_MS);
    await page.getByText("in 4 hours").nth(1).waitFor();
    await page.keyboard.type("before ");
    expect(await reason.inputValue()).toBe("Not before today");
  });

  test("moves while the person is asked to confirm a press, and the answer counts", async () => {
    stage.workspace.edit(scene.card, { blocks: [deadline(), ...approvalCard()] });
    await go(channel);
    const card = page.locator("main").locator(`[id="m-${scene.card.ts}"]`);
    await card.getByRole("button", { name: "Deny" }).click();
    stage.clock.advance(HOUR_MS);
    await card.getByText("in 4 hours").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Deny" }).click();
    await expect.poll(() => stage.done.map((one) => one.act)).toEqual(["click"]);
  });
});

describe("deciding", () => {
  test("a button with a confirmation is pressed only after the confirmation", async () => {
    await go(channel);
    const deny = page.locator("main").getByRole("button", { name: "Deny" });
    await deny.click();
    await page.getByRole("dialog").getByRole("button", { name: "Not yet" }).click();
    await deny.click();
    await page.getByRole("dialog").getByRole("button", { name: "Deny" }).click();
    await expect.poll(() => stage.done.map((one) => one.act)).toEqual(["click"]);
  });

  test("an error of the app appears below its field, and the typed text stays", async () => {
    const view = stage.workspace.pushView("U0ANA", reasonModal());
    answer = () => {
      stage.workspace.changeView(view, {
        values: { reason: { text: "no" } },
        errors: { reason: `Too short (${stage.done.length}).` },
      });
      return Promise.resolve({ ok: true });
    };
    await go(channel);
    const reason = page.getByRole("textbox", { name: "Reason" });
    await reason.fill("no");
    for (const attempt of [1, 2]) {
      await page.getByRole("dialog").getByRole("button", { name: "Deny", exact: true }).click();
      await page.getByText(`Too short (${attempt}).`).waitFor();
      expect(await reason.inputValue()).toBe("no");
    }
    await expect
      .poll(() => reason.evaluate("document.activeElement.getAttribute('aria-invalid')"))
      .toBe("true");
  });

  test("a choice takes along what is typed and chosen in the other fields", async () => {
    const options = ["Not now", "Tests are missing"].map((text, i) => ({
      text: { type: "plain_text", text },
      value: `${i}`,
    }));
    const preset = {
      type: "actions",
      block_id: "preset",
      elements: [{ type: "static_select", action_id: "chosen", options }],
    };
    const { blocks, ...form } = reasonModal();
    const view = stage.workspace.pushView("U0ANA", { ...form, blocks: [preset, ...blocks] });
    const known: unknown[] = [];
    answer = () => {
      known.push(structuredClone(view.values));
      return Promise.resolve({ ok: true });
    };
    await go(channel);
    await page.getByRole("textbox", { name: "Reason" }).fill("See ticket 12.");
    await page.getByRole("radio", { name: "Stop the run" }).check();
    await page.getByRole("combobox", { name: "Choose", exact: true }).selectOption("Not now");
    await expect
      .poll(() => known)
      .toMatchObject([{ reason: { text: "See ticket 12." }, next: { next: "stop" } }]);
  });

  test("an empty required field is rejected before the app is called", async () => {
    stage.workspace.pushView("U0ANA", reasonModal());
    await go(channel);
    await page.getByRole("dialog").getByRole("button", { name: "Deny", exact: true }).click();
    await page.getByText("Please fill in this field.").waitFor();
    expect(stage.done).toEqual([]);
  });

  test("a field that was rejected is no longer marked once it is filled in, while another one is", async () => {
    const { blocks, ...form } = reasonModal();
    const required = blocks.map((block) =>
      block.block_id === "tell" ? { ...block, optional: false } : block,
    );
    stage.workspace.pushView("U0ANA", { ...form, blocks: required });
    await go(channel);
    const reason = page.getByRole("textbox", { name: "Reason" });
    const described = await reason.getAttribute("aria-describedby");
    const submit = page.getByRole("dialog").getByRole("button", { name: "Deny", exact: true });
    await submit.click();
    await page.getByText("Please fill in this field.").nth(1).waitFor();
    expect(await reason.getAttribute("aria-invalid")).toBe("true");
    await reason.fill("because");
    await submit.click();
    await expect.poll(() => reason.getAttribute("aria-invalid")).toBe(null);
    expect(await reason.getAttribute("aria-describedby")).toBe(described);
    expect(await page.getByRole("combobox", { name: "Tell" }).getAttribute("aria-invalid")).toBe("true");
    expect(stage.done).toEqual([]);
  });

  test("a second press does not count while an answer is awaited", async () => {
    const { promise, resolve } = Promise.withResolvers<ActResult>();
    answer = () => promise;
    stage.workspace.pushView("U0ANA", reasonModal());
    await go(channel);
    await page.getByRole("textbox", { name: "Reason" }).fill("because");
    const submit = page.getByRole("dialog").getByRole("button", { name: "Deny", exact: true });
    await submit.click();
    await submit.click();
    expect(await submit.getAttribute("aria-busy")).toBe("true");
    resolve({ ok: false, error: "We had some trouble connecting. Try again?" });
    await page.getByText("We had some trouble connecting.").waitFor();
    expect(stage.done.map((one) => one.act)).toEqual(["submit"]);
  });

  test("Escape closes the modal for the app, too, and returns the focus to the button", async () => {
    answer = () => {
      stage.workspace.pushView("U0ANA", reasonModal());
      return Promise.resolve({ ok: true });
    };
    await go(channel);
    await page.locator("main").getByRole("button", { name: "Approve" }).press("Enter");
    await page.getByRole("dialog", { name: "Deny request" }).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => stage.done.map((one) => one.act)).toEqual(["click", "close"]);
    await expect.poll(() => page.evaluate("document.activeElement.textContent.trim()")).toBe("Approve");
  });
});

test("with five hundred messages, a change touches only the message that changed", async () => {
  for (let i = 0; i < 500; i += 1) {
    stage.workspace.post({ author: "U0COUNTERSIGN", channel: OPS, text: `${i}`, blocks: decidedCard() });
  }
  await go(channel);
  const untouched = `document.querySelectorAll('[id^="m-"]:not([data-seen])').length`;
  await page.evaluate(
    `document.querySelectorAll('[id^="m-"]').forEach((each) => each.setAttribute("data-seen", ""))`,
  );
  expect(await page.evaluate(untouched)).toBe(0);
  stage.workspace.edit(scene.card, { blocks: decidedCard(), text: "changed" });
  await page.locator(`[id="m-${scene.card.ts}"]`).getByText("Not during the freeze window").waitFor();
  expect(await page.evaluate(untouched)).toBeLessThanOrEqual(1);
});
