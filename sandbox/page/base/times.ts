// Times as Slack shows them, in the reader's time zone. The default is the machine's time zone.

export type Times = {
  /** "12:38" */
  clock(atMs: number): string;
  /** "21 Nov 2026, 12:38:05" */
  full(atMs: number): string;
  /** "12:38:05.123", for the Traffic panel, where the time between lines matters. */
  fine(atMs: number): string;
  /** Fills the tokens of `<!date^…>` and of rich-text dates. */
  tokens(format: string, atMs: number): string;
};

export const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

export function createTimes(options: { timeZone?: string | undefined; now: () => number }): Times {
  const make = (parts: Intl.DateTimeFormatOptions) => {
    const zone = options.timeZone === undefined ? {} : { timeZone: options.timeZone };
    const formatter = new Intl.DateTimeFormat("en-GB", { ...parts, ...zone });
    return (atMs: number): string => formatter.format(atMs);
  };
  const clock = make({ hour: "2-digit", minute: "2-digit" });
  const seconds = make({ hour: "2-digit", minute: "2-digit", second: "2-digit" });
  const numeric = make({ year: "numeric", month: "2-digit", day: "2-digit" });
  const short = make({ year: "numeric", month: "short", day: "numeric" });
  const plain = make({ year: "numeric", month: "long", day: "numeric" });
  const long = make({ weekday: "long", year: "numeric", month: "long", day: "numeric" });
  const pretty = (otherwise: (atMs: number) => string) => (atMs: number) =>
    nearbyDay(plain, atMs, options.now()) ?? otherwise(atMs);
  const table: Record<string, (atMs: number) => string> = {
    time: clock,
    time_secs: seconds,
    date_num: (atMs) => numeric(atMs).split("/").toReversed().join("-"),
    date_slash: numeric,
    date: plain,
    date_short: short,
    date_long: long,
    date_pretty: pretty(plain),
    date_short_pretty: pretty(short),
    date_long_pretty: pretty(long),
    day_divider_pretty: pretty(long),
    ago: (atMs) => distance(atMs - options.now()),
  };
  return {
    clock,
    full: (atMs) => `${short(atMs)}, ${seconds(atMs)}`,
    fine: (atMs) => `${seconds(atMs)}.${String(Math.floor(atMs) % 1000).padStart(3, "0")}`,
    tokens: (format, atMs) =>
      format.replace(/\{(\w+)\}/g, (whole, name: string) => table[name]?.(atMs) ?? whole),
  };
}

function nearbyDay(day: (atMs: number) => string, atMs: number, nowMs: number): string | undefined {
  if (day(atMs) === day(nowMs)) return "today";
  if (day(atMs) === day(nowMs - DAY_MS)) return "yesterday";
  return day(atMs) === day(nowMs + DAY_MS) ? "tomorrow" : undefined;
}

function distance(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  if (Math.abs(minutes) < 60) return relative.format(minutes, "minute");
  if (Math.abs(minutes) < 48 * 60) return relative.format(Math.round(minutes / 60), "hour");
  return relative.format(Math.round(minutes / 1440), "day");
}

/** "1 h 30 min" */
export function durationOf(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  const parts = [
    [Math.floor(minutes / 1440), "d"],
    [Math.floor(minutes / 60) % 24, "h"],
    [minutes % 60, "min"],
    [Math.round(ms / 1000) % 60, "s"],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ");
}
