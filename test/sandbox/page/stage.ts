// A workspace with something of everything in it, a page for it, and acts that are only recorded.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createManualClock } from "#sandbox/base/sandbox-clock.ts";
import type { PageParts } from "#sandbox/page/base/parts.ts";
import { createPage } from "#sandbox/page/page.ts";
import { requestState } from "#sandbox/scenes/says.ts";
import { typed } from "#sandbox/slack/content.ts";
import type { ActResult, Acts, Block, Message } from "#sandbox/slack/model.ts";
import { seedWorkspace } from "#sandbox/slack/seed-workspace.ts";
import { createTraffic } from "#sandbox/slack/traffic.ts";
import type { Workspace } from "#sandbox/slack/workspace.ts";
import { SEED } from "#sandbox/world/seed.ts";

/** 12 Nov 2026, 12:38:00 UTC */
const START_MS = 1_794_487_080_000;

export const OPS = "C0OPSAGENTS";
const APP = "U0COUNTERSIGN";

export const HOSTILE = `<script>alert(1)</script> "><img src=x onerror=alert(2)> '&amp;</textarea></pre>`;

export type Done = { readonly act: keyof Acts | "shortcut"; readonly with: readonly unknown[] };

export function createStage(answers: Partial<Record<keyof Acts, () => Promise<ActResult>>> = {}) {
  const clock = createManualClock(START_MS);
  let laterMs = 0;
  const now = (): number => clock.now() + (laterMs += 1000);
  const workspace = seedWorkspace({ now, seed: SEED });
  const traffic = createTraffic({ now, secrets: [] });
  const done: Done[] = [];
  const log =
    (act: keyof Acts) =>
    (...args: unknown[]): Promise<ActResult> => {
      done.push({ act, with: args });
      return answers[act]?.() ?? Promise.resolve({ ok: true });
    };
  const acts: Acts = {
    say: (person, channel, text, thread) => {
      workspace.post({ author: person, channel, text: typed(workspace, text), thread: thread ?? null });
      return log("say")(person, channel, text, thread);
    },
    command: log("command"),
    click: log("click"),
    submit: log("submit"),
    close: (person, view) => {
      workspace.closeViews(
        person,
        workspace.views.filter((one) => one.id === view),
      );
      return log("close")(person, view);
    },
  };
  const parts: PageParts = {
    workspace,
    after: clock.after,
    acts,
    traffic,
    connected: () => true,
    openHome: () => Promise.resolve(),
    panelState: null,
    commands: [
      {
        command: "/agent",
        description: "Start and follow agent runs",
        usage_hint: "run <task> | status <run> | list | pending | watch <run id> | health | help",
      },
    ],
    shortcuts: [{ callbackId: "run_on_message", name: "Run agent on this message" }],
    useShortcut: async (...given) => {
      done.push({ act: "shortcut", with: given });
      return { ok: true };
    },
    requestState,
    examples: ["/agent run deploy billing-api to production", "/agent health"],
    taskWords: ["fail", "two approvals"],
    timeZone: "UTC",
  };
  return { parts, workspace, clock, traffic, done, acts };
}

/** Serves the page on a port of its own. */
export async function servePage(parts: PageParts): Promise<{ url: string; close: () => Promise<void> }> {
  const page = createPage(parts);
  const server = createServer((req, res) => {
    if (!page(req, res)) res.writeHead(404).end("not the page's");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const mrkdwn = (text: string): Record<string, unknown> => ({ type: "mrkdwn", text });
const plain = (text: string): Record<string, unknown> => ({ type: "plain_text", text });

export function approvalCard(): Block[] {
  return [
    { type: "header", text: plain("Approval needed: deploy.apply") },
    {
      type: "section",
      text: mrkdwn(
        "*Release agent* wants to run a tool on behalf of <@U0BEN>.\nRun `run_7Qk2` in <#C0OPSAGENTS> · step 4 of 6",
      ),
    },
    {
      type: "section",
      fields: [
        "*Tool*\n`deploy.apply`",
        "*Environment*\nproduction",
        "*Risk*\n:warning: high",
        "*Policy*\n2 approvals, no self-approval",
      ].map(mrkdwn),
    },
    {
      type: "rich_text",
      elements: [
        {
          type: "rich_text_preformatted",
          elements: [
            {
              type: "text",
              text: '{\n  "service": "billing-api",\n  "version": "2026.11.3",\n  "strategy": "canary 10%"\n}',
            },
          ],
        },
      ],
    },
    {
      type: "context",
      elements: [
        mrkdwn(
          ":hourglass: Expires <!date^1794491000^{date_short_pretty} at {time}|later> · 0 of 2 approvals",
        ),
      ],
    },
    {
      type: "actions",
      block_id: "decide",
      elements: [
        { type: "button", action_id: "approve", value: "n1", style: "primary", text: plain("Approve") },
        {
          type: "button",
          action_id: "deny",
          value: "n1",
          style: "danger",
          text: plain("Deny"),
          confirm: {
            title: plain("Deny this?"),
            text: mrkdwn("The agent is told *no*."),
            confirm: plain("Deny"),
            deny: plain("Not yet"),
            style: "danger",
          },
        },
        { type: "button", action_id: "details", value: "d1", text: plain("Details") },
        {
          type: "overflow",
          action_id: "more",
          options: [
            { text: plain("Copy the digest"), value: "digest" },
            { text: plain("Open the run"), value: "run" },
          ],
        },
      ],
    },
  ];
}

export function decidedCard(state = "denied"): Block[] {
  return [
    {
      type: "section",
      block_id: `state:${state}:v1`,
      text: mrkdwn(
        ":no_entry: *Denied* by <@U0ANA> — `deploy.apply` on *production*\n&gt; Not during the freeze window.",
      ),
    },
    { type: "context", elements: [mrkdwn("Asked by <@U0BEN> · request `sha256:9f2c…`")] },
  ];
}

function timeline(): Block[] {
  const steps: [string, string][] = [
    ["Read the release notes", "complete"],
    ["Check error budget", "complete"],
    ["Canary 10% on production", "in_progress"],
    ["Full roll-out", "pending"],
  ];
  return [
    {
      type: "section",
      text: mrkdwn(
        "*run_7Qk2* · Roll out billing-api 2026.11.3\n:large_blue_circle: *waiting for approval* · started 12:01 by <@U0BEN>",
      ),
      accessory: { type: "button", action_id: "stop", style: "danger", text: plain("Stop run") },
    },
    { type: "divider" },
    {
      type: "plan",
      title: "Run plan",
      tasks: steps.map(([title, status], i) => ({ task_id: `s${i}`, title, status })),
    },
    { type: "context", elements: [mrkdwn("3 tool calls · 14 s · $0.04")] },
  ];
}

export function reasonModal(): { title: unknown; blocks: Block[] } & Record<string, unknown> {
  return {
    type: "modal",
    title: plain("Deny request"),
    submit: plain("Deny"),
    close: plain("Cancel"),
    blocks: [
      {
        type: "section",
        block_id: "about",
        text: mrkdwn(
          "You are about to deny *deploy.apply* on *production*. The agent sees your reason and may try another way.",
        ),
      },
      {
        type: "input",
        block_id: "reason",
        label: plain("Reason"),
        hint: plain("Shown in the thread and written to the audit log."),
        element: {
          type: "plain_text_input",
          action_id: "text",
          multiline: true,
          max_length: 3000,
          placeholder: plain("Why should the agent not do this?"),
        },
      },
      {
        type: "input",
        block_id: "next",
        optional: true,
        label: plain("What next"),
        element: {
          type: "radio_buttons",
          action_id: "next",
          initial_option: { text: plain("Let the agent continue without it"), value: "go-on" },
          options: [
            { text: plain("Let the agent continue without it"), value: "go-on" },
            { text: plain("Stop the run"), value: "stop", description: plain("Nothing else of it is done") },
          ],
        },
      },
      {
        type: "input",
        block_id: "tell",
        optional: true,
        label: plain("Tell"),
        element: { type: "users_select", action_id: "who", placeholder: plain("Choose a person") },
      },
    ],
  };
}

export type Scene = { readonly run: Message; readonly card: Message };

/** A conversation as it looks after some minutes of use. */
export function fillWorkspace(workspace: Workspace): Scene {
  const at = (author: string, text: string, more: Partial<Message> = {}): Message =>
    workspace.post({ channel: OPS, author, text, ...more });
  const hello = at("U0BEN", "hello *team* &amp; &lt;b&gt;everyone&lt;/b&gt; :wave: see https://example.com/");
  workspace.edit(hello, { text: hello.text.replace("example.com/", "example.com/a?b=1") });
  at("U0ANA", HOSTILE);
  const run = at(APP, "Run run_7Qk2: roll out billing-api", { blocks: timeline() });
  const decided = at(APP, "Denied", { thread: run.ts, blocks: decidedCard() });
  workspace.edit(decided, {});
  const file = {
    id: "F0OUT",
    name: "output.md",
    title: "The whole output",
    bytes: Buffer.from(`# Done\n${HOSTILE}\n`),
    description: "",
    owner: APP,
  };
  workspace.files.set(file.id, file);
  at(APP, "The output is attached.", { thread: run.ts, files: [file.id] });
  const card = at(APP, "Approval needed: deploy.apply", {
    thread: run.ts,
    broadcast: true,
    blocks: approvalCard(),
  });
  at(APP, "`/agent run` needs a task.", { ephemeralFor: "U0ANA" });
  return { run, card };
}

export function fillTraffic(traffic: ReturnType<typeof createTraffic>): void {
  traffic.add("app", "auth.test", {});
  traffic.add("app", "apps.connections.open", {});
  traffic.add("person", "/agent run", { user: "U0ANA", text: "run deploy" });
  traffic.add("slack", "slash_commands", { payload: { command: "/agent", text: "run deploy billing-api" } });
  traffic.add("app", "chat.postMessage", { channel: OPS, text: HOSTILE });
  traffic.add("service", "POST /v1/agent/runs", { id: "run_7Qk2", status: "queued" });
  traffic.add("app", "chat.postMessage", { channel: "C0RANDOM" }, "not_in_channel");
}
