// `npm run policy -- explain`: the policy in sentences, and the rules of a stored run's approvals.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { withFollowUp } from "#src/domain/follow-up.ts";
import { RunId } from "#src/domain/ids.ts";
import { observe } from "#src/domain/observe.ts";
import { NO_ONE } from "#src/domain/policy/named-people.ts";
import { runId } from "#src/domain/run.ts";
import { explain } from "#src/cli/policy/explain.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { aSnapshot, contextAt, listedRun } from "../../make/history.ts";
import { policyFile } from "../../make/policy.ts";
import { aWatchedRun, NOON } from "../../make/run.ts";

const POLICY = `rules:
  - { name: elsewhere, when: { channel: C0OTHER, action: "drop *" }, approvers: { users: [U0BEN] } }
  - { name: two, approvers: { users: [U0BEN, U0CAT] }, quorum: 2, hold: 30 s }
`;

test("every rule of the example in docs/policy.md is explained in sentences", async () => {
  const docs = readFileSync(fileURLToPath(new URL("../../../docs/policy.md", import.meta.url)), "utf8");
  const { path } = policyFile(/```yaml\n([^]*?)```/.exec(docs)?.[1] ?? "");
  const { well, lines } = await explain(path, undefined, {});
  const text = lines.join("\n");
  expect(well).toBe(true);
  for (const each of [
    "3. everything else",
    "2 different people must approve",
    "An approval is held for 30 s",
    "After 4 h it is denied",
    'must type "production"',
    "The card mentions U0BEN.",
    "A request that matches no rule can't be decided.",
  ])
    expect(text).toContain(each);
});

test("a rule explains in sentences what happens while its request waits", async () => {
  const { path } = policyFile(`hours: { tz: Europe/Berlin, days: mon-fri, from: "08:00", to: "20:00" }
rules:
  - name: production
    approvers: { users: [U0BEN] }
    remind: { after: 15 min }
    escalate: [{ after: 30 min, to: { groups: [S0ONCALL] } }, { after: 2 h, call: { channel: C0LEADS } }, { after: 3 h, call: { users: [U0ANN], groups: [S0DUTY] } }]
    claim: 45 min
    question: { pause: 2 h }
    expiry: { after: 4 h, extend: { by: 30 min, at-most: 1 h } }
  - { name: rest, approvers: anyone, urgent: true, remind: { after: 1 h } }
`);
  const { lines } = await explain(path, undefined, {});
  const text = lines.join("\n");
  for (const each of [
    "after 15 min, then after twice as long each time, at most 4 times",
    "After 30 min, members of S0ONCALL may decide too",
    "After 2 h, a message in C0LEADS calls its members, but does not let them decide",
    "After 3 h, a message in the thread mentions U0ANN, members of S0DUTY, but does not let them decide",
    "from 08:00 to 20:00 (Europe/Berlin)",
    "when a quarter of the time is left",
    "It is urgent",
    '"I\'m looking at it" lasts 45 min',
    "stops its clocks for at most 2 h",
    "by 30 min, by at most 1 h in total",
  ])
    expect(text).toContain(each);
});

test("a rule names the people of a stage who may only deny", async () => {
  const { path } = policyFile(`rules:
  - name: production
    approvers: { all-of: [{ groups: [S0SRE] }, { users: [U0BEN] }] }
    escalate: [{ after: 30 min, to: { groups: [S0SRE, S0ONCALL] } }]
`);
  const text = (await explain(path, undefined, {})).lines.join("\n");
  expect(text).toContain("After 30 min, members of S0SRE may decide too");
  expect(text).toContain("After 30 min, members of S0ONCALL may deny, but not approve");
});

test("a policy is described in full, in a fixed order", async () => {
  const { path } = policyFile(`hours: { tz: Europe/Berlin, days: mon-fri, from: "08:00", to: "20:00" }
rules:
  - name: production
    when: { channel: C0OPS, action: "drop *" }
    approvers: { all-of: [{ name: Operations, groups: [S0SRE] }, { users: [U0BEN] }], except: { users: [U0CAT] } }
    self-approval: false
    reason: { approve: 1, deny: 20 }
    quorum: 3
    hold: 30 s
    expiry: { after: 4 h, outcome: deny, extend: { by: 30 min, at-most: 1 h } }
    friction: { read-first: true, type: production }
    deny-reasons: [Not now, Wrong target]
    mention: { groups: [S0SRE] }
    remind: { after: 15 min }
    claim: 45 min
    question: { pause: 2 h }
    receipt: at-once
  - { name: rest, approvers: anyone, self-approval: true, mention: nobody }
starters: [{ channels: [C0OPS], who: anyone }]
tasks:
  - { name: deploy, description: Deploys, text: "Deploy {service}", fields: { service: { label: Service } } }
volatile: [polled_at]
fallback: C0LEADS
card: { risk: [danger] }
auditors: { users: [U0DEE] }
freezers: { users: [U0EVE] }
look-back: { day: fri, at: "16:00", tz: Europe/Berlin }
`);
  const { lines } = await explain(path, undefined, {});
  expect(`${lines.join("\n")}\n`).toBe(`1. production
   Applies if the channel is C0OPS, and the action is "drop *".
   May be decided by U0BEN, members of S0SRE, but not by U0CAT, never by the requester.
   3 different people must approve; one denial ends it.
   One approval must come from each of these: Operations (members of S0SRE); U0BEN.
   Reason to approve: at least 1 character; to deny: at least 20 characters.
   The form for a denial offers: "Not now", "Wrong target".
   The approver must read the request first. Pressing Approve opens it.
   The approver must type "production".
   An approval is held for 30 s and can be undone until then.
   After 4 h it is denied.
   Reminds the people who can decide after 15 min, then after twice as long each time, at most 4 times.
   The last reminder comes when a quarter of the time is left, at most 15 min before the end.
   People are reminded and called on mon, tue, wed, thu, fri from 08:00 to 20:00 (Europe/Berlin); outside these hours messages wait.
   "I'm looking at it" lasts 45 min.
   A question to the requester stops its clocks for at most 2 h.
   Anyone who may decide can extend its time by 30 min, by at most 1 h in total.
   Each person who decides gets a receipt at once, as a separate message.
   The card mentions S0SRE.
2. rest
   Applies to every request.
   May be decided by every full member who sees the card, including the requester.
   One person must approve; one denial ends it.
   Reason to approve: optional; to deny: at least 1 character.
   It waits as long as the service lists it.
   The card mentions no one.
A request that matches no rule can't be decided.
Runs may be started and watched in C0OPS by every full member who sees the channel.
Saved task deploy: "Deploy {service}", for everyone who may start runs, in every channel. Asks for Service.
These fields may change without notice: polled_at.
C0LEADS is also notified if a request has no one who can approve it.
The audit of a run may be read by ADMINS and U0DEE.
A freeze may be set and lifted by ADMINS and U0EVE, but no one may lift their own.
The audit channel gets a look back at the week on fri at 16:00 (Europe/Berlin).
`);
});

test("the conditions of a rule are told as a sentence", async () => {
  const { path } = policyFile(`rules:
  - name: refunds
    when:
      channel: [C0OPS, C0RANDOM]
      requester: { users: [U0ANA], groups: [S0SUPPORT] }
      input: "*refund*"
      field: { tool: [refund, charge], amount: "> 100" }
      hours: { tz: Europe/Berlin, days: mon-fri, from: "08:00", to: "20:00" }
    approvers: anyone
  - { name: rest, approvers: anyone }
`);
  expect((await explain(path, undefined, {})).lines.join("\n")).toContain(
    '   Applies if the channel is C0OPS or C0RANDOM, the requester is U0ANA or a member of S0SUPPORT, the input is "*refund*", the field tool is "refund" or "charge", the field amount is > 100, and the time is mon, tue, wed, thu, fri from 08:00 to 20:00 (Europe/Berlin).',
  );
});

test("whoever may start runs is not said to see a card, which does not exist then", async () => {
  const rules = "rules: [{ name: all, approvers: { users: [U0BEN] } }]";
  const told = async (more: string): Promise<string> =>
    (await explain(policyFile(`${rules}\n${more}`).path, undefined, {})).lines.join("\n");
  const full = "every full member who sees the channel";
  expect(await told("")).toContain(`Runs may be started and watched in every channel by ${full}.`);
  const starters = await told("starters: [{ who: anyone }, { channels: [C0OPS], who: { users: [U0ANA] } }]");
  expect(starters).toContain(
    `Runs may be started and watched in every channel by ${full}; in C0OPS by U0ANA.`,
  );
  const task = "{ name: deploy, description: Deploys, text: Deploy it, who: anyone }";
  expect(await told(`tasks: [${task}]`)).toContain(
    '"Deploy it", for everyone who may start runs, in every channel',
  );
});

async function storeInFile() {
  const folder = mkdtempSync(join(tmpdir(), "countersign-explain-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const url = `sqlite:${join(folder, "a.db")}`;
  const store = await openStore({ url, owner: "bot" });
  onTestFinished(() => store.close());
  return { url, store };
}

test("a stored run's approvals are listed with their rule, while a bot has the database open", async () => {
  const { url, store } = await storeInFile();
  const run = listedRun("apr_1");
  await store.insert(run, {});
  const env = { DATABASE_URL: url, POLICY_FILE: policyFile(POLICY).path };
  const { well, lines } = await explain(runId(run) ?? "", undefined, env);
  expect(well).toBe(true);
  expect(lines.join("\n")).toContain("not elsewhere: channel, action does not match");
  expect(lines.join("\n")).toContain("two applies: U0BEN, U0CAT may decide");
  expect(await explain("run_nobody_knows", undefined, env)).toMatchObject({ well: false });
});

test.each([
  [false, "names the file /nowhere/policy-path, which cannot be read: there is no such file."],
  [true, "is set beside POLICY_FILE: leave one of them out."],
])(
  "no policy is explained in place of the one in a POLICY_FILE_FILE that cannot be used",
  async (beside, wrong) => {
    const { url, store } = await storeInFile();
    const run = listedRun("apr_1");
    await store.insert(run, {});
    const { path } = policyFile(POLICY);
    const both = { POLICY_FILE_FILE: "/nowhere/policy-path", ...(beside ? { POLICY_FILE: path } : {}) };
    const env = { DATABASE_URL: url, ...both };
    expect(await explain(runId(run) ?? "", undefined, env)).toEqual({
      well: false,
      lines: [
        `There is no file "${runId(run)}", so it was taken for the id of a run.`,
        `POLICY_FILE_FILE ${wrong} Correct it, or name the policy file after the run.`,
      ],
    });
    expect(await explain(runId(run) ?? "", path, env)).toMatchObject({ well: true });
  },
);

test("a mistyped name of a policy file is reported as such, whatever fails then", async () => {
  const { url } = await storeInFile();
  const taken = 'There is no file "polcy.yaml", so it was taken for the id of a run.';
  for (const [DATABASE_URL, then] of [
    [url, "The database has no run with this id. Check the name and DATABASE_URL."],
    ["sqlite:/nowhere/bot.db", "The database can't be read: cannot use the database /nowhere/bot.db"],
    ["nothing", "Countersign cannot start with this configuration:"],
  ] as const) {
    const { well, lines } = await explain("polcy.yaml", undefined, { DATABASE_URL });
    expect([well, ...lines]).toEqual([false, taken, expect.stringContaining(then)]);
  }
  const { lines } = await explain(`a\n${"b".repeat(500)}`, undefined, { DATABASE_URL: url });
  expect(lines[0]).toMatch(/^There is no file "a b+… \(\d+ more\)", so/);
});

test("ids of the service are shown on one line, without control characters", async () => {
  const { url, store } = await storeInFile();
  const id = RunId(`run\u001B[2J\n${"x".repeat(200)}`);
  const watched = aWatchedRun(id);
  await store.insert(observe(watched, aSnapshot(watched, ["apr\u001B[2J\nall is well"]), contextAt()), {});
  const { lines } = await explain(id, policyFile(POLICY).path, { DATABASE_URL: url });
  expect(lines.join("")).not.toMatch(/\p{Cc}/u);
  expect(lines[0]).toMatch(/^run⟨U\+001B⟩\[2J x+… \(\d+ more\), requested by /);
  expect(lines[1]).toMatch(/^apr⟨U\+001B⟩\[2J all is well \(pending\): /);
});

test("the people of a stage that a stored request has reached are named", async () => {
  const { url, store } = await storeInFile();
  const listed = listedRun("apr_1");
  const stages = [{ afterMs: 900_000, at: NOON, age: 900_000, called: NO_ONE }];
  const approvals = listed.approvals.map((approval) => withFollowUp(approval, { stages }));
  await store.insert({ ...listed, approvals }, {});
  const { path } = policyFile(`rules:
  - name: everything
    approvers: { users: [U0ANN] }
    escalate: [{ after: 15 min, to: { users: [U0BEN] } }, { after: 30 min, to: { users: [U0CAT] } }]
`);
  const { lines } = await explain(runId(listed) ?? "", path, { DATABASE_URL: url });
  expect(lines.slice(-2)).toEqual([
    "   everything applies: U0ANN may decide",
    "   it is escalated: U0BEN may decide too",
  ]);
});

test("a policy that can't be used is reported with the lines of its faults", async () => {
  const { path } = policyFile("rules: []");
  expect(await explain(path, undefined, {})).toMatchObject({
    well: false,
    lines: [expect.stringContaining(`${path}:1: rules is empty`)],
  });
});
