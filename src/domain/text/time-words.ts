const UNITS = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1_000, "s"],
] as const;

/** Returns a duration as a policy writes it, such as "30 min" or "1 h". */
export function timeWords(ms: number): string {
  const [size, unit] = UNITS.find(([size]) => ms % size === 0) ?? [1, "ms"];
  return `${ms / size} ${unit}`;
}

/** Returns an age in words, exact to the minute. */
export function ageWords(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "less than a minute";
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}
