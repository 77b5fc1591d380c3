// `npm run audit -- report`: the report for an auditor of the control, and the entries behind each number.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { AuditEntry } from "#src/audit/entry.ts";
import { controlReport } from "#src/cli/audit/report.ts";
import { openAuditFile } from "#src/adapters/store/audit-file.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { UserId } from "#src/domain/ids.ts";
import { sha256 } from "../audit/tampering.ts";
import { runCommand } from "../make/run-command.ts";
import { anApproval, anAuditEntry, aRun, NOON, REQUESTER, TEAM } from "../make/run.ts";

const DAY_MS = 86_400_000;
const ALL = { from: NOON - DAY_MS, to: NOON + DAY_MS };

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "audit-report-"));
  file = join(folder, "bot.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = aRun();
const [ben, cat] = ["U0BEN", "U0CAT"].map((user) => ({ team: TEAM, user: UserId(user) }));
const POLICY = "rules:\n  - { name: prod, approvers: anyone }\n  - { name: prod eu, approvers: anyone }\n";
const version = sha256(POLICY).slice(0, 12);

/** Returns the entries of a decision that the service confirmed. `seq` is the number of the first entry. */
function decided(id: string, seq: number, facts: Partial<AuditEntry> = {}, seconds = 10): AuditEntry[] {
  const about = { approval: anApproval(id).id, digest: sha256(id), policy: { version, rule: "prod" } };
  const decision = { by: ben ?? null, verdict: "approve", reason: "fine", ...about, ...facts } as const;
  const at = NOON + seconds * 1_000;
  const moments = { asked: NOON, submitted: at, confirmed: at + 500 };
  return [
    anAuditEntry(run, { ...decision, what: "decided", at, moments }),
    anAuditEntry(run, { ...decision, what: "sent", at, refers: seq }),
    anAuditEntry(run, { ...decision, what: "settled", outcome: "confirmed", at, moments, refers: seq }),
  ];
}

const loaded = anAuditEntry(run, { what: "policy-loaded", run: null, digest: sha256(POLICY), text: POLICY });

async function write(entries: readonly AuditEntry[]): Promise<void> {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  await store.audit(entries);
  await store.close();
}

type Row = { readonly value: string; readonly entries: string };

/** Resolves to the rows of the report by their measure, as in the CSV. */
async function report(period = ALL): Promise<ReadonlyMap<string, Row>> {
  const audit = await openAuditFile(file);
  const csv = await controlReport(audit, { ...period, format: "csv", tampered: false });
  await audit.close();
  const rows = csv.split("\r\n").map((line) => line.split('","').map((cell) => cell.replace(/^"|"$/g, "")));
  return new Map(rows.map(([, measure = "", value = "", , entries = ""]) => [measure, { value, entries }]));
}

test("each number names the entries behind it", async () => {
  await write([
    loaded,
    ...decided("apr_1", 2),
    ...decided("apr_2", 5, { by: cat ?? null, verdict: "deny" }, 20),
    ...decided("apr_3", 8, { by: { team: TEAM, user: REQUESTER } }, 60),
    anAuditEntry(run, { what: "closed", approval: anApproval("apr_4").id, outcome: "expired", by: null }),
    anAuditEntry(run, { what: "refused", step: "click", refusal: "requester" }),
    anAuditEntry(run, { what: "coalesced", times: 7, since: NOON, by: null }),
    anAuditEntry(run, { what: "disputed", refers: 2 }),
  ]);
  const rows = await report();
  expect(Object.fromEntries(rows)).toMatchObject({
    Approvals: { value: "4", entries: "4, 7, 10 to 11" },
    "Events without an entry of their own": { value: "7", entries: "13" },
    Approved: { value: "2", entries: "4, 10" },
    Denied: { value: "1", entries: "7" },
    "Share approved": { value: "66.7%" },
    "Closed undecided": { value: "1", entries: "11" },
    "Approvals sent": { value: "2", entries: "3, 9" },
    "of these by the requester": { value: "1", entries: "9" },
    "From request to decision, median": { value: "20.0 s", entries: "2, 5, 8" },
    "From request to decision, 90th percentile": { value: "60.0 s" },
    "From decision to confirmation, median": { value: "0.5 s" },
    "requester (click)": { value: "1", entries: "12" },
    "Disputed decisions": { value: "1", entries: "14" },
    [`prod (policy ${version})`]: { value: "3", entries: "2, 5, 8" },
    [`Never used: prod eu (policy ${version})`]: { value: "0" },
    "T0ACME:U0BEN approved": { value: "1", entries: "2" },
  });
});

test("only entries in the period are counted, and the policy that was in force at its beginning", async () => {
  const earlier = [loaded, ...decided("apr_1", 2)].map((entry) => ({ ...entry, at: NOON - 40 * DAY_MS }));
  await write([...earlier, anAuditEntry(run, { what: "opened", approval: anApproval("apr_2").id })]);
  const rows = await report();
  expect(rows.get("Approved")).toEqual({ value: "0", entries: "" });
  expect(rows.get("Share approved")?.value).toBe("none");
  expect(rows.get("From request to decision, median")?.value).toBe("none");
  expect(rows.get("Open at the end of the period")).toEqual({ value: "1", entries: "5" });
  expect(rows.has(`Never used: prod (policy ${version})`)).toBe(true);
});

test("an approval by several people counts for each of them, and as one by the requester if they are among them", async () => {
  const voted = { approval: anApproval("apr_1").id, digest: sha256("apr_1"), verdict: "approve" } as const;
  const first = anAuditEntry(run, { ...voted, what: "voted", reason: "", at: NOON });
  const { by, at } = first;
  const votes = [{ entry: 1, by, reason: "", at }];
  await write([
    first,
    ...decided("apr_1", 2).map((entry) => (entry.what === "sent" ? { ...entry, votes } : entry)),
  ]);
  const rows = await report();
  expect(rows.get("of these by several people")).toEqual({ value: "1", entries: "3" });
  expect(rows.get("of these by the requester")).toEqual({ value: "1", entries: "3" });
});

test("the name of a rule cannot end a table cell or create a link or picture", async () => {
  const rule = "prod | 0 | ![x](https://evil.example/a.png) <b>\u202E";
  await write([...decided("apr_1", 1, { policy: { version, rule } })]);
  const audit = await openAuditFile(file);
  const text = await controlReport(audit, { ...ALL, format: "md", tampered: false });
  await audit.close();
  const line = text.split("\n").find((each) => each.includes("evil.example")) ?? "";
  expect(line.replaceAll("\\|", "").split("|")).toHaveLength(6);
  expect(line).toContain(String.raw`\!\[x\](https://evil.example/a.png) \<b\>`);
  expect(line).not.toContain("\u202E");
});

describe("of an audit that was tampered with", () => {
  function change(sql: string): void {
    const db = new DatabaseSync(file);
    db.exec("drop trigger audit_refuses_update");
    db.exec(sql);
    db.close();
  }

  const asked = (...more: readonly string[]) => {
    const args = ["report", "--from", "2026-11-01", "--to", "2026-11-30", ...more];
    return runCommand("audit", args, { env: { DATABASE_URL: `sqlite:${file}` } });
  };

  test("no report is made", async () => {
    await write(decided("apr_1", 1));
    change("update audit set entry = replace(entry, 'U0BEN', 'U0CAT')");
    expect(await asked()).toMatchObject({ code: 1, out: "" });
  });

  test("a report is made with --tampered, which says that it is no evidence and names the rows that are no entries", async () => {
    await write([...decided("apr_1", 1), ...decided("apr_2", 4)]);
    change("update audit set entry = '{}' where seq = 2");
    const { code, out } = await asked("--tampered");
    expect(code).toBe(1);
    expect(out).toContain("NOT VERIFIED");
    expect(out).not.toContain("Verified up to");
    expect(out).toMatch(/\| Rows that cannot be read \| 1 \|.*\| 2 \|/);
    expect(out).toMatch(/\| Approved \| 2 \|/);
  });
});
