// An open form that shows a deadline is redrawn every minute. This leaves the person, and what the page said to them, where they are.
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import type { OpenView } from "#sandbox/slack/model.ts";
import { plain } from "../sandbox/page/admitted.ts";
import { OPS } from "../sandbox/page/stage.ts";
import { browseEachTest } from "./browsing.ts";

const on = browseEachTest();

const HOUR_MS = 3_600_000;
const LONG = plain(Array.from({ length: 80 }, (_, i) => `line ${i}`).join("\n"));

const input = (label: string) => ({
  type: "input",
  block_id: label,
  label: plain(label),
  element: { type: "plain_text_input", action_id: "text" },
});

const choice = {
  ...input("Extend by"),
  optional: true,
  element: {
    type: "radio_buttons",
    action_id: "choice",
    options: ["One hour", "Four hours"].map((text) => ({ text: plain(text), value: text })),
  },
};

/** Opens a form with a deadline in five hours, a reason at its beginning, and a choice and a note at its end, in a tab. */
async function openForm(more: object = {}): Promise<{ readonly page: Page; readonly view: OpenView }> {
  const timestamp = Math.floor((on.stage.workspace.now() + 5 * HOUR_MS) / 1000);
  const date = { type: "date", timestamp, format: "{ago}", fallback: "later" };
  const deadline = { type: "rich_text", elements: [{ type: "rich_text_section", elements: [date] }] };
  const view = on.stage.workspace.pushView("U0ANA", {
    type: "modal",
    title: plain("Deny request"),
    submit: plain("Deny"),
    blocks: [deadline, input("Reason"), { type: "section", text: LONG }, choice, input("Note")],
    ...more,
  });
  const page = await on.look.tab(`/as/U0ANA/${OPS}`);
  await page.getByText("in 5 hours").waitFor();
  return { page, view };
}

async function redraw(page: Page): Promise<void> {
  on.stage.clock.advance(HOUR_MS);
  await page.getByText("in 4 hours").waitFor();
  // The page observes its layout after a frame.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
}

const field = (page: Page, name: string) => page.getByRole("textbox", { name });
const deny = (page: Page): Promise<void> =>
  page.getByRole("dialog").getByRole("button", { name: "Deny" }).click();
const scrolled = (page: Page): Promise<number> =>
  page.evaluate<number>("document.querySelector('dialog [data-blocks]').scrollTop");
const focused = (page: Page): Promise<string> =>
  page.evaluate<string>("document.activeElement.labels?.[0]?.textContent.trim()");

test("the focus and the scroll position stay, although another field has an error", async () => {
  const { page, view } = await openForm();
  on.stage.workspace.changeView(view, { errors: { Reason: "Say why." } });
  await page.getByText("Say why.").waitFor();
  expect(await focused(page)).toBe("Reason");
  await field(page, "Note").pressSequentially("Not");
  const before = await scrolled(page);
  await redraw(page);
  expect(before).toBeGreaterThan(0);
  expect(await scrolled(page)).toBe(before);
  await page.keyboard.type(" today");
  expect(await field(page, "Note").inputValue()).toBe("Not today");
});

test("the scroll position stays, although the focused field has an error", async () => {
  const { page, view } = await openForm();
  on.stage.workspace.changeView(view, { errors: { Reason: "Say why." } });
  await page.getByText("Say why.").waitFor();
  await page.evaluate("void (document.querySelector('dialog [data-blocks]').scrollTop = 400)");
  await redraw(page);
  expect(await focused(page)).toBe("Reason");
  expect(await scrolled(page)).toBe(400);
});

test("the focus stays at the option that has it", async () => {
  const { page } = await openForm();
  await page.getByRole("radio", { name: "Four hours" }).focus();
  await redraw(page);
  expect(await focused(page)).toBe("Four hours");
});

test("a field whose error has other words gets the focus", async () => {
  const { page, view } = await openForm();
  on.stage.workspace.changeView(view, { errors: { Reason: "Say why." } });
  await page.getByText("Say why.").waitFor();
  await field(page, "Note").fill("Not today");
  on.stage.workspace.changeView(view, { errors: { Reason: "Say more." } });
  await page.getByText("Say more.").waitFor();
  expect(await focused(page)).toBe("Reason");
  expect(await scrolled(page)).toBeLessThan(100);
});

test("the button stays disabled until the fields are filled in", async () => {
  const { page } = await openForm({ submit_disabled: true });
  const button = page.getByRole("dialog").getByRole("button", { name: "Deny" });
  await redraw(page);
  expect(await button.isDisabled()).toBe(true);
  await field(page, "Reason").fill("Not today");
  await field(page, "Note").fill("None");
  expect(await button.isDisabled()).toBe(false);
});

test("the page's own error stays at its field until the field is filled in", async () => {
  const { page } = await openForm();
  const reason = field(page, "Reason");
  const described = await reason.getAttribute("aria-describedby");
  await field(page, "Note").fill("Not today");
  await deny(page);
  await page.getByText("Please fill in this field.").waitFor();
  const describedWithError = await reason.getAttribute("aria-describedby");
  await redraw(page);
  expect(await page.locator("[data-error]").allTextContents()).toEqual(["Please fill in this field."]);
  expect(await reason.getAttribute("aria-invalid")).toBe("true");
  expect(await reason.getAttribute("aria-describedby")).toBe(describedWithError);
  await reason.fill("because");
  await deny(page);
  await expect.poll(() => on.stage.done.map(({ act }) => act)).toEqual(["submit"]);
  expect(await page.locator("[data-error]").count()).toBe(0);
  expect(await reason.getAttribute("aria-describedby")).toBe(described);
});

test("the page's words about a submit that failed stay until the next submit", async () => {
  const { page } = await openForm();
  await field(page, "Reason").fill("because");
  await field(page, "Note").fill("Not today");
  await page.route("**/page/act", (route) => route.abort());
  await deny(page);
  const alert = page.getByRole("alert").getByText("The sandbox did not answer.");
  await alert.waitFor();
  await redraw(page);
  expect(await alert.isVisible()).toBe(true);
  await page.unroute("**/page/act");
  await deny(page);
  await alert.waitFor({ state: "detached" });
  await expect.poll(() => on.stage.done.map(({ act }) => act)).toEqual(["submit"]);
});
