// Checks every surface, light and dark, wide and narrow: axe finds no violation, and nothing is wider than its container.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launchChromium } from "../make/chromium.ts";
import { createStage, servePage } from "../sandbox/page/stage.ts";
import { SURFACES } from "../sandbox/page/surfaces.ts";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser.close());

const SIZES = { wide: { width: 1280, height: 820 }, narrow: { width: 390, height: 780 } };

test.for(Object.entries(SURFACES))("%s", async ([, { path, prepare }]) => {
  const stage = createStage();
  const thread = prepare(stage.workspace);
  const served = await servePage(stage.parts);
  const page = await browser.newPage({ reducedMotion: "reduce" });
  const found: Record<string, string[]> = {};
  try {
    await page.goto(served.url + path + (thread === undefined ? "" : `/${thread}`));
    await page.locator("body[data-live]").waitFor();
    // The page's policy forbids foreign scripts, so axe is evaluated and not inserted.
    await page.evaluate(axe);
    for (const [size, viewport] of Object.entries(SIZES))
      for (const colorScheme of ["light", "dark"] as const) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        found[`${size}, ${colorScheme}`] = [
          ...(await violations(page, colorScheme)),
          ...(await tooWideElements(page)),
        ];
      }
  } finally {
    await page.close();
    await served.close();
  }
  expect(found).toEqual({ "wide, light": [], "wide, dark": [], "narrow, light": [], "narrow, dark": [] });
});

type AxeResults = {
  passes: unknown[];
  violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
};

/** Returns the violations. Dark mode changes only colors, so only contrast is checked there. */
async function violations(on: Page, scheme: "light" | "dark"): Promise<string[]> {
  const rules = scheme === "light" ? "" : '{ runOnly: ["color-contrast"] }';
  const results = await on.evaluate<AxeResults>(`axe.run(${rules})`);
  if (results.passes.length === 0) throw new Error("axe checked nothing");
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ""}`),
  );
}

/** Resolves to the elements that are wider than their pane or dialog, except those that scroll. */
function tooWideElements(on: Page): Promise<string[]> {
  return on.evaluate<
    string[]
  >(`[document.body, ...document.querySelectorAll("[data-scroll], dialog[open] [data-blocks]")]
    .filter((one) => one.scrollWidth > one.clientWidth + 1)
    .map((one) => "wider than its place: " + one.outerHTML.slice(0, 80) + " " + one.scrollWidth + " > " + one.clientWidth)`);
}
