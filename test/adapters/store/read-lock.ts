// A separate process for `read-only.test.ts`: takes the lock as a reader of the database does, and prints "free" or "in use". It keeps the
// lock until it is killed.

import { lockIfFree } from "#src/adapters/store/process-lock.ts";

const lock = lockIfFree(process.argv[2] ?? "");
process.stdout.write(lock === null ? "in use\n" : "free\n");
// The timer keeps the lock from being collected as garbage.
setInterval(() => lock?.release, 60_000);
