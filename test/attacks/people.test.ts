import { describe } from "vitest";
import { originCases } from "./origin-cases.ts";
import { peopleCases } from "./people-cases.ts";
import { attackedByPeople } from "./people-stage.ts";
import { shortcutCases } from "./shortcut-cases.ts";
import { wordCases } from "./word-cases.ts";

// Two worlds: the app opens about a hundred windows in a minute at most, and attacks follow each other faster than people.
describe("by buttons and forms, through a socket", () => {
  attackedByPeople([...originCases(1), ...peopleCases]);
});
describe("by words and shortcuts, through a socket", () => {
  attackedByPeople([...wordCases, ...shortcutCases]);
});
describe("over HTTP", () => {
  attackedByPeople(originCases(17), { entrance: "http" });
});
