// `npm run migrate-store` with an address that is wrong: it names the address, and not a variable that is right.

import { expect, test } from "vitest";
import { runCommand } from "../make/run-command.ts";

const SERVER = "postgres://countersign:0123abcd@localhost/countersign";

test.for([
  [
    "the first",
    SERVER,
    ["./data/countersign.db"],
    /^The first address is neither of the form sqlite:PATH nor /,
  ],
  [
    "the second",
    "",
    ["sqlite:bot.db", "localhost/db"],
    /^The second address is neither of the form sqlite:PATH nor /,
  ],
  ["the variable", "localhost/db", ["sqlite:bot.db"], /DATABASE_URL is neither of the form sqlite:PATH nor /],
] as const)("names the address that is wrong: %s", async ([which, url, args, says]) => {
  const { code, out, err } = await runCommand("migrate-store", args, { env: { DATABASE_URL: url } });
  expect([code, out]).toEqual([2, ""]);
  expect(err).toMatch(says);
  expect(err.includes("DATABASE_URL")).toBe(which === "the variable");
});
