import { describe, expect, test } from "vitest";
import { createReader } from "#sandbox/page/base/reader.ts";
import { drawBlocks } from "#sandbox/page/drawing/blocks.ts";
import { chosenAt, valuesOf } from "#sandbox/page/drawing/choices.ts";
import { fieldName } from "#sandbox/page/drawing/element-context.ts";
import { modal } from "#sandbox/page/drawing/modal.ts";
import type { Block, OpenView } from "#sandbox/slack/model.ts";
import { approvalCard, createStage, HOSTILE, OPS, reasonModal } from "./stage.ts";

const { parts } = createStage();
const reader = createReader(parts, { person: "U0ANA", where: OPS, thread: null, panel: null });
const draw = (blocks: Block[]): string => drawBlocks(blocks, { reader, id: "x" }).toString();
const plain = (text: string): Record<string, unknown> => ({ type: "plain_text", text });

function openView(more: Partial<OpenView> = {}): OpenView {
  const view = reasonModal();
  return { id: "V1", person: "U0ANA", view, hash: "h", errors: {}, values: {}, ...more };
}

describe("drawing", () => {
  test("a button is identified by block and action, and its value never reaches the browser", () => {
    const out = draw([
      {
        type: "actions",
        block_id: "b",
        elements: [{ type: "button", action_id: "a", value: "SECRET", style: "primary", text: plain("Go") }],
      },
    ]);
    expect(out).toMatch(/data-look="primary"\s+data-act="click" data-block="b" data-action="a"/);
    expect(out).not.toContain("SECRET");
  });

  test("an invalid block draws something and throws no error", () => {
    const types = [
      "section",
      "header",
      "context",
      "actions",
      "input",
      "rich_text",
      "markdown",
      "image",
      "alert",
      "divider",
      "table",
      "data_table",
    ];
    for (const type of types) {
      for (const nonsense of [null, 7, "x", [], [null], { text: {} }]) {
        const block = {
          type,
          text: nonsense,
          elements: nonsense,
          element: nonsense,
          accessory: nonsense,
          fields: nonsense,
          rows: nonsense,
        };
        expect(() => draw([block])).not.toThrow();
      }
    }
  });

  test("pictures are described and never loaded", () => {
    const out = draw([{ type: "image", image_url: "https://example.com/p.png", alt_text: "A chart" }]);
    expect(out).toContain("A chart");
    expect(out).toContain("https://example.com/p.png");
    expect(out).not.toContain("<img");
  });

  test("hostile text in every place of a card and a form stays text", () => {
    const hostile = (key: string, value: unknown): unknown =>
      key === "text" && typeof value === "string" ? HOSTILE : value;
    const blocks = JSON.stringify([...approvalCard(), ...reasonModal().blocks], hostile);
    const out = draw(JSON.parse(blocks) as Block[]);
    expect(out).toContain("&lt;script&gt;");
    expect(out).not.toMatch(/<script|<img/);
  });
});

describe("a modal", () => {
  test("links its field, hint and error", () => {
    const out = modal(openView({ errors: { reason: "Too short." } }), reader, parts.workspace).toString();
    expect(out).toMatch(/aria-describedby="(\S+-error) \S+-hint"\s+aria-invalid="true"/);
    expect(out).toContain("data-error>Too short.</p>");
  });

  test("is redrawn for another error at the same field", () => {
    const first = modal(openView({ errors: { reason: "Too short." } }), reader, parts.workspace).toString();
    const second = modal(openView({ errors: { reason: "Too rude." } }), reader, parts.workspace).toString();
    expect(first).not.toBe(second);
  });

  test("shows the typed text, including leading line breaks", () => {
    const values = { reason: { text: "\n\nnope </textarea><b>" }, next: { next: "stop" } };
    const out = modal(openView({ values }), reader, parts.workspace).toString();
    expect(out).toContain(">\n\n\nnope &lt;/textarea&gt;&lt;b&gt;</textarea>");
    expect(out).toMatch(/value="1"[^>]* checked/);
  });

  test("shows Slack's own error if the app did not answer", () => {
    expect(modal(openView({ trouble: "We had some trouble." }), reader, parts.workspace).toString()).toMatch(
      /data-alert role="alert"\s*>We had some trouble\.</,
    );
  });
});

describe("submitted choices", () => {
  const blocks = reasonModal().blocks;

  test("are read against the form that the app sent", () => {
    const fields = [
      [fieldName("reason", "text"), "why\r\nnot"],
      [fieldName("next", "next"), "1"],
      [fieldName("forged", "field"), "x"],
    ] as const;
    expect(valuesOf(blocks, fields)).toEqual({
      reason: { text: "why\nnot" },
      next: { next: "stop" },
      tell: { who: null },
    });
  });

  test("count as empty if the option is not offered", () => {
    expect(valuesOf(blocks, [[fieldName("next", "next"), "99"]])["next"]).toEqual({ next: null });
  });

  test("are not found if the button is gone, and are empty for a button that exists", () => {
    const card = approvalCard();
    expect(chosenAt(card, { block: "decide", action: "approve" }, [])).toEqual({ chosen: undefined });
    expect(chosenAt(card, { block: "decide", action: "more" }, ["1"])).toEqual({ chosen: "run" });
    expect(chosenAt(card, { block: "decide", action: "stale" }, [])).toBeUndefined();
  });
});
