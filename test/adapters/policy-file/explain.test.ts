// `npm run policy -- explain`: the policy in sentences, and the rules of a stored run's approvals.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { runId } from "#src/domain/run.ts";
import { explain } from "#src/cli/policy/explain.ts";
import { openStore } from "#src/adapters/store/open.ts";
import { listedRun } from "../../make/history.ts";
import { policyFile } from "../../make/policy.ts";

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
    escalate: [{ after: 30 min, to: { groups: [S0ONCALL] } }, { after: 2 h, call: { channel: C0LEADS } }]
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
    "After 2 h, members of C0LEADS get a call, which gives them no right to decide",
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

test("a stored run's approvals are listed with their rule, while a bot has the database open", async () => {
  const folder = mkdtempSync(join(tmpdir(), "countersign-explain-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const url = `sqlite:${join(folder, "a.db")}`;
  const store = await openStore({ url, owner: "bot" });
  onTestFinished(() => store.close());
  const run = listedRun("apr_1");
  await store.insert(run, {});
  const env = { DATABASE_URL: url, POLICY_FILE: policyFile(POLICY).path };
  const { well, lines } = await explain(runId(run) ?? "", undefined, env);
  expect(well).toBe(true);
  expect(lines.join("\n")).toContain("not elsewhere: channel, action does not match");
  expect(lines.join("\n")).toContain("two applies: U0BEN, U0CAT may decide");
  expect(await explain("run_nobody_knows", undefined, env)).toMatchObject({ well: false });
});

test("a policy that can't be used is reported with the lines of its faults", async () => {
  const { path } = policyFile("rules: []");
  expect(await explain(path, undefined, {})).toMatchObject({
    well: false,
    lines: [expect.stringContaining(`${path}:1: rules is empty`)],
  });
});
