// A page served from a workspace of its own for each test of a file, and one Chromium for all of them.
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
  /** Messages and people stand in the workspace from the start. */
  readonly filled?: boolean;
  readonly onAct?: Parameters<typeof serveWithControl>[1];
};

/** Its fields are there while a test runs. */
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
