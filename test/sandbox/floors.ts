// What each folder of the sandbox may import besides itself. The sandbox imports nothing from src: it starts the bot as a process.

const BASE = "sandbox/base/";
const SLACK = "sandbox/slack/";
const SERVICE = "sandbox/service/";
const BOT = "sandbox/bot/";
const PAGE_BASE = "sandbox/page/base/";
const DRAWING = "sandbox/page/drawing/";
const PAGE = "sandbox/page/";
const PANEL = "sandbox/service-panel/";
const CONTROL = "sandbox/control/";
const SCENES = "sandbox/scenes/";

/** A file, or a folder with a trailing slash. The first row that matches a file applies. */
export const SANDBOX_FLOORS: readonly (readonly [place: string, own: readonly string[]])[] = [
  [BASE, []],
  [SLACK, [BASE]],
  [SERVICE, [BASE]],
  [BOT, [BASE]],
  [PAGE_BASE, [SLACK]],
  [DRAWING, [PAGE_BASE, SLACK]],
  ["sandbox/page/panels/", [PAGE_BASE, DRAWING, SLACK]],
  [PAGE, [BASE, SLACK]],
  [PANEL, [PAGE_BASE, SERVICE]],
  [CONTROL, [BASE, SLACK, SERVICE, BOT]],
  [SCENES, [BASE, SLACK, SERVICE, BOT, PAGE_BASE, CONTROL]],
  ["sandbox/world/", [BASE, SLACK, SERVICE, BOT, PAGE, PANEL, CONTROL, SCENES]],
  ["sandbox/main.ts", [BOT, "sandbox/world/"]],
  ["sandbox/serve.ts", [BASE, SERVICE, CONTROL]],
];
