// The bot that most people write first: Bolt, setInterval, fetch, and everything in memory. It does the same work as Countersign while all
// goes well, but nothing of what Countersign does when something fails. The bench compares both.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import bolt from "@slack/bolt";

type Approval = { readonly id: string; readonly action: string };
type Run = { readonly channel: string; ts: string; readonly shown: Set<string> };

const {
  AGENT_BASE_URL = "",
  AGENT_API_KEY = "",
  PORT = "3000",
  POLL_MAX_MS = "15000",
  RIVAL_RUNS = "",
} = process.env;
const headers = { authorization: `Bearer ${AGENT_API_KEY}`, "content-type": "application/json" };
const runs = new Map<string, Run>();
const INTERVAL_MS = Number(POLL_MAX_MS);
const app = new bolt.App({
  token: process.env["SLACK_BOT_TOKEN"] ?? "",
  appToken: process.env["SLACK_APP_TOKEN"] ?? "",
  socketMode: true,
  clientOptions: { slackApiUrl: process.env["SLACK_API_URL"] ?? "" },
});

function watch(id: string, run: Run): void {
  runs.set(id, run);
  setInterval(() => void poll(id, run).catch(console.error), INTERVAL_MS);
}

async function poll(id: string, run: Run): Promise<void> {
  const answer = await fetch(`${AGENT_BASE_URL}/v1/agent/runs/${id}`, { headers });
  const { pending_approvals: pending = [] } = (await answer.json()) as { pending_approvals?: Approval[] };
  for (const approval of pending) {
    if (run.shown.has(approval.id)) continue;
    run.shown.add(approval.id);
    const card = {
      channel: run.channel,
      text: approval.action,
      blocks: [
        { type: "section" as const, text: { type: "plain_text" as const, text: approval.action } },
        {
          type: "actions" as const,
          elements: [
            {
              type: "button" as const,
              action_id: "card_approve",
              value: `${id} ${approval.id}`,
              text: { type: "plain_text" as const, text: "Approve" },
            },
          ],
        },
      ],
    };
    await app.client.chat.postMessage({ ...card, thread_ts: run.ts, reply_broadcast: true });
  }
}

app.command("/agent", async ({ ack, command, client }) => {
  await ack();
  const [what, id = ""] = command.text.split(" ");
  if (what !== "watch") return;
  const { ts = "" } = await client.chat.postMessage({ channel: command.channel_id, text: `Watching ${id}` });
  watch(id, { channel: command.channel_id, ts, shown: new Set() });
});

app.action<bolt.BlockButtonAction>("card_approve", async ({ ack, body, action, client }) => {
  await ack();
  const private_metadata = JSON.stringify([action.value, body.channel?.id, body.message?.ts]);
  await client.views.open({
    trigger_id: body.trigger_id,
    view: {
      type: "modal",
      callback_id: "decision_modal",
      private_metadata,
      title: { type: "plain_text", text: "Approve" },
      submit: { type: "plain_text", text: "Approve" },
      blocks: [
        {
          type: "input",
          block_id: "reason",
          label: { type: "plain_text", text: "Reason" },
          element: { type: "plain_text_input", action_id: "reason_text" },
        },
      ],
    },
  });
});

app.view("decision_modal", async ({ ack, view, client }) => {
  await ack();
  const [value, channel, ts] = JSON.parse(view.private_metadata) as [string, string, string];
  const [run, approval] = value.split(" ");
  const reason = view.state.values["reason"]?.["reason_text"]?.value ?? "";
  await fetch(`${AGENT_BASE_URL}/v1/agent/runs/${run}/approvals/${approval}`, {
    method: "POST",
    headers,
    body: JSON.stringify({ decision: "approve", reason }),
  });
  await client.chat.update({ channel, ts, text: "Approved", blocks: [] });
});

if (RIVAL_RUNS !== "")
  for (const id of readFileSync(RIVAL_RUNS, "utf8").split("\n"))
    // Spread out, as if people had started the runs one after the other.
    setTimeout(
      () => watch(id, { channel: "C0OPSAGENTS", ts: "", shown: new Set() }),
      Math.random() * INTERVAL_MS,
    );
await app.start();
createServer((_, answer) => {
  answer.end(
    `process_resident_memory_bytes ${process.memoryUsage.rss()}\ncountersign_runs_watched ${runs.size}\n`,
  );
}).listen(Number(PORT), "127.0.0.1");
process.on("SIGTERM", () => process.exit(0));
