// Runs the commands by which docs/audit.md checks one entry by hand, on lines of an evidence file.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { inheritedEnv } from "../make/child-env.ts";
import { ADMIN, createBench } from "../make/bot.ts";
import { anAuditEntry, APPROVER, aRun, CHANNEL, TEAM } from "../make/run.ts";

const page = readFileSync(new URL("../../docs/audit.md", import.meta.url), "utf8");
const [COMMANDS = ""] = [...page.matchAll(/^```bash\n(.*?)^```/gms)]
  .map(([, text = ""]) => text)
  .filter((text) => text.includes("line.json"));

let folder = "";
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "check-by-hand-"))));
afterEach(() => rmSync(folder, { recursive: true }));

/** Returns what the commands print about this line. */
function checked(line: string, publicKey: string): string {
  writeFileSync(join(folder, "line.json"), line);
  const env = { ...inheritedEnv(), public_key: publicKey };
  return spawnSync("bash", ["-c", COMMANDS], { cwd: folder, env, encoding: "utf8" }).stdout;
}

type Proof = { readonly seq: number; readonly link: string };

/** Resolves to the lines of the evidence of a run, whose entries have one of another run between them. */
async function evidence(): Promise<{ readonly lines: readonly string[]; readonly publicKey: string }> {
  const bench = await createBench();
  const card = await bench.withCard();
  await bench.store.audit([anAuditEntry(aRun(), { what: "opened", run: null, runId: null })]);
  const opened = await bench.flow.openForm.open(card.click, "approve");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, opened.value.ticket.nonce, "go on");
  await bench.clock.pass(2_000);
  await bench.flow.exportEvidence({ team: TEAM, user: ADMIN, channel: CHANNEL }, card.id);
  const text = bench.notificationSender.given[0]?.text ?? "";
  return {
    lines: text.split("\n").filter((line) => line.startsWith("{")),
    publicKey: bench.store.auditPublicKey(),
  };
}

test("the commands confirm every line of an evidence file, and no changed one", async () => {
  const { lines, publicKey } = await evidence();
  const proofs = lines.map((line) => JSON.parse(line) as Proof);
  expect(proofs.some(({ seq }, at) => at > 0 && proofs[at - 1]?.seq !== seq - 1)).toBe(true);
  for (const [at, line] of lines.entries()) {
    const printed = checked(line, publicKey);
    expect(printed).toContain(`${proofs[at]?.link}  -`);
    expect(printed).toContain("Verified Successfully");
  }
  const changed = (lines.at(-1) ?? "").replace(/"text":"\{/, '"text":"{ ');
  expect(checked(changed, publicKey)).not.toContain(`${proofs.at(-1)?.link}  -`);
});
