// Whether a process grows. A process is compared with itself, because a leak starts anew with each process.

export type Sample = { readonly rssMb: number; readonly files: number; readonly sockets: number };

/** How much the end may exceed the beginning: a factor, and numbers. Connections to the service come and go with the load. */
const MAY_GROW = { rss: 1.1, files: 20, sockets: 20 };
/** With fewer samples, nothing can be compared. */
const FEWEST_SAMPLES = 4;

/**
 * Returns what grew in a process. Compares the second quarter of its samples, which must be in order, with the last: in the first, a
 * process still loads and compiles.
 */
export function grownIn(samples: readonly Sample[]): readonly string[] {
  if (samples.length < FEWEST_SAMPLES)
    return [`there are ${samples.length} samples, which are too few to compare`];
  const quarter = (nth: number): readonly Sample[] =>
    samples.slice(Math.floor((samples.length * (nth - 1)) / 4), Math.floor((samples.length * nth) / 4));
  const [early, late] = [quarter(2), quarter(4)];
  const rises = (what: keyof Sample, limit: (before: number) => number): readonly string[] => {
    const [before, after] = [least(early, what), least(late, what)];
    return after <= limit(before) ? [] : [`${what} grew from ${before} to ${after}`];
  };
  return [
    ...rises("rssMb", (before) => before * MAY_GROW.rss),
    ...rises("files", (before) => before + MAY_GROW.files),
    ...rises("sockets", (before) => before + MAY_GROW.sockets),
  ];
}

/** Load and garbage only add to what is measured, so the least sample comes nearest to what a process needs. */
const least = (of: readonly Sample[], what: keyof Sample): number =>
  Math.min(...of.map((each) => each[what]));
