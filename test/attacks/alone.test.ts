import { describe, test } from "vitest";
import { contentCases } from "./content-cases.ts";
import { growthCases } from "./growth-cases.ts";
import { hostileCases } from "./hostile-cases.ts";
import { secretCases } from "./secret-cases.ts";

describe("content, logs, requests and dependencies", () => {
  test.for(
    [...contentCases, ...growthCases, ...hostileCases, ...secretCases].map(
      (each) => [each.id, each.what, each] as const,
    ),
  )("%s %s", ([, , attack]) => attack.run());
});
