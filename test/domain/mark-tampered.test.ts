import { expect, test } from "vitest";
import { markTampered } from "#src/domain/end-run.ts";
import { UserId } from "#src/domain/ids.ts";
import { aRun } from "../make/run.ts";

test("a tampered run keeps only the facts that it names, so a field that is added later is dropped", () => {
  const stop = { by: UserId("U0BEN"), at: 5 };
  const run = { ...aRun(), stop, mayHaveAsked: [UserId("U0CAT")], addedLater: "what the record says" };
  const tampered = markTampered(run, 9);
  expect(tampered).toMatchObject({ key: run.key, requester: run.requester, stop, mayHaveAsked: ["U0CAT"] });
  expect(tampered).not.toHaveProperty("addedLater");
  expect(tampered).not.toHaveProperty("frozen");
});
