// The wire: three stations, and a dot for each envelope that moves from one to another.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { OPS } from "../sandbox/page/stage.ts";
import { browseEachTest } from "./browsing.ts";
import { violations } from "./looking.ts";

const on = browseEachTest();
const channel = `/as/U0ANA/${OPS}`;
const wire = (page: Page) => page.locator("[data-wire]");
const dots = (page: Page) => wire(page).locator("[data-envelope]");

/** Sends one of each: a call of the app, a payload, and a call to the service whose answer is lost. */
function sendThree(): void {
  const { traffic } = on.stage;
  traffic.add("app", "chat.postMessage", {}, null, { ms: 2 });
  traffic.add("slack", "slash_commands", { payload: {} });
  traffic.add("service", "POST /runs → 200, lost", {}, "the answer was lost", { ms: 9, lost: true });
}

/** Resolves to where the dot begins and ends, whatever the time: the middles of two stations. */
const pathOf = (page: Page, way: string): Promise<string[]> =>
  page.evaluate<string[]>(`(() => {
    const middle = (one) => one.getBoundingClientRect().x + one.getBoundingClientRect().width / 2;
    const dot = document.querySelector('[data-envelope="${way}"]');
    const [moves] = dot.getAnimations();
    const stations = [...document.querySelectorAll("[data-station]")];
    return [0, moves.effect.getComputedTiming().endTime].map((ms) => {
      moves.currentTime = ms;
      return stations.find((one) => Math.abs(middle(one) - middle(dot)) < 2)?.dataset.station ?? String(middle(dot));
    });
  })()`);

const colorOf = (page: Page, way: string): Promise<string> =>
  page.evaluate(`getComputedStyle(document.querySelector('[data-envelope="${way}"]')).backgroundColor`);

const moving = (page: Page): Promise<number> =>
  page.evaluate('document.getAnimations().filter((one) => one.playState === "running").length');

test.for(["traffic", "service", "scenes"])(
  "above the %s panel, each envelope moves once, and a lost one is red and counted",
  async (panel) => {
    on.stage.traffic.add("app", "chat.before", {}, null, { ms: 2 });
    const page = await on.look.tab(`${channel}?panel=${panel}`);
    expect(await dots(page).count()).toBe(0);
    await wire(page).getByText("Since this page opened:").waitFor();
    await wire(page).getByText("0 calls to Slack").waitFor();
    sendThree();
    await expect.poll(() => dots(page).count()).toBe(3);
    const lost = wire(page).locator("[data-lost-envelope]");
    expect(await lost.getAttribute("data-envelope")).toBe("app-service");
    expect(await colorOf(page, "app-service")).toBe("rgb(196, 36, 63)");
    await wire(page).getByText("1 lost, last: POST /runs → 200, lost").waitFor();
    expect(await pathOf(page, "app-slack")).toEqual(["app", "slack"]);
    expect(await pathOf(page, "slack-app")).toEqual(["slack", "app"]);
    expect(await pathOf(page, "app-service")).toEqual(["app", "service"]);
    on.stage.traffic.add("app", "chat.update", {}, null, { ms: 2 });
    await wire(page).getByText("2 calls to Slack").waitFor();
    expect(await moving(page)).toBeLessThan(2);
  },
);

test("at most twenty dots are shown, and the others are counted", async () => {
  const page = await on.look.tab(`${channel}?panel=scenes`);
  for (let i = 0; i < 300; i += 1) on.stage.traffic.add("app", "chat.update", {}, null, { ms: 2 });
  await wire(page).getByText("300 calls to Slack").waitFor();
  expect(await dots(page).count()).toBe(20);
  await wire(page).getByText("more at once").waitFor();
});

test("the line to an app that is disconnected or down is broken", async () => {
  const page = await on.look.tab(`${channel}?panel=service`);
  const broken = wire(page).locator('[data-joins="no"]');
  expect(await broken.count()).toBe(0);
  on.board.service({ bot: "stopped" });
  await expect.poll(() => broken.count()).toBe(2);
  expect(await wire(page).locator("[data-station][data-away]").textContent()).toBe("Countersign");
});

test("with reduced motion nothing moves, and the newest envelope is named", async () => {
  const page = await on.look.tab(
    `${channel}?panel=scenes`,
    await on.look.window({ reducedMotion: "reduce" }),
  );
  on.stage.traffic.add("app", "chat.update", {}, null, { ms: 2 });
  await wire(page).getByText("newest: chat.update").waitFor();
  expect(await dots(page).isVisible()).toBe(false);
  expect(await moving(page)).toBe(0);
});

test("a screen reader and a narrow screen get only the numbers", async () => {
  const page = await on.look.tab(`${channel}?panel=scenes`);
  sendThree();
  await wire(page).getByText("1 lost").waitFor();
  for (const [width, colorScheme] of [
    [1280, "light"],
    [1280, "dark"],
    [390, "light"],
    [390, "dark"],
  ] as const) {
    await page.setViewportSize({ width, height: 780 });
    await page.emulateMedia({ colorScheme });
    expect(await violations(page)).toEqual([]);
  }
  expect(await wire(page).ariaSnapshot()).not.toMatch(/Countersign/);
  expect(await wire(page).locator("[data-track]").isVisible()).toBe(false);
  expect(await page.evaluate("document.body.scrollWidth")).toBe(390);
  await wire(page).getByText("1 call to the service").waitFor();
});

test("the phone and a page without a panel have no wire", async () => {
  for (const path of [channel, `${channel}?panel=phone`])
    expect(await wire(await on.look.tab(path)).count()).toBe(0);
});
