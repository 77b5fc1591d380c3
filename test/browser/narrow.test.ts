// The page on a phone, where one part covers another.
import type { BrowserContext, Locator, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { OPS, reasonModal } from "../sandbox/page/stage.ts";
import { browseEachTest } from "./browsing.ts";
import { violations } from "./looking.ts";

const on = browseEachTest({ filled: true });

const CHANNEL = `/as/U0ANA/${OPS}`;
const phone = (): Promise<BrowserContext> => on.look.window({ viewport: { width: 390, height: 844 } });
/** How far the channel is scrolled from its end (pixels). */
const TO_END = `(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)(
  document.querySelector("main [data-scroll]"))`;
const openOnPhone = async (path: string): Promise<Page> => on.look.tab(path, await phone());

test("the page says that the app is away, and only then", async () => {
  const page = await openOnPhone(CHANNEL);
  const status = page.locator("body > [role=status]");
  for (const [bot, words] of [
    ["paused", "Countersign is paused"],
    ["running", ""],
    ["stopped", "Countersign is stopped"],
  ] as const) {
    on.board.service({ bot });
    await expect.poll(async () => (await status.innerText()).trim()).toBe(words);
    const isDrawn = ((await status.boundingBox())?.height ?? 0) > 0;
    expect(isDrawn).toBe(words !== "");
  }
  expect(await violations(page)).toEqual([]);
});

test("the page says that the sandbox has stopped, and no longer what the app does", async () => {
  const page = await openOnPhone(CHANNEL);
  on.board.service({ bot: "paused" });
  await page.locator("body > [role=status]").getByText("Countersign is paused").waitFor();
  await on.served.close();
  await page.getByText("The sandbox has stopped.").waitFor();
  expect(await page.locator("body > [role=status]").innerText()).toBe(
    "The sandbox has stopped. Waiting for it…",
  );
  expect(await violations(page)).toEqual([]);
});

describe("a thread that covers its channel", () => {
  const thread = (): string => {
    const reply = on.stage.workspace.messages.find((one) => one.channel === OPS && one.thread !== null);
    return `${CHANNEL}/${reply?.thread ?? ""}`;
  };
  const inMain = "document.activeElement.closest('main') !== null";

  test("keeps the keyboard out of the channel, and the channel from a screen reader", async () => {
    const page = await openOnPhone(thread());
    expect(await page.getByRole("log", { name: "Messages in ops-agents" }).count()).toBe(0);
    for (const key of ["Tab", "Shift+Tab", "F6"]) {
      await page.getByRole("textbox", { name: "Reply" }).focus();
      for (let i = 0; i < 12; i += 1) {
        await page.keyboard.press(key);
        expect(await page.evaluate(inMain)).toBe(false);
      }
    }
    expect(await violations(page)).toEqual([]);
  });

  test("is passed by F6, which stops at each part that is in view", async () => {
    const page = await openOnPhone(thread());
    await page.getByRole("textbox", { name: "Reply" }).focus();
    const part = "document.activeElement.closest('nav, aside')?.ariaLabel ?? document.activeElement.tagName";
    const seen: unknown[] = [];
    for (let i = 0; i < 3; i += 1) {
      await page.keyboard.press("F6");
      seen.push(await page.evaluate(part));
    }
    expect(seen).toEqual(["Who you are", "Thread", "Who you are"]);
  });

  test("gives the focus to its reply when a form closes whose button and message are gone", async () => {
    on.stage.workspace.pushView("U0ANA", reasonModal());
    const page = await openOnPhone(thread());
    await page.getByRole("dialog", { name: "Deny request" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await expect.poll(() => page.evaluate("document.activeElement.id")).toBe("reply");
  });

  test("gives the channel back when it is closed, or when the window becomes wide", async () => {
    for (let i = 0; i < 60; i += 1)
      on.stage.workspace.post({ author: "U0BEN", channel: OPS, text: `line ${i}` });
    const page = await openOnPhone(thread());
    const last = page.locator("main").getByText("line 59");
    await page.setViewportSize({ width: 1280, height: 820 });
    await expect.poll(() => last.isVisible()).toBe(true);
    expect(await page.evaluate(TO_END)).toBeLessThan(2);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.getByRole("link", { name: "Close the thread" }).click();
    await page.waitForURL(`**${CHANNEL}`);
    await last.waitFor();
    expect(await page.evaluate(TO_END)).toBeLessThan(2);
    await page.goBack();
    await page.getByRole("log", { name: "Messages in this thread" }).waitFor();
    await page.goForward();
    await last.waitFor();
  });
});

/** A phone whose reader zooms to 200 %. */
const zoomed = (): Promise<BrowserContext> => on.look.window({ viewport: { width: 195, height: 422 } });
const boxOf = async (part: Locator) => (await part.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };

test("on a zoomed phone, the keyboard help has one column, in full, and its title keeps away from Close", async () => {
  const page = await on.look.tab(CHANNEL, await zoomed());
  await page.getByRole("log").first().press("?");
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await help.waitFor();
  const tooWide = `[...document.querySelectorAll("dialog[open]")].map((one) => one.scrollWidth - one.clientWidth)`;
  expect(await page.evaluate(tooWide)).toEqual([0]);
  const [keys, does] = [await boxOf(help.locator("dt").first()), await boxOf(help.locator("dd").first())];
  expect(does.y).toBeGreaterThanOrEqual(keys.y + keys.height);
  const [title, close] = [
    await boxOf(help.locator("h2")),
    await boxOf(help.getByRole("button", { name: "Close" })),
  ];
  expect(close.x - title.x - title.width).toBeGreaterThanOrEqual(8);
});

const done = {
  name: "four-eyes",
  captions: [{ at: 1_000, text: "Ana asks for a deployment. ".repeat(6), eyes: null, spot: null }],
  ended: "done",
} as const;

test("on a zoomed phone, a finished scene leaves room for the text box, also after a reload", async () => {
  const page = await on.look.tab(CHANNEL, await zoomed());
  on.board.play({ ...done, ended: null });
  await page.locator("[data-shown] [data-caption=playing]").waitFor();
  on.board.play(done);
  for (const again of [false, true]) {
    if (again) await page.reload();
    await page.locator("[data-shown] [data-caption=done]").waitFor();
    const bar = await boxOf(page.locator("[data-caption-bar]"));
    expect(bar.height).toBeLessThanOrEqual(422 * 0.3);
    const composer = await boxOf(page.getByRole("textbox", { name: /^Message/ }));
    expect(composer.y).toBeGreaterThanOrEqual(bar.y + bar.height);
    expect(composer.y + composer.height).toBeLessThanOrEqual(422);
  }
  expect(await violations(page)).toEqual([]);
});

test("a tab that did not watch a finished scene does not show it", async () => {
  on.board.play(done);
  const page = await on.look.tab(CHANNEL, await zoomed());
  await page.locator("[data-caption=done]").waitFor({ state: "attached" });
  await expect.poll(() => page.locator("[data-caption-bar][data-shown]").count()).toBe(0);
});
