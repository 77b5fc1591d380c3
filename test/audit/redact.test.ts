// `npm run audit -- redact`: the text is gone from the file, and the audit is whole and says so.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { auditKeyFile } from "#src/adapters/store/audit-key.ts";
import { openStore } from "#src/adapters/store/open.ts";
import type { Gathered } from "#src/domain/follow-up.ts";
import { ApprovalId, RunKey } from "#src/domain/ids.ts";
import type { Run } from "#src/domain/run.ts";
import { runCommand } from "../make/run-command.ts";
import { anAuditEntry, aRun } from "../make/run.ts";
import { sha256 } from "./tampering.ts";

const OTHER_PROCESS = fileURLToPath(new URL("../adapters/store/other-process.ts", import.meta.url));
const TEXT = `call Ana Example on 555-0199 ${"please ".repeat(2_000)}`;
const DIGEST = sha256(TEXT);

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "redact-"));
  file = join(folder, "bot.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

const place = () => ({ env: { DATABASE_URL: `sqlite:${file}` }, cwd: folder });
const audit = (...args: readonly string[]) => runCommand("audit", args, place());

async function withStore(
  work: (store: Awaited<ReturnType<typeof openStore>>) => Promise<unknown>,
): Promise<void> {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  await work(store);
  await store.close();
}

/** Writes a run that asks for the text, finished or not. Its `started` entry stores the text. */
const written = (finished = true): Promise<Run> => storedBy(finished, {});

/** Writes a finished run with a request that is the text. Its `opened` entry stores the text. */
const withRequest = (): Promise<Run> =>
  storedBy(true, { what: "opened", approval: ApprovalId("ap_1"), by: null });

async function storedBy(finished: boolean, facts: Parameters<typeof anAuditEntry>[1]): Promise<Run> {
  const run = aRun({ input: TEXT });
  await withStore(async (store) => {
    await store.insert(run, { audit: [anAuditEntry(run, { digest: DIGEST, text: TEXT, ...facts })] });
    await store.save({ run, revision: 1 }, run, { finished });
  });
  return run;
}

const inFile = (words: string): boolean =>
  [file, `${file}-wal`].some((each) => existsSync(each) && readFileSync(each).includes(words));

test("no byte of the text stays in the file, and the audit says who erased it and why, and is whole", async () => {
  const run = await written();
  expect(inFile("555-0199")).toBe(true);
  const output = await audit("redact", DIGEST, "--reason", "Ana asked for it");
  expect(output).toMatchObject({ code: 0, err: "" });
  expect(output.out).toContain("Audit entry 2 records this");
  expect(output.out).toContain("1 finished run was deleted with it");
  expect(inFile("555-0199")).toBe(false);
  const verified = await audit("verify");
  expect(verified.code).toBe(0);
  expect(verified.out).toContain("1 text was erased, as the audit records.");
  const shown = await audit("show", run.key);
  expect(shown.out).toMatch(
    /erased the text, asked for at the shell by .* · text [0-9a-f]{11}… · reason: Ana asked for it/,
  );
  await withStore(async (store) => {
    expect(await store.checkAudit()).toEqual([]);
    expect(await store.walkAudit()).toBeNull();
  });
});

test("if the file cannot be rewritten, the command says that bytes stay, and removes them when it runs again", async () => {
  await written();
  await withStore(async (store) => {
    for (const letter of "abcdefghijklmnopqrst") {
      const text = letter.repeat(30_000);
      await store.audit([anAuditEntry(aRun(), { digest: sha256(text), text })]);
    }
  });
  const output = await runCommand("audit", ["redact", DIGEST], { ...place(), filesUpTo: 400 });
  expect(output).toMatchObject({ code: 2, out: "" });
  expect(output.err).toContain(
    "The text is erased, and audit entry 22 records this. But its bytes are still in",
  );
  expect(inFile("555-0199")).toBe(true);
  const again = await audit("redact", DIGEST);
  expect(again).toMatchObject({ code: 0, err: "" });
  expect(again.out).toContain("was erased before, as audit entry 22 records");
  expect(inFile("555-0199")).toBe(false);
  expect((await audit("verify")).out).toContain("Intact: 22 entries");
});

test("a text that is missing without an entry about it counts as tampering, also before and after an erasure of it", async () => {
  await written();
  await audit("redact", DIGEST);
  const again = aRun();
  await withStore((store) => store.audit([anAuditEntry(again, { digest: DIGEST, text: TEXT })]));
  expect((await audit("verify")).code).toBe(0);
  const raw = new DatabaseSync(file);
  raw.exec("delete from audit_texts");
  raw.close();
  const output = await audit("verify");
  expect(output.code).toBe(1);
  expect(output.err).toContain("TAMPERED at entry 3");
  const refused = await audit("redact", DIGEST);
  expect(refused.code).toBe(1);
  expect(refused.err).toContain("Nothing was erased.");
});

test("the database itself refuses to delete a text that no entry says was erased", async () => {
  await written();
  const raw = new DatabaseSync(file);
  expect(() => raw.exec("delete from audit_texts")).toThrow("audit_texts is append-only");
  expect(() => raw.exec("update audit_texts set text = ''")).toThrow("audit_texts is append-only");
  raw.close();
});

test("a text of a run that is not over stays, since a decision may rest on it", async () => {
  const run = await written(false);
  const output = await audit("redact", DIGEST);
  expect(output.code).toBe(2);
  expect(output.err).toContain(`An unfinished run still holds this text or a part of it (${run.key})`);
  expect(inFile("555-0199")).toBe(true);
  expect((await audit("verify")).out).toContain("Intact: 1 entry");
});

/** Writes a run that carries a message for its channel, which quotes the request of the other run. */
const carrierOf = ({ key }: Run, finished: boolean): Promise<Run> =>
  carrying(finished, [
    { ...CALL, run: key, asked: TEXT.slice(0, 110) },
    { ...CALL, asked: "another" },
  ]);

const CALL = { run: RunKey("other0001"), approval: ApprovalId('"ap_{1}'), n: 1 };

async function carrying(finished: boolean, of: Gathered["of"]): Promise<Run> {
  const who = { users: [], groups: [], more: 0 };
  const message = { since: 1, says: "waits", of, oldest: 1, who } as const;
  const run: Run = {
    ...aRun(),
    gathered: [message, { ...message, since: 2, of: [{ ...CALL, asked: "a" }] }],
  };
  await withStore(async (store) => {
    await store.insert(run, {});
    await store.save({ run, revision: 1 }, run, { finished });
  });
  return run;
}

test("no byte of the text stays in a run that only carries a reminder about it", async () => {
  await carrierOf(await withRequest(), true);
  const output = await audit("redact", DIGEST);
  expect(output).toMatchObject({ code: 0, err: "" });
  expect(output.out).toContain("2 finished runs were deleted with it");
  expect(inFile("555-0199")).toBe(false);
});

test("a text stays while a run that is not over carries a reminder about it", async () => {
  const carrier = await carrierOf(await withRequest(), false);
  const output = await audit("redact", DIGEST);
  expect(output.code).toBe(2);
  expect(output.err).toContain(`An unfinished run still holds this text or a part of it (${carrier.key})`);
  expect(inFile("555-0199")).toBe(true);
  expect((await audit("verify")).out).toContain("Intact: 1 entry");
});

test("a run stays whose reminder contains the request among others without quoting it", async () => {
  const { key } = await withRequest();
  const carrier = await carrying(false, [
    { ...CALL, asked: "another" },
    { ...CALL, run: key },
  ]);
  const output = await audit("redact", DIGEST);
  expect(output).toMatchObject({ code: 0, err: "" });
  expect(output.out).toContain("1 finished run was deleted with it");
  await withStore(async (store) => expect(await store.load(carrier.key)).not.toBeNull());
});

test("a run stays whose reminder quotes a request, if the erased text is the task", async () => {
  const carrier = await carrierOf(await written(), false);
  const output = await audit("redact", DIGEST);
  expect(output).toMatchObject({ code: 0, err: "" });
  expect(output.out).toContain("1 finished run was deleted with it");
  await withStore(async (store) => expect(await store.load(carrier.key)).not.toBeNull());
});

test("nothing is erased while a bot uses the database", async () => {
  await written();
  const bot = spawn(process.execPath, [OTHER_PROCESS, "hold", `sqlite:${file}`]);
  await once(bot.stdout, "data");
  const output = await audit("redact", DIGEST);
  bot.kill("SIGKILL");
  await once(bot, "close");
  expect(output.code).toBe(2);
  expect(output.err).toMatch(/process \d+ \(node\) is using it|another process is using it/);
  expect(inFile("555-0199")).toBe(true);
});

test("nothing is erased without the signing key, nor without a database", async () => {
  await written();
  rmSync(auditKeyFile(file));
  const keyless = await audit("redact", DIGEST);
  expect(keyless.code).toBe(2);
  expect(keyless.err).toContain("There is no key to sign with");
  expect(existsSync(auditKeyFile(file))).toBe(false);
  file = join(folder, "other.db");
  expect((await audit("redact", DIGEST)).code).toBe(2);
  expect(existsSync(file)).toBe(false);
});

test.for([
  [["redact"], "redact needs one digest"],
  [["redact", DIGEST.slice(0, 12)], "redact needs one digest"],
] as const)("a wrong command is explained: %j", async ([args, words]) => {
  expect((await audit(...args)).err).toContain(words);
});

test("a digest without a stored text is reported, and leaves no entry", async () => {
  await written();
  const output = await audit("redact", sha256("another"));
  expect(output.code).toBe(2);
  expect(output.err).toContain("No text is stored under this digest");
  expect((await audit("verify")).out).toContain("Intact: 1 entry");
});
