// Some lives of the campaigns, with every change. `npm run campaign:wire` and `npm run campaign:storage` play all of them.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type OneProcess, startLane } from "../crash/lane.ts";
import { type FaultCase, type SetUpFault, playLife } from "./play-life.ts";
import { setUpStorageFault, STORAGE_CASES, withClock } from "./storage-faults.ts";
import { WIRE_CASES } from "./wire-cases.ts";
import { setUpWireFault, forWire } from "./wire-faults.ts";

const WIRE = [
  "reset after create-run, from the command on",
  "cut JSON after chat.postMessage, from the command on",
  "429 as a date before chat.update, from the command on",
  "drip after read-run, from the command on",
  "HTML before views.open, from the click on",
  "5xx after decide, from the submit on",
  "key rotated before decide, from the submit on",
];
const STORAGE = [
  "the last page is torn, from the submit on",
  "the clock jumps a day back, from the click on",
];

const folder = mkdtempSync(join(tmpdir(), "faults-"));
const [keyFile, clockFile] = [join(folder, "key"), join(folder, "clock")];
let lane: OneProcess;

beforeAll(async () => {
  writeFileSync(clockFile, "0");
  lane = await startLane((env) => withClock(forWire(env, keyFile), clockFile));
});
afterAll(async () => {
  await lane.stop();
  rmSync(folder, { recursive: true });
});

async function lived(life: FaultCase, setUpFault: SetUpFault) {
  const { witness, struck, stuck } = await playLife(lane, life, setUpFault);
  return { struck, stuck, broken: witness.verdict().broken };
}

const WELL = { struck: true, stuck: null, broken: [] };

describe("nothing is lost, duplicated or wrongly claimed:", () => {
  test.for(WIRE)("%s", async (name) => {
    const life = WIRE_CASES.find((each) => each.name === name);
    if (life === undefined) throw new Error("there is no such case");
    expect(await lived(life, setUpWireFault(lane, life, keyFile))).toEqual(WELL);
  });

  test.for(STORAGE)("%s", async (name) => {
    const life = STORAGE_CASES.find((each) => each.name === name);
    if (life === undefined) throw new Error("there is no such case");
    expect(await lived(life, setUpStorageFault(lane, life, clockFile))).toEqual(WELL);
  });
});

test("the audit is intact after all of them", async () => {
  expect(await lane.audit()).toMatchObject({ ok: true });
});
