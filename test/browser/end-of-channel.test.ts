// A reader at the newest message keeps seeing the end of the channel, however tall new or changed messages are.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { Block } from "#sandbox/slack/model.ts";
import { approvalCard } from "../sandbox/page/stage.ts";
import { browseEachTest } from "./browsing.ts";

const on = browseEachTest();

const APP = "U0COUNTERSIGN";
const FRESH = "C0RELEASES";

/** How far the end of the channel is below the visible area (pixels). */
const BELOW = `(() => {
  const scroller = document.querySelector("main [data-scroll]");
  return scroller.lastElementChild.getBoundingClientRect().bottom - scroller.getBoundingClientRect().bottom;
})()`;

/** The consequences of a layout, such as calls of an observer, happen within the next frames. */
const SETTLED = `(async () => {
  for (let i = 0; i < 3; i += 1) await new Promise(requestAnimationFrame);
})()`;

async function pixelsBelow(page: Page): Promise<number> {
  await page.evaluate(SETTLED);
  return page.evaluate<number>(BELOW);
}

const section = (words: string): Block => ({ type: "section", text: { type: "plain_text", text: words } });
/** Blocks as tall as the app's cards, and different for each text. */
const tallBlocks = (words: string): Block[] => [section(words), ...approvalCard()];
const blocksWithoutButtons = (words: string): Block[] => [section(words), ...approvalCard().slice(0, -1)];

test.for([
  [1280, 720],
  [1280, 820],
  [390, 780],
] as const)(
  "a fresh channel of %i × %i shows the end of its first card at every step of a run",
  async ([width, height]) => {
    const page = await on.look.tab(
      `/as/U0ANA/${FRESH}`,
      await on.look.window({ viewport: { width, height } }),
    );
    const missed: Record<string, number> = {};
    const step = async (words: string, change: () => void): Promise<void> => {
      change();
      await page.locator("main").getByText(words).first().waitFor({ state: "attached" });
      const pixels = await pixelsBelow(page);
      if (pixels > 1) missed[words] = pixels;
    };
    const { workspace } = on.stage;
    const opening = workspace.post({ channel: FRESH, author: APP, text: "", blocks: [section("Starting")] });
    await step("Queued", () => workspace.edit(opening, { blocks: [section("Queued")] }));
    const reply = { channel: FRESH, author: APP, text: "", thread: opening.ts, broadcast: true };
    let card = opening;
    await step("Asking", () => (card = workspace.post({ ...reply, blocks: tallBlocks("Asking") })));
    await step("Waiting", () => workspace.edit(opening, { blocks: [section("Waiting")] }));
    await step("Asking again", () => workspace.edit(card, { blocks: tallBlocks("Asking again") }));
    await step("Approval sent", () =>
      workspace.edit(card, { blocks: blocksWithoutButtons("Approval sent") }),
    );
    await step("Approved", () => workspace.edit(card, { blocks: blocksWithoutButtons("Approved") }));
    await step("Done", () => workspace.edit(opening, { blocks: [section("Done")] }));
    expect(missed).toEqual({});
  },
);

test("the messages are a log that announces new messages, and not the existing ones", async () => {
  on.stage.workspace.post({ channel: FRESH, author: APP, text: "before" });
  const page = await on.look.tab(`/as/U0ANA/${FRESH}`);
  const log = page.getByRole("log", { name: "Messages in releases" });
  expect(await log.getAttribute("aria-live")).toBe("polite");
  await page.evaluate(`(() => {
    globalThis.added = [];
    const log = document.querySelector('main [role="log"]');
    const note = (changes) => {
      for (const { addedNodes } of changes) for (const node of addedNodes) added.push(node.textContent);
    };
    new MutationObserver(note).observe(log, { childList: true, subtree: true });
  })()`);
  on.stage.workspace.post({ channel: FRESH, author: APP, text: "a new one" });
  await log.getByText("a new one").waitFor();
  const added = await page.evaluate<string[]>("added");
  expect(added.join(" ")).toContain("a new one");
  expect(added.join(" ")).not.toContain("before");
});

test("a reader who scrolls up stays there, and one who returns to the end follows it again", async () => {
  const { workspace } = on.stage;
  const cards = Array.from({ length: 6 }, (_, i) =>
    workspace.post({ channel: FRESH, author: APP, text: "", blocks: tallBlocks(`card ${i}`) }),
  );
  const page = await on.look.tab(`/as/U0ANA/${FRESH}`);
  const changed = async (words: string): Promise<void> => {
    for (const card of cards.slice(-2)) workspace.edit(card, { blocks: blocksWithoutButtons(words) });
    await page.getByText(words).nth(1).waitFor({ state: "attached" });
  };
  const scrollTo = (top: string): Promise<unknown> =>
    page.evaluate(`void (document.querySelector("main [data-scroll]").scrollTop = ${top})`);
  expect(await pixelsBelow(page)).toBeLessThan(2);
  await scrollTo("400");
  expect(await pixelsBelow(page)).toBeGreaterThan(500);
  await changed("decided");
  expect(await pixelsBelow(page)).toBeGreaterThan(500);
  expect(await page.evaluate('document.querySelector("main [data-scroll]").scrollTop')).toBe(400);
  await scrollTo("99999");
  await pixelsBelow(page);
  await changed("confirmed");
  expect(await pixelsBelow(page)).toBeLessThan(2);
});

test("the page loads its own font, and the end stays in view when the font arrives", async () => {
  for (let i = 0; i < 6; i += 1)
    on.stage.workspace.post({ channel: FRESH, author: APP, text: "", blocks: tallBlocks(`card ${i}`) });
  const page = await on.look.tab(`/as/U0ANA/${FRESH}`);
  const loaded =
    "document.fonts.ready.then(() => [...document.fonts].filter((one) => one.status === 'loaded').length)";
  expect(await page.evaluate<number>(loaded)).toBeGreaterThan(0);
  expect(await page.evaluate("document.fonts.check('15px Lato')")).toBe(true);
  expect(await pixelsBelow(page)).toBeLessThan(2);
});
