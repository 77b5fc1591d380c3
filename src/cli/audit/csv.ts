// Writes CSV that a spreadsheet can open without running formulas.

import { numbered } from "../../domain/text/text.ts";

/** Matches cells that a spreadsheet would run as a formula. Some spreadsheets fold the full-width signs too (OWASP, CSV Injection). */
const FORMULA = /^[\s]*[=+\-@＝＋－＠\t\r|%]/u;

/**
 * Matches the places in a cell where a spreadsheet that separates by semicolons or tabs begins a cell with a formula. It then takes our
 * commas and quotation marks for text, so a text may end a cell or a row.
 */
const FORMULA_WITHIN = /[;\t\r\n](?=(?:(?![\t\r\n])[\s"])*[=+\-@＝＋－＠|%])/gu;

/** Control characters that a terminal would obey. Tabs and line breaks stay, because they are part of honest texts. */
const CONTROL = /(?!\t|\r?\n)\p{Cc}/gu;

export function csvLine(cells: readonly (string | number | null | undefined)[]): string {
  return `${cells.map((cell) => csvCell(cell)).join(",")}\r\n`;
}

function csvCell(cell: string | number | null | undefined): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "number") return String(cell);
  const text = asText(cell);
  const inert = (FORMULA.test(text) ? `'${text}` : text).replace(FORMULA_WITHIN, "$&'");
  return `"${inert.replace(CONTROL, numbered).replaceAll('"', '""')}"`;
}

/** SQLite stores bytes in a text column, too, if someone changes the file by hand. */
export const asText = (value: string | Uint8Array): string =>
  typeof value === "string" ? value : Buffer.from(value).toString();
