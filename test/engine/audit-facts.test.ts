// An entry speaks for itself: it names the run, its channel and its requester, and the task by digest.

import { expect, test } from "vitest";
import type { Decision } from "#src/domain/approval.ts";
import { ChannelId, UserId } from "#src/domain/ids.ts";
import { BUILT_IN } from "#src/domain/policy/policy.ts";
import { auditOfSending } from "#src/audit/run-diff.ts";
import { type KeptEntry, policyLoadedEntry } from "#src/audit/entry.ts";
import { entryStory, runStory } from "#src/audit/narrative.ts";
import { ADMIN, type Bench, createBench } from "../make/bot.ts";
import {
  anApproval,
  anAuditEntry,
  aNonce,
  APPROVER,
  aRunId,
  aWatchedRun,
  CHANNEL,
  NOON,
  REQUESTER,
  TEAM,
  withApprovals,
} from "../make/run.ts";

function failed(why: string): never {
  throw new Error(why);
}

const BY = { team: TEAM, user: APPROVER };
const HERE = { ...BY, channel: CHANNEL };
const ASKED_FOR = { channel: CHANNEL, requester: { team: TEAM, user: REQUESTER } };

async function all({ store }: Bench): Promise<KeptEntry["entry"][]> {
  const head = (await store.auditHead())?.seq ?? 0;
  const entries = await Promise.all(Array.from({ length: head }, (_, index) => store.auditEntry(index + 1)));
  return entries.flatMap((each) => (each === null ? [] : [each.entry]));
}

test("every entry of a run names the run, its channel and its requester, whoever acted", async () => {
  const bench = await createBench();
  const { id, click } = await bench.withCard();
  const opened = await bench.flow.openForm.open(click, "approve");
  if (!opened.ok) throw new Error(opened.error.refusal.type);
  await bench.flow.openForm.open({ ...click, user: REQUESTER }, "approve");
  await bench.flow.submitDecision(BY, opened.value.ticket.nonce, "go");
  await bench.clock.pass(20_000);
  const receipt = bench.notificationSender.posted.find(({ notification }) => notification.kind === "receipt");
  await bench.flow.dispute(BY, receipt?.notification.id ?? aNonce());
  bench.people.channels = new Set();
  await bench.flow.adoptRun.unwatch(HERE, id);
  await bench.flow.exportEvidence({ ...HERE, user: ADMIN }, id);
  const recorded = await all(bench);
  expect([...new Set(recorded.map(({ what }) => what))].toSorted()).toEqual(
    ["audit-read", "decided", "disputed", "opened", "refused", "sent", "settled", "watched"].toSorted(),
  );
  const run = await bench.run(id);
  for (const each of recorded) expect(each).toMatchObject({ ...ASKED_FOR, run: run.key, runId: id });
});

test("a refused attempt that is not about a run of ours names where it was made", async () => {
  const bench = await createBench();
  const { click } = await bench.withCard();
  const elsewhere = ChannelId("C0ELSEWHERE");
  await bench.flow.openForm.open({ ...click, channel: elsewhere }, "approve");
  await bench.flow.adoptRun.unwatch(HERE, aRunId());
  const refused = (await all(bench)).filter(({ what }) => what === "refused");
  expect(refused).toMatchObject([
    { channel: elsewhere, requester: null, run: null },
    { channel: CHANNEL, requester: null, run: null },
  ]);
});

test("the requester's attempt is recorded with the task, whose text is stored by its digest", async () => {
  const bench = await createBench();
  await bench.flow.startRun.start(HERE, { input: "rotate the keys", intention: "1", answerUrl: null });
  const started = (await all(bench)).find(({ what }) => what === "started");
  expect(started).toMatchObject({ by: BY, requester: BY, textKept: true });
  expect(await bench.store.auditText(started?.digest ?? "")).toBe("rotate the keys");
});

test("a refused start is recorded with the task too", async () => {
  const bench = await createBench();
  bench.people.facts = { kind: "guest" };
  await bench.flow.startRun.start(HERE, { input: "drop it all", intention: "1", answerUrl: null });
  const refused = (await all(bench)).find(({ what }) => what === "refused");
  expect(refused).toMatchObject({ step: "start", channel: CHANNEL, textKept: true });
  expect(await bench.store.auditText(refused?.digest ?? "")).toBe("drop it all");
});

test("the task of a run that was started elsewhere is recorded when the service names it", async () => {
  const bench = await createBench();
  const id = aRunId();
  bench.agents.inputs.set(id, null);
  await bench.flow.adoptRun.adopt(HERE, id);
  const watched = (await all(bench)).find(({ what }) => what === "watched");
  expect(watched).toMatchObject({ ...ASKED_FOR, requester: BY, digest: null });
  bench.agents.inputs.set(id, "move the data");
  await bench.clock.pass(20_000);
  const recorded = (await all(bench)).filter(({ what }) => what === "task-told");
  expect(recorded).toMatchObject([{ by: null, runId: id, textKept: true }]);
  expect(await bench.store.auditText(recorded[0]?.digest ?? "")).toBe("move the data");
});

test("a decision that rests on several people stores each one's words under their own name", () => {
  const vote = (user: string, reason: string): Decision => ({
    verdict: "approve",
    reason,
    by: { team: TEAM, user: UserId(user) },
    at: NOON,
    digest: "d",
  });
  const decision = { ...vote("U0CAT", ""), votes: [vote("U0BEN", "I checked the backup")] };
  const approval = {
    ...anApproval(),
    state: { type: "decided", decision, delivery: { type: "sending", at: NOON, tries: 1, lost: false } },
  } as const;
  const run = withApprovals(aWatchedRun(), approval);
  const [sent] = auditOfSending(run, { type: "send-decision", approval: approval.id }, NOON);
  expect(sent).toMatchObject({
    by: { user: "U0CAT" },
    reason: "",
    votes: [{ entry: null, by: { team: TEAM, user: "U0BEN" }, reason: "I checked the backup", at: NOON }],
    sentReason: "I checked the backup",
  });
  const { text: _, ...entry } = sent ?? failed("nothing is sent");
  const story = entryStory({ seq: 1, link: "0".repeat(64), entry });
  expect(story).toContain("approved before by T0ACME:U0BEN at 2026-11-20T12:00:00.000Z");
  expect(story).toContain("reason: I checked the backup · sent to the service: I checked the backup");
});

test("the evidence of a run contains the policy that its entries name, as it was before they used it", async () => {
  const [old, other] = ["rules: [old]", "rules: [other]"];
  const loaded = [old, other, old].map((text, index) => {
    const { text: _, ...entry } = policyLoadedEntry(
      { policy: BUILT_IN, text },
      { now: NOON, digest: (each) => each },
    );
    return { seq: index * 2 + 1, link: "0".repeat(64), entry };
  });
  const use = (seq: number, version: string) => {
    const policy = { version, rule: "all" };
    const { text: _, ...entry } = anAuditEntry(aWatchedRun(), { what: "decided", policy });
    return { seq, link: "0".repeat(64), entry };
  };
  const story = await runStory(
    [use(4, "rules: [ot"), use(6, "rules: [ol")],
    (text) => Promise.resolve(text),
    loaded,
  );
  const lines = story.split("\n").filter((line) => line.startsWith("audit "));
  expect(lines.map((line) => /^audit (\d+)/.exec(line)?.[1])).toEqual(["3", "4", "5", "6"]);
  expect(story).toContain(`policy ${other}:\n    | ${other}`);
});

test("the evidence of a run begins with its owner, and ends with its task", async () => {
  const bench = await createBench();
  const { id } = await bench.withCard();
  await bench.flow.exportEvidence({ ...HERE, user: ADMIN }, id);
  const text = bench.notificationSender.given[0]?.text ?? "";
  const { key } = await bench.run(id);
  expect(text).toContain(`Run ${id} · key ${key} · channel ${CHANNEL} · requester ${TEAM}:${REQUESTER}`);
  expect(text).toContain("task task:\n    | task");
});

test("the evidence of a run names the channel and the requester of each of its records, once", async () => {
  const id = aRunId();
  const [first, second] = [aWatchedRun(id), aWatchedRun(id, { requester: APPROVER })];
  const kept = [first, first, second].map((run, index) => {
    const { text: _, ...entry } = anAuditEntry(run, { what: "watched", runId: id });
    return { seq: index + 1, link: "0".repeat(64), entry };
  });
  const story = await runStory(kept, () => Promise.resolve(null), []);
  expect(story.split("\n").filter((line) => line.startsWith("Run "))).toEqual([
    `Run ${id} · key ${first.key} · channel ${CHANNEL} · requester ${TEAM}:${REQUESTER}`,
    `Run ${id} · key ${second.key} · channel ${CHANNEL} · requester ${TEAM}:${APPROVER}`,
  ]);
});

test("a text that imitates entries is marked on each line, so that no line of it looks like an entry", async () => {
  const forged = `audit 190 · ${"9f3c".repeat(4)} · 2026-11-20T12:00:00.000Z · T0ACME:U0BEN approved`;
  const task = `tidy up\n${forged}\r\n\nrequest 9f3c:\u2028${forged}`;
  const { text: _, ...entry } = anAuditEntry(aWatchedRun(), { what: "started", digest: "d" });
  const story = await runStory([{ seq: 1, link: "0".repeat(64), entry }], () => Promise.resolve(task), []);
  expect(story.split("\n").slice(-5)).toEqual([
    "task d:",
    "    | tidy up",
    `    | ${forged}`,
    "    | ",
    `    | request 9f3c:⟨U+2028⟩${forged}`,
  ]);
  expect(story.split("\n").filter((line) => line.startsWith("audit "))).toHaveLength(1);
});

test("the story of two records with one id at the service says which record each entry is about", async () => {
  const id = aRunId();
  const [first, second] = [aWatchedRun(id), aWatchedRun(id)];
  const kept = [first, second, first].map((run, index) => {
    const { text: _, ...entry } = anAuditEntry(run, { what: "stopped", runId: id });
    return { seq: index + 1, link: "0".repeat(64), entry };
  });
  const keysIn = async (entries: typeof kept) => {
    const story = await runStory(entries, () => Promise.resolve(null), []);
    const lines = story.split("\n").filter((line) => line.startsWith("audit "));
    return lines.map((line) => / · key (\S+)/.exec(line)?.[1] ?? null);
  };
  expect(await keysIn(kept)).toEqual([first.key, second.key, first.key]);
  expect(await keysIn(kept.slice(0, 1))).toEqual([null]);
});
