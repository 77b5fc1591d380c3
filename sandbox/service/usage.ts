// What each key has used of the gateway, by the hour. Keys appear by name only.

import { z } from "zod";

const count = z.int().min(0);
export const usageRow = z.object({
  /** The name that `nameOfKey` returns. */
  key: z.string(),
  /** The start of the hour, in ISO 8601 UTC. */
  hour: z.iso.datetime(),
  endpoint: z.enum(["chat", "messages", "embeddings"]),
  /** Answered requests. Refused requests are counted separately, and cost nothing. */
  requests: count,
  refused: count,
  input_tokens: count,
  output_tokens: count,
});
export type UsageRow = z.infer<typeof usageRow>;
export type MeteredEndpoint = UsageRow["endpoint"];

type Counts = Pick<UsageRow, "requests" | "refused" | "input_tokens" | "output_tokens">;

export type Ledger = {
  readonly add: (key: string, endpoint: MeteredEndpoint, counts: Partial<Counts>) => void;
  readonly rows: () => readonly Readonly<UsageRow>[];
};

const hourMs = 3_600_000;
const nothing: Counts = { requests: 0, refused: 0, input_tokens: 0, output_tokens: 0 };

export function createLedger(now: () => number, before: readonly UsageRow[]): Ledger {
  const rows = new Map<string, UsageRow>();
  const placeOf = ({ key, hour, endpoint }: Pick<UsageRow, "key" | "hour" | "endpoint">) =>
    [hour, key, endpoint].join(" ");
  for (const row of before) rows.set(placeOf(row), { ...row });

  return {
    add(key, endpoint, counts) {
      const hour = new Date(Math.floor(now() / hourMs) * hourMs).toISOString();
      const place = placeOf({ key, hour, endpoint });
      const row = rows.get(place) ?? { key, hour, endpoint, ...nothing };
      rows.set(place, { key, hour, endpoint, ...sum(row, counts) });
    },
    rows: () => [...rows.values()],
  };
}

const sum = (one: Counts, other: Partial<Counts>): Counts => ({
  requests: one.requests + (other.requests ?? 0),
  refused: one.refused + (other.refused ?? 0),
  input_tokens: one.input_tokens + (other.input_tokens ?? 0),
  output_tokens: one.output_tokens + (other.output_tokens ?? 0),
});

const columns = ["key", "hour (UTC)", "endpoint", "requests", "refused", "tokens in", "tokens out"];

/** Returns the report for people: a line for each key, hour and endpoint, a total for each key, and a total of all keys. */
export function usageReport(rows: readonly UsageRow[]): string {
  if (rows.length === 0) return "Token usage: nothing yet.";
  const keys = [...new Set(rows.map(({ key }) => key))].sort();
  const lines = keys.flatMap((key) => {
    const own = rows.filter((row) => row.key === key).sort((a, b) => (a.hour < b.hour ? -1 : 1));
    return [...own.map((row) => cells(row)), cells({ key, hour: "", endpoint: "total", ...total(own) })];
  });
  const all = cells({ key: "all keys", hour: "", endpoint: "total", ...total(rows) });
  return ["Token usage", ...inColumns([columns, ...lines, all])].join("\n");
}

const total = (rows: readonly UsageRow[]): Counts => rows.reduce<Counts>(sum, nothing);

function cells(line: Counts & { key: string; hour: string; endpoint: string }): string[] {
  const counts = [line.requests, line.refused, line.input_tokens, line.output_tokens];
  const hour = line.hour.slice(0, 16).replace("T", " ");
  return [line.key, hour, line.endpoint, ...counts.map((count) => count.toLocaleString("en"))];
}

/** Aligns words to the left and numbers to the right. */
function inColumns(lines: readonly string[][]): string[] {
  const widths = columns.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const place = (cell: string, at: number) =>
    at < 3 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0);
  return lines.map((line) => `  ${line.map(place).join("  ")}`.trimEnd());
}
