// `npm run bench:page` measures whether the sandbox's page stays smooth while five hundred cards arrive, with one tab in front and others
// open. It compares the frame rate with that of the same tab at rest. Needs Chromium.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { startWorld, type World } from "#sandbox/world/world.ts";
import { launchChromium } from "../test/make/chromium.ts";
import { readCommandLine, wholeNumber } from "../test/make/command-line.ts";

const { values, MESSAGES, TABS } = readCommandLine(
  "npm run bench:page -- [--json] [--messages 500] [--tabs 20]",
  {
    json: { type: "boolean", default: false },
    messages: { type: "string", default: "500" },
    tabs: { type: "string", default: "20" },
  },
  (given) => ({
    values: given,
    MESSAGES: wholeNumber("--messages", given.messages),
    TABS: wholeNumber("--tabs", given.tabs),
  }),
);
/** Slack accepts about one message a second from an app in a channel. This is twenty-five times as fast. */
const EVERY_MS = 40;
const REST_MS = 5_000;
const OPS = "C0OPSAGENTS";

type Frames = { readonly perSecond: number; readonly longestMs: number };

const folder = await mkdtemp(join(tmpdir(), "countersign-bench-"));
const world = await startWorld({ databaseUrl: `sqlite:${join(folder, "bot.db")}`, tempo: 0 });
const browser = await launchChromium();
const window = await browser.newContext({ viewport: { width: 1280, height: 800 } });
const people = ["U0BEN", "U0CAT", "U0ANA"];
const tabs: Page[] = [];
for (let index = 0; index < TABS; index += 1) {
  const tab = await window.newPage();
  await tab.goto(new URL(`/as/${people[index % people.length] ?? "U0ANA"}/${OPS}`, world.slack.url).href);
  tabs.push(tab);
}
const front = tabs[0];
if (front === undefined) throw new Error("at least one tab is needed");
await front.bringToFront();
const rest = await framesOf(front, () => pause(REST_MS));
const live = await framesOf(front, () => postAll(world));
const begun = performance.now();
await Promise.all(
  tabs.map((tab) => tab.getByText(`number ${MESSAGES}.`).first().waitFor({ state: "attached" })),
);
const lateMs = performance.now() - begun;
await browser.close();
await world.stop();
await rm(folder, { recursive: true, force: true });

const ratio = live.perSecond / rest.perSecond;
console.log(
  `frames/s at rest                    ${rest.perSecond.toFixed(1)}, longest ${rest.longestMs.toFixed(0)} ms`,
);
console.log(
  `frames/s while ${MESSAGES} cards arrive     ${live.perSecond.toFixed(1)}, longest ${live.longestMs.toFixed(0)} ms`,
);
console.log(
  `ratio                               ${ratio.toFixed(2)}  ${ratio >= 0.9 ? "met" : "MISSED"}, target ≥ 0.9`,
);
console.log(`the last one in all ${TABS} tabs after     ${lateMs.toFixed(0)} ms`);
if (values.json)
  console.log(
    JSON.stringify({ page_frame_ratio: Number(ratio.toFixed(3)), last_in_all_tabs_ms: Math.round(lateMs) }),
  );

/** Counts the frames that a tab draws while the work lasts. */
async function framesOf(page: Page, work: () => Promise<void>): Promise<Frames> {
  await page.evaluate(`
    globalThis.frames_ = [];
    const tick = (at) => { frames_.push(at); globalThis.next_ = requestAnimationFrame(tick); };
    globalThis.next_ = requestAnimationFrame(tick);
  `);
  await work();
  const at = await page.evaluate<number[]>(`cancelAnimationFrame(next_), frames_`);
  const gaps = at.slice(1).map((each, index) => each - (at[index] ?? each));
  const ms = (at.at(-1) ?? 0) - (at[0] ?? 0);
  return { perSecond: (gaps.length / ms) * 1000, longestMs: Math.max(...gaps) };
}

async function postAll({ slack: { workspace } }: World): Promise<void> {
  for (let index = 1; index <= MESSAGES; index += 1) {
    workspace.post({
      channel: OPS,
      author: workspace.app.person,
      text: `Request ${index}`,
      blocks: card(index),
    });
    await pause(EVERY_MS);
  }
}

function card(index: number) {
  const text = `*Approval needed*, number ${index}. Asked by <@U0ANA>.\n\`\`\`{ "replicas": ${index}, "dry_run": false }\`\`\``;
  const button = (label: string) => ({
    type: "button",
    text: { type: "plain_text", text: label },
    action_id: label,
  });
  return [
    { type: "section", text: { type: "mrkdwn", text } },
    { type: "actions", elements: [button("Approve"), button("Deny")] },
  ];
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
