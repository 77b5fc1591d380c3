// Days and moments as the commands take them.

const DAY_MS = 24 * 60 * 60_000;

const isDay = (text: string | undefined): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text ?? "");

/** Milliseconds since 1970 of a day (its first moment, UTC) or a moment. Null: it is neither. */
export function dayOf(text: string): number | null {
  const shaped =
    isDay(text) || /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  const at = shaped ? Date.parse(text) : Number.NaN;
  // "2026-02-31" is no day, although Date accepts it.
  return Number.isNaN(at) || (isDay(text) && !new Date(at).toISOString().startsWith(text)) ? null : at;
}

/** The period of `--from` and `--to`, both included (ms), or what is wrong with it. */
export function periodOf(
  from: string | undefined,
  to: string | undefined,
): { readonly from: number; readonly to: number } | string {
  const [first, last] = [from === undefined ? 0 : dayOf(from), to === undefined ? null : dayOf(to)];
  if (first === null || (to !== undefined && last === null))
    return "--from and --to take a day (2026-11-30) or a moment (2026-11-30T12:00:00Z)";
  const until = last === null ? Number.MAX_SAFE_INTEGER : isDay(to) ? last + DAY_MS - 1 : last;
  return until < first ? "--to is before --from" : { from: first, to: until };
}
