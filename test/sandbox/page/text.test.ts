import { describe, expect, test } from "vitest";
import * as fc from "fast-check";
import { attr, html } from "#sandbox/page/base/html.ts";
import { markdown } from "#sandbox/page/drawing/markdown-block.ts";
import { drawText, mrkdwn } from "#sandbox/page/drawing/mrkdwn.ts";
import { createReader } from "#sandbox/page/base/reader.ts";
import { richText } from "#sandbox/page/drawing/rich-text.ts";
import { costOfFourfold, NEARLY_LINEAR } from "../../make/cpu-cost.ts";
import { createStage, HOSTILE, OPS } from "./stage.ts";

const { parts } = createStage();
const place = { person: "U0ANA", where: OPS, thread: null, panel: null };
const reader = createReader(parts, place);
const guesses = { links: true, mentions: true };
const drawn = (source: string): string => mrkdwn(source, reader, guesses).toString();

/** Everything that a browser could run or load. */
const ALIVE =
  /<(?!\/?(?:strong|em|s|a|p|ul|ol|li|code|pre|h3|hr|br|th|td|tr|table|thead|tbody|div|span|time|blockquote)[\s>/])/i;

describe("templates", () => {
  test("text that is put into a template is escaped, but markup from a template is not", () => {
    expect(html`<p title="${'"'}">${"<b>"}${html`<i>${"&"}</i>`}</p>`.toString()).toBe(
      '<p title="&quot;">&lt;b&gt;<i>&amp;</i></p>',
    );
  });

  test("an object from JSON is not treated as markup", () => {
    const posing = JSON.parse('["<script>"]') as string[];
    expect(html`${posing}`.toString()).toBe("&lt;script&gt;");
  });

  test("an absent attribute leaves no trace", () => {
    const attributes = [attr("x", undefined), attr("y", false), attr("z", true), attr("n", 0)];
    expect(html`${attributes}`.toString()).toBe(' z n="0"');
  });
});

describe("mrkdwn", () => {
  test("bold, italic, strike and code are drawn, but not inside words", () => {
    expect(drawn("*b* _i_ ~s~ `*c*` snake_case_name 2*3*4")).toBe(
      "<span data-words><strong>b</strong> <em>i</em> <s>s</s> <code>*c*</code> snake_case_name 2*3*4</span>",
    );
  });

  test("quotes and preformatted text keep their lines", () => {
    expect(drawn("a\n&gt; q1\n&gt; q2\nb\n```\nx\n  y```\nc")).toBe(
      "<span data-words>a<blockquote>q1\nq2</blockquote>b<pre>x\n  y</pre>c</span>",
    );
  });

  test("Slack's three escapes are decoded exactly once", () => {
    expect(drawn("&lt;b&gt; &amp;lt;")).toBe("<span data-words>&lt;b&gt; &amp;lt;</span>");
  });

  test("people, channels and broadcasts are named", () => {
    const out = drawn("<@U0BEN> <@U0ANA> <#C0OPSAGENTS> <!here> <@U404>");
    expect(out).toContain('<span data-mention="person" title="U0BEN">@Ben Okafor</span>');
    expect(out).toContain('data-mention="me"');
    expect(out).toContain('<a data-mention="channel" href="/as/U0ANA/C0OPSAGENTS">#ops-agents</a>');
    expect(out).toContain('<span data-mention="broadcast">@here</span>');
    expect(out).toContain('<span data-mention="unknown">@U404</span>');
  });

  test("the name of a private channel is hidden from people who are not in it", () => {
    const cat = createReader(parts, { ...place, person: "U0CAT" });
    expect(mrkdwn("<#C0PAYMENTS|payments-ops>", cat, guesses).toString()).not.toContain("payments-ops");
  });

  test("only web addresses become links", () => {
    expect(drawn("<javascript:alert(1)|click>")).not.toContain("<a");
    expect(drawn("<https://example.com/?a=1&amp;b=2|x>")).toContain(
      'href="https://example.com/?a=1&amp;b=2"',
    );
  });

  test("a permalink keeps the current person", () => {
    const link =
      "<https://sandbox.example/archives/C0OPSAGENTS/p1794487080000100?thread_ts=1794487079.000100|see>";
    expect(drawn(link)).toContain('href="/as/U0ANA/C0OPSAGENTS/1794487079.000100#t-1794487080.000100"');
  });

  test("a date token is drawn in the reader's time zone, and an invalid one as its fallback", () => {
    expect(drawn("<!date^1794487080^{date_num} {time}|later>")).toMatch(/>2026-11-12 12:38<\/time/);
    expect(drawn("<!date^never^{time}|later>")).toBe("<span data-words>later</span>");
  });

  test("Slack's guesses are applied to text that is not verbatim, and not to verbatim text", () => {
    const text = "@channel https://example.com #releases";
    const guessed = html`${drawText({ type: "mrkdwn", text }, reader)}`.toString();
    const verbatim = html`${drawText({ type: "mrkdwn", text, verbatim: true }, reader)}`.toString();
    expect(guessed).toContain('data-mention="broadcast"');
    expect(guessed).toContain('href="https://example.com/"');
    expect(verbatim).toBe(`<span data-words>${text}</span>`);
  });

  test("known shortcodes become emoji, unknown ones stay as written", () => {
    expect(drawn(":white_check_mark: :no_such_thing:")).toBe("<span data-words>✅ :no_such_thing:</span>");
    expect(html`${drawText({ type: "plain_text", text: ":x:", emoji: false }, reader)}`.toString()).toContain(
      ":x:",
    );
  });

  test.for(["*a _b ~c `", "<"])("the cost of many unpaired marks grows with their number: %s", (marks) => {
    expect(costOfFourfold(marks, 10_000, drawn)).toBeLessThan(NEARLY_LINEAR);
  });
});

test("no text becomes live markup", () => {
  const pieces = fc.constantFrom(
    "<script>",
    "</span>",
    '"',
    "'",
    "*",
    "_",
    "`",
    "```",
    "<",
    ">",
    "|",
    "javascript:",
    "&lt;",
    "![x](y)",
    "\n",
    "<@U0BEN",
    "<!date^1^",
    "a",
    HOSTILE,
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (some) => {
      const source = some.join("");
      const rich = richText(
        [
          {
            type: "rich_text_section",
            elements: [
              { type: "text", text: source },
              { type: "link", url: source },
            ],
          },
        ],
        reader,
      );
      for (const out of [drawn(source), markdown(source, reader).toString(), rich.toString()]) {
        expect(out).not.toMatch(ALIVE);
        expect(out).not.toMatch(/href="javascript:/i);
      }
    }),
  );
});

test("markdown draws headings, lists, tables, code and links", () => {
  const source =
    "# Done\n\n1. one **b**\n2. two\n\n- [x] ticked\n\n| a | b |\n|---|---|\n| 1 | `2` |\n\n```\nx < y\n```\n[l](https://example.com) ![i](https://example.com/i.png)";
  const out = markdown(source, reader).toString();
  expect(out).toContain('<h3 data-level="1">Done</h3>');
  expect(out).toContain("<strong>b</strong>");
  expect(out).toContain("☑ ticked");
  expect(out).toContain("<td><code>2</code></td>");
  expect(out).toContain("<pre>x &lt; y</pre>");
  expect(out).not.toContain("<img");
});

test("rich text draws styles, lists, quotes and dates, and treats no text as markup", () => {
  const out = richText(
    [
      {
        type: "rich_text_section",
        elements: [
          { type: "text", text: "*a*", style: { bold: true, code: true } },
          { type: "user", user_id: "U0BEN" },
          { type: "date", timestamp: 1_794_487_080, format: "{time}" },
        ],
      },
      {
        type: "rich_text_list",
        style: "ordered",
        offset: 2,
        elements: [{ type: "rich_text_section", elements: [{ type: "text", text: "three" }] }],
      },
      { type: "rich_text_quote", elements: [{ type: "emoji", name: "x" }] },
      { type: "rich_text_odd" },
    ],
    reader,
  ).toString();
  expect(out).toContain("<p><strong><code>*a*</code></strong>");
  expect(out).toContain("@Ben Okafor");
  expect(out).toMatch(/>12:38<\/time/);
  expect(out).toContain('<ol start="3"><li>three</li></ol>');
  expect(out).toContain("<blockquote>❌</blockquote>");
  expect(out).toContain("cannot draw a rich-text part of type rich_text_odd");
});
