// `npm run test:postgres`: the journeys, the attack suite and the crash points, with the bot on PostgreSQL. It takes as long as they
// do in the usual run. The usual run has a part of them on PostgreSQL too: test/postgres.

import { defineConfig } from "vitest/config";
import usual from "./vitest.config.ts";

process.env["TEST_STORE"] = "postgres";

const INCLUDED = ["test/journeys/*.test.ts", "test/attacks/*.test.ts", "test/crash/*.test.ts"];
const ON_A_FILE = ["test/journeys/file-of-sqlite.test.ts", "test/journeys/restore.test.ts"];

export default defineConfig({
  ...usual,
  test: {
    ...usual.test,
    projects: [{ extends: true, test: { name: "postgres", include: INCLUDED, exclude: ON_A_FILE } }],
  },
});
