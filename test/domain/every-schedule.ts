/** Called wherever the world has a choice. 0 means that all goes well; every other answer is a fault. */
export type Choose = (options: number) => number;

/** Plays `story` once for every schedule with at most `maxFaults` faults. Returns the number of schedules. */
export function everySchedule(maxFaults: number, story: (choose: Choose) => void): number {
  const waiting: (readonly number[])[] = [[]];
  let played = 0;
  for (let script = waiting.pop(); script !== undefined; script = waiting.pop()) {
    const given = script;
    const options: number[] = [];
    const choose: Choose = (many) => given[options.push(many) - 1] ?? 0;
    played += 1;
    try {
      story(choose);
    } catch (cause) {
      throw new Error(`schedule [${given.join(" ")}]: ${String(cause)}`, { cause });
    }
    if (given.filter((choice) => choice > 0).length >= maxFaults) continue;
    for (const [at, many] of [...options.entries()].slice(given.length)) {
      const quiet = Array.from({ length: at - given.length }, () => 0);
      for (let fault = 1; fault < many; fault += 1) waiting.push([...given, ...quiet, fault]);
    }
  }
  return played;
}
