import { describe, expect, test } from "vitest";
import { createReader } from "#sandbox/page/base/reader.ts";
import { home } from "#sandbox/page/drawing/blocks.ts";
import type { HomeView } from "#sandbox/slack/model.ts";
import { ELEMENTS, plain } from "./admitted.ts";
import { createStage } from "./stage.ts";

describe("the Home tab", () => {
  const { parts, workspace } = createStage();
  const draw = (person: string): string =>
    home(parts, createReader(parts, { person, where: "home", thread: null, panel: null })).toString();
  const element = { type: "conversations_select", action_id: "a", ...ELEMENTS["conversations_select"]?.[0] };
  const view: HomeView["view"] = {
    type: "home",
    blocks: [
      { type: "header", text: plain("Yours") },
      { type: "actions", block_id: "b", elements: [element] },
    ],
  };

  test("says that it is empty, and whose it is", () => {
    expect(draw("U0BEN")).toContain("The app has not published a Home tab for Ben Okafor.");
  });

  test("is separate for each person", () => {
    workspace.publishHome("U0ANA", view);
    expect(draw("U0ANA")).toContain("Yours");
    expect(draw("U0BEN")).not.toContain("Yours");
  });

  test("offers the channels that the person can see, and shows their previous choice", () => {
    const published = workspace.publishHome("U0ANA", view);
    expect(draw("U0ANA")).toContain("🔒 payments-ops");
    published.values = { b: { a: "C0RANDOM" } };
    expect(draw("U0ANA")).toMatch(/value="C0RANDOM"\s+selected/);
  });
});
