// `npm run bench` measures speed, memory and delays, and compares each figure with its target. `--json` prints all figures as one last line
// of JSON. `--quick` measures each for a shorter time. `--only NAME,NAME` measures only these. A measurement that fails is made once more,
// alone. Exit code 1: a figure is missing.

import { readCommandLine } from "../test/make/command-line.ts";
import { FIGURE_NAMES, FIGURES, type FigureName, judged, type Measured, missing } from "./figures.ts";
import { GROUPS, type Measurement, type Size } from "./measurements.ts";

const { only, ...values } = readArgs();
const size: Size = values.quick ? "quick" : "full";
const isWanted = (name: FigureName): boolean => only?.includes(name) ?? true;

const measured: { [name: string]: number } = {};
const failed: Measurement[] = [];
for (const group of GROUPS[size]) await Promise.all(group.map(measureLane));
// What failed beside others on a busy machine may succeed alone.
for (const each of failed.splice(0)) await measureOne(each);

const lacking = missing(measured satisfies Measured).filter(isWanted);
if (lacking.length > 0) console.error(`Not measured: ${lacking.join(", ")}.`);
if (values.json) {
  const wanted = FIGURE_NAMES.filter((name) => isWanted(name) && measured[name] !== undefined);
  console.log(JSON.stringify(Object.fromEntries(wanted.map((name) => [name, rounded(measured[name])]))));
}
process.exit(lacking.length > 0 ? 1 : 0);

function readArgs() {
  const options = {
    json: { type: "boolean", default: false },
    quick: { type: "boolean", default: false },
    only: { type: "string" },
  } as const;
  return readCommandLine(
    "npm run bench -- [--json] [--quick] [--only NAME,NAME]",
    options,
    ({ only, ...values }) => {
      const unknown = only?.split(",").filter((name) => !(name in FIGURES)) ?? [];
      if (unknown.length > 0)
        throw new Error(`No figure is called ${unknown.join(", ")}. There are: ${FIGURE_NAMES.join(", ")}.`);
      return { ...values, only: only?.split(",") };
    },
  );
}

async function measureLane(lane: readonly Measurement[]): Promise<void> {
  for (const measurement of lane) if (measurement.gives.some(isWanted)) await measureOne(measurement);
}

async function measureOne(measurement: Measurement): Promise<void> {
  const { gives, measure } = measurement;
  const from = performance.now();
  try {
    const { figures, notes = [] } = await measure(size);
    Object.assign(measured, figures);
    for (const [what, value] of notes) row(what, value, "");
    for (const name of gives)
      row(name, String(rounded(measured[name])), judged(name, measured[name] ?? Number.NaN));
  } catch (error) {
    console.error(`${gives.join(", ")}: ${error instanceof Error ? error.message : String(error)}`);
    failed.push(measurement);
  }
  row("", "", `(${((performance.now() - from) / 1_000).toFixed(0)} s)`);
}

function rounded(value = Number.NaN): number {
  return Number(value.toPrecision(4));
}

function row(what: string, value: string, note: string): void {
  console.log(`${what.padEnd(44)} ${value.padStart(12)}  ${note}`.trimEnd());
}
