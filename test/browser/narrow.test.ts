// The page on a phone, where one part covers another.
import type { BrowserContext, Page } from "playwright-core";
import { expect, test } from "vitest";
import { OPS } from "../sandbox/page/stage.ts";
import { browseEachTest } from "./browsing.ts";
import { violations } from "./looking.ts";

const on = browseEachTest({ filled: true });

const CHANNEL = `/as/U0ANA/${OPS}`;
const phone = (): Promise<BrowserContext> => on.look.window({ viewport: { width: 390, height: 844 } });
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
