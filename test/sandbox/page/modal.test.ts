import { describe, expect, test } from "vitest";
import { createReader } from "#sandbox/page/base/reader.ts";
import { drawnIn, valuesOf } from "#sandbox/page/drawing/choices.ts";
import { fieldName } from "#sandbox/page/drawing/element-context.ts";
import { modal } from "#sandbox/page/drawing/modal.ts";
import type { OpenView } from "#sandbox/slack/model.ts";
import { ELEMENTS, plain } from "./admitted.ts";
import { createStage, OPS, reasonModal } from "./stage.ts";

const { parts } = createStage();
const { workspace } = parts;
const reader = createReader(parts, { person: "U0ANA", where: OPS, thread: null, panel: null });
const draw = (open: OpenView): string => modal(open, reader, workspace).toString();
const view = (title: string, more: object = {}): OpenView["view"] => ({
  ...reasonModal(),
  title: plain(title),
  ...more,
});

describe("the header of a modal", () => {
  test("has a back button only if a view lies beneath", () => {
    const first = workspace.pushView("U0BEN", view("First"));
    expect(draw(first)).not.toContain('aria-label="Back"');
    const second = workspace.pushView("U0BEN", view("Second"));
    expect(draw(second)).toContain('aria-label="Back"');
    expect(draw(second)).toContain(`data-dismiss="${second.id} ${first.id}"`);
  });

  test("shows whose form it is", () => {
    expect(draw(workspace.pushView("U0CAT", view("Mine")))).toContain('data-avatar="app"');
  });
});

describe("the buttons of a modal", () => {
  const buttons = (more: object): string[] =>
    [
      ...(draw(workspace.pushView("U0DEE", view("x", more)))
        .split("<footer>")[1]
        ?.matchAll(/>\s*([A-Z][\w ]*?)\s*<\/button/g) ?? []),
    ].map((found) => found[1] ?? "");

  test("have the app's labels, or Slack's own if there are none", () => {
    expect(buttons({ submit: plain("Deny"), close: plain("Leave") })).toEqual(["Leave", "Deny"]);
    expect(buttons({ submit: plain("Deny"), close: undefined })).toEqual(["Cancel", "Deny"]);
  });

  test("include only one for a view without inputs", () => {
    expect(buttons({ submit: undefined, close: undefined })).toEqual(["Close"]);
  });
});

describe("a field", () => {
  const field = (type: string, more: object, kept: Partial<OpenView> = {}): string => {
    const element = { ...ELEMENTS[type]?.[0], type, action_id: "a" };
    const blocks = [{ type: "input", block_id: "b", label: plain("A label"), element, ...more }];
    const open: OpenView = { ...workspace.pushView("U0GIL", view("x")), ...kept };
    return draw({ ...open, view: { ...open.view, blocks } });
  };

  test("that the person has cleared does not return to its initial value", () => {
    expect(field("plain_text_input", {})).toContain("typed before");
    expect(field("plain_text_input", {}, { values: { b: { a: null } } })).not.toContain("typed before");
  });

  test("notifies the app of a change only if its block says so", () => {
    expect(field("users_select", {})).not.toContain("data-act");
    expect(field("users_select", { dispatch_action: true })).toContain('data-act="click"');
  });

  test("asks for no confirmation in a form that is submitted as a whole", () => {
    expect(field("radio_buttons", {})).not.toContain("data-asks-first");
  });

  test("has only its label as its name", () => {
    expect(field("users_select", { dispatch_action: true })).not.toContain('aria-label="Whom?"');
  });

  test("takes the focus if requested", () => {
    const element = { type: "plain_text_input", action_id: "a", focus_on_load: true };
    expect(field("plain_text_input", { element })).toContain(" autofocus");
  });

  test("is never truncated by the browser", () => {
    expect(field("plain_text_input", {})).not.toContain("maxlength");
  });
});

describe("choices in Slack's format:", () => {
  const chosen = (type: string, ...raw: string[]): unknown => {
    const element = { ...ELEMENTS[type]?.[0], type, action_id: "a" };
    const fields = raw.map((value) => [fieldName("b", "a"), value] as const);
    return valuesOf([{ type: "input", block_id: "b", element }], fields)["b"]?.["a"];
  };

  test.each<[type: string, raw: string[], value: unknown]>([
    ["multi_users_select", ["U0BEN", "U0CAT"], ["U0BEN", "U0CAT"]],
    ["multi_users_select", [], []],
    ["multi_static_select", ["1"], ["o2"]],
    ["conversations_select", [OPS], OPS],
    ["datepicker", ["2026-12-24"], "2026-12-24"],
  ])("%s %j", (type, raw, value) => {
    expect(chosen(type, ...raw)).toEqual(value);
  });

  test("a field that the browser has not drawn yet has no value, and a drawn one may be empty", () => {
    const element = (type: string): object => ({ ...ELEMENTS[type]?.[0], type, action_id: "a" });
    const blocks = ["plain_text_input", "checkboxes", "users_select"].map((type) => ({
      type: "input",
      block_id: type,
      element: element(type),
    }));
    const fields = [
      [fieldName("plain_text_input", "a"), "See ticket 12."],
      [fieldName("checkboxes", "a"), ""],
    ] as const;
    expect(valuesOf(drawnIn(blocks, fields), fields)).toEqual({
      plain_text_input: { a: "See ticket 12." },
      checkboxes: { a: [] },
    });
  });

  test("buttons of every kind have no value", () => {
    for (const type of ["button", "overflow"]) expect(chosen(type, "0")).toBeUndefined();
  });
});
