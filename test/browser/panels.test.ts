import type { Page } from "playwright-core";
import { beforeEach, describe, expect, test } from "vitest";
import { createJudge } from "../sandbox/page/fake-panel-state.ts";
import { fillTraffic, OPS, reasonModal } from "../sandbox/page/stage.ts";
import { violations } from "./looking.ts";
import { browseEachTest } from "./browsing.ts";

let refusal: string | null = null;
beforeEach(() => {
  refusal = null;
});

const on = browseEachTest({
  filled: true,
  onAct: () => (refusal === null ? { ok: true, result: null } : { ok: false, error: refusal }),
});

const channel = `/as/U0ANA/${OPS}`;
const captions = [
  { at: 1_000, text: "Ana asks for a deployment.", eyes: null, spot: null },
  { at: 3_500, text: "Ben looks at it and approves.", eyes: "U0BEN", spot: null },
];

describe("axe finds no violation", () => {
  test.for(["service", "scenes", "traffic"])("in %s, wide and narrow, light and dark", async (panel) => {
    fillTraffic(on.stage.traffic);
    on.board.service({ key: "rotated", slowMs: 2000, faults: ["x"], vanished: ["run_done"] });
    on.board.play({ name: "four-eyes", captions, ended: null });
    const page = await on.look.tab(
      `${channel}?panel=${panel}`,
      await on.look.window({ reducedMotion: "reduce" }),
    );
    const openAll = `document.querySelectorAll("[data-panel-pane] details").forEach((one) => (one.open = true))`;
    await page.evaluate(openAll);
    for (const [width, ended] of [
      [1280, null],
      [800, "failed"],
      [390, null],
    ] as const) {
      on.board.play({ name: "four-eyes", captions, ended });
      await page.setViewportSize({ width, height: 820 });
      await page.locator(`[data-caption="${ended ?? "playing"}"]`).waitFor();
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await violations(page), `${width} ${colorScheme}`).toEqual([]);
      }
    }
  });

  test.for(["light", "dark"] as const)("in the keyboard help, %s", async (colorScheme) => {
    const page = await on.look.tab(channel, await on.look.window({ colorScheme }));
    await page.keyboard.press("Control+/");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    expect(await violations(page)).toEqual([]);
  });
});

describe("the service panel", () => {
  const button = (page: Page, name: string, within = "body"): Promise<void> =>
    page.locator(within).getByRole("button", { name, exact: true }).click();

  test("a press requests its act, and the result is shown", async () => {
    const page = await on.look.tab(`${channel}?panel=service`);
    await button(page, "Take it down");
    await expect.poll(() => on.served.asked).toEqual([{ act: "service.down", args: {} }]);
    on.board.service({ up: false });
    await page.getByText("Down: connections are refused").waitFor();
    expect(await page.evaluate("document.activeElement.textContent.trim()")).toBe("Bring it up");
  });

  test("a refusal by the sandbox is shown until the next press", async () => {
    refusal = "Run run_waits is over.";
    const page = await on.look.tab(`${channel}?panel=service`);
    await button(page, "Withdraw: apr_1");
    await page.getByRole("alert").getByText("Run run_waits is over.").waitFor();
    refusal = null;
    await button(page, "Withdraw: apr_1");
    await expect.poll(() => page.getByRole("alert").filter({ visible: true }).count()).toBe(0);
  });

  test("forms send what was typed and chosen, and every request matches an existing act", async () => {
    const page = await on.look.tab(`${channel}?panel=service`);
    await page.getByText("Inject another fault").click();
    await page.getByLabel("For the next").fill("3");
    await page.locator("#fault-route").selectOption("a decision");
    await page.locator("#fault-kind").selectOption("is cut off");
    await button(page, "Inject");
    await page.getByLabel("Task of a run").fill("deploy elsewhere");
    await button(page, "Start a run");
    await page.getByLabel("reason for run_waits").fill("Because.");
    for (const end of ["Finish", "Fail", "Cancel"]) await button(page, `${end} run_waits`);
    await page.getByText("Change it").click();
    await page.getByLabel("The action that apr_1 asks for").fill("Deploy to staging");
    await button(page, "Change");
    await page.getByText("Ask for one more approval").click();
    await button(page, "Ask");
    await expect.poll(() => on.served.asked.length).toBe(7);
    expect(on.served.asked.slice(0, 6)).toEqual([
      { act: "service.fault", args: { times: 3, route: "decide", fault: { type: "drop" } } },
      { act: "service.createRun", args: { task: "deploy elsewhere" } },
      { act: "service.finish", args: { run: "run_waits", output: "Because." } },
      { act: "service.fail", args: { run: "run_waits", message: "Because." } },
      { act: "service.cancel", args: { run: "run_waits", reason: "Because." } },
      {
        act: "service.changeApproval",
        args: { run: "run_waits", approval: "apr_1", action: "Deploy to staging" },
      },
    ]);
    const judge = await createJudge(on.board.panelState);
    const faults = on.served.asked.map((one) => judge.fault(one)).filter((one) => one !== null);
    await judge.stop();
    expect(faults).toEqual([]);
  });

  test("names are beside their state and do not cover it, however long they are", async () => {
    for (const width of [1280, 390]) {
      const viewport = { width, height: 820 };
      const page = await on.look.tab(`${channel}?panel=service`, await on.look.window({ viewport }));
      const over = await page.evaluate<string[]>(`[...document.querySelectorAll("[data-states] dt")]
        .filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent)`);
      expect(over).toEqual([]);
    }
  });

  test("a bot that is not running is not shown as connected in any tab", async () => {
    const page = await on.look.tab(channel);
    const state = page.locator("[data-connection]");
    await expect.poll(() => state.textContent()).toBe("Countersign is connected");
    for (const [bot, words] of [
      ["starting", "Countersign is starting…"],
      ["stopped", "Countersign is stopped"],
    ] as const) {
      on.board.service({ bot });
      await expect.poll(() => state.textContent()).toBe(words);
      expect(await state.getAttribute("data-connection")).toBe("down");
    }
  });

  test("only changed choices are sent", async () => {
    const page = await on.look.tab(`${channel}?panel=service`);
    await page.getByText("Service profile").click();
    await page.getByLabel("denyWord").fill("reject");
    await page.getByLabel("staleReads").fill("2");
    await page.getByLabel("readEchoesInput").selectOption("yes");
    await page.getByLabel("runningState").fill("");
    await button(page, "Apply");
    const args = { denyWord: "reject", staleReads: 2, readEchoesInput: true, runningState: null };
    await expect.poll(() => on.served.asked).toEqual([{ act: "service.profile", args }]);
  });

  test("typed text and open sections stay while the runs change", async () => {
    const page = await on.look.tab(`${channel}?panel=service`);
    await page.getByText("Ask for one more approval").click();
    await page.getByLabel("What else run_waits asks for").fill("half a sent");
    const [waiting, ...others] = on.board.panelState.service().runs;
    if (waiting === undefined) throw new Error("there is no run");
    on.board.service({ runs: [{ ...waiting, input: "another task by now" }, ...others], slowMs: 2000 });
    await page.getByText("another task by now", { exact: true }).waitFor();
    const field = page.getByLabel("What else run_waits asks for");
    expect(await field.inputValue()).toBe("half a sent");
    expect(await field.evaluate("document.activeElement.id")).toBe("ask-run_waits");
  });
});

describe("scenes", () => {
  test("a press plays one, and its captions appear in every tab", async () => {
    const window = await on.look.window();
    const watching = await on.look.tab("/as/U0BEN/C0RELEASES", window);
    const page = await on.look.tab(`${channel}?panel=scenes`, window);
    await page.getByRole("button", { name: "Play: Four eyes" }).click();
    await expect.poll(() => on.served.asked).toEqual([{ act: "scene.play", args: { name: "four-eyes" } }]);
    on.board.play({ name: "four-eyes", captions: captions.slice(0, 1), ended: null });
    await watching.getByRole("status").getByText("Ana asks for a deployment.").waitFor();
    on.board.play({ name: "four-eyes", captions, ended: null });
    await watching.getByRole("status").getByText("Ben looks at it and approves.").waitFor();
    on.board.play({ name: "four-eyes", captions, ended: "done" });
    await watching.getByText("Done").waitFor();
    await watching.getByRole("button", { name: "Hide the caption" }).click();
    expect(await watching.getByText("Ben looks at it and approves.").isVisible()).toBe(false);
    const later = await on.look.tab("/as/U0CAT/C0RELEASES", window);
    expect(await later.getByText("Ben looks at it and approves.").isVisible()).toBe(false);
  });
});

describe("the traffic", () => {
  test("can be filtered by side, by refusals and by words, including new lines", async () => {
    fillTraffic(on.stage.traffic);
    const page = await on.look.tab(`${channel}?panel=traffic`);
    const shown = page.locator('[data-list="traffic"] > li:visible');
    await page.getByLabel("Sender or receiver").selectOption("service");
    await expect.poll(() => shown.count()).toBe(1);
    on.stage.traffic.add("service", "POST /v1/agent/runs → 503", {}, "HTTP 503");
    await page.getByText("2 of 8 lines").waitFor();
    await page.getByLabel("refused only").check();
    await expect.poll(() => shown.count()).toBe(1);
    await page.reload();
    await expect.poll(() => shown.count()).toBe(1);
  });

  test("does not move while it is paused, and loses nothing", async () => {
    fillTraffic(on.stage.traffic);
    const page = await on.look.tab(`${channel}?panel=traffic`);
    await page.getByRole("button", { name: "Pause" }).click();
    on.stage.traffic.add("app", "late.one", {});
    await page.getByText("1 waiting").waitFor();
    expect(await page.getByText("late.one").count()).toBe(0);
    await page.getByRole("button", { name: "Resume" }).click();
    await page.getByText("late.one").waitFor();
  });

  test("can be copied in full, one line or everything that is shown", async () => {
    const long = "z".repeat(30_000);
    on.stage.traffic.add("app", "one", { text: long });
    on.stage.traffic.add("app", "two", {});
    on.stage.traffic.add("service", "three", {});
    const window = await on.look.window({ permissions: ["clipboard-read", "clipboard-write"] });
    const page = await on.look.tab(`${channel}?panel=traffic`, window);
    const copied = async (): Promise<{ what: string; detail: unknown }[]> =>
      (await page.evaluate<string>("navigator.clipboard.readText()"))
        .split("\n")
        .map((line) => JSON.parse(line) as { what: string; detail: unknown });
    await page.locator("[data-line] summary").first().click();
    await page.getByRole("button", { name: "Copy", exact: true }).click();
    await page.getByText("Copied").waitFor();
    expect(await copied()).toMatchObject([{ what: "one", detail: { text: long } }]);
    await page.getByLabel("Sender or receiver").selectOption("Slack");
    await page.getByRole("button", { name: "Copy all shown" }).click();
    await expect.poll(async () => (await copied()).map(({ what }) => what)).toEqual(["one", "two"]);
  });

  test("is cleared for this tab, and can be shown again", async () => {
    fillTraffic(on.stage.traffic);
    const page = await on.look.tab(`${channel}?panel=traffic`);
    await page.getByRole("button", { name: "Clear", exact: true }).click();
    on.stage.traffic.add("app", "after.that", {});
    await page.getByText("after.that").waitFor();
    expect(await page.locator('[data-list="traffic"] > li:visible').count()).toBe(1);
    await page.getByText("7 cleared").waitFor();
    await page.getByRole("button", { name: "Show cleared" }).click();
    await expect.poll(() => page.locator('[data-list="traffic"] > li:visible').count()).toBe(8);
  });
});

describe("the keyboard", () => {
  test("switches people, and leads from channel to channel and to the panels", async () => {
    const page = await on.look.tab(channel);
    await page.keyboard.press("Alt+Digit2");
    await page.waitForURL(`**/as/U0BEN/${OPS}`);
    await page.keyboard.press("Alt+ArrowDown");
    await page.waitForURL("**/as/U0BEN/C0RELEASES");
    await page.keyboard.press("Alt+Shift+Digit3");
    await page.waitForURL("**/as/U0BEN/C0RELEASES?panel=scenes");
  });

  test("F6 cycles through the parts of the page", async () => {
    const page = await on.look.tab(`${channel}?panel=scenes`);
    const part =
      "document.activeElement.closest('[data-people], [data-sidebar], main, [data-panel-pane]')?.getAttribute('data-panel-pane') ?? document.activeElement.closest('nav')?.getAttribute('aria-label') ?? 'main'";
    const seen: unknown[] = [];
    for (let i = 0; i < 5; i += 1) {
      await page.keyboard.press("F6");
      seen.push(await page.evaluate(part));
    }
    expect(seen).toEqual(["scenes", "Who you are", "Channels", "main", "main"]);
  });

  test("a question mark is a letter while typing, and otherwise opens the help", async () => {
    const page = await on.look.tab(channel);
    const composer = page.getByRole("textbox", { name: "Message #ops-agents" });
    await composer.press("?");
    expect(await composer.inputValue()).toBe("?");
    await page.getByRole("log", { name: "Messages in ops-agents" }).press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  });

  test("on a narrow screen, people are chosen from a list", async () => {
    const page = await on.look.tab(channel, await on.look.window({ viewport: { width: 390, height: 780 } }));
    await page.getByRole("combobox", { name: "You are" }).selectOption({ label: "Cat Lindqvist" });
    await page.waitForURL(`**/as/U0CAT/${OPS}`);
  });

  test("on a narrow screen, arrow keys only show the names, and Enter or leaving the list switches", async () => {
    const page = await on.look.tab(channel, await on.look.window({ viewport: { width: 390, height: 780 } }));
    for (const [leave, from, to] of [
      ["Enter", "U0ANA", "U0CAT"],
      ["Tab", "U0CAT", "U0ODA"],
    ] as const) {
      const people = page.getByRole("combobox", { name: "You are" });
      await people.press("ArrowDown");
      await people.press("ArrowDown");
      expect(await people.inputValue()).toBe(`/as/${to}/${OPS}`);
      expect(new URL(page.url()).pathname).toBe(`/as/${from}/${OPS}`);
      await page.keyboard.press(leave);
      await page.waitForURL(`**/as/${to}/${OPS}`);
    }
  });

  test("on a narrow screen, leaving the list of people without a choice changes nothing", async () => {
    const page = await on.look.tab(channel, await on.look.window({ viewport: { width: 390, height: 780 } }));
    await page.evaluate("globalThis.stayed = true");
    const people = page.getByRole("combobox", { name: "You are" });
    for (const key of ["ArrowDown", "ArrowUp", "Enter", "Tab"]) await people.press(key);
    await page.getByRole("textbox", { name: "Message #ops-agents" }).press("x");
    expect(await page.evaluate("globalThis.stayed")).toBe(true);
  });

  test("Alt and an arrow key stay in a menu, in typed text and in a form", async () => {
    const page = await on.look.tab(`${channel}?panel=traffic`);
    const stays = async (): Promise<void> => {
      for (const key of ["Alt+ArrowDown", "Alt+ArrowUp"]) await page.keyboard.press(key);
      expect(await page.evaluate("globalThis.stayed")).toBe(true);
    };
    await page.evaluate("globalThis.stayed = true");
    await page.getByRole("textbox", { name: "Message #ops-agents" }).fill("typed");
    await stays();
    await page.locator("[data-panel-pane] select").focus();
    await stays();
    await page.keyboard.press("Escape");
    on.stage.workspace.pushView("U0ANA", reasonModal());
    await page.getByRole("dialog", { name: "Deny request" }).waitFor();
    await stays();
    await page.getByRole("button", { name: "Cancel" }).focus();
    await stays();
  });
});

describe("an open form", () => {
  test("belongs to its person: it follows them from tab to tab, and closes in all tabs at once", async () => {
    on.stage.workspace.pushView("U0ANA", reasonModal());
    const window = await on.look.window();
    const one = await on.look.tab(channel, window);
    const other = await on.look.tab("/as/U0ANA/C0RELEASES", window);
    const stranger = await on.look.tab(`/as/U0BEN/${OPS}`, window);
    for (const page of [one, other]) await page.getByRole("dialog", { name: "Deny request" }).waitFor();
    expect(await stranger.getByRole("dialog").count()).toBe(0);
    await other.keyboard.press("Escape");
    for (const page of [one, other]) await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  });

  test("keeps the typed text while another person or place is shown", async () => {
    on.stage.workspace.pushView("U0ANA", reasonModal());
    const page = await on.look.tab(channel);
    await page.getByRole("textbox", { name: "Reason" }).fill("Not during the");
    await page.getByLabel("Stop the run").check();
    await page.keyboard.press("Alt+Digit2");
    await page.waitForURL(`**/as/U0BEN/${OPS}`);
    expect(await page.getByRole("dialog").count()).toBe(0);
    await page.keyboard.press("Alt+Digit1");
    await page.waitForURL(`**/as/U0ANA/${OPS}`);
    expect(await page.getByRole("textbox", { name: "Reason" }).inputValue()).toBe("Not during the");
    expect(await page.getByLabel("Stop the run").isChecked()).toBe(true);
    await page.goto(`${on.served.url}/as/U0ANA/C0RELEASES`);
    expect(await page.getByRole("textbox", { name: "Reason" }).inputValue()).toBe("Not during the");
  });
});
