// Table blocks.
import { attr, html } from "../base/html.ts";
import type { Html, Part } from "../base/html.ts";
import { number, records, string } from "../base/read-blocks.ts";
import type { Json } from "../base/read-blocks.ts";
import type { Reader } from "../base/reader.ts";
import { richText } from "./rich-text.ts";

type Row = readonly Part[];
type Table = { readonly caption: string; readonly head: Row; readonly rows: readonly Row[] };
type Look = { readonly align?: readonly string[]; readonly rowHead?: number | undefined };

/** Draws a `table` block. Its first row is the head. */
export function table(block: Json, reader: Reader): Html {
  const settings = records(block["column_settings"]);
  const align = settings.map((one) => string(one["align"]));
  return draw({ ...cellsOf(block, reader), caption: "" }, { align });
}

/** Draws a `data_table` block. Slack shows one page at a time, but here all rows are shown. */
export function dataTable(block: Json, reader: Reader): Html {
  const rowHead = number(block["row_header_column_index"]);
  return draw({ ...cellsOf(block, reader), caption: string(block["caption"]) }, { rowHead });
}

function cellsOf(block: Json, reader: Reader): { head: Row; rows: Row[] } {
  const all = Array.isArray(block["rows"]) ? (block["rows"] as unknown[]) : [];
  const [head = [], ...rows] = all.map((row) => records(row).map((cell) => cellOf(cell, reader)));
  return { head, rows };
}

function cellOf(cell: Json, reader: Reader): Part {
  if (cell["type"] === "rich_text") return richText(cell["elements"], reader);
  return string(cell["text"]) || (number(cell["value"]) ?? string(cell["value"]));
}

function draw({ caption, head, rows }: Table, { align = [], rowHead }: Look): Html {
  const cell = (inner: Part, at: number): Html => {
    const side = attr("data-align", align[at] || null);
    return at === rowHead ? html`<th scope="row" ${side}>${inner}</th>` : html`<td${side}>${inner}</td>`;
  };
  const heads = head.map((inner, at) => {
    const side = attr("data-align", align[at] || null);
    return inner === "" ? html`<td></td>` : html`<th scope="col" ${side}>${inner}</th>`;
  });
  const title = caption === "" ? null : html`<p data-table-title>${caption}</p>`;
  return html`${title}
    <div data-wide tabindex="0" role="group" aria-label="${caption || "Table"}">
      <table>
        <thead>
          <tr>
            ${heads}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            (row) =>
              html`<tr>
                ${row.map(cell)}
              </tr>`,
          )}
        </tbody>
      </table>
    </div>`;
}
