// The `markdown` block: a small, safe subset of Markdown, drawn from the lexer's tokens. Everything else is shown as written.
import { Marked, type Token, type Tokens } from "marked";
import { attr, html, type Html, type Part } from "../base/html.ts";
import type { Reader } from "../base/reader.ts";
import { withEmoji } from "./emoji.ts";
import { codeBox, link } from "./mention.ts";

const marked = new Marked({ gfm: true });

export function markdown(source: string, reader: Reader): Html {
  return html`${marked.lexer(source).map((token) => block(token, reader))}`;
}

function block(token: Token, reader: Reader): Part {
  const one = token as Tokens.Generic;
  switch (token.type) {
    case "space":
      return null;
    case "heading":
      return html`<h3 data-level="${(one as Tokens.Heading).depth}">${inlines(one, reader)}</h3>`;
    case "paragraph":
      return html`<p>${inlines(one, reader)}</p>`;
    case "code":
      return code(one as Tokens.Code);
    case "blockquote":
      return html`<blockquote>${(one.tokens ?? []).map((inner) => block(inner, reader))}</blockquote>`;
    case "list":
      return list(one as Tokens.List, reader);
    case "table":
      return table(one as Tokens.Table, reader);
    case "hr":
      return html`<hr />`;
    default:
      return one.tokens === undefined ? html`<p>${one.raw}</p>` : inlines(one, reader);
  }
}

function code({ text, lang }: Tokens.Code): Html {
  return codeBox(text, text, lang ?? "");
}

function list(token: Tokens.List, reader: Reader): Html {
  const items = token.items.map((item) => {
    const box = item.task ? (item.checked === true ? "☑ " : "☐ ") : null;
    return html`<li>
      ${box}${item.tokens.map((inner) => (inner.type === "checkbox" ? null : block(inner, reader)))}
    </li>`;
  });
  if (!token.ordered)
    return html`<ul>
      ${items}
    </ul>`;
  return html`<ol${attr("start", token.start === 1 || token.start === "" ? null : token.start)}>${items}</ol>`;
}

function table(token: Tokens.Table, reader: Reader): Html {
  const cells = (tag: "th" | "td", row: Tokens.TableCell[]): Html[] =>
    row.map((cell) => {
      const inner = cell.tokens.map((one) => inline(one, reader));
      return tag === "th" ? html`<th scope="col">${inner}</th>` : html`<td>${inner}</td>`;
    });
  return html`<div data-wide tabindex="0" role="group" aria-label="Table">
    <table>
      <thead>
        <tr>
          ${cells("th", token.header)}
        </tr>
      </thead>
      <tbody>
        ${token.rows.map(
          (row) =>
            html`<tr>
              ${cells("td", row)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

function inlines(token: Tokens.Generic, reader: Reader): Part[] {
  return (token.tokens ?? []).map((inner) => inline(inner, reader));
}

function inline(token: Token, reader: Reader): Part {
  const one = token as Tokens.Generic;
  switch (token.type) {
    case "strong":
      return html`<strong>${inlines(one, reader)}</strong>`;
    case "em":
      return html`<em>${inlines(one, reader)}</em>`;
    case "del":
      return html`<s>${inlines(one, reader)}</s>`;
    case "codespan":
      return html`<code>${(one as Tokens.Codespan).text}</code>`;
    case "br":
      return html`<br />`;
    case "link":
      return link(reader, (one as Tokens.Link).href, html`${inlines(one, reader)}`);
    case "image":
      // Slack shows an image in a markdown block as a link to it.
      return link(
        reader,
        (one as Tokens.Image).href,
        (one as Tokens.Image).text || (one as Tokens.Image).href,
      );
    case "escape":
      return (one as Tokens.Escape).text;
    case "text":
      return one.tokens === undefined ? withEmoji(decoded((one as Tokens.Text).raw)) : inlines(one, reader);
    default:
      return one.raw;
  }
}

/** Decodes the three entities that Slack's escaping produces. Markdown allows all of HTML's, but these are enough here. */
function decoded(raw: string): string {
  return raw.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
