// Serves a page from a new workspace for each test of a file. All tests of the file share one Chromium.
import type { Browser } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach } from "vitest";
import { launchChromium } from "../make/chromium.ts";
import { createFakePanelState, serveWithControl } from "../sandbox/page/fake-panel-state.ts";
import { createStage, fillWorkspace } from "../sandbox/page/stage.ts";
import { createLook, type Look } from "./looking.ts";

type Browsing = {
  stage: ReturnType<typeof createStage>;
  /** What the panels show. */
  board: ReturnType<typeof createFakePanelState>;
  served: Awaited<ReturnType<typeof serveWithControl>>;
  look: Look;
};

type Choices = {
  /** Whether the workspace contains messages and people from the start. */
  readonly filled?: boolean;
  readonly onAct?: Parameters<typeof serveWithControl>[1];
};

/** The fields of the result are set while a test runs. */
export function browseEachTest({ filled = false, onAct }: Choices = {}): Browsing {
  const browsing = {} as Browsing;
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchChromium();
  }, 30_000);
  afterAll(() => browser.close());
  beforeEach(async () => {
    const stage = createStage();
    const board = createFakePanelState();
    if (filled) fillWorkspace(stage.workspace);
    const served = await serveWithControl({ ...stage.parts, panelState: board.panelState }, onAct);
    Object.assign(browsing, { stage, board, served, look: createLook(browser, served.url) });
  });
  afterEach(async () => {
    await browsing.look.close();
    await browsing.served.close();
  });
  return browsing;
}
