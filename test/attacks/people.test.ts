import { describe } from "vitest";
import { originCases } from "./origin-cases.ts";
import { peopleCases } from "./people-cases.ts";
import { attackedByPeople } from "./people-stage.ts";
import { shortcutCases } from "./shortcut-cases.ts";
import { wordCases } from "./word-cases.ts";

describe("through a socket", () => {
  attackedByPeople([...originCases(1), ...peopleCases, ...wordCases, ...shortcutCases]);
});
describe("over HTTP", () => {
  attackedByPeople(originCases(17), { entrance: "http" });
});
