// What people see of the audit: the head on the card, the receipt, "This was not me", and the evidence of a run.

import { expect, test } from "vitest";
import { auditVerdict, openAuditFile, publicKeysFor } from "#src/cli/audit/inspect.ts";
import { parseKnownHead } from "#src/domain/audit/hash-chain.ts";
import type { KeptEntry } from "#src/audit/entry.ts";
import type { Message } from "#sandbox/slack/model.ts";
import { entryOf } from "#src/adapters/store/audit-file.ts";
import { textOf } from "../make/journey-sight.ts";
import { type Saying, says } from "../make/message-id.ts";
import { policyFile } from "../make/policy.ts";
import { ana, aWorld, ben, cat, opsAgents, releases, type Stage } from "../make/world.ts";

const TASK = "deploy billing-api to production";
const env = { ADMINS: cat, AUDIT_CHANNEL: releases };

/** Verifies the audit while the app runs, as the shell command does. */
async function verifyAudit(stage: Stage, ...heads: readonly string[]) {
  const { place, env: given } = stage.database;
  const audit = await openAuditFile(place);
  const witnesses = heads.map((each) => parseKnownHead(each)).filter((each) => each !== null);
  expect(witnesses).toHaveLength(heads.length);
  try {
    return await auditVerdict(
      audit,
      publicKeysFor({ database: place, key: given["AUDIT_KEY"] ?? null }, []),
      witnesses,
    );
  } finally {
    await audit.close();
  }
}

const headIn = (text: string): string => /audit \d+ · [0-9a-f]{16}/.exec(text)?.[0] ?? "none";

/** Returns the head on a card, which is hidden in the id of a block. */
function headOn({ blocks }: Message): string {
  const ids = blocks.map(({ block_id = "" }) => /^audit:(\d+):([0-9a-f]{16})$/.exec(block_id));
  const [, seq = "", link = ""] = ids.find((each) => each !== null) ?? [];
  return seq === "" ? "none" : `audit ${seq} · ${link}`;
}

const directMessage = ({ until, directTo }: Stage, person: string, id: Saying): Promise<Message> =>
  until(() => directTo(person).find((each) => says(id, each)));

async function approveRun(stage: Stage) {
  const { card } = await stage.asking(ana, opsAgents, TASK);
  await stage.decide(ben, card, "Approve", "looked at it");
  await stage.becomes(card, "approved");
  await stage.until(() => headOn(card) !== "none");
  const { id } = await stage.runAt(TASK);
  return { card, id };
}

test("the audit contains the heads on the card, on the receipt and in the audit channel", async (context) => {
  const stage = await aWorld(context, { env });
  const { card } = await approveRun(stage);
  const receipt = await directMessage(stage, ben, "receipt:approve");
  expect(textOf(receipt)).toContain("looked at it");
  const daily = await stage.until(() =>
    stage.posted(releases).find((each) => says("notification:head", each)),
  );
  const heads = [headOn(card), ...[receipt, daily].map((each) => headIn(textOf(each)))];
  expect(heads).not.toContain("none");
  expect(await verifyAudit(stage, ...heads)).toMatchObject({ ok: true });
  const [first = ""] = heads;
  const forged = first.replace(/[0-9a-f]$/, (digit) => (digit === "0" ? "1" : "0"));
  expect(await verifyAudit(stage, forged)).toMatchObject({ ok: false, fault: "rewritten" });
});

test('"This was not me" is accepted only from the person who decided, alerts the admins and the channel, and marks the entry', async (context) => {
  const stage = await aWorld(context, { env, troubled: true });
  await approveRun(stage);
  const receipt = await directMessage(stage, ben, "receipt:approve");
  await stage.click(ben, receipt, "This was not me");
  await stage.modalOf(ben, "answer:reported");
  const alert = await directMessage(stage, cat, "notification:dispute");
  expect(textOf(alert)).toContain(`@${ben}`);
  expect(textOf(alert)).toContain("looked at it");
  await stage.until(() => stage.posted(releases).some((each) => says("notification:dispute", each)));
  await stage.deliver(stage.lastPayload("block_actions"));
  await stage.told(ben, "answer:reported-before");
  expect(stage.decisions()).toHaveLength(1);
  expect(await verifyAudit(stage)).toMatchObject({ ok: true });
});

test("each start and each policy has an entry, with digests of the configuration and of the policy's text", async (context) => {
  const text = `rules:\n  - { name: all, approvers: anyone }\n`;
  const file = policyFile(text, context);
  const stage = await aWorld(context, { env: { ...env, POLICY_FILE: file.path } });
  file.write(`${text}volatile: [cost]\n`);
  await stage.reload();
  await stage.reload();
  await stage.stopApp();
  await stage.startApp();
  const audit = await openAuditFile(stage.database.place);
  const entries: KeptEntry["entry"][] = [];
  for await (const row of audit.rows()) entries.push(entryOf(row).entry);
  const started = entries.filter(({ what }) => what === "program-started" || what === "policy-loaded");
  const starts = ["program-started", "policy-loaded"];
  expect(started.map(({ what }) => what)).toEqual([...starts, "policy-loaded", ...starts]);
  const texts = await Promise.all(started.map(({ digest }) => audit.textOf(digest ?? "")));
  await audit.close();
  expect(texts[1]).toBe(text);
  expect(texts.slice(2)).toEqual([`${text}volatile: [cost]\n`, texts[0], `${text}volatile: [cost]\n`]);
  expect(JSON.parse(texts[0] ?? "")).toMatchObject({ ADMINS: cat, SLACK_BOT_TOKEN: "(set)" });
  expect(started[0]?.outcome).toMatch(/^Countersign \d+\.\d+\.\d+ on Node \d+/);
});

test("an admin gets the evidence of a run as a file, and the requester gets a refusal with the reason", async (context) => {
  const stage = await aWorld(context, { env });
  const { id } = await approveRun(stage);
  await stage.command(cat, opsAgents, `audit ${id}`);
  await stage.told(cat, "answer:evidence-sent");
  const [file, ...more] = await stage.until(() => {
    const files = [...stage.slack.workspace.files.values()].filter(({ name }) =>
      name.startsWith("evidence-"),
    );
    return files.length > 0 && files;
  });
  expect(more).toEqual([]);
  const text = String(file?.bytes ?? "");
  for (const words of [`Evidence of run ${id}`, "looked at it", `T0SANDBOX:${ben} "Ben`, '"signature"'])
    expect(text).toContain(words);
  await stage.command(ana, opsAgents, `audit ${id}`);
  await stage.told(ana, "command-refusal:own-audit");
});
