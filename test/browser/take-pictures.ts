// `npm run pictures` takes the pictures of README.md and docs/install.md from the running sandbox, so that they show what people see.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Page } from "playwright-core";
import { launchChromium } from "../make/chromium.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const VIEWPORT = { width: 1280, height: 820 };
/** Everything on the page has stopped moving after this time (ms). */
const SETTLED_MS = 1_000;

const sandbox = spawn(process.execPath, ["sandbox/main.ts", "--port", "0", "--tempo", "0.3"], {
  cwd: ROOT,
  stdio: ["ignore", "pipe", "inherit"],
});
const browser = await launchChromium();
try {
  await takeAll(await addressOf(sandbox));
} finally {
  await browser.close();
  sandbox.kill("SIGINT");
  await once(sandbox, "exit");
}

async function addressOf({ stdout }: ChildProcess): Promise<string> {
  let printed = "";
  for await (const chunk of stdout ?? []) {
    printed += String(chunk);
    const [address] = /http:\/\/[\d.:]+\//.exec(printed) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error(`The sandbox did not start: ${printed}`);
}

async function takeAll(url: string): Promise<void> {
  const ana = await openAs(url, "U0ANA", "C0OPSAGENTS");
  await send(ana, "/agent run deploy billing-api to production");
  const ben = await openAs(url, "U0BEN", "C0OPSAGENTS");
  await ben.getByRole("button", { name: /^Approve/ }).waitFor();
  await take(ben, "sandbox.png");

  await ben.getByRole("button", { name: /^Approve/ }).click();
  const form = ben.getByRole("dialog");
  await form.getByRole("textbox").first().waitFor();
  await take(ben, "pictures/form.png");

  await form.getByRole("textbox").first().fill("The plan is right, and the canary is healthy.");
  await form.getByRole("button", { name: "Approve" }).click();
  await ben.getByText("Succeeded").first().waitFor();
  await take(ben, "pictures/decided.png");

  for (const task of ["deploy search to staging", "deploy checkout to production"])
    await send(ana, `/agent run ${task}`);
  const home = await openAs(url, "U0BEN", "home");
  await home
    .getByRole("button", { name: /^Review/ })
    .nth(2)
    .waitFor();
  await take(home, "pictures/home.png");

  await send(ana, "/agent health");
  await ana.getByText("Token gateway").first().waitFor();
  await take(ana, "pictures/health.png");
}

async function openAs(url: string, person: string, where: string): Promise<Page> {
  const page = await (await browser.newContext({ viewport: VIEWPORT })).newPage();
  await page.goto(`${url}as/${person}/${where}`);
  return page;
}

async function send(page: Page, text: string): Promise<void> {
  const composer = page.getByRole("textbox").first();
  await composer.fill(text);
  await composer.press("Enter");
}

async function take(page: Page, name: string): Promise<void> {
  await page.waitForTimeout(SETTLED_MS);
  await page.screenshot({ path: join(ROOT, "docs", name) });
  console.log(`docs/${name}`);
}
