// Tabs of a real Chromium, whose errors are collected for the test.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Browser, BrowserContext, Page } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

type AxeResults = {
  passes: unknown[];
  violations: { id: string; nodes: { html: string; failureSummary?: string }[] }[];
};

/** Resolves to the violations that axe finds, one line each. */
export async function violations(on: Page): Promise<string[]> {
  // The page's policy forbids foreign scripts, so axe is evaluated and not inserted.
  await on.evaluate(axe);
  const results = await on.evaluate<AxeResults>("axe.run()");
  if (results.passes.length === 0) throw new Error("axe checked nothing");
  return results.violations.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ""}`),
  );
}

export type Look = {
  /** Opens another tab in the same browser window, or in the given one. */
  readonly tab: (path: string, context?: BrowserContext) => Promise<Page>;
  readonly window: (options?: Parameters<Browser["newContext"]>[0]) => Promise<BrowserContext>;
  /** The errors that the pages logged. */
  readonly faults: string[];
  readonly close: () => Promise<void>;
};

export function createLook(browser: Browser, url: string): Look {
  const contexts: BrowserContext[] = [];
  const faults: string[] = [];
  const window: Look["window"] = async (options = {}) => {
    const made = await browser.newContext({ viewport: { width: 1280, height: 820 }, ...options });
    contexts.push(made);
    return made;
  };
  return {
    window,
    async tab(path, context) {
      const page = await (context ?? (await window())).newPage();
      // A loaded machine is slow. Only a fault takes this long.
      page.setDefaultTimeout(30_000);
      page.on("pageerror", (error) => faults.push(error.message));
      page.on("console", (line) => {
        // Chromium reports a stream that ends with its page as a failed resource.
        if (line.type() === "error" && !line.text().includes("net::")) faults.push(line.text());
      });
      await page.goto(url + path);
      await page.locator("body[data-live]").waitFor();
      return page;
    },
    faults,
    async close() {
      for (const context of contexts) await context.close();
      if (faults.length > 0) throw new Error(`the page logged errors: ${faults.join("; ")}`);
    },
  };
}
