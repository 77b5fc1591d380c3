// A scene leads the tab that played it, and no other tab.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Message } from "#sandbox/slack/model.ts";
import { approvalCard, decidedCard, OPS } from "../sandbox/page/stage.ts";
import { violations } from "./looking.ts";
import { browseEachTest } from "./browsing.ts";

const on = browseEachTest();

const RELEASES = "/as/U0CAT/C0RELEASES?panel=scenes";
const asks = { at: 1_000, text: "Ana asks.", eyes: "U0ANA", spot: { channel: OPS, ts: null } };

const card = (): Message =>
  on.stage.workspace.post({ channel: OPS, author: "U0COUNTERSIGN", text: "card", blocks: approvalCard() });
const looksAt = ({ channel, ts }: Message) => ({
  at: 3_500,
  text: "Ben looks at the card.",
  eyes: "U0BEN",
  spot: { channel, ts },
});
const scene = (...captions: object[]) =>
  on.board.play({ name: "four-eyes", captions, ended: null } as Parameters<typeof on.board.play>[0]);
const play = (page: Page) => page.getByRole("button", { name: "Play: Four eyes" }).click();
const placeOf = async (page: Page, path: string): Promise<void> => {
  await page.waitForURL(on.served.url + path);
  await page.locator("body[data-live]").waitFor();
};

test("the tab that plays a scene goes to its person and channel, and changes are in view and highlighted", async () => {
  const [played, other] = [await on.look.tab(RELEASES), await on.look.tab("/as/U0CAT/C0RELEASES")];
  await play(played);
  scene(asks);
  await placeOf(played, `/as/U0ANA/${OPS}?panel=scenes`);
  const first = card();
  for (let i = 0; i < 5; i += 1) card();
  scene(asks, looksAt(first));
  await placeOf(played, `/as/U0BEN/${OPS}?panel=scenes`);
  const message = played.locator(`[id="m-${first.ts}"]`);
  await expect.poll(() => message.getAttribute("data-glows")).toBe("");
  const [box, pane] = [await message.boundingBox(), await played.locator("main [data-scroll]").boundingBox()];
  expect(box?.y).toBeGreaterThanOrEqual((pane?.y ?? 0) - 1);
  expect((box?.y ?? 0) + 50).toBeLessThan((pane?.y ?? 0) + (pane?.height ?? 0));
  await expect.poll(() => message.getAttribute("data-glows"), { timeout: 8_000 }).toBe(null);
  await other.getByText("Ben looks at the card.").waitFor();
  expect(other.url()).toBe(`${on.served.url}/as/U0CAT/C0RELEASES`);
});

test("a tab follows the scene that it started, and not a later one that another tab started", async () => {
  const page = await on.look.tab(RELEASES);
  await play(page);
  scene(asks);
  await placeOf(page, `/as/U0ANA/${OPS}?panel=scenes`);
  on.board.play({ name: "four-eyes", captions: [asks], ended: "done" });
  on.board.play({ id: "play-2", name: "outage", captions: [asks, looksAt(card())], ended: null });
  const caption = page.getByRole("status");
  await caption.getByText("Ben looks at the card.").waitFor();
  await caption.getByRole("button", { name: "Follow" }).waitFor();
  expect(page.url()).toBe(`${on.served.url}/as/U0ANA/${OPS}?panel=scenes`);
});

test("on the page that a scene leads to, its entry in the panel is in view", async () => {
  const page = await on.look.tab(RELEASES, await on.look.window({ viewport: { width: 1280, height: 380 } }));
  await page.getByRole("button", { name: "Play: The service goes down" }).click();
  on.board.play({ name: "outage", captions: [asks], ended: null });
  await placeOf(page, `/as/U0ANA/${OPS}?panel=scenes`);
  const entry = page.locator("[data-scene][data-plays]");
  const panel = page.locator("[data-panel-pane] [data-scroll]");
  const bottom = async (one: typeof entry): Promise<number> => {
    const box = await one.boundingBox();
    return (box?.y ?? 0) + (box?.height ?? 0);
  };
  expect(await bottom(entry)).toBeLessThanOrEqual((await bottom(panel)) + 1);
});

test("the highlight does not move with reduced motion", async () => {
  const window = await on.look.window({ reducedMotion: "reduce" });
  const page = await on.look.tab(`/as/U0BEN/${OPS}?panel=scenes`, window);
  await play(page);
  const first = card();
  scene(looksAt(first));
  const message = page.locator(`[id="m-${first.ts}"][data-glows]`);
  await message.waitFor();
  const style = await page.evaluate(`(() => {
    const { animationName, boxShadow } = getComputedStyle(document.querySelector("[data-glows]"));
    return [animationName, boxShadow !== "none"];
  })()`);
  expect(style).toEqual(["none", true]);
});

test("a tab that leaves a scene is left alone, and can return to it", async () => {
  const page = await on.look.tab(RELEASES);
  await play(page);
  scene(asks);
  await placeOf(page, `/as/U0ANA/${OPS}?panel=scenes`);
  await page.getByRole("link", { name: /Gil Marsh/ }).click();
  await placeOf(page, `/as/U0GIL/${OPS}?panel=scenes`);
  scene(asks, looksAt(card()));
  await page.getByRole("status").getByText("Ben looks at the card.").waitFor();
  expect(page.url()).toBe(`${on.served.url}/as/U0GIL/${OPS}?panel=scenes`);
  await page.getByRole("button", { name: "Follow" }).click();
  await placeOf(page, `/as/U0BEN/${OPS}?panel=scenes`);
  await page.keyboard.press("Alt+3");
  await placeOf(page, `/as/U0CAT/${OPS}?panel=scenes`);
  expect(await page.getByRole("button", { name: "Follow" }).isVisible()).toBe(true);
});

test("a scene ends with a summary, and one press plays the next", async () => {
  const page = await on.look.tab(`/as/U0ANA/${OPS}`);
  const end = { at: 9_000, text: "One decision was sent.", eyes: null, spot: null };
  on.board.play({ id: "play-0", name: "four-eyes", captions: [asks, end], ended: "done" });
  const caption = page.getByRole("status");
  await caption.getByText("What just happened. One decision was sent. Nobody decides alone.").waitFor();
  for (const viewport of [
    { width: 1280, height: 820 },
    { width: 390, height: 780 },
  ]) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page)).toEqual([]);
    }
  }
  await page.getByRole("button", { name: "Next: The service goes down" }).click();
  await expect.poll(() => on.served.asked).toEqual([{ act: "scene.play", args: { name: "outage" } }]);
  on.board.play({ name: "outage", captions: [{ ...asks, eyes: "U0BEN" }], ended: null });
  await placeOf(page, `/as/U0BEN/${OPS}`);
  on.board.play({ name: "outage", captions: [asks, end], ended: "done" });
  await caption.getByText("What just happened.").waitFor();
  expect(await caption.getByRole("button", { name: /^Next/ }).count()).toBe(0);
});

test("after the first decision the page suggests more to try, leads the reader there, and marks what was tried", async () => {
  const page = await on.look.tab(`/as/U0BEN/${OPS}`);
  const { ts } = card();
  const reply = { channel: OPS, author: "U0COUNTERSIGN", text: "card", thread: ts, broadcast: true };
  const asked = on.stage.workspace.post({ ...reply, blocks: approvalCard() });
  const dare = page.getByRole("button", { name: "Take the service down" });
  await page.getByRole("button", { name: "Approve" }).nth(1).waitFor();
  expect(await dare.count()).toBe(0);
  on.stage.workspace.edit(asked, { blocks: decidedCard() });
  await dare.waitFor();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page)).toEqual([]);
  }
  await dare.click();
  await expect.poll(() => on.served.asked).toEqual([{ act: "scene.play", args: { name: "outage" } }]);
  on.board.play({ name: "outage", captions: [asks], ended: null });
  await placeOf(page, `/as/U0ANA/${OPS}`);
  expect(await dare.count()).toBe(0);
  on.board.play({ name: "outage", captions: [asks], ended: "stopped" });
  await dare.waitFor();
  on.board.play({ name: "outage", captions: [asks], ended: "done" });
  await dare.waitFor({ state: "detached" });
});
