import { existsSync } from "node:fs";
import { type Browser, chromium } from "playwright-core";

/** Chromium without windows: the same engine, at little more than half the work for a page. Playwright, too, prefers it. */
const SHELL = "/usr/bin/chromium-headless-shell";
const WHOLE = "/usr/bin/chromium";

/** The machine's own Chromium (`CHROMIUM` names another), without its habit of calling home. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env["CHROMIUM"] ?? (existsSync(SHELL) ? SHELL : WHOLE),
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--no-first-run",
    ],
  });
}
