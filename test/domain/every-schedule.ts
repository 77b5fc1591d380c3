/** Called wherever the world has a choice. 0 means that all goes well; every other answer is a fault. */
export type Choose = (options: number) => number;

/** Plays `story` once for every schedule with at most `maxFaults` faults. Returns the number of schedules. */
export function everySchedule(maxFaults: number, story: (choose: Choose) => void): number {
  const waiting: (readonly number[])[] = [[]];
  let played = 0;
  for (let script = waiting.pop(); script !== undefined; script = waiting.pop()) {
    const choices = script;
    const options: number[] = [];
    const choose: Choose = (many) => choices[options.push(many) - 1] ?? 0;
    played += 1;
    try {
      story(choose);
    } catch (cause) {
      throw new Error(`schedule [${choices.join(" ")}]: ${String(cause)}`, { cause });
    }
    if (choices.filter((choice) => choice > 0).length >= maxFaults) continue;
    for (const [at, many] of [...options.entries()].slice(choices.length)) {
      const quiet = Array.from({ length: at - choices.length }, () => 0);
      for (let fault = 1; fault < many; fault += 1) waiting.push([...choices, ...quiet, fault]);
    }
  }
  return played;
}
