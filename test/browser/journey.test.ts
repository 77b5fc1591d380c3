import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BotProcess, startBot } from "#sandbox/bot/bot-process.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";
import { launchChromium } from "../make/chromium.ts";

let folder: string;
let world: World;
let bot: BotProcess;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-browser-"));
  world = await startWorld({ tempo: 0.1, databaseUrl: `sqlite:${join(folder, "countersign.db")}` });
  // A key that is made is warned of; whoever sets one hears nothing.
  const AUDIT_KEY = randomBytes(32).toString("base64");
  bot = startBot({ ...world.env, AUDIT_KEY, POLL_MIN_MS: "50", POLL_MAX_MS: "500", LOG_LEVEL: "warn" });
  browser = await launchChromium();
  await bot.ready();
}, 60_000);

afterAll(async () => {
  await browser.close();
  const code = await bot.end("SIGTERM");
  await world.stop();
  await rm(folder, { recursive: true, force: true });
  if (code !== 0 || bot.printed() !== "")
    throw new Error(`the bot ended with ${code} and printed: ${bot.printed()}`);
});

async function as(person: string): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 820 } })).newPage();
  page.setDefaultTimeout(15_000);
  await page.goto(`${world.slack.url}as/${person}/C0OPSAGENTS`);
  return page;
}

async function type(page: Page, text: string): Promise<void> {
  const composer = page.getByRole("textbox").first();
  await composer.fill(text);
  await composer.press("Enter");
}

test("a person asks, another approves with a reason in the page, and the thread tells the output", async () => {
  const ana = await as("U0ANA");
  await type(ana, "/agent run deploy billing-api to production");
  await ana.getByRole("button", { name: "Approve" }).last().waitFor();

  const ben = await as("U0BEN");
  await ben.getByRole("button", { name: "Approve" }).last().click();
  const form = ben.getByRole("dialog");
  await form.getByText("Deploy billing-api to production").first().waitFor();
  await form.getByRole("textbox", { name: "Reason" }).fill("Looked at the release notes.");
  await form.getByRole("button", { name: "Approve" }).click();
  await form.waitFor({ state: "detached" });
  await ben.getByText("The service confirmed it.").waitFor();
  expect(await ben.getByRole("button", { name: "Approve" }).count()).toBe(0);

  await ana.getByText("Succeeded", { exact: false }).first().waitFor();
  await ana
    .getByRole("link", { name: /repl(y|ies)/ })
    .first()
    .click();
  await ana.getByText("Succeeded after").waitFor();
  await ana.getByText("Looked at the release notes.").last().waitFor();
});

test("a denial needs a reason, and the service gets it", async () => {
  const ana = await as("U0ANA");
  await type(ana, "/agent run rotate the signing keys");
  const cat = await as("U0CAT");
  await cat.getByRole("button", { name: "Deny" }).last().click();
  const form = cat.getByRole("dialog");
  await form.getByRole("textbox", { name: "Reason" }).fill("   ");
  await form.getByRole("button", { name: "Deny" }).click();
  await form.getByText("a denial needs a reason", { exact: false }).waitFor();
  await form.getByRole("textbox", { name: "Reason" }).fill("Not before the freeze ends.");
  await form.getByRole("button", { name: "Deny" }).click();
  await cat.getByText("Denied").first().waitFor();
  const sent = world.service.requests
    .all({ route: "decide" })
    .map(({ body }) => JSON.parse(body ?? "null") as unknown);
  expect(sent).toContainEqual({ decision: "deny", reason: "Not before the freeze ends." });
});

test("the requester is told in a form that someone else must decide", async () => {
  const ana = await as("U0ANA");
  await type(ana, "/agent run restart the mail queue");
  await ana.getByRole("button", { name: "Approve" }).last().click();
  await ana.getByRole("dialog").getByText("someone else must decide", { exact: false }).waitFor();
});
