import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { createFakePanelState, serveWithControl } from "../sandbox/page/fake-panel-state.ts";
import { createStage, decidedCard, OPS } from "../sandbox/page/stage.ts";
import { browseEachTest } from "./browsing.ts";

const on = browseEachTest({ filled: true });

const TABS = 20;

test("twenty tabs of one browser are live, and a message sent in one appears in all", async () => {
  const window = await on.look.window();
  const people = ["U0ANA", "U0BEN", "U0CAT", "U0GIL", "U0ODA"];
  const tabs: Page[] = [];
  for (let i = 0; i < TABS; i += 1) {
    tabs.push(await on.look.tab(`/as/${people[i % people.length] ?? "U0ANA"}/${OPS}`, window));
  }
  on.stage.workspace.post({ author: "U0BEN", channel: OPS, text: "to everyone" });
  await Promise.all(tabs.map((tab) => tab.getByText("to everyone").waitFor()));
  const last = tabs.at(-1);
  await last?.getByRole("textbox", { name: "Message #ops-agents" }).fill("from the last tab");
  await last?.keyboard.press("Enter");
  await Promise.all(tabs.map((tab) => tab.getByText("from the last tab").waitFor()));
  expect(on.stage.done).toHaveLength(1);
}, 120_000);

test("closing a tab leaves the others live", async () => {
  const window = await on.look.window();
  const first = await on.look.tab(`/as/U0ANA/${OPS}`, window);
  const second = await on.look.tab(`/as/U0BEN/${OPS}`, window);
  await first.close();
  on.stage.workspace.post({ author: "U0CAT", channel: OPS, text: "still there?" });
  await second.getByText("still there?").waitFor();
});

test("when the sandbox is back, all tabs are live again, with their drafts", async () => {
  const window = await on.look.window();
  const tabs = [await on.look.tab(`/as/U0ANA/${OPS}`, window), await on.look.tab(`/as/U0BEN/${OPS}`, window)];
  const port = Number(new URL(on.served.url).port);
  for (const tab of tabs) {
    await tab.getByRole("textbox", { name: "Message #ops-agents" }).fill("half a sentence");
  }
  await on.served.close();
  for (const tab of tabs) {
    await tab.getByText("The sandbox has stopped.").waitFor();
    expect(await tab.getByText("Countersign is connected").isVisible()).toBe(false);
  }
  const fresh = createStage();
  fresh.workspace.post({ author: "U0CAT", channel: OPS, text: "a new beginning" });
  on.served = await serveWithControl(
    { ...fresh.parts, panelState: createFakePanelState().panelState },
    undefined,
    port,
  );
  for (const tab of tabs) {
    await tab.getByText("a new beginning").waitFor();
    await tab.getByText("The sandbox has stopped.").waitFor({ state: "hidden" });
    const composer = tab.getByRole("textbox", { name: "Message #ops-agents" });
    expect(await composer.inputValue()).toBe("half a sentence");
  }
});

test("a browser without shared workers has a stream for each tab", async () => {
  const window = await on.look.window();
  await window.addInitScript("delete globalThis.SharedWorker");
  const page = await on.look.tab(`/as/U0ANA/${OPS}`, window);
  on.stage.workspace.post({ author: "U0BEN", channel: OPS, text: "without a worker" });
  await page.getByText("without a worker").waitFor();
});

test("five hundred messages that arrive at once are each drawn once, and the newest is in view", async () => {
  const page = await on.look.tab(`/as/U0ANA/${OPS}`);
  await page.evaluate(`(() => {
    globalThis.drawn = 0;
    new MutationObserver((changes) => {
      for (const { addedNodes } of changes) for (const node of addedNodes) drawn += Number(node.nodeName === "LI");
    }).observe(document.querySelector('[data-list="messages"]'), { childList: true });
  })()`);
  for (let i = 1; i <= 500; i += 1) {
    on.stage.workspace.post({
      author: "U0COUNTERSIGN",
      channel: OPS,
      text: `card ${i}`,
      blocks: decidedCard(),
    });
    if (i % 20 === 0) await new Promise(setImmediate);
  }
  await expect.poll(() => page.evaluate("drawn"), { timeout: 20_000 }).toBe(500);
  const toEnd = "(({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight)";
  expect(await page.evaluate(`${toEnd}(document.querySelector("main [data-scroll]"))`)).toBeLessThan(2);
});
