/** Asked wherever the world has a choice: 0 is how it goes when all is well, every other answer is a fault. */
export type Choose = (options: number) => number;

/** Plays `story` once for every way in which at most `maxFaults` of its choices go wrong. Returns how many ways there are. */
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
