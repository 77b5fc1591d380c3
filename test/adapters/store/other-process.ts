// A separate process for the tests of the database file. `hold` keeps the database open until it is killed. `write`
// stores and saves runs for ever, and prints `key revision` of each only after the store has acknowledged it.

import { openStore } from "#src/adapters/store/open.ts";
import { anApproval, aRun, withApprovals } from "../../make/run.ts";

const [task, url = ""] = process.argv.slice(2);
const store = await openStore({ url, owner: "other" });
process.stdout.write("open\n");

if (task === "hold") setInterval(() => undefined, 60_000);
else await writeForEver();

async function writeForEver(): Promise<never> {
  for (;;) {
    const run = withApprovals(aRun(), anApproval());
    await store.insert(run, {});
    process.stdout.write(`${run.key} 1\n`);
    await store.save({ run, revision: 1 }, { ...run, input: "saved" }, { mustHold: true });
    process.stdout.write(`${run.key} 2\n`);
  }
}
