// `npm run planted [-- --only NAME] [--at-once N]` plants each bug in a copy of the tree, and checks that its test fails.
// docs/reliability.md has a result.

import { readCommandLine, wholeNumber } from "../make/command-line.ts";
import { createField, type Field, tryBug, tryUnchanged, type Verdict } from "./plant.ts";
import { type PlantedBug, plantedBugs } from "./planted-bugs.ts";

const { bugs, atOnce } = readArgs();

type Tried = { readonly bug: PlantedBug; readonly verdict: Verdict; readonly seconds: number };

async function tryAll(fields: readonly Field[]): Promise<readonly Tried[]> {
  const left = [...bugs];
  const tried: Tried[] = [];
  const work = async (field: Field): Promise<void> => {
    for (let bug = left.shift(); bug !== undefined; bug = left.shift()) {
      const began = performance.now();
      const { verdict } = await tryBug(field, bug);
      const seconds = Math.round((performance.now() - began) / 1_000);
      tried.push({ bug, verdict, seconds });
      console.log(
        `${verdict.padEnd(9)} ${String(seconds).padStart(3)} s  ${bug.name.padEnd(28)} ${bug.test}`,
      );
    }
  };
  await Promise.all(fields.map(work));
  return tried;
}

const fields = await Promise.all(Array.from({ length: atOnce }, createField));
try {
  const [field] = fields;
  const before = field && (await tryUnchanged(field, bugs));
  if (before?.verdict !== "survived") {
    console.error("Some tests fail even without a bug, so the result means nothing:");
    for (const each of before?.failed ?? []) console.error(`  ${each}`);
    process.exitCode = 1;
  } else {
    const tried = await tryAll(fields);
    const caught = tried.filter(({ verdict }) => verdict === "caught");
    for (const { bug, verdict } of tried.filter((each) => !caught.includes(each)))
      console.log(`\n${bug.name} (${verdict}): ${bug.bug}\n  ${bug.test}: ${bug.title}`);
    console.log(`\n${caught.length} of ${tried.length} caught`);
    process.exitCode = caught.length === tried.length ? 0 : 1;
  }
} finally {
  for (const { remove } of fields) remove();
}

function readArgs(): { readonly bugs: readonly PlantedBug[]; readonly atOnce: number } {
  const all = plantedBugs();
  const names = all.map(({ name }) => name);
  const options = {
    only: { type: "string", multiple: true, default: names },
    "at-once": { type: "string", default: "2" },
  } as const;
  const usage = `npm run planted -- [--only NAME] [--at-once N]\nNames: ${names.join(", ")}`;
  return readCommandLine(usage, options, (given) => {
    const unknown = given.only.filter((name) => !names.includes(name));
    if (unknown.length > 0) throw new Error(`There is no planted bug ${unknown.join(", ")}`);
    const bugs = all.filter(({ name }) => given.only.includes(name));
    return { bugs, atOnce: wholeNumber("--at-once", given["at-once"]) };
  });
}
