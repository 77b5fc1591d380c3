// The bot's policy in the Service panel: the policy in force and since when, the switch, and the bot's errors about a policy.
import { beforeEach, expect, test } from "vitest";
import { policies, policyNamed } from "../sandbox/page/fake-panel-state.ts";
import { OPS } from "../sandbox/page/stage.ts";
import { browseEachTest } from "./browsing.ts";
import { violations } from "./looking.ts";

const SINCE = Date.UTC(2026, 10, 12, 9, 5);
const REFUSED = "The bot did not start with Strict, so Built-in is back.\nrules[0] approvers is empty";
let refusal: string | null = null;
beforeEach(() => {
  refusal = null;
});

const on = browseEachTest({
  onAct: () => (refusal === null ? { ok: true, result: null } : { ok: false, error: refusal }),
});

const panel = `/as/U0ANA/${OPS}?panel=service`;
const [strict, builtIn] = [policyNamed("strict"), policyNamed("built-in")];

test("one press switches to another policy, and the panel shows which one is in force since when", async () => {
  const page = await on.look.tab(panel);
  const row = page.locator("[data-states] > div", { hasText: "Policy" });
  await row.getByText("Built-in, in force since").waitFor();
  await row.getByRole("button", { name: /^Built-in/, pressed: true }).waitFor();
  await row.getByRole("button", { name: "Strict: switch the policy" }).click();
  await expect.poll(() => on.served.asked).toEqual([{ act: "bot.policy", args: { name: "strict" } }]);
  on.board.service({ bot: "starting", policy: { policies, chosen: strict, inForce: null, fault: null } });
  await row.getByText("Strict, not in force yet: the bot is starting").waitFor();
  const inForce = { policy: strict, since: SINCE };
  on.board.service({ bot: "running", policy: { policies, chosen: strict, inForce, fault: null } });
  await row.getByText("Strict, in force since the bot started at 09:05").waitFor();
  await row.getByRole("button", { name: /^Strict/, pressed: true }).waitFor();
  expect(await row.getByRole("button", { pressed: true }).count()).toBe(1);
  expect(await row.locator("..").locator('[data-good="yes"]', { hasText: "Policy" }).count()).toBe(1);
  on.board.service({ bot: "stopped", policy: { policies, chosen: strict, inForce: null, fault: null } });
  await row.getByText("Strict, not in force: the bot is stopped").waitFor();
});

test("a policy that the bot rejects is reported at once, and stays in the panel until the next switch", async () => {
  const page = await on.look.tab(panel);
  refusal = REFUSED;
  await page.getByRole("button", { name: "Strict: switch the policy" }).click();
  await page.getByRole("alert").getByText("rules[0] approvers is empty").waitFor();
  const inForce = { policy: builtIn, since: SINCE };
  on.board.service({ policy: { policies, chosen: builtIn, inForce, fault: REFUSED } });
  const row = page.locator('[data-states] > [data-good="no"]', { hasText: "Policy" });
  await row.getByText("rules[0] approvers is empty").waitFor();
  for (const [width, colorScheme] of [
    [1280, "light"],
    [390, "dark"],
  ] as const) {
    await page.setViewportSize({ width, height: 820 });
    await page.emulateMedia({ colorScheme });
    expect(await violations(page)).toEqual([]);
  }
});

test("a bot that does not start says why", async () => {
  const page = await on.look.tab(panel);
  on.board.service({ bot: "starting", botFault: "the bot stopped before it was ready:\nno such policy" });
  await page.locator("[data-states] > div", { hasText: "Starting…" }).getByText("no such policy").waitFor();
});
