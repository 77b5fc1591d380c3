// The caption of a scene, in combination with an open form, and how much room a phone has beside it.
import { expect, test } from "vitest";
import { OPS, reasonModal } from "../sandbox/page/stage.ts";
import { violations } from "./looking.ts";
import { browseEachTest } from "./browsing.ts";

const on = browseEachTest({ filled: true, onAct: () => ({ ok: true, result: null }) });

const channel = `/as/U0ANA/${OPS}`;
const captions = [
  { at: 1_000, text: "Ana asks for a deployment.", eyes: null, spot: null },
  { at: 3_500, text: "Ben looks at it and approves.", eyes: "U0BEN", spot: null },
];

const FOCUSED = "document.activeElement.getAttribute('aria-label')";
const inSight = (selector: string): string => `(() => {
  const { top, bottom, left, right } = document.querySelector("${selector}").getBoundingClientRect();
  return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth && bottom > top;
})()`;

test("while a form is open, the caption is its first row, and works with mouse and keyboard", async () => {
  const page = await on.look.tab(channel);
  on.stage.workspace.pushView("U0ANA", reasonModal());
  const form = page.getByRole("dialog", { name: "Deny request" });
  await form.waitFor();
  await page.keyboard.type("Not on a Friday");
  on.board.play({ name: "four-eyes", captions: captions.slice(0, 1), ended: null });
  await form.getByText("Ana asks for a deployment.").waitFor();
  on.board.play({ name: "four-eyes", captions, ended: null });
  await form.getByText("Ben looks at it and approves.").waitFor();
  await form.getByRole("heading", { name: "Deny request" }).waitFor();
  expect(await form.getByRole("textbox", { name: "Reason" }).inputValue()).toBe("Not on a Friday");
  expect(await page.evaluate("document.activeElement.tagName")).toBe("TEXTAREA");
  expect(await form.getByRole("link", { name: "See it as Ben" }).isVisible()).toBe(true);

  const stop = form.getByRole("button", { name: "Stop: Four eyes" });
  await stop.click();
  await expect.poll(() => on.served.asked).toEqual([{ act: "scene.stop", args: {} }]);
  await form.getByRole("textbox", { name: "Reason" }).focus();
  const onStop = async (): Promise<boolean> => (await page.evaluate(FOCUSED)) === "Stop: Four eyes";
  for (let i = 0; i < 9 && !(await onStop()); i += 1) await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Enter");
  await expect.poll(() => on.served.asked).toHaveLength(2);
});

test("a caption stays with the form when the form is redrawn, and returns to the page when the form closes", async () => {
  const page = await on.look.tab(channel);
  const open = on.stage.workspace.pushView("U0ANA", reasonModal());
  on.board.play({ name: "four-eyes", captions: captions.slice(0, 1), ended: null });
  const form = page.getByRole("dialog", { name: "Deny request" });
  const stop = form.getByRole("button", { name: "Stop: Four eyes" });
  await stop.focus();
  on.stage.workspace.changeView(open, { trouble: "Slack said no." });
  await form.getByText("Slack said no.").waitFor();
  expect(await page.evaluate(FOCUSED)).toBe("Stop: Four eyes");
  on.stage.workspace.closeViews("U0ANA", [open]);
  on.board.play({ name: "four-eyes", captions, ended: null });
  await page.getByRole("status").getByText("Ben looks at it and approves.").waitFor();
  expect(await page.getByRole("dialog").count()).toBe(0);

  on.stage.workspace.pushView("U0ANA", reasonModal());
  await form.getByText("Ben looks at it and approves.").waitFor();
  on.board.play({ name: "four-eyes", captions, ended: "done" });
  await page.locator("[data-people] ~ [data-caption-bar] [data-caption=done]").waitFor();
});

/**
 * While `standstill` is set, the page receives changes but draws none, as between two frames. Its 100 ms timer, which draws without a
 * frame, never fires.
 */
const STANDSTILL = `
  Object.assign(window, { standstill: false, received: 0, toDraw: [] });
  const [frame, later, start] = [requestAnimationFrame, setTimeout, MessagePort.prototype.start];
  window.requestAnimationFrame = (draw) => (standstill ? toDraw.push(draw) : frame(draw));
  window.setTimeout = (run, ms, ...more) => (ms === 100 ? 0 : later(run, ms, ...more));
  MessagePort.prototype.start = function () {
    this.addEventListener("message", ({ data }) => (received += data.patches === undefined ? 0 : 1));
    start.call(this);
  };
`;

test("a caption that arrives between two frames, after its form has closed, is not lost", async () => {
  const window = await on.look.window();
  await window.addInitScript(STANDSTILL);
  const page = await on.look.tab(channel, window);
  const open = on.stage.workspace.pushView("U0ANA", reasonModal());
  on.board.play({ name: "four-eyes", captions: captions.slice(0, 1), ended: null });
  await page.getByRole("dialog").getByText("Ana asks for a deployment.").waitFor();
  await page.evaluate("void (standstill = true, received = 0)");
  on.stage.workspace.closeViews("U0ANA", [open]);
  await expect.poll(() => page.evaluate("received")).toBe(1);
  on.board.play({ name: "four-eyes", captions, ended: null });
  await expect.poll(() => page.evaluate("received")).toBe(2);
  await page.evaluate("void toDraw.forEach((draw) => draw())");
  await page.getByRole("status").getByText("Ben looks at it and approves.").waitFor();
});

test.for([
  [1280, 820, "light"],
  [1280, 820, "dark"],
  [390, 780, "light"],
  [390, 480, "dark"],
] as const)(
  "at %i × %i, %s, a form with a caption has nothing that axe finds, and room to read",
  async ([width, height, colorScheme]) => {
    const page = await on.look.tab(
      channel,
      await on.look.window({ colorScheme, viewport: { width, height } }),
    );
    on.stage.workspace.pushView("U0ANA", reasonModal());
    on.board.play({ name: "four-eyes", captions, ended: null });
    const form = page.getByRole("dialog", { name: "Deny request" });
    await form.getByText("Ben looks at it and approves.").waitFor();
    expect(await violations(page)).toEqual([]);
    for (const part of ["[data-caption]", "h2", "footer"])
      await expect.poll(() => page.evaluate(inSight(`dialog[open] ${part}`))).toBe(true);
    expect((await page.locator("dialog[open] [data-blocks]").boundingBox())?.height).toBeGreaterThan(80);
  },
);

const ERROR_IN_SIGHT = `(() => {
  const error = document.querySelector("dialog[open] [data-error]");
  const { bottom } = error?.closest("[data-blocks]").getBoundingClientRect() ?? {};
  return error?.getBoundingClientRect().bottom <= bottom;
})()`;

test("an error stays in sight when a longer caption makes its form shorter", async () => {
  const page = await on.look.tab(channel, await on.look.window({ viewport: { width: 390, height: 480 } }));
  on.board.play({ name: "four-eyes", captions: captions.slice(0, 1), ended: null });
  const view = on.stage.workspace.pushView("U0ANA", reasonModal());
  const isSeen = (): Promise<boolean> => page.evaluate(ERROR_IN_SIGHT);
  on.stage.workspace.changeView(view, { errors: { reason: "Too short." } });
  await expect.poll(isSeen).toBe(true);
  const longer = { ...captions[1], at: 3_500, text: "Ben looks at it. ".repeat(9), eyes: null, spot: null };
  on.board.play({ name: "four-eyes", captions: [...captions.slice(0, 1), longer], ended: null });
  await page.getByText(longer.text.trim()).waitFor();
  await expect.poll(isSeen).toBe(true);
});

test("on a phone, what just happened leaves room for the conversation, and its title stays on one line", async () => {
  const page = await on.look.tab(
    `${channel}?panel=scenes`,
    await on.look.window({ viewport: { width: 390, height: 844 } }),
  );
  on.board.play({ name: "four-eyes", captions, ended: "done" });
  await page.locator("[data-caption=done]").waitFor();
  const heightOf = async (selector: string): Promise<number> =>
    (await page.locator(selector).boundingBox())?.height ?? 0;
  expect(await heightOf("[data-caption] p:first-child a")).toBeLessThan(25);
  expect(await heightOf("#next-scene")).toBeLessThan(40);
  expect(await heightOf("[role=log]")).toBeGreaterThan(240);
});

test("on a phone, an open panel leaves the conversation to its messages, without a hint", async () => {
  const window = await on.look.window({ viewport: { width: 390, height: 844 } });
  const page = await on.look.tab(channel, window);
  const hints = page.locator("[data-hint-box]");
  await hints.first().waitFor();
  await page.goto(`${page.url()}?panel=scenes`);
  await page.locator("[data-scene]").first().waitFor();
  expect(await hints.count()).toBe(1);
  expect(await hints.first().isVisible()).toBe(false);
});
