// A separate process for `unusable-files.test.ts`: opens the store once and prints the result.

import { openStore } from "#src/adapters/store/open.ts";

try {
  const store = await openStore({ url: process.argv[2] ?? "", owner: "test" });
  await store.close();
  process.stdout.write("open\n");
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
}
