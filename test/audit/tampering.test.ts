// Everything that can be done to the audit's file is found. What only a head kept outside can reveal needs one.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { chance, type Original, tamper, TAMPERINGS, verify, writeAudit } from "./tampering.ts";

let folder = "";
let original: Original;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tampering-"));
  original = await writeAudit(join(folder, "audit.db"), chance(1));
});
afterAll(() => rmSync(folder, { recursive: true }));

test("what the store wrote is whole, and contains its witnessed heads", async () => {
  const verdict = await verify(original, original.witnesses);
  expect(verdict).toMatchObject({ ok: true, entries: original.entries });
});

describe("tampering is found:", () => {
  test.for(TAMPERINGS)("$name", async (tampering) => {
    const random = chance(20_261_121);
    for (let n = 0; n < 8; n += 1) {
      const verdict = await tamper(original, tampering, random, true);
      expect(verdict, `try ${n}`).toMatchObject({ ok: false });
    }
  });
});

test("tampering that needs no head is found without one", async () => {
  const random = chance(7);
  for (const tampering of TAMPERINGS.filter(({ needsWitness }) => !needsWitness)) {
    const verdict = await tamper(original, tampering, random, false);
    expect(verdict, `way: ${tampering.name}`).toMatchObject({ ok: false });
  }
});

test("without a head, a cut end or a thief with the key is not found, which is why heads are witnessed", async () => {
  for (const tampering of TAMPERINGS.filter(({ needsWitness }) => needsWitness)) {
    const verdict = await tamper(original, tampering, chance(3), false);
    expect(verdict, `way: ${tampering.name}`).toMatchObject({ ok: true });
  }
});
