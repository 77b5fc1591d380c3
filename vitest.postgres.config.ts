// `npm run test:postgres`: the journeys, hostile services and the crash points, with the bot on PostgreSQL. It takes as long as they
// do in the usual run. The usual run has a part of them on PostgreSQL too: test/postgres.

import { defineConfig } from "vitest/config";
import usual from "./vitest.config.ts";

process.env["TEST_STORE"] = "postgres";

/** These open the file of SQLite themselves. */
const ON_A_FILE = ["test/journeys/audit.test.ts", "test/journeys/own-pages.test.ts"];

export default defineConfig({
  ...usual,
  test: {
    ...usual.test,
    include: ["test/journeys/*.test.ts", "test/attacks/alone.test.ts", "test/crash/*.test.ts"],
    exclude: ON_A_FILE,
  },
});
