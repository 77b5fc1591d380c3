// A table that spreadsheets open without running anything in it.

/** A cell that begins so is taken for a formula; the wide forms too, which some programs fold (OWASP, CSV Injection). */
const FORMULA = /^[\s]*[=+\-@＝＋－＠\t\r|%]/u;

export function csvLine(cells: readonly (string | number | null | undefined)[]): string {
  return `${cells.map((cell) => csvCell(cell)).join(",")}\r\n`;
}

function csvCell(cell: string | number | null | undefined): string {
  if (cell === null || cell === undefined) return "";
  if (typeof cell === "number") return String(cell);
  const inert = FORMULA.test(cell) ? `'${cell}` : cell;
  return `"${inert.replaceAll("\0", "␀").replaceAll('"', '""')}"`;
}
