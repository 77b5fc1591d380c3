import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Attack, CLASSES } from "./classes.ts";
import { brakeCases } from "./brake-cases.ts";
import { contentCases } from "./content-cases.ts";
import { databaseCases } from "./database-cases.ts";
import { listingCases } from "./listing-cases.ts";
import { disputeCases } from "./dispute-cases.ts";
import { doorCases } from "./door-cases.ts";
import { floodCases } from "./flood-cases.ts";
import { followUpCases } from "./follow-up-cases.ts";
import { growthCases } from "./growth-cases.ts";
import { hostileCases } from "./hostile-cases.ts";
import { originCases } from "./origin-cases.ts";
import { peopleCases } from "./people-cases.ts";
import { queueCases } from "./queue-cases.ts";
import { restoreCases } from "./restore-cases.ts";
import { ruledCases } from "./ruled-cases.ts";
import { secretCases } from "./secret-cases.ts";
import { stageCases } from "./stage-cases.ts";
import { stormCases } from "./storm-cases.ts";
import { storyCases } from "./story-cases.ts";
import { savedTaskCases } from "./saved-task-cases.ts";
import { shortcutCases } from "./shortcut-cases.ts";
import { wordCases } from "./word-cases.ts";

type Named = Pick<Attack, "id">;
const FILES: Readonly<Record<string, readonly Named[]>> = {
  door: [...doorCases, ...floodCases],
  people: [
    ...originCases(1),
    ...originCases(17),
    ...peopleCases,
    ...wordCases,
    ...shortcutCases,
    ...savedTaskCases,
  ],
  story: [
    ...storyCases,
    ...listingCases,
    ...disputeCases,
    ...brakeCases,
    ...ruledCases,
    ...stageCases,
    ...databaseCases,
    ...restoreCases,
    ...queueCases,
    ...stormCases,
    ...followUpCases,
  ],
  alone: [...contentCases, ...growthCases, ...hostileCases, ...secretCases],
};
const suite = Object.values(FILES).flat();
const kindOf = ({ id }: Named): number => Number(id.slice(1, 3));

test("there are more than 200 attacks, each with a unique id", () => {
  const ids = suite.map(({ id }) => id);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  expect(ids.length).toBeGreaterThan(200);
});

test("SECURITY.md names each class of attack, and how many attacks of the class each test makes", () => {
  const page = readFileSync(new URL("../../SECURITY.md", import.meta.url), "utf8");
  const rows = page.split("\n").flatMap((line) => {
    const [, kind, name, defense, tests] = line.split("|").map((cell) => cell.trim());
    return /^\d+$/.test(kind ?? "") ? [{ kind, name, defended: (defense ?? "") !== "", tests }] : [];
  });
  const due = CLASSES.map((name, at) => ({
    kind: String(at + 1),
    name,
    defended: true,
    tests: testsOf(at + 1),
  }));
  expect(rows).toEqual(due);
});

/** "A02: 6 door, 10 alone". */
function testsOf(kind: number): string {
  const counts = Object.entries(FILES).flatMap(([file, cases]) => {
    const count = cases.filter((each) => kindOf(each) === kind).length;
    return count === 0 ? [] : [`${count} ${file}`];
  });
  return `A${String(kind).padStart(2, "0")}: ${counts.join(", ")}`;
}
