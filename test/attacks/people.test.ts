import { describe } from "vitest";
import { originCases } from "./origin-cases.ts";
import { peopleCases } from "./people-cases.ts";
import { attackedByPeople } from "./people-stage.ts";
import { savedTaskCases } from "./saved-task-cases.ts";
import { shortcutCases } from "./shortcut-cases.ts";
import { wordCases } from "./word-cases.ts";

describe("through a socket", () => {
  attackedByPeople([...originCases(1), ...peopleCases, ...wordCases, ...shortcutCases, ...savedTaskCases]);
});
describe("over HTTP", () => {
  attackedByPeople(originCases(17), { entrance: "http" });
});
