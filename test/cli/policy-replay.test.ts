// `npm run policy -- replay`: past requests under another policy, judged by the evaluator for live requests.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { AuditEntry } from "#src/audit/entry.ts";
import { replayPolicy } from "#src/cli/policy/replay.ts";
import { RunId, UserId } from "#src/domain/ids.ts";
import { canonicalJson, type Json } from "#src/domain/json.ts";
import type { Run } from "#src/domain/run.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { sha256 } from "../audit/tampering.ts";
import { policyFile } from "../make/policy.ts";
import { anApproval, anAuditEntry, aRun, NOON } from "../make/run.ts";

let folder = "";
let file = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "replay-"));
  file = join(folder, "bot.db");
});
afterEach(() => rmSync(folder, { recursive: true }));

const BEN = UserId("U0BEN");
const OLD = "rules:\n  - { name: everything, approvers: anyone }\nvolatile: [polled_at]\n";
const DAY_MS = 86_400_000;

type Asked = { readonly id: string; readonly content: Json; readonly run: Run; readonly reason?: string };

function request(id: string, content: Json): Partial<AuditEntry> {
  const text = canonicalJson(["run_7", id, content]);
  return { approval: anApproval(id).id, digest: sha256(text), text, runId: RunId("run_7") };
}

/** Entries of a request that Ben approved and that was sent. */
function approved({ id, content, run, reason = "" }: Asked, seq: number): AuditEntry[] {
  const { text: _text, ...about } = request(id, content);
  const by = { team: run.team, user: BEN };
  const policy = { version: sha256(OLD).slice(0, 12), rule: "everything" };
  const facts = { ...about, by, verdict: "approve", reason, policy } as const;
  return [
    anAuditEntry(run, { ...request(id, content), ...facts, what: "decided" }),
    anAuditEntry(run, { ...facts, what: "sent", refers: seq }),
  ];
}

async function write(entries: readonly AuditEntry[]): Promise<void> {
  const store = await openStore({ url: `sqlite:${file}`, owner: "test" });
  await store.audit(entries);
  await store.close();
}

/** Entries of the policy and the task of a run, followed by one approved request for each of these contents. */
const history = (run: Run, ...contents: readonly Json[]): AuditEntry[] => [
  anAuditEntry(run, { what: "policy-loaded", run: null, digest: sha256(OLD), text: OLD }),
  anAuditEntry(run, { digest: sha256("ship it"), text: "ship it" }),
  ...contents.flatMap((content, at) => approved({ id: `apr_${at}`, content, run }, 3 + 2 * at)),
];

async function replayed(policy: string, ...more: readonly string[]) {
  const { path } = policyFile(policy);
  const { code, lines } = await replayPolicy([path, ...more], { DATABASE_URL: `sqlite:${file}` }, NOON);
  return { code, out: lines.join("\n") };
}

const NEW = `rules:
  - { name: two, when: { action: "deploy *" }, approvers: { users: [U0BEN, U0CAT] }, quorum: 2 }
  - { name: alone, when: { action: "drop *" }, approvers: { users: [U0REQUESTER] } }
  - { name: team, when: { action: "team *" }, approvers: { groups: [S0TEAM] } }
  - { name: everything, approvers: anyone }
`;

test("names the requests that would match another rule, need more people, or have too few approvers", async () => {
  const contents = ["deploy it", "drop it", "read it"].map((action) => ({ action }));
  await write(history(aRun(), ...contents));
  const { code, out } = await replayed(NEW);
  expect(code).toBe(0);
  expect(out).toContain(
    "Of 3 requests, 2 would fall under another rule; 1 would need more people, 1 would have too few approvers.",
  );
  expect(out).toContain(
    "Of 3 requests that were approved and sent, 2 would not have had enough valid approvals under this policy.",
  );
  expect(out).toContain("run_7 in C0OPS, requested by U0REQUESTER");
  expect(out).toMatch(/apr_0 \(deploy it\): everything → two; .*1 → 2 people; .*too few people/);
  expect(out).not.toContain("apr_2 (");
});

test("an approval whose reason is too short for the policy was not enough for it", async () => {
  const run = aRun();
  const asked = { content: { action: "deploy it" }, run };
  await write([
    ...history(run),
    ...approved({ ...asked, id: "apr_1", reason: "ok" }, 3),
    ...approved({ ...asked, id: "apr_2", reason: "the release is tested" }, 5),
  ]);
  const { out } = await replayed(
    "rules:\n  - { name: everything, approvers: anyone, reason: { approve: 10, deny: 10 } }\n",
  );
  expect(out).toContain(
    "Of 2 requests that were approved and sent, 1 would not have had enough valid approvals under this policy.",
  );
  expect(out).toMatch(/apr_1 \(deploy it\): .*too short a reason/);
  expect(out).not.toMatch(/apr_2 .*too short a reason/);
});

test("the policy of the time changes nothing, and a laxer policy is reported as laxer", async () => {
  await write(history(aRun(), { action: "deploy it" }));
  expect((await replayed(OLD)).out).toContain("Of 1 request, 0 would fall under another rule");
  const lax = await replayed("rules:\n  - { name: everything, approvers: anyone, self-approval: true }\n");
  expect(lax.out).toContain("0 would be harder to approve, 1 easier.");
});

const loaded = (text: string, at = NOON): AuditEntry =>
  anAuditEntry(aRun(), { at, what: "policy-loaded", run: null, digest: sha256(text), text });
const named = (text: string, rule: string): Partial<AuditEntry> => ({
  policy: { version: sha256(text).slice(0, 12), rule },
});

test("a request that closed is judged by the policy at its end, although a form was opened under another one", async () => {
  const run = aRun();
  const about = request("apr_1", { action: "deploy it" });
  await write([
    loaded(OLD),
    anAuditEntry(run, { ...about, ...named(OLD, "everything"), what: "opened" }),
    loaded(NEW),
    anAuditEntry(run, { ...about, what: "closed" }),
  ]);
  const { out } = await replayed(NEW);
  expect(out).toContain("Of 1 request, 0 would fall under another rule");
  expect(out).toContain("0 would be harder to approve, 0 easier.");
});

const BY_DAY = `rules:
  - { name: day, when: { hours: { tz: UTC, days: mon-sun, from: "08:00", to: "20:00" } }, approvers: anyone }
  - { name: night, approvers: { users: [U0BEN] } }
`;

test("a decision that left later is judged by the policy and the time at which it was made", async () => {
  const run = aRun();
  const [decided, sent] = approved({ id: "apr_1", content: { action: "deploy it" }, run }, 2);
  if (decided === undefined || sent === undefined) throw new Error("nothing was decided");
  const night = NOON + 10 * 3_600_000;
  await write([
    loaded(BY_DAY),
    { ...decided, ...named(BY_DAY, "day") },
    loaded(NEW, night),
    { ...sent, ...named(BY_DAY, "day"), at: night, moments: { submitted: NOON, sent: night } },
  ]);
  const { out } = await replayed(BY_DAY);
  expect(out).toContain("Of 1 request, 0 would fall under another rule");
  expect(out).toContain("0 would be harder to approve, 0 easier.");
});

test.each([
  ["a field that was volatile", "field: { polled_at: now }", "ship it"],
  ["a task that is erased", 'input: "ship *"', null],
])(
  "an old rule that depends on %s is the one that the entry names, or unknown",
  async (_fact, when, task) => {
    const rule = "{ name: known, approvers: { users: [U0BEN] } }";
    const old = `rules:
  - { name: known, when: { ${when} }, approvers: { users: [U0BEN] } }
  - { name: rest, approvers: { users: [U0CAT] }, quorum: 1 }
volatile: [polled_at]
`;
    const run = aRun();
    const stored = task === null ? {} : { text: task };
    await write([
      loaded(old),
      anAuditEntry(run, { digest: sha256("ship it"), ...stored }),
      anAuditEntry(run, { ...request("apr_1", { action: "a" }), ...named(old, "known"), what: "opened" }),
      anAuditEntry(run, { ...request("apr_2", { action: "b" }), what: "closed" }),
    ]);
    const { out } = await replayed(`rules:\n  - ${rule}\n`);
    expect(out).toContain("Of 2 requests, 0 would fall under another rule");
    expect(out).toContain("0 would be harder to approve, 0 easier.");
    expect(out).toContain("1 request: the policy of that time, or a fact that it depends on, is unknown");
  },
);

test("requires an approval from each part of a rule, and ignores people whom the rule excepts", async () => {
  await write(history(aRun(), { action: "deploy it" }, { action: "drop it" }));
  const { out } = await replayed(`rules:
  - { name: parts, when: { action: "deploy *" }, approvers: { all-of: [{ users: [U0BEN, U0EVE] }, { users: [U0CAT] }] } }
  - { name: others, when: { action: "drop *" }, approvers: { users: [U0BEN, U0CAT], except: { users: [U0BEN] } } }
  - { name: everything, approvers: anyone }
`);
  expect(out).toContain(
    "Of 2 requests, 2 would fall under another rule; 1 would need more people, 0 would have",
  );
  expect(out).toContain(
    "Of 2 requests that were approved and sent, 2 would not have had enough valid approvals under this policy.",
  );
  expect(out).toMatch(/apr_0 \(deploy it\): everything → parts; .*1 → 2 people; .*too few people/);
  expect(out).toMatch(/apr_1 \(drop it\): everything → others; .*a person who may not approve/);
});

test("compares numbers to choose the rule, and reports a doubt if a group of the requester is unknown", async () => {
  await write(history(aRun(), { amount: 50 }, { amount: 500 }));
  const numbers = (when: string): string =>
    `rules:\n  - { name: small, when: { ${when} field: { amount: "<= 100" } }, approvers: anyone }\n` +
    "  - { name: everything, approvers: { users: [U0BEN] } }\n";
  const { out } = await replayed(numbers(""));
  expect(out).toContain("Of 2 requests, 1 would fall under another rule");
  expect(out).not.toContain(": not judged");
  const grouped = await replayed(numbers("requester: { groups: [S0TEAM] },"));
  expect(grouped.out).toContain("1 request: not judged, because Slack did not say whether");
});

test("a person whom a reached stage let in may approve, unless the request has changed since", async () => {
  const run = aRun();
  const [content, changed] = [{ action: "deploy it" }, { action: "drop it" }];
  const stage = { what: "escalated", stageMs: 900_000 } as const;
  await write([
    ...history(run),
    anAuditEntry(run, { ...request("apr_0", content), ...stage }),
    anAuditEntry(run, { ...request("apr_1", content), ...stage }),
    ...approved({ id: "apr_0", content, run }, 5),
    ...approved({ id: "apr_1", content: changed, run }, 7),
  ]);
  const rule = (after: string): string =>
    `rules:\n  - { name: everything, approvers: { users: [U0ANN] }, quorum: 1, escalate: [{ after: ${after}, to: { users: [U0BEN] } }] }\n`;
  const { out } = await replayed(rule("15 min"));
  expect(out).toContain(
    "Of 2 requests that were approved and sent, 1 would not have had enough valid approvals under this policy.",
  );
  expect(out).not.toMatch(/apr_0 .*a person who may not approve/);
  expect(out).toMatch(/apr_1 .*a person who may not approve/);
  expect((await replayed(rule("20 min"))).out).toContain(
    "sent, 2 would not have had enough valid approvals under this policy.",
  );
  const two = await replayed(rule("15 min").replace("quorum: 1", "quorum: 2"));
  expect(two.out).toContain("2 would need more people, 1 would have too few approvers.");
});

test("a request is not judged if its rule depends on an unknown group of the requester", async () => {
  await write(history(aRun(), { action: "deploy it" }, { action: "read it" }));
  const grouped = `rules:
  - { name: contractors, when: { action: "deploy *", requester: { groups: [S0TEAM] } }, approvers: { users: [U0CAT, U0DEE] }, quorum: 2 }
  - { name: everything, approvers: { users: [U0BEN] } }
`;
  const { out } = await replayed(grouped);
  expect(out).toContain(
    "Of 1 request, 0 would fall under another rule; 0 would need more people, 0 would have too few approvers.",
  );
  expect(out).toContain(
    "Of 1 request that was approved and sent, 0 would not have had enough valid approvals under this policy.",
  );
  expect(out).toContain(
    "1 request: not judged, because Slack did not say whether their requester is in a group",
  );
});

test("a person must be among the approvers of each rule that an ambiguous request must meet", async () => {
  await write(history(aRun(), { action: ["read it", "deploy it"] }, { action: ["read it", "drop it"] }));
  const { out } = await replayed(`rules:
  - { name: read, when: { action: "read *" }, approvers: { users: [U0BEN] } }
  - { name: deploy, when: { action: "deploy *" }, approvers: { groups: [S0TEAM], users: [U0CAT] }, hold: 5s }
  - { name: everything, approvers: { users: [U0BEN, U0CAT] }, hold: 1s }
`);
  // Nobody can say offline whether Ben is in the team.
  expect(out).toContain("1 request: without SLACK_BOT_TOKEN it is unknown who is in the groups");
  expect(out).toContain("0 would have too few approvers");
  expect(out).not.toMatch(/apr_[01] .*a person who may not approve/);
});

test("applies the stricter rule to an ambiguous request, as for a live request", async () => {
  await write(history(aRun(), { action: ["read it", "deploy it"] }));
  const { out } = await replayed(NEW);
  expect(out).toContain("1 would need more people");
});

test("says what it cannot judge: erased texts, volatile fields, groups without a token, and counted closings", async () => {
  const run = aRun();
  const gone = anAuditEntry(run, {
    approval: anApproval("apr_9").id,
    what: "closed",
    digest: sha256("never stored"),
  });
  const counted = anAuditEntry(run, { what: "coalesced", times: 40, since: NOON });
  await write([...history(run, { action: "team work" }), gone, counted]);
  const { out } = await replayed(NEW);
  expect(out).toContain("1 request: not judged, because the audit does not have their text");
  expect(out).toContain("1 request: without SLACK_BOT_TOKEN it is unknown who is in the groups");
  expect(out).toContain("40 events have no entry of their own");
  const asksVolatile = await replayed(
    "rules:\n  - { name: polled, when: { field: { polled_at: now } }, approvers: anyone }\n",
  );
  expect(asksVolatile.out).toContain("1 request: not judged, because the policy depends on a field that was");
});

test("ignores requests older than --since", async () => {
  const run = aRun();
  await write(history(run, { action: "deploy it" }).map((entry) => ({ ...entry, at: NOON - 31 * DAY_MS })));
  expect((await replayed(NEW)).out).toContain("Of 0 requests");
  expect((await replayed(NEW, "--since", "32d")).out).toContain("Of 1 request,");
  expect((await replayed(NEW, "--since", "2026-10-01")).out).toContain("Of 1 request,");
  expect((await replayed(NEW, "--since", "soon")).code).toBe(2);
});

test("replays nothing from an audit that was tampered with", async () => {
  await write(history(aRun(), { action: "deploy it" }));
  const db = new DatabaseSync(file);
  db.exec("drop trigger audit_refuses_update");
  db.exec("update audit set entry = replace(entry, 'everything', 'two') where seq = 3");
  db.close();
  const { code, out } = await replayed(NEW);
  expect(code).toBe(1);
  expect(out).toContain("TAMPERED at entry 3");
  expect(out).not.toContain("another rule");
});
