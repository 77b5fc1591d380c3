// The evidence of a run: who gets it, what it contains, and the audit entry that says it was given out.

import { expect, test } from "vitest";
import { commandRefusalWords } from "#src/adapters/slack/blocks/command-refusal-words.ts";
import { entryStory } from "#src/audit/narrative.ts";
import { RunId, UserId } from "#src/domain/ids.ts";
import { ADMIN, type Bench, createBench, failure } from "../make/bot.ts";
import { lastEntry } from "../make/last-entry.ts";
import { APPROVER, CHANNEL, REQUESTER, TEAM } from "../make/run.ts";

const asks = (user: UserId) => ({ team: TEAM, user, channel: CHANNEL });
const STRANGER = UserId("U0STRANGER");

async function decided(bench: Bench) {
  const card = await bench.withCard();
  const opened = await bench.flow.openForm.open(card.click, "approve");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  await bench.flow.submitDecision({ team: TEAM, user: APPROVER }, opened.value.ticket.nonce, "go \u202E on");
  await bench.clock.pass(2_000);
  return card;
}

const last = ({ store }: Bench) => lastEntry(store);

test("an admin gets everything that is known about the run, and an entry says so, in the file too", async () => {
  const bench = await createBench();
  const { id } = await decided(bench);
  const evidence = await bench.flow.exportEvidence(asks(ADMIN), id);
  const [file] = bench.notificationSender.given;
  expect(file).toMatchObject({ to: ADMIN, name: `evidence-${id}.txt` });
  const text = file?.text ?? "";
  for (const words of [
    "opened the form to approve",
    "approved",
    "confirmed",
    "delete it",
    "asked for the audit of the run; it is about to be sent",
  ])
    expect(text).toContain(words);
  expect(text).not.toContain("\u202E");
  const proofs = text.split("\n").filter((line) => line.startsWith("{"));
  expect(evidence).toEqual({ ok: true, value: proofs.length });
  for (const line of proofs) expect(Object.keys(JSON.parse(line) as object)).toContain("signature");
  expect(await last(bench)).toMatchObject({ what: "audit-read", by: { user: ADMIN }, runId: id });
});

test.for([
  ["a stranger", STRANGER, "not-auditor"],
  ["the requester", REQUESTER, "own-audit"],
  ["the approver", APPROVER, "own-audit"],
] as const)("%s is refused with a message of its own, and an entry says so", async ([, user, because]) => {
  const bench = await createBench();
  const { id } = await decided(bench);
  expect(await bench.flow.exportEvidence(asks(user), id)).toEqual({ ok: false, error: { type: because } });
  expect(bench.notificationSender.given).toEqual([]);
  expect(await last(bench)).toMatchObject({ what: "refused", step: "audit", refusal: because, runId: id });
  expect(bench.refusals).toContain(because);
});

test("a person who may not read the audit does not learn which runs exist", async () => {
  const bench = await createBench();
  const no = await bench.flow.exportEvidence(asks(STRANGER), RunId("run_nobody_knows"));
  expect(no).toEqual({ ok: false, error: { type: "not-auditor" } });
});

test("a guest is refused even if named, and everyone is refused while Slack does not say who they are", async () => {
  const bench = await createBench();
  const { id } = await decided(bench);
  bench.people.facts = { kind: "guest" };
  expect(await bench.flow.exportEvidence(asks(ADMIN), id)).toMatchObject({ error: { type: "guest" } });
  bench.people.before = () => Promise.reject(failure("timeout"));
  expect(await bench.flow.exportEvidence(asks(ADMIN), id)).toMatchObject({
    error: { type: "unverified" },
  });
  expect(bench.notificationSender.given).toEqual([]);
});

test("a run that the audit does not know is reported as that, and a file about attempts with its id says so first", async () => {
  const bench = await createBench();
  const unknown = { ok: false, error: { type: "unknown-run", in: "audit" } };
  const id = RunId("run_nobody_knows");
  expect(await bench.flow.exportEvidence(asks(ADMIN), id)).toEqual(unknown);
  // The refused attempt has an entry.
  expect(await bench.flow.exportEvidence(asks(ADMIN), id)).toEqual({ ok: true, value: 2 });
  const [file] = bench.notificationSender.given;
  for (const words of [file?.text, file?.says])
    expect(words).toMatch(/^The audit knows no run with this id\./);
  for (const words of ["", "it was a mis-tap"])
    expect(await bench.flow.closeDispute(asks(ADMIN), id, words)).toEqual(unknown);
  const { id: known } = await decided(bench);
  expect(await bench.flow.closeDispute(asks(ADMIN), known, "")).toMatchObject({
    error: { type: "nothing-disputed" },
  });
  await bench.flow.exportEvidence(asks(ADMIN), known);
  expect(bench.notificationSender.given[1]?.text).toMatch(/^Evidence of run/);
});

test("a file that fails below its announcement is not recorded as received, and its reader learns that it may be missing", async () => {
  const bench = await createBench();
  const { id } = await decided(bench);
  const announced: string[] = [];
  bench.notificationSender.file = (_to, { says }) => {
    announced.push(says);
    return Promise.reject(failure("http_500"));
  };
  const refused = await bench.flow.exportEvidence(asks(ADMIN), id);
  expect(refused).toEqual({ ok: false, error: { type: "not-sent" } });
  expect(announced).toHaveLength(1);
  const words = commandRefusalWords({ type: "not-sent" }, "/agent");
  expect(words).toContain("it may be missing, even below a message that announces it");
  expect(words).not.toContain("nothing was sent");
  const [read, refusal] = (await bench.store.auditOfRun(id)).slice(-2);
  expect([read?.entry, refusal?.entry]).toMatchObject([
    { what: "audit-read", outcome: "sending", by: { user: ADMIN } },
    { what: "refused", step: "audit", refusal: "not-sent", by: { user: ADMIN } },
  ]);
  expect(read === undefined ? "" : entryStory(read)).not.toContain("received");
});

test("a store that fails while the evidence is written is not reported as Slack's doing", async () => {
  const bench = await createBench();
  const { id } = await decided(bench);
  bench.store.auditProof = () => Promise.reject(failure("SQLITE_IOERR"));
  await expect(bench.flow.exportEvidence(asks(ADMIN), id)).rejects.toMatchObject({ code: "SQLITE_IOERR" });
  expect(bench.notificationSender.given).toEqual([]);
});

test("a forgotten run still has its evidence", async () => {
  const bench = await createBench();
  const { id } = await decided(bench);
  await bench.flow.adoptRun.unwatch(asks(APPROVER), id);
  await bench.clock.pass(60_000);
  await bench.store.forget(bench.clock.now() + 1);
  expect(await bench.store.byRunId(id)).toBeNull();
  expect(await bench.flow.exportEvidence(asks(ADMIN), id)).toMatchObject({ ok: true });
  expect(bench.notificationSender.given[0]?.text).toContain("delete it");
});

test("an acknowledgment, which lets approvals leave, rests on fresh facts about the admin", async () => {
  const bench = await createBench();
  const ages: number[] = [];
  bench.people.before = (maxAgeMs) => Promise.resolve(void ages.push(maxAgeMs));
  const done = await bench.flow.acknowledge(asks(ADMIN), "code", "I restored a row");
  expect(done).toEqual({ ok: false, error: { type: "nothing-to-acknowledge" } });
  expect(ages).toEqual([5_000]);
});
