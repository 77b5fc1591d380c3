// What the page adds to the conversation leaves room for it: captions and hints go, and errors cover nothing.
import type { BrowserContext, Page } from "playwright-core";
import { expect, test } from "vitest";
import { approvalCard, decidedCard, OPS } from "../sandbox/page/stage.ts";
import { browseEachTest } from "./browsing.ts";
import { violations } from "./looking.ts";

const on = browseEachTest();

const APP = "U0COUNTERSIGN";
const end = { at: 9_000, text: "One decision was sent.", eyes: null, spot: null };
const finish = () => on.board.play({ name: "four-eyes", captions: [end], ended: "done" });
const caption = (page: Page) => page.locator("[data-caption]");
const narrow = (): Promise<BrowserContext> => on.look.window({ viewport: { width: 390, height: 780 } });

test("the caption of a finished scene goes when its reader moves to another person or place, and stays gone", async () => {
  const page = await on.look.tab(`/as/U0ANA/${OPS}`, await narrow());
  finish();
  await caption(page).getByText("What just happened.").waitFor();
  await page.goto(`${on.served.url}/as/U0ANA/${OPS}?panel=phone`);
  await caption(page).getByText("What just happened.").waitFor();
  for (const path of [`/as/U0BEN/${OPS}`, `/as/U0ANA/${OPS}`]) {
    await page.goto(on.served.url + path);
    await page.locator("body[data-live]").waitFor();
    expect(await caption(page).isVisible()).toBe(false);
  }
  on.board.play({ id: "play-2", name: "four-eyes", captions: [end], ended: "done" });
  await caption(page).getByText("What just happened.").waitFor();
});

test("the caption of a finished scene goes after a minute, but not from under the pointer", async () => {
  const window = await narrow();
  await window.clock.install();
  const page = await on.look.tab(`/as/U0ANA/${OPS}`, window);
  finish();
  await caption(page).getByText("What just happened.").hover();
  await page.clock.fastForward(61_000);
  expect(await caption(page).isVisible()).toBe(true);
  await page.mouse.move(5, 700);
  await page.clock.fastForward(61_000);
  await caption(page).waitFor({ state: "hidden" });
});

test("a hint can be closed, and its kind stays closed in all tabs of the browser", async () => {
  const window = await narrow();
  const page = await on.look.tab(`/as/U0BEN/${OPS}`, window);
  const first = page.getByLabel("What to do first");
  await first.getByRole("button", { name: "Hide this hint" }).waitFor();
  expect(await violations(page)).toEqual([]);
  await first.getByRole("button", { name: "Hide this hint" }).click();
  await first.waitFor({ state: "hidden" });
  const { ts } = on.stage.workspace.post({ channel: OPS, author: APP, text: "card", blocks: approvalCard() });
  const reply = { channel: OPS, author: APP, text: "card", thread: ts, broadcast: true };
  const card = on.stage.workspace.post({ ...reply, blocks: approvalCard() });
  const next = page.getByLabel("What to do next");
  await next.waitFor();
  on.stage.workspace.edit(card, { blocks: decidedCard() });
  const dares = page.getByLabel("What to try next");
  await dares.waitFor();
  await dares.getByRole("button", { name: "Hide this hint" }).click();
  await dares.waitFor({ state: "hidden" });
  const other = await on.look.tab(`/as/U0CAT/${OPS}`, window);
  expect(await other.getByLabel("What to try next").isVisible()).toBe(false);
});

const fill = (): void => {
  for (let i = 0; i < 30; i += 1)
    on.stage.workspace.post({ channel: OPS, author: APP, text: `line ${i}`, blocks: [] });
};
const up = (page: Page): Promise<void> =>
  page.evaluate('void (document.querySelector("main [data-scroll]").scrollTop = 0)');
const box = async (page: Page, selector: string) => {
  const found = await page.locator(selector).boundingBox();
  if (found === null) throw new Error(`${selector} is not visible`);
  return { top: found.y, bottom: found.y + found.height };
};

test.for([1280, 390])(
  "at a width of %i, an error covers neither the field nor the pill, and replaces the older one",
  async (width) => {
    fill();
    const page = await on.look.tab(
      `/as/U0DEE/${OPS}`,
      await on.look.window({ viewport: { width, height: 780 } }),
    );
    await up(page);
    on.stage.workspace.post({ channel: OPS, author: APP, text: "the newest line", blocks: [] });
    await page.getByRole("button", { name: "1 new message" }).waitFor();
    await page.evaluate(`fetch = () => Promise.reject(new Error("down"))`);
    await page.locator("#composer").fill("/agent health");
    await page.keyboard.press("Enter");
    await page.locator("main [data-alert]").getByText("The sandbox did not answer.").waitFor();
    const [alert, pill] = [await box(page, "main [data-alert]"), await box(page, "main [data-new]")];
    expect(pill.bottom).toBeLessThanOrEqual(alert.top);
    await page.getByRole("button", { name: "1 new message" }).click();
    await page.evaluate(`document.querySelector("main").insertAdjacentHTML(
      "beforeend", '<button type="button" data-control="x" data-args="{}">Press</button>')`);
    await page.getByRole("button", { name: "Press" }).click();
    await page.locator("[data-toast]").getByText("The sandbox did not answer.").waitFor();
    expect(await page.locator("main [data-alert]").isVisible()).toBe(false);
    await page.evaluate(`document.querySelector("[data-control=x]").remove()`);
    expect((await box(page, "[data-toast]")).bottom).toBeLessThanOrEqual(
      (await box(page, "main [data-composer]")).top,
    );
  },
);

test("what a person sends brings them to the end, where the answer appears", async () => {
  fill();
  const page = await on.look.tab(`/as/U0ANA/${OPS}`);
  await up(page);
  on.stage.workspace.post({ channel: OPS, author: APP, text: "a line meanwhile", blocks: [] });
  await page.getByRole("button", { name: "1 new message" }).waitFor();
  await page.locator("#composer").fill("/agent health");
  await page.keyboard.press("Enter");
  await expect.poll(() => on.stage.done.map(({ act }) => act)).toContain("command");
  on.stage.workspace.post({
    channel: OPS,
    author: APP,
    text: "The answer",
    ephemeralFor: "U0ANA",
    blocks: [],
  });
  const seen = `(() => {
    const pane = document.querySelector("main [data-scroll]");
    return pane.scrollHeight - pane.scrollTop - pane.clientHeight < 2 && pane.textContent.includes("The answer");
  })()`;
  await expect.poll(() => page.evaluate(seen)).toBe(true);
  expect(await page.getByRole("button", { name: /new message/ }).count()).toBe(0);
});
