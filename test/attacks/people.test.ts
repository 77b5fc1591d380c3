import { describe } from "vitest";
import { originCases } from "./origin-cases.ts";
import { peopleCases } from "./people-cases.ts";
import { attackedByPeople } from "./people-stage.ts";
import { shortcutCases } from "./shortcut-cases.ts";
import { wordCases } from "./word-cases.ts";

/** The app opens about a hundred windows in a minute at most, and attacks follow each other faster than people, so they have several worlds. */
const IN_A_WORLD = 60;
const throughSocket = [...originCases(1), ...peopleCases, ...wordCases, ...shortcutCases];

for (let from = 0; from < throughSocket.length; from += IN_A_WORLD) {
  describe(`through a socket, from attack ${from + 1} on`, () => {
    attackedByPeople(throughSocket.slice(from, from + IN_A_WORLD));
  });
}
describe("over HTTP", () => {
  attackedByPeople(originCases(17), { entrance: "http" });
});
