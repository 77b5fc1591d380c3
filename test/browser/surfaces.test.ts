import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ActResult, Acts, Block, OpenView } from "#sandbox/slack/model.ts";
import { approvalCard } from "#src/adapters/slack/blocks/approval-card.ts";
import { formView } from "#src/adapters/slack/blocks/decision-modal.ts";
import { launchChromium } from "../make/chromium.ts";
import { aNonce } from "../make/run.ts";
import { ELEMENTS, mrkdwn, plain } from "../sandbox/page/admitted.ts";
import { createStage, OPS, servePage } from "../sandbox/page/stage.ts";
import { DEPLOY, PENDING, RUN } from "../sandbox/page/surfaces.ts";
import { createLook } from "./looking.ts";
import type { Look } from "./looking.ts";

let browser: Browser;
let stage: ReturnType<typeof createStage>;
let served: Awaited<ReturnType<typeof servePage>>;
let look: Look;
/** How the app responds to each act. Empty at first. */
let app: { [act in keyof Acts]?: () => Promise<ActResult> };

const OK: ActResult = { ok: true };
/** Returns an act that calls `once` immediately and succeeds. */
const at = (once: () => void) => (): Promise<ActResult> => {
  once();
  return Promise.resolve(OK);
};

const CHANNEL = `/as/U0ANA/${OPS}`;
const APP = "U0COUNTERSIGN";

beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

beforeEach(async () => {
  app = {};
  const answer = (act: keyof Acts) => (): Promise<ActResult> => app[act]?.() ?? Promise.resolve(OK);
  stage = createStage({ command: answer("command"), click: answer("click"), submit: answer("submit") });
  served = await servePage(stage.parts);
  look = createLook(browser, served.url);
});
afterEach(async () => {
  try {
    await look.close();
  } finally {
    await served.close();
  }
});

const acts = (): string[] => stage.done.map((one) => one.act);
const focused = (page: Page): Promise<unknown> =>
  page.evaluate("(document.activeElement.ariaLabel ?? document.activeElement.textContent).trim()");

/** How far the form is scrolled down (pixels). */
const scrolled = (page: Page): Promise<unknown> =>
  page.evaluate("document.querySelector('dialog [data-blocks]').scrollTop");

const blocksOf = (held: { blocks: readonly object[] }): Block[] =>
  structuredClone([...held.blocks]) as Block[];
const post = (...blocks: Block[]) =>
  stage.workspace.post({ channel: OPS, author: APP, text: "said", blocks });
const viewOf = (view: object): OpenView["view"] => structuredClone(view) as OpenView["view"];

/** Returns a view with one input for each of these elements, keyed by the name of its block. */
const formOf = (title: string, fields: Record<string, object>, more: object = {}): OpenView["view"] =>
  viewOf({
    type: "modal",
    title: plain(title),
    submit: plain("Send"),
    blocks: Object.entries(fields).map(([block_id, element]) => ({
      type: "input",
      block_id,
      optional: true,
      label: plain(block_id),
      element: { action_id: "a", ...element },
    })),
    ...more,
  });

const element = (type: string): object => ({ ...ELEMENTS[type]?.[0], type });

describe("with only the keyboard", () => {
  test("a person starts a run, approves with a reason, and returns to the card, whose buttons are gone", async () => {
    const { workspace } = stage;
    const card = approvalCard(RUN, PENDING);
    app.command = at(() => post(...blocksOf(card)));
    app.click = at(() =>
      workspace.pushView(
        "U0ANA",
        viewOf(formView({ run: RUN, ticket: { saw: DEPLOY, verdict: "approve", nonce: aNonce() } })),
      ),
    );
    app.submit = at(() => {
      const posted = workspace.messages.at(-1);
      workspace.closeViews("U0ANA", workspace.viewsOf("U0ANA"));
      if (posted) workspace.edit(posted, { blocks: blocksOf({ blocks: card.blocks.filter(isText) }) });
    });
    const page = await look.tab(CHANNEL);
    await page.getByRole("textbox", { name: "Message #ops-agents" }).focus();
    await page.keyboard.type("/agent run deploy");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Approve" }).waitFor();
    for (let i = 0; i < 9 && !String(await focused(page)).startsWith("Approve: "); i += 1)
      await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Approve request" }).waitFor();
    await expect.poll(() => page.evaluate("document.activeElement.tagName")).toBe("TEXTAREA");
    await page.keyboard.type("Looked at it.");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Approve" }).waitFor({ state: "detached" });
    expect(acts()).toEqual(["command", "click", "submit"]);
    expect(JSON.stringify(stage.done.at(-1)?.with)).toContain("Looked at it.");
    expect(await focused(page)).toMatch(/^Countersign, \d\d:\d\d$/);
  });

  test("the focus stays at the message if its button disappears", async () => {
    const card = approvalCard(RUN, PENDING);
    const posted = post(...blocksOf(card));
    const page = await look.tab(CHANNEL);
    await page.getByRole("button", { name: "Deny" }).focus();
    stage.workspace.edit(posted, { blocks: blocksOf({ blocks: card.blocks.filter(isText) }) });
    await page.getByRole("button", { name: "Deny" }).waitFor({ state: "detached" });
    await expect.poll(() => focused(page)).toMatch(/^Countersign, /);
  });

  test("the focus does not leave an open form", async () => {
    stage.workspace.pushView("U0ANA", formOf("A form", { one: element("plain_text_input") }));
    const page = await look.tab(CHANNEL);
    const inside =
      "document.activeElement.closest('dialog') !== null || document.activeElement === document.body";
    for (let i = 0; i < 12; i += 1) {
      await page.keyboard.press("Tab");
      expect(await page.evaluate(inside)).toBe(true);
    }
  });

  test("folded code can be opened and closed again", async () => {
    const text = Array.from({ length: 40 }, (_, i) => `line ${i}`).join("\n");
    post({
      type: "rich_text",
      elements: [{ type: "rich_text_preformatted", elements: [{ type: "text", text }] }],
    });
    const page = await look.tab(CHANNEL);
    const height = async (): Promise<number> =>
      (await page.locator("[data-fold] pre").boundingBox())?.height ?? 0;
    const folded = await height();
    await page.locator("[data-fold] summary").focus();
    await page.keyboard.press("Enter");
    expect(await height()).toBeGreaterThan(folded * 2);
    await page.keyboard.press("Enter");
    expect(await height()).toBe(folded);
  });
});

const isText = (block: object): boolean => !("type" in block) || block.type !== "actions";

describe("text that was typed into a form", () => {
  const fields = {
    text: { type: "plain_text_input", multiline: true },
    when: { type: "datepicker" },
    number: { type: "plain_text_input" },
    whom: { type: "users_select" },
    which: element("radio_buttons"),
    several: { type: "multi_users_select" },
  };
  const fill = async (page: Page): Promise<void> => {
    await page.getByLabel("text").fill("a draft");
    await page.getByLabel("when").fill("2026-12-24");
    await page.getByLabel("number").fill("7");
    await page.getByLabel("whom").selectOption({ label: "Cat Lindqvist" });
    await page.getByLabel("Option 2").check();
    await page.getByLabel("Ben Okafor").check();
  };
  const typed = (page: Page): Promise<unknown> =>
    page.evaluate("[...new FormData(document.querySelector('form[data-modal-form]')).values()]");
  const DRAFT = ["a draft", "2026-12-24", "7", "U0CAT", "1", "U0BEN"];

  test("stays when the app changes the view, when an error appears and when others write", async () => {
    const { workspace } = stage;
    const open = workspace.pushView("U0ANA", formOf("A form", fields));
    const page = await look.tab(CHANNEL);
    await fill(page);
    workspace.changeView(open, { view: formOf("Another title", fields) });
    await page.getByRole("dialog", { name: "Another title" }).waitFor();
    expect(await typed(page)).toEqual(DRAFT);
    workspace.changeView(open, { errors: { number: "Too small." } });
    await page.getByText("Too small.").waitFor();
    expect(await typed(page)).toEqual(DRAFT);
    workspace.post({ channel: OPS, author: "U0BEN", text: "meanwhile" });
    await page.getByText("meanwhile").waitFor({ state: "attached" });
    expect(await typed(page)).toEqual(DRAFT);
  });

  test("reappears when a view that was pushed onto it is closed", async () => {
    stage.workspace.pushView("U0ANA", formOf("Below", fields));
    const page = await look.tab(CHANNEL);
    await fill(page);
    stage.workspace.pushView("U0ANA", formOf("Above", { more: element("plain_text_input") }));
    await page.getByRole("dialog", { name: "Above" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Below" }).waitFor();
    expect(acts()).toEqual(["close"]);
    expect(await typed(page)).toEqual(DRAFT);
  });

  test("is kept for each option, even if the app renumbers the options", async () => {
    const [one, two] = [plain("First"), plain("Second")].map((text, i) => ({ text, value: `${i}` }));
    const select = (...options: unknown[]) => formOf("A form", { pick: { type: "static_select", options } });
    const open = stage.workspace.pushView("U0ANA", select(one, two));
    const page = await look.tab(CHANNEL);
    await page.getByLabel("pick").selectOption({ label: "Second" });
    stage.workspace.changeView(open, { view: { ...select(two, one), title: plain("Turned round") } });
    await page.getByRole("dialog", { name: "Turned round" }).waitFor();
    expect(await page.getByLabel("pick").inputValue()).toBe("0");
  });
});

const LONG = plain(Array.from({ length: 80 }, (_, i) => `line ${i}`).join("\n"));

describe("a form", () => {
  test("shows its first error, even if the field is below a long text", async () => {
    const view = formOf("Long", { reason: element("plain_text_input") });
    view.blocks.unshift({ type: "section", text: LONG });
    const open = stage.workspace.pushView("U0ANA", view);
    const page = await look.tab(CHANNEL);
    expect(await scrolled(page)).toBe(0);
    stage.workspace.changeView(open, { errors: { reason: "Say why." } });
    await page.getByText("Say why.").waitFor();
    const bottom = async (): Promise<number> => {
      const box = await page.getByText("Say why.").boundingBox();
      return (box?.y ?? Infinity) + (box?.height ?? 0);
    };
    await expect.poll(bottom).toBeLessThan(760);
    expect(await scrolled(page)).toBeGreaterThan(0);
    expect(await page.evaluate("document.activeElement.getAttribute('aria-invalid')")).toBe("true");
  });

  test("keeps the scroll position when the app changes it", async () => {
    const view = (title: string) => ({
      ...formOf(title, {}),
      blocks: [{ type: "section", text: LONG }],
    });
    const open = stage.workspace.pushView("U0ANA", view("Before"));
    const page = await look.tab(CHANNEL);
    await page.evaluate("document.querySelector('dialog [data-blocks]').scrollTop = 300");
    stage.workspace.changeView(open, { view: view("After") });
    await page.getByRole("dialog", { name: "After" }).waitFor();
    expect(await scrolled(page)).toBe(300);
  });

  test("that the app replaces with another view is read from its beginning, and has the focus", async () => {
    const view = formOf("Approve request", { reason: element("plain_text_input") });
    view.blocks.unshift({ type: "section", block_id: "form:approve", text: LONG });
    const open = stage.workspace.pushView("U0ANA", view);
    const blocks = [{ type: "section", block_id: "form:changed", text: LONG }];
    const refused = formOf("The request changed", {}, { blocks, submit: undefined });
    app.submit = at(() => stage.workspace.changeView(open, { view: refused }));
    const page = await look.tab(CHANNEL);
    await page.getByLabel("reason").fill("Looked at it.");
    expect(await scrolled(page)).toBeGreaterThan(0);
    await page.keyboard.press("Control+Enter");
    await page.getByRole("dialog", { name: "The request changed" }).waitFor();
    stage.workspace.post({ channel: OPS, author: "U0BEN", text: "meanwhile" });
    await page.getByText("meanwhile").waitFor({ state: "attached" });
    expect(await scrolled(page)).toBe(0);
    expect(await page.evaluate("document.activeElement.matches('dialog [data-blocks]')")).toBe(true);
  });

  test("keeps the focus when its focused button is redrawn", async () => {
    const open = stage.workspace.pushView("U0ANA", formOf("A form", { reason: element("plain_text_input") }));
    const page = await look.tab(CHANNEL);
    await page.getByRole("button", { name: "Cancel" }).focus();
    stage.workspace.changeView(open, { view: formOf("Another title", {}) });
    await page.getByRole("dialog", { name: "Another title" }).waitFor();
    expect(await page.evaluate("document.activeElement.closest('dialog') !== null")).toBe(true);
  });

  test("rejects a missing choice and an extra one", async () => {
    const view = formOf("Choices", {
      some: { ...element("checkboxes"), initial_options: undefined },
      few: { type: "multi_users_select", max_selected_items: 1 },
    });
    for (const block of view.blocks) block["optional"] = block.block_id === "few";
    stage.workspace.pushView("U0ANA", view);
    const page = await look.tab(CHANNEL);
    const send = page.getByRole("button", { name: "Send", exact: true }).last();
    await page.getByLabel("Ben Okafor").check();
    await page.getByLabel("Cat Lindqvist").check();
    await send.click();
    await page.getByText("Please fill in this field.").waitFor();
    await page.getByText("Choose at most 1.").waitFor();
    expect(acts()).toEqual([]);
    await page.getByLabel("Option 1").check();
    await page.getByLabel("Cat Lindqvist").uncheck();
    await send.click();
    await expect.poll(acts).toEqual(["submit"]);
    expect(stage.done[0]?.with[2]).toEqual({ some: { a: ["o1"] }, few: { a: ["U0BEN"] } });
  });

  test("that is disabled until its fields are filled in is enabled then", async () => {
    const view = formOf("Shut", { name: element("plain_text_input") }, { submit_disabled: true });
    for (const block of view.blocks)
      Object.assign(block, { optional: false, element: { type: "plain_text_input", action_id: "a" } });
    stage.workspace.pushView("U0ANA", view);
    const page = await look.tab(CHANNEL);
    const send = page.getByRole("button", { name: "Send", exact: true }).last();
    expect(await send.isDisabled()).toBe(true);
    await page.getByLabel("name").fill("x");
    expect(await send.isDisabled()).toBe(false);
  });

  test("shows that it waits for an answer, and is not sent twice", async () => {
    const { promise, resolve } = Promise.withResolvers<ActResult>();
    app.submit = () => promise;
    stage.workspace.pushView("U0ANA", formOf("Slow", { text: element("plain_text_input") }));
    const page = await look.tab(CHANNEL);
    await page.getByLabel("text").focus();
    await page.keyboard.press("Control+Enter");
    await page.keyboard.press("Control+Enter");
    await expect.poll(() => page.locator("form[data-modal-form]").getAttribute("aria-busy")).toBe("true");
    resolve({ ok: true });
    await expect.poll(() => page.locator("form[data-modal-form]").getAttribute("aria-busy")).toBe(null);
    expect(acts()).toEqual(["submit"]);
  });
});

describe("a choice that requires a confirmation", () => {
  const asking = (type: string): Block => ({
    type: "actions",
    block_id: "b",
    elements: [{ ...element(type), action_id: "a", confirm: { text: mrkdwn("Sure?"), deny: plain("No") } }],
  });

  test("of a select goes to the app only after the confirmation, and is undone without it", async () => {
    post(asking("users_select"));
    const page = await look.tab(CHANNEL);
    const select = page.getByRole("combobox", { name: "Whom?" });
    await select.selectOption({ label: "Cat Lindqvist" });
    await page.getByRole("dialog", { name: "Are you sure?" }).getByRole("button", { name: "No" }).click();
    await expect.poll(() => select.inputValue()).toBe("U0BEN");
    await select.selectOption({ label: "Cat Lindqvist" });
    await page.getByRole("dialog").getByRole("button", { name: "Yes" }).click();
    await expect.poll(acts).toEqual(["click"]);
    expect(stage.done[0]?.with.at(-1)).toBe("U0CAT");
  });

  test("of a menu goes to the app only after the confirmation", async () => {
    post(asking("overflow"));
    const page = await look.tab(CHANNEL);
    for (const answer of ["No", "Yes"]) {
      await page.locator("summary[aria-label='More actions']").click();
      await page.getByRole("button", { name: "Option 1" }).click();
      await page.getByRole("dialog").getByRole("button", { name: answer }).click();
    }
    await expect.poll(acts).toEqual(["click"]);
    expect(stage.done[0]?.with.at(-1)).toBe("o1");
  });
});

test("a menu at the end of a long channel opens inside the visible area", async () => {
  for (let nth = 0; nth < 30; nth += 1)
    stage.workspace.post({ channel: OPS, author: "U0BEN", text: `line ${nth}` });
  post({ type: "actions", block_id: "b", elements: [{ ...element("overflow"), action_id: "a" }] });
  const page = await look.tab(CHANNEL);
  await page.locator("summary[aria-label='More actions']").click();
  await page.getByRole("button", { name: "Option 1" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Yes" }).click();
  await expect.poll(acts).toEqual(["click"]);
});

test("a shortcut can be used from the menu of a message, also with the keyboard", async () => {
  const { ts } = stage.workspace.post({ channel: OPS, author: "U0BEN", text: "deploy it, please" });
  const page = await look.tab(CHANNEL);
  const menu = page.getByLabel("More actions on this message");
  await menu.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Run agent on this message" }).press("Enter");
  await expect
    .poll(() => stage.done)
    .toEqual([{ act: "shortcut", with: ["U0ANA", "run_on_message", { channel: OPS, ts }] }]);
  expect(await page.getByRole("button", { name: "Run agent on this message" }).isVisible()).toBe(false);
});

test("a dismissed private answer stays hidden in this tab", async () => {
  const { workspace } = stage;
  const answer = workspace.post({ channel: OPS, author: APP, text: "for you alone", ephemeralFor: "U0ANA" });
  const page = await look.tab(CHANNEL);
  await page.getByRole("button", { name: "Dismiss" }).click();
  expect(await page.getByText("for you alone").isVisible()).toBe(false);
  workspace.edit(answer, { text: "for you alone, again" });
  workspace.post({ channel: OPS, author: "U0BEN", text: "later" });
  await page.getByText("later").waitFor();
  await page.reload();
  await page.getByText("later").waitFor();
  expect(await page.getByText("for you alone").isVisible()).toBe(false);
});
