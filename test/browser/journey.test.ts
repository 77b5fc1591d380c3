import { randomBytes } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type BotProcess, startBot } from "#sandbox/bot/bot-process.ts";
import { startWorld, type World } from "#sandbox/world/world.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { type Saying, says } from "../make/message-id.ts";
import { launchChromium } from "../make/chromium.ts";
import { PATIENT } from "../make/patient.ts";

let folder: string;
let world: World;
let bot: BotProcess;
let browser: Browser;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "countersign-browser-"));
  world = await startWorld({
    tempo: 0.1,
    databaseUrl: `sqlite:${join(folder, "countersign.db")}`,
    slack: { timing: PATIENT },
  });
  // With a key of its own, the bot warns only of its new database.
  const AUDIT_KEY = randomBytes(32).toString("base64");
  bot = startBot({ ...world.env, AUDIT_KEY, POLL_MIN_MS: "50", POLL_MAX_MS: "500", LOG_LEVEL: "warn" });
  browser = await launchChromium();
  await bot.ready();
});

afterAll(async () => {
  await browser.close();
  const code = await bot.end("SIGTERM");
  await world.stop();
  await rm(folder, { recursive: true, force: true });
  const warnings = bot
    .printed()
    .split("\n")
    .filter((line) => line !== "" && !isOfNewDatabase(line));
  if (code !== 0 || warnings.length > 0)
    throw new Error(`the bot exited with ${code} and printed: ${bot.printed()}`);
});

const isOfNewDatabase = (line: string): boolean => Object.hasOwn(JSON.parse(line), "database");

async function openAs(person: string): Promise<Page> {
  const page = await (await browser.newContext({ viewport: { width: 1280, height: 820 } })).newPage();
  page.setDefaultTimeout(30_000);
  await page.goto(`${world.slack.url}as/${person}/C0OPSAGENTS`);
  return page;
}

async function type(page: Page, text: string): Promise<void> {
  const composer = page.getByRole("textbox").first();
  await composer.fill(text);
  await composer.press("Enter");
}

/** Resolves to the text of the app's message with this id, once it is posted. */
async function wordsOf(id: Saying): Promise<string> {
  const { workspace } = world.slack;
  const found = (): Message | undefined => workspace.messages.findLast((each) => says(id, each));
  await workspace.until(() => found() !== undefined, { timeoutMs: 20_000 });
  return found()?.text ?? "";
}

/** Waits until the page shows the first words of the card in this state. */
async function shows(page: Page, state: "approved" | "denied"): Promise<void> {
  const [title = ""] = (await wordsOf(state)).split(":");
  await page
    .getByText(title.replace(/^[^\p{L}]+/u, ""))
    .first()
    .waitFor();
}

const errorOf = async (person: string): Promise<string> => {
  const { workspace } = world.slack;
  const errors = (): string[] => Object.values(workspace.viewsOf(person).at(-1)?.errors ?? {});
  await workspace.until(() => errors().length > 0, { timeoutMs: 20_000 });
  return errors().join(" ");
};

test("one person starts a run, another approves with a reason on the page, and the thread shows the output", async () => {
  const ana = await openAs("U0ANA");
  await type(ana, "/agent run deploy billing-api to production");
  await ana.getByRole("button", { name: "Approve" }).last().waitFor();

  const ben = await openAs("U0BEN");
  await ben.getByRole("button", { name: "Approve" }).last().click();
  const form = ben.getByRole("dialog");
  await form.getByText("Deploy billing-api to production").first().waitFor();
  await form.getByRole("textbox", { name: "Reason" }).fill("Looked at the release notes.");
  await form.getByRole("button", { name: "Approve" }).click();
  await form.waitFor({ state: "detached" });
  await shows(ben, "approved");
  expect(await ben.getByRole("button", { name: "Approve" }).count()).toBe(0);

  await wordsOf("run:succeeded");
  await ana
    .getByRole("link", { name: /repl(y|ies)/ })
    .first()
    .click();
  await ana.getByText("Done: deploy billing-api to production").first().waitFor();
  await ana.getByText("Looked at the release notes.").last().waitFor();
});

test("a denial needs a reason, and the service gets it", async () => {
  const ana = await openAs("U0ANA");
  await type(ana, "/agent run rotate the signing keys");
  const cat = await openAs("U0CAT");
  await cat.getByRole("button", { name: "Deny" }).last().click();
  const form = cat.getByRole("dialog");
  await form.getByRole("textbox", { name: "Reason" }).fill("   ");
  await form.getByRole("button", { name: "Deny" }).click();
  await form.getByText(await errorOf("U0CAT")).waitFor();
  await form.getByRole("textbox", { name: "Reason" }).fill("Not before the freeze ends.");
  await form.getByRole("button", { name: "Deny" }).click();
  await shows(cat, "denied");
  const sent = world.service.requests
    .all({ route: "decide" })
    .map(({ body }) => JSON.parse(body ?? "null") as unknown);
  expect(sent).toContainEqual({ decision: "deny", reason: "Not before the freeze ends." });
});

test("a form tells the requester that someone else must decide", async () => {
  const ana = await openAs("U0ANA");
  await type(ana, "/agent run restart the mail queue");
  await ana.getByRole("button", { name: "Approve" }).last().click();
  await ana.getByRole("dialog").waitFor();
  expect(
    says("refusal:requester", world.slack.workspace.viewsOf("U0ANA").at(-1)?.view ?? { blocks: [] }),
  ).toBe(true);
});
