/** The cheapest of this many measurements counts, because during the first ones the engine compiles. */
const MEASUREMENTS = 4;
/** The work is repeated for at least this long (ms), because the system may count processor time in steps of 4 ms. */
const LONG_ENOUGH_MS = 30;

/**
 * Returns the processor time that each work takes on this thread (ms). Time in which the thread waits for a processor does not count, so
 * the load of the machine changes little. The works take turns, so that the engine's compilations favour none.
 */
export function cpuCosts<const Works extends readonly (() => void)[]>(
  ...works: Works
): { readonly [K in keyof Works]: number } {
  const rounds = Array.from({ length: MEASUREMENTS }, () => works.map(measured));
  const least = works.map((_, nth) => Math.min(...rounds.map((round) => round[nth] ?? Infinity)));
  return least as { readonly [K in keyof Works]: number };
}

function measured(work: () => void): number {
  const before = process.threadCpuUsage();
  for (let times = 1; ; times += 1) {
    work();
    const { user, system } = process.threadCpuUsage(before);
    const ms = (user + system) / 1_000;
    if (ms >= LONG_ENOUGH_MS) return ms / times;
  }
}

/** Returns how many times more a text that is four times as long costs: about 4 if the cost is linear, 16 if it is quadratic. */
export function costOfFourfold(part: string, chars: number, work: (text: string) => void): number {
  const [short, long] = [textOf(part, chars), textOf(part, 4 * chars)];
  const [small, large] = cpuCosts(
    () => work(short),
    () => work(long),
  );
  return large / small;
}

/** Returns a text of about so many characters that repeats the part. */
const textOf = (part: string, chars: number): string => part.repeat(Math.ceil(chars / part.length));

/** Between linear and quadratic, for `costOfFourfold`. */
export const NEARLY_LINEAR = 9;
