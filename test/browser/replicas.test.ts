// Several replicas of the app on the page: the state and buttons of each, and a status line that counts them.

import { describe, expect, test } from "vitest";
import type { ShownReplica } from "#sandbox/service-panel/shown-state.ts";
import { createJudge } from "../sandbox/page/fake-panel-state.ts";
import { OPS } from "../sandbox/page/stage.ts";
import { browseEachTest } from "./browsing.ts";
import { violations } from "./looking.ts";

const on = browseEachTest({ filled: true, onAct: () => ({ ok: true, result: null }) });

const path = `/as/U0ANA/${OPS}?panel=service`;

const replica = (at: number, more: Partial<ShownReplica> = {}): ShownReplica => ({
  name: `replica ${at}`,
  state: "running",
  port: 12_000 + at,
  pid: 4_000 + at,
  fault: null,
  ...more,
});
const ALL = [replica(1), replica(2), replica(3)];
const MIXED = [
  replica(1),
  replica(2, { state: "paused" }),
  replica(3, { state: "stopped", pid: null, fault: "the bot stopped before it was ready:\nno database" }),
];

describe("several replicas", () => {
  test("axe finds no violation, wide and narrow, light and dark", async () => {
    on.board.service({ replicas: MIXED });
    const page = await on.look.tab(path, await on.look.window({ reducedMotion: "reduce" }));
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 820 });
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await violations(page), `${width} ${colorScheme}`).toEqual([]);
      }
      const wide = await page.evaluate<string[]>(`[...document.querySelectorAll("[data-replica]")]
        .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)`);
      expect(wide).toEqual([]);
    }
  });

  test("are counted in every tab, and none that is down counts as running", async () => {
    on.board.service({ replicas: ALL });
    const page = await on.look.tab(`/as/U0BEN/C0RELEASES`);
    const state = page.locator("[data-connection]");
    await expect.poll(() => state.textContent()).toBe("Countersign is connected, 3 of 3 replicas running");
    expect(await state.getAttribute("data-connection")).toBe("up");
    on.board.service({ replicas: [replica(1), replica(2, { state: "stopped" }), replica(3)] });
    await page.getByText("Countersign is connected, 2 of 3 replicas running").waitFor();
    expect(await state.getAttribute("data-connection")).toBe("partly");
    on.board.service({ replicas: MIXED });
    await page.getByText("Countersign is connected, 1 of 3 replicas running").waitFor();
    on.board.service({ bot: "paused", replicas: ALL.map((each) => ({ ...each, state: "paused" })) });
    await expect.poll(() => state.textContent()).toBe("Countersign is paused");
    expect(await state.getAttribute("data-connection")).toBe("down");
  });

  test("are killed, paused and started individually, by buttons that name them", async () => {
    on.board.service({ replicas: ALL });
    const page = await on.look.tab(path);
    const press = (name: string): Promise<void> => page.getByRole("button", { name, exact: true }).click();
    await page.getByText("3 of 3 replicas running", { exact: true }).waitFor();
    await press("Pause: replica 2");
    await press("Kill: replica 3");
    await expect.poll(() => on.served.asked.length).toBe(2);
    on.board.service({ replicas: MIXED });
    await page.getByText("1 of 3 replicas running", { exact: true }).waitFor();
    // The focus stays at the place of the button.
    expect(await page.evaluate("document.activeElement.getAttribute('aria-label')")).toBe("Start: replica 3");
    for (const name of ["Resume: replica 2", "Start: replica 3", "Start all"]) await press(name);
    await expect.poll(() => on.served.asked.length).toBe(5);
    expect(on.served.asked).toEqual([
      { act: "bot.pause", args: { replica: "replica 2" } },
      { act: "bot.kill", args: { replica: "replica 3", back: false } },
      { act: "bot.start", args: { replica: "replica 2" } },
      { act: "bot.start", args: { replica: "replica 3" } },
      { act: "bot.start", args: {} },
    ]);
    const judge = await createJudge(on.board.panelState);
    expect(on.served.asked.flatMap((one) => judge.fault(one) ?? [])).toEqual([]);
    await judge.stop();
  });

  test("show why one did not start", async () => {
    on.board.service({ replicas: MIXED });
    const page = await on.look.tab(path);
    await page.getByText("no database").waitFor();
  });
});
