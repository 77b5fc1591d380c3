// Two people in one window, and the phone of one of them.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { approvalCard, OPS } from "../sandbox/page/stage.ts";
import { violations } from "./looking.ts";
import { browseEachTest } from "./browsing.ts";

const on = browseEachTest();

const APP = "U0COUNTERSIGN";
const half = (page: Page, name: string) => page.frameLocator(`iframe[title^="As ${name}"]`);

async function bothHalves(page: Page): Promise<void> {
  await page.getByRole("link", { name: "Side by side" }).click();
  await page.waitForURL(`${on.served.url}/side/U0ANA/U0BEN/${OPS}`);
  for (const name of ["Ana", "Ben"]) await half(page, name).locator("body[data-live]").waitFor();
}

test("side by side, each person sees what the other writes, and each decides for themselves", async () => {
  const page = await on.look.tab(`/as/U0ANA/${OPS}`);
  await bothHalves(page);
  await half(page, "Ana").getByRole("textbox", { name: "Message #ops-agents" }).fill("please look");
  await half(page, "Ana").getByRole("button", { name: "Send" }).click();
  await half(page, "Ben").getByText("please look").waitFor();
  on.stage.workspace.post({ channel: OPS, author: APP, text: "card", blocks: approvalCard() });
  await half(page, "Ben").locator("main").getByRole("button", { name: "Approve" }).click();
  await expect
    .poll(() => on.stage.done.map((one) => [one.act, one.with[0]]))
    .toEqual([
      ["say", "U0ANA"],
      ["click", "U0BEN"],
    ]);
  expect(await violations(page)).toEqual([]);
  await page.getByRole("link", { name: "Back to one view" }).click();
  await page.waitForURL(`${on.served.url}/as/U0ANA/${OPS}`);
});

test("a scene that is played in one half moves neither half", async () => {
  const page = await on.look.tab(`/as/U0ANA/${OPS}`);
  await bothHalves(page);
  const ben = half(page, "Ben");
  await ben
    .getByRole("button", { name: "☰" })
    .or(ben.getByRole("button", { name: "Channels" }))
    .first()
    .click();
  await ben.getByRole("link", { name: "Scenes" }).click();
  await ben.getByRole("button", { name: "Play: Four eyes" }).click();
  const spot = { channel: OPS, ts: null };
  on.board.play({
    name: "four-eyes",
    captions: [{ at: 1, text: "Ana asks.", eyes: "U0ANA", spot }],
    ended: null,
  });
  await half(page, "Ana").getByRole("status").getByText("Ana asks.").waitFor();
  await ben.getByRole("status").getByText("Ana asks.").waitFor();
  expect(page.frames().map((frame) => new URL(frame.url()).pathname)).toEqual([
    `/side/U0ANA/U0BEN/${OPS}`,
    `/as/U0ANA/${OPS}`,
    `/as/U0BEN/${OPS}`,
  ]);
});

test("a place that one of the two cannot see is not found", async () => {
  expect((await fetch(`${on.served.url}/side/U0ANA/U0BEN/C0PAYMENTS`)).status).toBe(200);
  expect((await fetch(`${on.served.url}/side/U0ANA/U0CAT/C0PAYMENTS`)).status).toBe(404);
  expect((await fetch(`${on.served.url}/side/U0ANA/U404/${OPS}`)).status).toBe(404);
});

test("a phone shows direct messages and mentions as they arrive, in the words of the notification", async () => {
  const { workspace } = on.stage;
  const page = await on.look.tab(`/as/U0BEN/${OPS}?panel=phone`);
  const phone = page.getByRole("log", { name: "Notifications of Ben Okafor" });
  await phone.getByText("Nothing yet.").waitFor();
  workspace.post({ channel: OPS, author: APP, text: "for nobody in particular" });
  workspace.post({ channel: OPS, author: APP, text: "for Ana", ephemeralFor: "U0ANA" });
  const asked = workspace.post({
    channel: OPS,
    author: APP,
    text: "🟡 Approval needed &lt;now&gt;",
    blocks: [
      {
        type: "rich_text",
        elements: [{ type: "rich_text_section", elements: [{ type: "user", user_id: "U0BEN" }] }],
      },
    ],
  });
  await phone.getByText("🟡 Approval needed <now>").waitFor();
  workspace.edit(asked, { text: "✅ Approved" });
  workspace.post({ channel: workspace.dmOf("U0BEN").id, author: APP, text: "You approved this." });
  await phone.getByText("You approved this.").waitFor();
  expect(await phone.locator("[data-notice]").allTextContents()).toEqual([
    "You approved this.",
    "🟡 Approval needed <now>",
  ]);
  for (const [width, colorScheme] of [
    [1280, "light"],
    [390, "dark"],
  ] as const) {
    await page.setViewportSize({ width, height: 820 });
    await page.emulateMedia({ colorScheme });
    expect(await violations(page)).toEqual([]);
  }
  await phone.getByRole("link", { name: /Approval needed/ }).click();
  await page.waitForURL(`${on.served.url}/as/U0BEN/${OPS}?panel=phone#m-${asked.ts}`);
});

test("a notification is light in both schemes, and so are the mentions in it", async () => {
  const page = await on.look.tab(
    `/as/U0BEN/${OPS}?panel=phone`,
    await on.look.window({ colorScheme: "dark" }),
  );
  const text = "<@U0BEN> Approval needed, asked by <@U0ANA>";
  on.stage.workspace.post({ channel: OPS, author: "U0COUNTERSIGN", text });
  const mentions = page.locator("[data-notification] [data-mention]");
  await mentions.nth(1).waitFor();
  const colors = (): Promise<string[]> =>
    page.evaluate(`[...document.querySelectorAll("[data-notification] [data-mention]")].map(
      (one) => getComputedStyle(one).backgroundColor + getComputedStyle(one).color)`);
  const inDark = await colors();
  await page.emulateMedia({ colorScheme: "light" });
  expect(inDark).toEqual(await colors());
});
